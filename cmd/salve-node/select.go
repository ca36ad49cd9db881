//go:build linux

package main

import (
	"context"
	"fmt"

	"salve/internal/hotfix"
	"salve/internal/hotfix/event"
	"salve/internal/hotfix/slot"
)

// runSelect prints the path of the program to run, and the reason on standard
// error.
func (n *node) runSelect() int {
	e := n.event("select")
	_, decision := n.decide(context.Background())
	choice := n.choose(decision, n.slot().Choose(decision), &e)
	fmt.Fprintln(n.stdout, choice.Path)
	e.Outcome = outcomeChosen
	n.record(e)
	return exitDone
}

// choose says why a program is chosen, and writes it into the event.
func (n *node) choose(decision hotfix.Decision, choice slot.Choice, e *event.Event) slot.Choice {
	e.Reason, e.Target, e.Path, e.Decision = string(choice.Reason), decision.Wanted(), choice.Path, &decision
	e.Level = worse(e.Level, levelOfDecision(decision))
	why := fmt.Sprintf("%s: %s", choice.Path, choice.Reason)
	switch {
	case choice.Reason == slot.NoHotfix:
		why += fmt.Sprintf(" (%s)", decision.Reason)
	case choice.Err != nil:
		e.Problem = oneLine(choice.Err)
		why += fmt.Sprintf(" (%s)", e.Problem)
	}
	if !choice.Staged() && choice.Reason != slot.NoHotfix {
		e.Level = worse(e.Level, event.Warning)
	}
	n.warn(why)
	return choice
}
