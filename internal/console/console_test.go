package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

var midnight = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

// token looks like a credential and must be shown nowhere.
const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzYWx2ZSJ9.c2lnbmF0dXJl"

// events is a run, up to the middle of its second step.
func events() []engine.Event {
	at := func(after time.Duration, event engine.Event) engine.Event {
		event.At, event.Run = midnight.Add(after), "run-1"
		return event
	}
	holds := runbook.Yes("the cluster is there")
	holds.Guard = "cluster-exists"
	return []engine.Event{
		at(0, engine.Event{Kind: engine.RunBegan, Text: "opened"}),
		at(time.Second, engine.Event{Kind: engine.Found, Step: "start", Finding: &holds}),
		at(2*time.Second, engine.Event{Kind: engine.PlanMade, Plan: &runbook.Plan{Digest: "d",
			Steps: []runbook.PlannedStep{{Name: "snapshot"}, {Name: "drain"}, {Name: "delete-pool", Irreversible: true}}}}),
		at(3*time.Second, engine.Event{Kind: engine.StepBegan, Step: "snapshot", Attempt: 1}),
		at(4*time.Second, engine.Event{Kind: engine.StepEnded, Step: "snapshot", Attempt: 1,
			Result: &journal.Result{Result: journal.Done}}),
		at(5*time.Second, engine.Event{Kind: engine.StepBegan, Step: "drain", Attempt: 1}),
		at(6*time.Second, engine.Event{Kind: engine.StepMoved, Step: "drain", Progress: &runbook.Progress{
			Text: "7 of 9 pods gone",
			Details: []string{"node-0: 1 pod left, shop/frontend-0 blocked by PodDisruptionBudget frontend, which allows none",
				"node-1: 1 pod left"},
		}}),
		at(7*time.Second, engine.Event{Kind: engine.Warning, Step: "drain", Text: "the API server said: Bearer " + token}),
	}
}

func ended() []engine.Event {
	verdict := journal.Verdict{Outcome: runbook.Failed, Reason: "no capacity"}
	return []engine.Event{
		{At: midnight.Add(70 * time.Second), Run: "run-1", Kind: engine.StepEnded, Step: "drain", Attempt: 1,
			Result: &journal.Result{Result: journal.Failure,
				Reason: "a node went away while its pods were being evicted, and came back"}},
		{At: midnight.Add(71 * time.Second), Run: "run-1", Kind: engine.RollbackBegan, Text: "no capacity"},
		{At: midnight.Add(71 * time.Second), Run: "run-1", Kind: engine.StepBegan, Step: "uncordon", Attempt: 1},
		{At: midnight.Add(75 * time.Second), Run: "run-1", Kind: engine.StepEnded, Step: "uncordon", Attempt: 1,
			Result: &journal.Result{Result: journal.Done}},
		{At: midnight.Add(80 * time.Second), Run: "run-1", Kind: engine.RunEnded, Verdict: &verdict},
	}
}

