package main

import (
	"context"
	"fmt"

	"salve/internal/clock"
	"salve/internal/hotfix/event"
	"salve/internal/hotfix/launch"
	"salve/internal/hotfix/slot"
)

// runLaunch runs the program, hotfixed where that is possible, baked otherwise.
// Where there is nothing to watch over, the program takes this process's place.
func (n *node) runLaunch() int {
	e := n.event("launch")
	choice := slot.Choice{Path: n.settings.baked, Reason: slot.NoHotfix}
	n.safely("launch", func() { choice = n.prepare(context.Background(), &e) })
	if !choice.Staged() {
		return n.runBaked(e, outcomeRan)
	}
	program := launch.Program{Path: choice.Path, Arguments: n.program, Trial: launch.Trial, Clock: n.clock}
	e.Measure("before", n.clock.Since(e.Time))
	n.launched = true
	ending := program.Supervise()
	if ending.Fault == "" {
		e.Outcome, e.Exit = outcomeRan, &ending.Code
		n.safely("launch", func() { n.record(e) })
		return ending.Code
	}
	e.Level, e.Problem, e.Exit = event.Warning, ending.Fault, &ending.Code
	n.warn(fmt.Sprintf("%s: %s; the baked program runs instead", choice.Path, ending.Fault))
	if !ending.Blameless {
		n.safely("launch", func() { n.markBad(choice.Manifest.SHA256) })
	}
	return n.runBaked(e, outcomeFellBack)
}

func (n *node) markBad(digest string) {
	if err := n.slot().MarkBad(digest); err != nil {
		n.warn("it could not be marked bad, so the next boot tries it again: " + err.Error())
	}
}

// prepare does all that comes before running: nothing of it may keep the program
// from running, and each part is safe from the others' mistakes. It takes the budget
// at most, and the time of asking the baked program its version: what used up the
// budget shall not put a staged program out of use.
func (n *node) prepare(ctx context.Context, e *event.Event) slot.Choice {
	limited, cancel := clock.WithTimeout(ctx, n.clock, n.settings.budget)
	defer cancel()
	n.safely("launch", func() { n.recoverScripts(limited, e) })
	if n.settings.check {
		n.safely("check", func() { n.check(limited) })
	}
	pointer, decision := n.decide(ctx)
	if decision.Installs() {
		n.safely("fetch", func() {
			fetched := n.event("fetch")
			n.fetch(limited, pointer, decision, &fetched)
			n.record(fetched)
		})
	}
	return n.choose(decision, e)
}

// runBaked makes this process the baked program: its signals, its exit code and
// its place under the supervisor are then its own, and there is nothing to fall
// back to.
func (n *node) runBaked(e event.Event, outcome string) int {
	e.Outcome, e.Path = outcome, n.settings.baked
	n.safely("launch", func() { n.record(e) })
	return n.replace()
}

func (n *node) replace() int {
	baked := launch.Program{Path: n.settings.baked, Arguments: n.program, Clock: n.clock}
	err := baked.Replace()
	n.warn(fmt.Sprintf("the baked program can't be run: %v", err))
	n.safely("launch", func() {
		e := n.event("launch")
		e.Level, e.Outcome, e.Path, e.Problem = event.Error, outcomeFailed, n.settings.baked, oneLine(err)
		n.record(e)
	})
	return launch.ExitOf(err)
}
