package simulation

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// write leaves behind what CI does.
func (g *generator) write(folder string) error {
	shards := make([][]*scenario, g.style.files)
	for _, s := range g.scenarios {
		at := hash(s.test) % uint64(len(shards))
		shards[at] = append(shards[at], s)
	}
	results := filepath.Join(folder, "run")
	for i, shard := range shards {
		if len(shard) == 0 {
			continue
		}
		if err := g.results(results, fmt.Sprintf("shard-%d", i), shard, g.abort); err != nil {
			return err
		}
	}
	if g.style.logs {
		for _, s := range g.scenarios {
			if err := g.logs(results, s); err != nil {
				return err
			}
		}
	}
	g.world.Results = []string{results}
	if err := g.baselines(folder); err != nil {
		return err
	}
	return g.texts(folder)
}

// results is one file of them.
func (g *generator) results(folder, name string, shard []*scenario, abort string) error {
	content, extension := "", ".json"
	if g.style.junit {
		content, extension = g.junit(name, shard, abort), ".xml"
	} else {
		content = g.goTest(shard, abort)
	}
	return g.file(folder, name+extension, content)
}

// file writes one, compressed if this CI does that.
func (g *generator) file(folder, name, content string) error {
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if !g.style.gzip {
		return os.WriteFile(path, []byte(content), 0o600)
	}
	file, err := os.OpenFile(path+".gz", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	packed, err := gzip.NewWriterLevel(file, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(packed, content); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	return file.Close()
}

// baselines are results of runs without the change: what fails there now and then is noise, and what fails for all.
func (g *generator) baselines(folder string) error {
	for i := range g.style.baselines {
		path := filepath.Join(folder, fmt.Sprintf("baseline-%d", i+1))
		var shard []*scenario
		for _, s := range g.scenarios {
			then := *s
			then.lost, then.missing = false, false
			at := g.begin.Add(-time.Duration(5+i) * time.Hour)
			a := attempt{begin: at, end: at.Add(3 * time.Minute)}
			if t, failed := g.failedThen(s, at, pastRates{flake: 0.01, began: at}, 0.03); failed {
				a.failure = &failure{text: t, message: g.fill(t, g.changed.name)}
			}
			then.attempts = []attempt{a}
			shard = append(shard, &then)
		}
		if err := g.results(path, "results", shard, ""); err != nil {
			return err
		}
		g.world.Baseline = append(g.world.Baseline, path)
	}
	return nil
}

// logs are the files of one scenario that others than the test wrote.
func (g *generator) logs(folder string, s *scenario) error {
	if s.missing {
		return nil
	}
	at := s.attempts[0].begin
	stamp := func(seconds int) string {
		return at.Add(time.Duration(seconds) * time.Second).UTC().Format(time.RFC3339)
	}
	var serial, kubelet, events strings.Builder
	fmt.Fprintf(&serial, "%s [    0.000000] Linux version 6.8.0-%d\n", stamp(1), g.between(1000, 1100))
	if s.tells("image", g) == inLine {
		fmt.Fprintf(&serial, "%s cloud-init: booted from image-version: %s\n", stamp(9), s.values["image"])
	}
	if s.tells("architecture", g) == inLine {
		fmt.Fprintf(&serial, "%s cloud-init: machine architecture: %s\n", stamp(9), s.values["architecture"])
	}
	for i := range g.between(2, 5) {
		fmt.Fprintf(&kubelet, "%s I1102 kubelet.go:%d] \"SyncLoop ADD\" pod=%q uid=%s\n", stamp(20+i), g.between(1000, 3000),
			g.variable("pod", ""), g.variable("uuid", ""))
	}
	if g.chance(0.1) { // told by what passes as well as by what fails
		fmt.Fprintf(&kubelet, "%s W1102 reflector.go:347] watch of *v1.Node ended with: too old resource version\n",
			stamp(31))
	}
	fmt.Fprintf(&events, "%s Normal Scheduled pod/%s\n", stamp(22), g.variable("pod", ""))
	last := s.last()
	if last.failure != nil && last.failure.cause != Noise && g.chance(0.85) {
		line := strings.ReplaceAll(last.failure.message, "\n", " ")
		switch last.failure.cause {
		case "outage":
			fmt.Fprintf(&events, "%s Warning FailedCreate %s\n", stamp(60), line)
		case "network":
			fmt.Fprintf(&serial, "%s agent[812]: %s\n", stamp(60), line)
		default:
			fmt.Fprintf(&kubelet, "%s E1102 pod_workers.go:1298] %q\n", stamp(60), line)
		}
	}
	all := map[string]*strings.Builder{
		"serial-console.log": &serial, "kubelet.log": &kubelet, "cluster-events.log": &events,
	}
	if last.failure == nil && !g.chance(0.1) { // of what passes, most is not kept
		delete(all, "kubelet.log")
		delete(all, "cluster-events.log")
	}
	for name, text := range all {
		if err := g.plain(filepath.Join(folder, filepath.FromSlash(s.name), name), text.String()); err != nil {
			return err
		}
	}
	return nil
}

// tells is where a scenario's attribute is told: nowhere, if its files lack it.
func (s *scenario) tells(name string, g *generator) source {
	if !s.told[name] {
		return nowhere
	}
	return g.style.tells[name]
}

func (g *generator) plain(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}
