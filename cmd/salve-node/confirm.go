//go:build linux

package main

import (
	"context"
	"fmt"
)

// runConfirm says that the staged program, whose trial is running, does what it has to.
// It is for the program itself, or for what it has started.
func (n *node) runConfirm() int {
	e := n.event("confirm")
	trial, err := n.slot().Confirm(context.Background())
	e.Target = trial.Target
	if err != nil {
		e.Level, e.Outcome, e.Problem = levelOf(outcomeFailed), outcomeFailed, oneLine(err)
		n.record(e)
		n.warn("confirm: " + err.Error())
		return exitFailed
	}
	e.Outcome = outcomeConfirmed
	n.record(e)
	fmt.Fprintf(n.stdout, "%s is confirmed.\n", trial.Target)
	return exitDone
}
