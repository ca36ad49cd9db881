package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// recovery is a picture of a recovery that is at work on its fifth step of eight.
func recovery() *picture {
	picture, plan := &picture{title: "aks-recreate-pool on aks-1/system"}, &runbook.Plan{}
	for _, name := range []string{"settle-cluster", "snapshot", "add-stand-in", "drain", "delete-pool", "recreate",
		"retire-stand-in", "reconcile-cluster"} {
		plan.Steps = append(plan.Steps, runbook.PlannedStep{Name: name, Irreversible: name == "delete-pool"})
	}
	at := func(after time.Duration, event engine.Event) {
		event.At, event.Run = midnight.Add(after), "20261126-0213-4f1a2b"
		picture.take(event)
	}
	picture.usual = map[string]time.Duration{"delete-pool": 2 * time.Minute, "recreate": 150 * time.Second,
		"retire-stand-in": 2 * time.Minute, "reconcile-cluster": 20 * time.Second}
	at(0, engine.Event{Kind: engine.RunBegan})
	for _, guard := range []string{"cluster-exists", "cluster-recoverable", "pool-wedged"} {
		at(time.Second, engine.Event{Kind: engine.Found, Step: "start",
			Finding: &runbook.Finding{Guard: guard, Answer: runbook.AnswerHolds, Reason: "it is so"}})
	}
	at(2*time.Second, engine.Event{Kind: engine.PlanMade, Plan: plan})
	for i, step := range plan.Steps[:4] {
		began := time.Duration(3+30*i) * time.Second
		at(began, engine.Event{Kind: engine.StepBegan, Step: step.Name, Attempt: 1})
		at(began+25*time.Second, engine.Event{Kind: engine.StepEnded, Step: step.Name, Attempt: 1,
			Result: &journal.Result{Result: journal.Done}})
	}
	at(123*time.Second, engine.Event{Kind: engine.StepBegan, Step: "delete-pool", Attempt: 1})
	at(130*time.Second, engine.Event{Kind: engine.StepMoved, Step: "delete-pool", Progress: &runbook.Progress{
		Text: "ARM is deleting pool system", Details: []string{"node-0 is 節点零 and waits", "node-1", "node-2"},
		Pools: []runbook.PoolNodes{{Pool: "system", Serving: 3, Nodes: 5},
			{Pool: "s4f0", Role: "stand-in", Serving: 5, Nodes: 5}},
	}})
	return picture
}

// TestFramesBySize: a frame fits the terminal, and what matters stays: what is at work, the last step that is over and
// the next one.
func TestFramesBySize(t *testing.T) {
	for _, size := range []struct {
		name          string
		width, height int
		want          string
	}{
		{"an ordinary terminal", 80, 24, `
aks-recreate-pool on aks-1/system  run 20261126-0213-4…  3m15s, about 5m30s left
  system ●●●○○  stand-in ●●●●●
  ✓ guards               all 3 hold
  ✓ settle-cluster                                                           25s
  ✓ snapshot                                                                 25s
  ✓ add-stand-in                                                             25s
  ✓ drain                                                                    25s
  ── the point of no return ──
  ⠋ delete-pool          ARM is deleting pool system           1m12s of about 2m
      node-0 is 節点零 and waits
      node-1
      node-2
  · recreate                                                         about 2m30s
  · retire-stand-in                                                     about 2m
  · reconcile-cluster                                                  about 20s
`},
		{"a narrow and low terminal", 40, 12, `
aks-recreate-pool o…  3m15s, ~5m30s left
  system ●●●○○  stand-in ●●●●●
  ✓ guards         all 3 hold
  … 3 more
  ✓ drain                            25s
  ── the point of no return ──
  ⠋ delete-pool    ARM is de…  1m12s/~2m
      node-0 is 節点零 and waits
      node-1
      node-2
  · recreate                      ~2m30s
  … 2 more
`},
		{"a wide and very low terminal", 120, 6, `
aks-recreate-pool on aks-1/system  run 20261126-0213-4f1a2b                            3m15s, about 5m30s left
  … 4 more
  ⠋ delete-pool          ARM is deleting pool system                                         1m12s of about 2m
  … 3 more
`},
	} {
		t.Run(size.name, func(t *testing.T) {
			frame := uncoloured(recovery().draw(midnight.Add(195*time.Second), size.width, size.height, 0))
			if diff := cmp.Diff(size.want[1:], frame); diff != "" {
				t.Errorf("-want +got:\n%s\n%s", diff, frame)
			}
		})
	}
}

