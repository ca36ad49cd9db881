//go:build linux

package metrics_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"salve/internal/hotfix"
	"salve/internal/hotfix/event"
	"salve/internal/hotfix/metrics"
	"salve/internal/hotfix/slot"
)

var began = time.Date(2026, 4, 3, 10, 40, 0, 500e6, time.UTC)

func words() metrics.Words {
	return metrics.Words{Outcomes: []string{"ran", "fell-back", "stopped"}, Reasons: []string{"staged", "no-hotfix"},
		Fetched: []string{"staged", "unreachable"}}
}

func node(t *testing.T, pointer string) metrics.Node {
	t.Helper()
	parsed, err := hotfix.ParsePointer([]byte(pointer))
	if err != nil {
		t.Fatal(err)
	}
	decision := hotfix.DecideFor(hotfix.Node{Version: "202604.01.1", ID: "node-11"}, parsed)
	return metrics.Node{Launched: true, Words: words(), Trials: 2,
		Trial: &slot.Trial{Target: "202604.01.3", Trials: 1},
		Boot: event.Boot{
			Launch: event.Event{Time: began, Command: "launch", Level: event.Warning, Outcome: "fell-back", Reason: "staged",
				Milliseconds: map[string]float64{"all": 1500}},
			Prepare: &event.Event{Command: "prepare", Decision: &decision},
			Fetch:   &event.Event{Command: "fetch", Outcome: "unreachable"},
		}}
}

const canary = `{"canaries": {"202604.01": {"version": "202604.01.3", "percent": 12.5}}}`

// TestTheText is read by the parser that node_exporter's textfile collector uses.
func TestTheText(t *testing.T) {
	got := values(t, metrics.Text(node(t, canary)))
	for sample, want := range map[string]float64{
		`salve_node_boot_timestamp_seconds`:                                                   float64(began.UnixMilli()) / 1000,
		`salve_node_boot_seconds`:                                                             1.5,
		`salve_node_boot_outcome{outcome="fell-back"}`:                                        1,
		`salve_node_boot_outcome{outcome="ran"}`:                                              0,
		`salve_node_boot_outcome{outcome="other"}`:                                            0,
		`salve_node_boot_level{level="warning"}`:                                              1,
		`salve_node_boot_info{program="baked",reason="staged"}`:                               1,
		`salve_node_fetch_info{outcome="unreachable"}`:                                        1,
		`salve_node_hotfix_info{current="202604.01.1",target="202604.01.3",reason="install"}`: 1,
		`salve_node_canary_percent`:                                                           12.5,
		`salve_node_canary_selected`:                                                          1,
		`salve_node_trial_info{target="202604.01.3"}`:                                         1,
		`salve_node_trial_starts`:                                                             1,
		`salve_node_trial_limit`:                                                              2,
		`salve_node_trial_confirmed`:                                                          0,
	} {
		if value, found := got[sample]; !found || value != want {
			t.Errorf("%s is %v (%v), want %v", sample, value, found, want)
		}
	}
}

// TestNoLabelTakesWhatComes: events may be anybody's. However they read, the number of series does not grow, and the
// text is one that can be parsed.
func TestNoLabelTakesWhatComes(t *testing.T) {
	for name, evil := range map[string]string{
		"a quote": `"} 1` + "\n" + `evil{a="`, "a line": "a\nb", "a backslash": `a\`, "no UTF-8": "a\xff\xfe",
		"long": strings.Repeat("a", 1<<16), "a control character": "\x1b[31m", "nothing": "",
	} {
		t.Run(name, func(t *testing.T) {
			n := node(t, canary)
			n.Boot.Launch.Outcome, n.Boot.Launch.Reason, n.Boot.Launch.Level = evil, evil, event.Level(evil)
			n.Boot.Fetch.Outcome = evil
			decision := hotfix.Decision{Current: evil, Target: &evil, Reason: hotfix.Reason(evil)}
			n.Boot.Prepare = &event.Event{Decision: &decision}
			n.Trial.Target = evil
			text := metrics.Text(n)
			if bytes.Contains(text, []byte("evil")) || len(text) > 8<<10 {
				t.Errorf("%s", text)
			}
			for sample := range values(t, text) {
				if strings.Contains(sample, "salve_node_boot_info") && sample != `salve_node_boot_info{program="baked",reason="other"}` {
					t.Error(sample)
				}
			}
		})
	}
}

// TestANodeThatNeverBooted has nothing to say, and not a zero.
func TestANodeThatNeverBooted(t *testing.T) {
	if text := metrics.Text(metrics.Node{Words: words()}); len(text) > 0 {
		t.Errorf("%s", text)
	}
}

// TestWriteIsWholeOrNot: who reads at any time reads a whole file, and finds no other beside it that is one of its own.
func TestWriteIsWholeOrNot(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "salve-node.prom")
	texts := map[string]bool{}
	for n := range 4 {
		texts[strings.Repeat(fmt.Sprintf("line %d\n", n), 4000)] = true
	}
	var writers sync.WaitGroup
	for text := range texts {
		check(t, metrics.Write(path, []byte(text)))
		writers.Add(1)
		go func() {
			defer writers.Done()
			for range 50 {
				check(t, metrics.Write(path, []byte(text)))
			}
		}()
	}
	for range 200 {
		raw, err := os.ReadFile(path)
		check(t, err)
		if !texts[string(raw)] {
			t.Fatalf("half a file of %d bytes", len(raw))
		}
	}
	writers.Wait()
	info, err := os.Stat(path)
	check(t, err)
	if info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v: the collector is another user", info.Mode())
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	folder := t.TempDir()
	check(t, os.Mkdir(filepath.Join(folder, "taken.prom"), 0o755))
	victim := filepath.Join(folder, "victim")
	check(t, os.WriteFile(victim, []byte("kept"), 0o600))
	check(t, os.Symlink(victim, filepath.Join(folder, "link.prom")))
	for name, refused := range map[string]bool{"node": true, "node.txt": true, "gone/node.prom": true, "taken.prom": true,
		"link.prom": false} {
		if err := metrics.Write(filepath.Join(folder, name), []byte("x 1\n")); (err != nil) != refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	if raw, err := os.ReadFile(victim); err != nil || string(raw) != "kept" {
		t.Errorf("it wrote through a link: %s, %v", raw, err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// values are the samples by name and labels; every family has a help and is a gauge.
func values(t *testing.T, text []byte) map[string]float64 {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	values := map[string]float64{}
	for name, family := range families {
		if family.GetType() != dto.MetricType_GAUGE || family.GetHelp() == "" {
			t.Errorf("%s is a %s: %s", name, family.GetType(), family.GetHelp())
		}
		for _, one := range family.GetMetric() {
			var labels []string
			for _, pair := range one.GetLabel() {
				quoted, err := json.Marshal(pair.GetValue())
				check(t, err)
				labels = append(labels, pair.GetName()+"="+string(quoted))
			}
			sample := name
			if len(labels) > 0 {
				sample += "{" + strings.Join(labels, ",") + "}"
			}
			values[sample] = one.GetGauge().GetValue()
		}
	}
	return values
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
