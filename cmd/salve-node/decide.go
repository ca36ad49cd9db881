//go:build linux

package main

import "context"

// runDecide prints the decision.
func (n *node) runDecide() int {
	e := n.event("decide")
	_, decision := n.decide(context.Background())
	n.answer(decision)
	e.Outcome, e.Reason, e.Target, e.Decision = outcomeDecided, string(decision.Reason), decision.Wanted(), &decision
	e.Level = levelOfDecision(decision)
	n.record(e)
	return exitDone
}
