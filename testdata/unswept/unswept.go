// Package unswept has guards of which some have no row in a sweep.
package unswept

import (
	"context"

	"salve/runbook"
)

func read(context.Context, runbook.Run) (bool, error) { return true, nil }

func decide(seen bool) runbook.Finding { return runbook.Yes("%v", seen) }

func guard(name string) runbook.Guard { return runbook.Ask(name, "?", read, decide) }

const constant = "const" + "ant"

// Guards are all of them.
func Guards(name string) []runbook.Guard {
	return []runbook.Guard{
		runbook.Ask("swept", "?", read, decide),
		runbook.Ask("no-row", "?", read, decide),
		runbook.Ask("row-of-something-else", "?", read, decide),
		guard("by-another"),
		guard(constant),
		guard(name + "-of-many"),
		{Name: "decides-while-it-reads", Evaluate: func(context.Context, runbook.Run) runbook.Finding { return decide(true) }},
	}
}

// Replayed is swept.
func Replayed() (runbook.Runbook, error) { return runbook.Runbook{}, nil }

// ReplayedUndo is not.
func ReplayedUndo() (runbook.Runbook, error) { return runbook.Runbook{}, nil }
