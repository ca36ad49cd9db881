package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// lamp is the smallest world: a lamp that a runbook switches off, and a sign that
// it hangs out first and takes in again at the end.
type lamp struct {
	on, sign bool
	// faults answers for the next calls of a name, in order.
	faults map[string][]error
	// calls are the changes that were asked for; asked are the guards and the
	// observations of steps.
	calls, asked []string
	// sees is what the guard answers; Holds when nil.
	sees func() runbook.Finding
}

func newLamp() *lamp { return &lamp{on: true, faults: map[string][]error{}} }

// call is one change: it takes a permit, as every change does.
func (l *lamp) call(ctx context.Context, name string, change func()) error {
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	l.calls = append(l.calls, name)
	var err error
	if pending := l.faults[name]; len(pending) > 0 {
		err, l.faults[name] = pending[0], pending[1:]
	}
	if err == nil || errors.Is(err, errLost) {
		change()
	}
	return err
}

// errLost is an answer that was lost after the change happened.
var errLost = apierr.New(apierr.Transient, "connection reset")

// errStuck is a refusal for good.
var errStuck = apierr.New(apierr.Terminal, "stuck")

func (l *lamp) step(name string, done func() bool, change func()) runbook.Step {
	return runbook.Step{
		Name: name, Guards: []string{"lamp-in-sight"},
		Observe: func(context.Context, runbook.Run) runbook.Observation {
			l.asked = append(l.asked, name)
			if done() {
				return runbook.Done("already so")
			}
			return runbook.NotStarted("not yet")
		},
		Apply: func(ctx context.Context, _ runbook.Run) error {
			return l.call(ctx, name, change)
		},
	}
}

func (l *lamp) book() runbook.Runbook {
	inSight := runbook.Guard{Name: "lamp-in-sight", Evaluate: func(context.Context, runbook.Run) runbook.Finding {
		l.asked = append(l.asked, "lamp-in-sight")
		if l.sees != nil {
			return l.sees()
		}
		return runbook.Yes("there it is")
	}}
	hang := l.step("hang-sign", func() bool { return l.sign }, func() { l.sign = true })
	takeIn := l.step("take-sign-in", func() bool { return !l.sign }, func() { l.sign = false })
	takeIn.Guards = nil
	hang.Rollback = &takeIn
	off := l.step("switch-off", func() bool { return !l.on }, func() { l.on = false })
	off.Irreversible = true
	return runbook.Runbook{
		Name: "lamp-off", Version: "1", Budget: time.Hour,
		Remaining: func(func(string) bool) string { return "the sign stays out" },
		Target:    runbook.Target{Kind: "lamp", ID: "lamp/1", Name: "lamp 1"},
		Guards:    []runbook.Guard{inSight}, Steps: []runbook.Step{hang, off},
		Checks: []runbook.Guard{{Name: "dark", Evaluate: func(context.Context, runbook.Run) runbook.Finding {
			if l.on {
				return runbook.No("it shines")
			}
			return runbook.Yes("it is dark")
		}}},
	}
}

type bench struct {
	*lamp
	*engine.Engine
	t testing.TB
	// kept is the journal, whatever stands before it; books are those that ran.
	kept  *journal.Memory
	mu    sync.Mutex
	books []runbook.Runbook
}

func newBench(t testing.TB) *bench {
	runs, kept := 0, journal.NewMemory()
	b := &bench{lamp: newLamp(), t: t, kept: kept, Engine: &engine.Engine{
		Journal: kept, Clock: clock.Real{},
		NewRun: func(time.Time) string { runs++; return fmt.Sprintf("run-%d", runs) },
	}}
	t.Cleanup(b.replayed)
	return b
}

func (b *bench) run(book runbook.Runbook) engine.Result {
	b.t.Helper()
	result, err := b.Run(context.Background(), book, engine.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

func (b *bench) record(run string) *journal.Record {
	b.t.Helper()
	record, err := journal.Load(context.Background(), b.Journal, run)
	if err != nil {
		b.t.Fatal(err)
	}
	return record
}

func expect(t testing.TB, result engine.Result, outcome runbook.Outcome, reason string) {
	t.Helper()
	if result.Outcome != outcome || !strings.Contains(result.Reason, reason) {
		t.Errorf("ended %s (%s), want %s with %q", result.Outcome, result.Reason, outcome, reason)
	}
}

func TestRunActsAndChecks(t *testing.T) {
	b := newBench(t)
	expect(t, b.run(b.book()), runbook.Remediated, "all final checks hold")
	if want := []string{"hang-sign", "switch-off"}; !slices.Equal(b.calls, want) {
		t.Errorf("changes %v, want %v", b.calls, want)
	}
}