// TestNoFrameIsLargerThanItsTerminal: whatever is shown, whatever the size.
func TestNoFrameIsLargerThanItsTerminal(t *testing.T) {
	wide := recovery()
	wide.title = strings.Repeat("節点", 40)
	for i := range 30 {
		wide.take(engine.Event{Kind: engine.Warning, Text: fmt.Sprintf("%d 警告 %s", i, strings.Repeat("長い ", 50))})
		wide.said = append(wide.said, strings.Repeat("言 う", 60))
		wide.take(engine.Event{Kind: engine.StepMoved, Step: "delete-pool", Progress: &runbook.Progress{
			Text:    strings.Repeat("消す", 99),
			Details: []string{strings.Repeat("e\u0301", 300), "tab\tand\nline feed", strings.Repeat("👩‍💻", 80)},
			Pools:   []runbook.PoolNodes{{Pool: fmt.Sprintf("池%d", i), Serving: i - 5, Nodes: i * i}},
		}})
	}
	pictures := map[string]*picture{
		"empty": {title: "title"}, "recovery": recovery(), "wide": wide,
		"pipeline": rollout([]string{"g/one", "g/two"}, []string{"g/three"}),
	}
	for name, picture := range pictures {
		for width := 10; width <= 130; width += 17 {
			for _, height := range []int{1, 2, 3, 4, 5, 7, 10, 12, 17, 24, 40} {
				frame := strings.TrimSuffix(picture.draw(midnight.Add(time.Hour), width, height, 3), "\n")
				lines := strings.Split(frame, "\n")
				if len(lines) > height {
					t.Fatalf("%s at %d×%d has %d lines:\n%s", name, width, height, len(lines), frame)
				}
				for _, line := range lines {
					if columns(line) > width {
						t.Fatalf("%s at %d×%d: %d columns: %q", name, width, height, columns(line), line)
					}
				}
				if name == "recovery" && height >= 4 && width >= 20 && !strings.Contains(frame, "delet") {
					t.Fatalf("at %d×%d what is at work is not shown:\n%s", width, height, frame)
				}
			}
		}
	}
}

// TestStepsInALowTerminal: those that need no eye are summed up, where they stand.
func TestStepsInALowTerminal(t *testing.T) {
	frame := uncoloured(recovery().draw(midnight.Add(195*time.Second), 80, 11, 0))
	for _, want := range []string{"  … 3 more\n", "✓ drain", "⠋ delete-pool", "· recreate", "  … 2 more\n"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not drawn:\n%s", want, frame)
		}
	}
}

// TestASCII: where there is no UTF-8 nothing else is drawn, and nothing moves.
func TestASCII(t *testing.T) {
	picture := recovery()
	picture.take(engine.Event{Kind: engine.Warning, Text: "nœud 節点"})
	drawn := picture.draw(midnight.Add(195*time.Second), 80, 24, 0)
	ascii := Style{ASCII: true}.Apply(drawn)
	if strings.ContainsFunc(ascii, func(char rune) bool { return char > 127 || char == '\x1b' }) {
		t.Errorf("drawn:\n%s", ascii)
	}
	for _, want := range []string{"  system ###..  stand-in #####\n", "  + drain ", "  | delete-pool ", "n?ud ????"} {
		if !strings.Contains(ascii, want) {
			t.Errorf("%q is not drawn:\n%s", want, ascii)
		}
	}
	before, after := strings.Split(Style{}.Apply(drawn), "\n"), strings.Split(ascii, "\n")
	for i := range before {
		if columns(before[i]) != columns(after[i]) {
			t.Errorf("%q became %q", before[i], after[i])
		}
	}
}

// TestStyleOf: what the environment says of the terminal.
func TestStyleOf(t *testing.T) {
	for _, row := range []struct {
		environment map[string]string
		want        Style
	}{
		{nil, Style{Colour: true}},
		{map[string]string{"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}, Style{Colour: true}},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "C"}, Style{Colour: true, ASCII: true}},
		{map[string]string{"LANG": "C", "LC_CTYPE": "de_DE.utf8"}, Style{Colour: true}},
		{map[string]string{"NO_COLOR": "1"}, Style{}},
		{map[string]string{"TERM": "dumb"}, Style{ASCII: true}},
		{map[string]string{"TERM": "linux", "LANG": "en_US.UTF-8"}, Style{Colour: true, ASCII: true}},
	} {
		if got := StyleOf(func(name string) string { return row.environment[name] }); got != row.want {
			t.Errorf("%v: %+v, want %+v", row.environment, got, row.want)
		}
	}
}