// uncoloured takes the colours out of a frame.
func uncoloured(frame string) string {
	for _, code := range []string{plain, bold, faint, red, green, yellow, blue} {
		frame = strings.ReplaceAll(frame, code, "")
	}
	lines := strings.Split(frame, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// TestOnePointOfNoReturn: a plan may have many steps from which on nothing is undone.
func TestOnePointOfNoReturn(t *testing.T) {
	picture := &picture{title: "remove-operator"}
	picture.take(engine.Event{Kind: engine.PlanMade, Plan: &runbook.Plan{Steps: []runbook.PlannedStep{
		{Name: "export"}, {Name: "remove-hooks", Irreversible: true}, {Name: "delete-objects", Irreversible: true},
	}}})
	frame := uncoloured(picture.draw(midnight, 64, 0, 0))
	if strings.Count(frame, "the point of no return") != 1 {
		t.Errorf("drawn:\n%s", frame)
	}
}

func TestFrames(t *testing.T) {
	picture := &picture{title: "aks-recreate-pool on prod-1/system"}
	for _, event := range events() {
		picture.take(event)
	}
	working := `
aks-recreate-pool on prod-1/system  run run-1                10s
  ✓ guards          the only one holds
  ✓ snapshot                                                  1s
  ⠋ drain           7 of 9 pods gone                          5s
      node-0: 1 pod left, shop/frontend-0 blocked by
        PodDisruptionBudget frontend, which allows none
      node-1: 1 pod left
  ── the point of no return ──
  · delete-pool
  ! the API server said: Bearer [redacted]
`
	if diff := cmp.Diff(working[1:], uncoloured(picture.draw(midnight.Add(10*time.Second), 64, 0, 0))); diff != "" {
		t.Errorf("at work (-want +got):\n%s", diff)
	}
	for _, event := range ended() {
		picture.take(event)
	}
	over := `
aks-recreate-pool on prod-1/system  run run-1              1m20s
  ✓ guards          the only one holds
  ✓ snapshot                                                  1s
  ✗ drain           a node went away while its pods were    1m5s
                    being evicted, and came back
  ── the point of no return ──
  · delete-pool
  ── taking back what was done ──
  ✓ uncordon                                                  4s
  ! the API server said: Bearer [redacted]
`
	if diff := cmp.Diff(over[1:], uncoloured(picture.draw(midnight.Add(time.Hour), 64, 0, 0))); diff != "" {
		t.Errorf("at the end, where time stands still (-want +got):\n%s", diff)
	}
}

// TestRecall: a resumed run shows what was done before.
func TestRecall(t *testing.T) {
	record, err := journal.Create(t.Context(), journal.NewMemory(), journal.NoLease(1),
		func() time.Time { return midnight },
		journal.Header{Run: "run-1"})
	if err != nil {
		t.Fatal(err)
	}
	plan := runbook.Plan{Steps: []runbook.PlannedStep{{Name: "snapshot"}, {Name: "drain"}}}
	for _, entry := range []struct {
		kind journal.Kind
		step string
		data any
	}{
		{journal.Planned, "", plan},
		{journal.Intended, "snapshot", journal.Intent{Attempt: 1}},
		{journal.Outcome, "snapshot", journal.Result{Result: journal.Done}},
		{journal.Intended, "drain", journal.Intent{Attempt: 1}},
	} {
		if err := record.Append(t.Context(), entry.kind, entry.step, entry.data); err != nil {
			t.Fatal(err)
		}
	}
	picture := &picture{title: "aks-recreate-pool on prod-1/system"}
	picture.recall(record.History)
	picture.take(engine.Event{At: midnight, Run: "run-1", Kind: engine.RunBegan, Text: "resumed"})
	picture.take(engine.Event{At: midnight, Run: "run-1", Kind: engine.StepBegan, Step: "drain",
		Text: "already under way"})
	picture.take(engine.Event{At: midnight.Add(time.Second), Run: "run-1", Kind: engine.RunEnded,
		Verdict: &journal.Verdict{Outcome: runbook.NeedsAttention}})
	want := `
aks-recreate-pool on prod-1/system  run run-1                 1s
  ✓ snapshot  done before
  ! drain     not known to be complete                        1s
  an open run of this target is resumed
`
	if diff := cmp.Diff(want[1:], uncoloured(picture.draw(midnight.Add(time.Hour), 64, 0, 0))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestLive: events come to the screen in the run's own time, nothing is asked of
// the terminal, no credential is drawn, and a passing picture is taken away.
func TestLive(t *testing.T) {
	for name, passing := range map[string]bool{"live": false, "passing": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				live := NewLive(&out, LiveOptions{
					Title: "title", Now: func() time.Time { return midnight.Add(9 * time.Second) }, Passing: passing,
				}, []string{"TERM=xterm-kitty"})
				synctest.Wait() // the program asks for its size once
				live.program.Send(tea.WindowSizeMsg{Width: 80, Height: 24})
				for _, event := range append(events(), ended()...) {
					live.Watch(event)
				}
				live.Say(midnight, "stopping")
				time.Sleep(time.Second) // some frames
				live.Close()
				live.Watch(events()[0])
				drawn := out.String()
				if strings.Contains(drawn, "\x1b[?2026$p") || strings.Contains(drawn, token) {
					t.Errorf("the terminal is asked a question or shown a credential: %q", drawn)
				}
				_, after, left := strings.Cut(drawn, "\x1b[?1049l")
				if !left {
					t.Errorf("the terminal's own screen is not given back: %q", drawn)
				}
				if stays := strings.Contains(after, "uncordon") && strings.Contains(after, "stopping"); stays == passing {
					t.Errorf("the last frame stays: %v: %q", stays, after)
				}
			})
		})
	}
}

// TestLiveBrokenTerminal: a screen that can't be written on stops nothing.
func TestLiveBrokenTerminal(t *testing.T) {
	terminal := &broken{}
	live := NewLive(terminal, LiveOptions{Title: "title", Now: time.Now}, nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, event := range events() {
			live.Watch(event)
		}
		live.Close()
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("it waits for a terminal that is gone")
	}
	if terminal.asked.Load() == 0 {
		t.Error("nothing was drawn")
	}
}

// broken is a terminal that is gone.
type broken struct{ asked atomic.Int64 }

func (b *broken) Write([]byte) (int, error) {
	b.asked.Add(1)
	return 0, errors.New("the terminal is gone")
}

func TestLog(t *testing.T) {
	for verbosity, want := range []int{13, 14} {
		var out bytes.Buffer
		log := NewLog(NewHandler(&out, verbosity))
		for _, event := range append(events(), ended()...) {
			log.Watch(event)
			if event.Kind == engine.StepMoved {
				event.At = event.At.Add(time.Second)
				log.Watch(event) // too soon for another line, unless more is asked for
			}
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != want {
			t.Errorf("verbosity %d: %d lines, want %d:\n%s", verbosity, len(lines), want, out.String())
		}
		if strings.Contains(out.String(), token) {
			t.Error("a token is logged")
		}
		phases := map[string]bool{}
		for _, line := range lines {
			var entry struct{ Component, Run, Phase, Msg string }
			if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Component != "engine" || entry.Run != "run-1" ||
				entry.Phase == "" {
				t.Errorf("line %q: %v, read as %+v", line, err, entry)
			}
			phases[entry.Phase] = true
		}
		for _, phase := range []string{"guards", "snapshot", "drain", "undo", "undo uncordon", "end"} {
			if !phases[phase] {
				t.Errorf("no line of phase %q", phase)
			}
		}
	}
}
