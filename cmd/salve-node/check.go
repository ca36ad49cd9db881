//go:build linux

package main

import (
	"context"

	"salve/internal/hotfix/event"
	"salve/internal/hotfix/liveconfig"
)

// runCheck reads the pointer from the live service, and prints the event.
func (n *node) runCheck() int {
	e := n.check(context.Background())
	n.answer(e)
	return n.strictly(e)
}

// check asks the live service, and keeps the event of it.
func (n *node) check(ctx context.Context) event.Event {
	e := n.event("check")
	if n.authority().signed {
		e.Outcome, e.Problem = outcomeNotAsked, "the signed pointer alone says what is installed: "+n.settings.trustRoot+
			" is there"
		n.record(e)
		return e
	}
	n.learnCurrent(ctx)
	from := n.settings.live
	from.Clock = n.clock
	result := liveconfig.New(from).Check(ctx, n.settings.current, n.settings.pointer)
	e.Outcome, e.Level = string(result.Outcome), levelOfCheck(result.Outcome)
	if result.Decision.SchemaVersion != 0 {
		e.Reason, e.Target, e.Decision = string(result.Decision.Reason), result.Decision.Wanted(), &result.Decision
	}
	if result.Err != nil {
		e.Problem = oneLine(result.Err)
	}
	n.record(e)
	return e
}

// levelOfCheck: that nothing is published is information, not an error.
func levelOfCheck(outcome liveconfig.Outcome) event.Level {
	switch outcome {
	case liveconfig.LiveRead, liveconfig.NoHotfixForBase, liveconfig.NonePublished:
		return event.Information
	default:
		return event.Warning
	}
}
