package unblockpulls_test

import (
	"strings"
	"testing"
	"time"

	"salve/runbooks/unblockpulls"
)

// TestSelection: a run is narrowed to repositories or pull requests, and its record can't widen it.
func TestSelection(t *testing.T) {
	in(t, func(w *world) {
		w.pull(8, nil)
		w.in.Pulls = []string{"kube/widgets#8"}
		found := w.discovered()
		if len(found.Planned) != 1 || found.Planned[0].Number != 8 || found.Looked != 1 {
			w.Errorf("planned: %+v", found)
		}
		found.Planned[0].Number = 7
		_, err := unblockpulls.New(w.of(nil), found)
		if err == nil || !strings.Contains(err.Error(), "not of the selection") {
			w.Errorf("a record widened the run: %v", err)
		}
		w.in.Pulls = []string{"kube/widgets#80"}
		w.finds(no, "", "kube/widgets#80: not among the open pull requests")
		w.in.Pulls, w.in.Repos = nil, []string{"kube/gadgets"}
		w.finds(unknown, "", "not all pull requests could be read")
	})
}

// TestRecordIsNoAuthority: what it names is asked of the configuration again.
func TestRecordIsNoAuthority(t *testing.T) {
	in(t, func(w *world) {
		found := w.discovered()
		for what, change := range map[string]func(*unblockpulls.Planned){
			"another job":      func(p *unblockpulls.Planned) { p.Job = "deploy" },
			"another context":  func(p *unblockpulls.Planned) { p.Context = "ghost" },
			"another action":   func(p *unblockpulls.Planned) { p.Do = "delete" },
			"half a head":      func(p *unblockpulls.Planned) { p.Head = p.Head[:7] },
			"another host":     func(p *unblockpulls.Planned) { p.Repository = "https://evil/x" },
			"no pull request":  func(p *unblockpulls.Planned) { p.Number = 0 },
			"no branch at all": func(p *unblockpulls.Planned) { p.Base = "" },
		} {
			forged := found
			forged.Planned = []unblockpulls.Planned{found.Planned[0]}
			change(&forged.Planned[0])
			if _, err := unblockpulls.New(w.of(nil), forged); err == nil {
				w.Errorf("%s is taken", what)
			}
		}
		twice := found
		twice.Planned = append(twice.Planned, twice.Planned...)
		if _, err := unblockpulls.New(w.of(nil), twice); err == nil {
			w.Error("a plan that lists one context twice is taken")
		}
		w.write("config.yaml", today+"# changed\n")
		_, err := unblockpulls.New(w.of(nil), found)
		if err == nil || !strings.Contains(err.Error(), "configuration changed") {
			w.Errorf("another configuration is taken: %v", err)
		}
	})
}

func TestInputsValidate(t *testing.T) {
	good := func() unblockpulls.Inputs {
		in := unblockpulls.Defaults()
		in.Config, in.Bot = "config.yaml", "robot"
		return in
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*unblockpulls.Inputs){
		"--config":           func(in *unblockpulls.Inputs) { in.Config = "" },
		"--bot":              func(in *unblockpulls.Inputs) { in.Bot = " " },
		"--cap 0":            func(in *unblockpulls.Inputs) { in.Cap = 0 },
		"--cap 1001":         func(in *unblockpulls.Inputs) { in.Cap = 1001 },
		"--pace 61":          func(in *unblockpulls.Inputs) { in.Pace = 61 },
		"--max-unfinished 0": func(in *unblockpulls.Inputs) { in.MaxUnfinished = 0 },
		"--budget 1s":        func(in *unblockpulls.Inputs) { in.Budget.Duration = time.Second },
		"--repo":             func(in *unblockpulls.Inputs) { in.Repos = []string{"widgets"} },
		"--pull":             func(in *unblockpulls.Inputs) { in.Pulls = []string{"kube/widgets/7"} },
		"#NUMBER":            func(in *unblockpulls.Inputs) { in.Pulls = []string{"kube/widgets#0"} },
		"--external-context": func(in *unblockpulls.Inputs) { in.External = []string{""} },
	} {
		in := good()
		change(&in)
		if err := in.Validate(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want something about %s", err, says)
		}
	}
}
