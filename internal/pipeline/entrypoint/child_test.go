package entrypoint

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

const group, target = "Example.Region", "sub/region"

// remembers is a run whose record names the run of a service group.
type remembers struct {
	runbook.Run
	child string
}

func (remembers) ID() string                     { return "run-whole" }
func (remembers) Step(string) runbook.StepStatus { return runbook.StepStatus{Done: true} }

func (r remembers) Recall(name string, into any) (bool, error) {
	if r.child == "" || name != noteOf(group) {
		return false, nil
	}
	return true, json.Unmarshal([]byte(`"`+r.child+`"`), into)
}

// left is a journal with a run of a pipeline, as its process left it, and the work that looks for it.
type left struct {
	*work
	memory *journal.Memory
	groups []Group
}

func newLeft() left {
	memory := journal.NewMemory()
	plan := &rollout.Plan{Inputs: rollout.Inputs{ServiceGroup: group, Targets: []string{target}}}
	groups := []Group{{Name: group, Plan: plan}}
	return left{
		&work{runner: &Runner{Journal: memory, Clock: clock.Real{}}, plan: &Plan{Groups: groups}}, memory, groups,
	}
}

// begins has run-1 there; it ends with an outcome, unless that is empty.
func (l left) begins(t *testing.T, book, of string, outcome runbook.Outcome) {
	t.Helper()
	const name = "run-1"
	ctx := context.Background()
	lease, err := l.memory.Lock(ctx, journal.Claim{Target: of, Holder: journal.Holder{Run: name}})
	if err != nil {
		t.Fatal(err)
	}
	record, err := journal.Create(ctx, l.memory, lease, time.Now,
		journal.Header{Run: name, Runbook: book, Version: "1", Target: runbook.Target{Kind: "rollout", ID: of}})
	if err == nil && outcome != "" {
		err = record.AppendAll(ctx, journal.Pending{Kind: journal.Closed,
			Data: journal.Verdict{Outcome: outcome, Reason: "it is over"}})
	}
	if err = errors.Join(err, lease.Release(ctx)); err != nil {
		t.Fatal(err)
	}
}

// TestServiceGroupIsAsFarAsItsRunIs, by the record of that run alone.
func TestServiceGroupIsAsFarAsItsRunIs(t *testing.T) {
	for name, row := range map[string]struct {
		leave func(t *testing.T, l left) (child string)
		want  runbook.State
		done  runbook.Answer
	}{
		"no run": {func(*testing.T, left) string { return "" }, runbook.StateNotStarted, runbook.AnswerHolds},
		"one that rolled it out": {func(t *testing.T, l left) string {
			l.begins(t, rollout.Name, target, runbook.RolledOut)
			return "run-1"
		}, runbook.StateDone, runbook.AnswerHolds},
		"one that failed": {func(t *testing.T, l left) string {
			l.begins(t, rollout.Name, target, runbook.Failed)
			return "run-1"
		}, runbook.StateNotStarted, runbook.AnswerDoesNotHold},
		"one that is open": {func(t *testing.T, l left) string {
			l.begins(t, rollout.Name, target, "")
			return "run-1"
		}, runbook.StateNotStarted, runbook.AnswerDoesNotHold},
		"one that never began": {func(*testing.T, left) string { return "run-1" }, runbook.StateNotStarted,
			runbook.AnswerHolds},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLeft()
			run := remembers{child: row.leave(t, l)}
			if seen := l.observe(t.Context(), run, l.groups[0]); seen.State != row.want {
				t.Errorf("it is %s: %s, want %s", seen.State, seen.Reason, row.want)
			}
			standings, err := l.readStandings(t.Context(), run)
			if finding := decideDone(standings); err != nil || finding.Answer != row.done {
				t.Errorf("all done %s: %s, %v, want %s", finding.Answer, finding.Reason, err, row.done)
			}
		})
	}
}

// TestRunOfAnotherIsNotTaken for that of a service group, however well it ended.
func TestRunOfAnotherIsNotTaken(t *testing.T) {
	for name, row := range map[string]struct{ book, of string }{
		"on another target": {rollout.Name, "sub/other"}, "of another runbook": {"lamp-off", target},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLeft()
			l.begins(t, row.book, row.of, runbook.RolledOut)
			seen := l.observe(t.Context(), remembers{child: "run-1"}, l.groups[0])
			if err := seen.Failure(); apierr.ClassOf(err) != apierr.Terminal ||
				!strings.Contains(err.Error(), "run run-1 is of") {
				t.Errorf("it is %s: %s, %v", seen.State, seen.Reason, err)
			}
		})
	}
}

// TestRunThatTheLeaseKnowsHasBegun, though its record is gone: what it did nobody knows.
func TestRunThatTheLeaseKnowsHasBegun(t *testing.T) {
	l := newLeft()
	l.begins(t, rollout.Name, target, "")
	l.runner.Journal = lost{l.memory}
	seen := l.observe(t.Context(), remembers{child: "run-1"}, l.groups[0])
	if seen.State != runbook.StateUndecidable || !strings.Contains(seen.Question, "Its run run-1 began") {
		t.Errorf("it is %s: %s, asked %q", seen.State, seen.Reason, seen.Question)
	}
}

// lost is a journal whose records are gone, and whose leases are not.
type lost struct{ journal.Store }

func (l lost) Read(_ context.Context, run string) ([][]byte, error) {
	return nil, &journal.MissingError{Run: run}
}

// TestServiceGroupThatIsNotRolledOutAnyMoreIsNotForgotten while its run is open.
func TestServiceGroupThatIsNotRolledOutAnyMoreIsNotForgotten(t *testing.T) {
	l := newLeft()
	open := func(book string, steps ...string) *journal.History {
		memory, ctx := journal.NewMemory(), context.Background()
		lease, err := memory.Lock(ctx, journal.Claim{Target: "e", Holder: journal.Holder{Run: "run-0"}})
		if err != nil {
			t.Fatal(err)
		}
		record, err := journal.Create(ctx, memory, lease, time.Now,
			journal.Header{Run: "run-0", Runbook: book, Target: runbook.Target{ID: "e"}})
		for _, step := range steps {
			err = errors.Join(err, record.AppendAll(ctx,
				journal.Pending{Kind: journal.Intended, Step: step, Data: journal.Intent{Attempt: 1}},
				journal.Pending{Kind: journal.Noted, Step: step,
					Data: journal.Note{Name: noteOf(step), Value: json.RawMessage(`"run-1"`)}}))
		}
		if err != nil {
			t.Fatal(err)
		}
		return record.History
	}
	for name, row := range map[string]struct {
		open *journal.History
		says string
	}{
		"the same groups":   {open(Name, group), ""},
		"another one":       {open(Name, group, "Example.Gone"), "Example.Gone is not rolled out any more"},
		"of another kind":   {open("lamp-off"), "run run-0 of lamp-off is open"},
		"nothing had begun": {open(Name), ""},
	} {
		err := l.runner.supersede(l.plan, row.open)
		var invalid *engine.InvalidError
		if (err == nil) != (row.says == "") ||
			err != nil && (!errors.As(err, &invalid) || !strings.Contains(err.Error(), row.says)) {
			t.Errorf("%s: %v, want %q", name, err, row.says)
		}
	}
}
