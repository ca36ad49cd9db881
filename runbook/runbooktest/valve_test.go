package runbooktest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"salve/runbook"
	"salve/runbook/runbooktest"
)

// valve is the smallest world: it is locked, then shut.
type valve struct {
	mu             sync.Mutex
	locked, shut   bool
	shuts, lookups int
	// process is what the calls go through; nil calls directly.
	process *runbooktest.Process
	// locking is the context of the first change.
	locking context.Context
	// broken says how the runbook is broken.
	broken string
}

// flow is what is read of the water.
type flow struct {
	Shut    bool
	Lookups int
	Seen    time.Time
}

var errNoPermit = errors.New("no permit")

func (v *valve) change(ctx context.Context, name string, do func()) error {
	made := func() error {
		if v.broken != "no-permit" && v.broken != "old-permit" {
			if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
				return errors.Join(errNoPermit, err)
			}
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		do()
		return nil
	}
	switch {
	case v.process == nil || v.broken == "unseen":
		return made()
	case v.broken == "no-permit":
		ctx = context.Background()
	case v.broken == "old-permit" && name == "shut":
		ctx = v.locking
	case name == "lock":
		v.locking = ctx
	}
	return v.process.Call(ctx, name, made)
}

func (v *valve) read(ctx context.Context, what *bool) (seen bool, err error) {
	read := func() error {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.lookups++
		seen = *what
		return nil
	}
	if v.process == nil {
		return seen, read()
	}
	return seen, v.process.Call(ctx, "", read)
}

func (v *valve) step(name string, what *bool, guards ...string) runbook.Step {
	return runbook.Step{
		Name: name, Changes: name + " the valve", Guards: guards,
		Observe: func(ctx context.Context, run runbook.Run) runbook.Observation {
			is, err := v.read(ctx, what)
			switch {
			case err != nil:
				return runbook.NotObserved(err)
			case v.broken == "asks" && run.Step(name).Unsettled:
				return runbook.Undecidable("Is the valve as it should be?", "it can't be told")
			case is && (v.broken != "blind" || name != "shut" || v.shuts > 1):
				return runbook.Done("it is so")
			}
			return runbook.NotStarted("not yet")
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			if name == "shut" {
				if found, err := run.Recall("position", new(string)); err != nil || !found {
					return fmt.Errorf("note %q not found: %w", "position", err)
				}
			} else if err := run.Note(ctx, "position", "open"); err != nil {
				return err
			}
			return v.change(ctx, name, func() {
				if *what = true; name == "shut" {
					v.shuts++
				}
			})
		},
	}
}

func (v *valve) book() runbook.Runbook {
	reads := runbook.Ask("flows", "does water flow?",
		func(ctx context.Context, _ runbook.Run) (flow, error) {
			shut, err := v.read(ctx, &v.shut)
			return flow{shut, v.lookups, time.Now()}, err
		},
		func(seen flow) runbook.Finding {
			value := "flows"
			if v.broken == "age" {
				value = fmt.Sprint("for ", seen.Lookups)
			}
			if seen.Shut && v.broken != "blind" {
				return runbook.No("the valve is shut")
			}
			at := seen.Seen
			if v.broken == "clock" {
				at = time.Now().Add(time.Duration(v.lookups) * time.Hour)
			}
			return runbook.Yes("water flows").WithEvidence(runbook.NewEvidence("valve", "", at, value))
		})
	done := runbook.Ask("shut", "is the valve shut?",
		func(ctx context.Context, _ runbook.Run) (bool, error) { return v.read(ctx, &v.shut) },
		func(shut bool) runbook.Finding {
			if shut && v.broken != "check" {
				return runbook.Yes("it is shut")
			}
			return runbook.No("it is open")
		})
	id := "valve/7"
	if v.broken == "other-target" && v.locked {
		id = "valve/7-locked"
	}
	return runbook.Runbook{
		Name: "shut-valve", Version: "1", Budget: time.Hour,
		Target: runbook.Target{Kind: "valve", ID: id, Name: "valve 7"},
		Guards: []runbook.Guard{reads},
		Steps:  []runbook.Step{v.step("lock", &v.locked, "flows"), v.step("shut", &v.shut, "flows")},
		Checks: []runbook.Guard{done},
	}
}
