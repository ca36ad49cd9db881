package repairprotection_test

import (
	"slices"
	"strings"
	"testing"

	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/repairprotection"
)

const (
	recordedWrong = `{"branch":"kube/widgets=main","kind":"protect","gone":false,"right":false,"protected":true,` +
		`"liveProtected":true,"fingerprint":true,"change":"unit","unknown":["robots"],"live":"l","want":"w"}`
	recordedPlanned = `{"branch":"kube/widgets=main","kind":"protect","gone":false,"right":false,"protected":true,` +
		`"liveProtected":true,"fingerprint":false,"change":"unit","unknown":[],"live":"l","want":"y"}`
	recordedBare = `{"branch":"kube/widgets=main","kind":"protect","gone":false,"right":false,"protected":false,` +
		`"liveProtected":true,"fingerprint":false,"change":"","unknown":[],"live":"x","want":"y"}`
	recordedRight = `{"branch":"kube/widgets=main","kind":"leftover","gone":true,"right":true,"protected":true,` +
		`"liveProtected":true,"fingerprint":false,"change":"","unknown":[],"live":"l","want":"w"}`
	recordedLeftover = `{"branch":"kube/widgets=main","kind":"leftover","gone":false,"right":false,"protected":true,` +
		`"liveProtected":true,"fingerprint":false,"change":"unit","unknown":[],"live":"x","want":"w"}`
	recordedOther = `{"branch":"kube/widgets=main","kind":"protect","gone":false,"right":false,"protected":true,` +
		`"liveProtected":true,"fingerprint":false,"change":"unit","unknown":[],"live":"x","want":"y"}`
	recordedRestored = `{"branch":"kube/widgets=main","kind":"restore","gone":false,"right":true,"protected":true,` +
		`"liveProtected":true,"fingerprint":false,"change":"","unknown":[],"live":"w","want":"w"}`
	recordedApplied = `{"what":{"applied":{"github":"api.github.com","revision":"5","digest":"d","time":"t","run":"r"},` +
		`"order":2,"unordered":"","diverged":false,"seen":"2026-11-24T12:00:00Z"},"begun":false}`
)

// TestEveryFieldOfAReadingIsAskedFor: without it the guard does not decide, and with another value it decides
// otherwise.
func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	in := repairprotection.Defaults()
	in.Revision, in.Digest, in.RemoveLeftovers = "5", "d", true
	in.AllowUnprotect = map[string]string{"kube/attic=main": "nobody uses it"}
	in.Branches = []repairprotection.Planned{{Branch: "kube/widgets=main", Live: "l", Want: "w"}}
	book, err := repairprotection.Replayed(in, runbook.Target{})
	if err != nil {
		t.Fatal(err)
	}
	states := []string{
		`[` + recordedWrong + `]`, `[` + recordedBare + `]`, `[` + recordedRight + `]`, `[` + recordedLeftover + `]`,
	}
	allowed := append([]string{`[` + strings.ReplaceAll(recordedBare, "widgets", "attic") + `]`}, states...)
	var seen []string
	for _, state := range states {
		seen = append(seen, `{"what":`+state+`,"seen":"2026-11-24T12:00:00Z"}`)
	}
	planned := []string{recordedWrong, recordedRight, recordedLeftover, recordedOther, recordedPlanned}
	demanded := runbooktest.Row{Said: []string{"[].Branch", "[].Context", "[].Why"}, Readings: []string{
		`[{"Branch":{"Org":"kube","Repo":"widgets","Name":"main"},"Context":"docs","By":"","Why":"optional"}]`,
		`[{"Branch":{"Org":"kube","Repo":"widgets","Name":"main"},"Context":"docs","By":"job docs","Why":""}]`,
	}}
	summary := branchRow("what[].", []string{"right", "fingerprint", "branch"}, []string{"live", "want"}, seen)
	summary.Said, summary.Evidence = append(summary.Said, "what"), append(summary.Evidence, "seen") // it stops nothing
	runbooktest.SweepGuards(t, runbooktest.Rows{
		"no-protector-running": protectorRunning(), "budget-suffices": budgetLeft(),
		"protector-agrees": {
			Readings: []string{
				`{"what":{"Seen":"2026-11-24T12:00:00Z","Deployed":{"a":"v1"},"Declared":{"a":"v1"},"Unread":false},"begun":false}`,
			},
			Evidence: []string{"what.Seen"},
			Unused:   map[string]string{"begun": "it never defers"},
		},
		"configuration-not-older": {
			Readings: []string{recordedApplied},
			Said:     []string{"what.applied.revision", "what.applied.time", "what.applied.run"},
			Evidence: []string{"what.seen"},
			Unused:   map[string]string{"begun": "it never defers"},
		},
		"summary":               summary,
		"protection-differs":    branchRow("[].", nil, nil, states, "right"),
		"no-branch-unprotected": branchRow("[].", nil, nil, allowed, "branch", "protected", "liveProtected"),
		"protections-right":     branchRow("[].", []string{"branch", "change"}, nil, states, "gone", "right"),
		"leftovers-gone":        branchRow("[].", []string{"branch"}, nil, states, "kind", "right"),
		"as-planned":            asPlannedRow(planned),
		"contexts-reported":     demanded, "branch-contexts-reported": demanded,
		"pulls-free": {
			Readings: []string{
				`[{"repository":"kube/widgets","number":7,"head":"h","waits":["docs"],"Free":false,"Reason":"not green","Missing":["docs"]}]`,
				`[{"repository":"kube/widgets","number":7,"head":"h","waits":["docs"],"Free":true,"Reason":"merged","Missing":[]}]`,
				`[{"repository":"kube/widgets","number":7,"head":"h","waits":["docs"],"Free":false,"Reason":"a review","Missing":[]}]`,
			},
			Said:   []string{"[].repository", "[].number"},
			Unused: map[string]string{"[].head": "it is read by it"},
		},
	}, book)
}

// TestEveryFieldOfAReadingIsAskedForByTheUndo in the same way.
func TestEveryFieldOfAReadingIsAskedForByTheUndo(t *testing.T) {
	in := repairprotection.UndoDefaults()
	in.Run, in.AllowUnprotect = "run-1", map[string]string{"kube/attic=main": "nobody uses it"}
	in.Branches = []repairprotection.Restored{
		{At: 0, Planned: repairprotection.Planned{Branch: "kube/widgets=main", Live: "l", Want: "w"}},
	}
	book, err := repairprotection.ReplayedUndo(in, runbook.Target{})
	if err != nil {
		t.Fatal(err)
	}
	states := []string{`[` + recordedWrong + `]`, `[` + recordedBare + `]`, `[` + recordedRestored + `]`}
	allowed := append([]string{`[` + strings.ReplaceAll(recordedBare, "widgets", "attic") + `]`}, states...)
	var seen []string
	for _, state := range states {
		seen = append(seen, `{"what":`+state+`,"seen":"2026-11-24T12:00:00Z"}`)
	}
	summary := branchRow("what[].", nil, []string{"branch", "live", "want"}, seen)
	summary.Said, summary.Evidence = append(summary.Said, "what"), append(summary.Evidence, "seen") // it stops nothing
	planned := []string{recordedWrong, recordedRestored, recordedOther, recordedPlanned}
	runbooktest.SweepGuards(t, runbooktest.Rows{
		"no-protector-running": protectorRunning(), "budget-suffices": budgetLeft(), "summary": summary,
		"protection-differs":    branchRow("[].", nil, nil, states, "right"),
		"no-branch-unprotected": branchRow("[].", nil, nil, allowed, "branch", "protected", "liveProtected"),
		"protections-right":     branchRow("[].", []string{"branch", "change"}, nil, states, "gone", "right"),
		"as-planned":            asPlannedRow(planned),
	}, book)
}

func protectorRunning() runbooktest.Row {
	return runbooktest.Row{Said: []string{"what[].What", "what[].Image"}, Readings: []string{
		`{"what":[{"What":"Job a","Image":"i","Passed":""}],"begun":false}`,
		`{"what":[{"What":"Job a","Image":"i","Passed":"old"}],"begun":false}`,
	}}
}

func budgetLeft() runbooktest.Row {
	return runbooktest.Row{
		Readings: []string{
			`{"what":{"Needed":100,"Reserve":0,"Left":{"Known":true,"Limit":5000,"Remaining":60,"Reset":` +
				`"2026-11-24T12:00:00Z","PausedUntil":"0001-01-01T00:00:00Z"}},"begun":false}`,
			`{"what":{"Needed":60,"Reserve":0,"Left":{"Known":true,"Limit":5000,"Remaining":60,"Reset":` +
				`"2026-11-24T12:00:00Z","PausedUntil":"0001-01-01T00:00:00Z"}},"begun":false}`,
		},
		Said: []string{"what.Left.Reset"},
		Unused: map[string]string{
			"what.Left.Known": "it is known, as it was asked", "what.Left.PausedUntil": "a pause is an error of reading",
		},
	}
}

func asPlannedRow(readings []string) runbooktest.Row {
	row := branchRow("", []string{"change"}, nil, readings, "right", "protected", "unknown", "live", "want")
	row.Said = append(row.Said, "unknown[]")
	return row
}

// branchRow is the row of a guard that decides by branches. All of them share the reading: what is not named is
// another guard's.
func branchRow(prefix string, said, evidence, readings []string, decides ...string) runbooktest.Row {
	row := runbooktest.Row{Readings: readings, Unused: map[string]string{}}
	for _, field := range []string{
		"branch", "kind", "gone", "right", "protected", "liveProtected", "fingerprint", "change", "unknown", "live", "want",
	} {
		switch {
		case slices.Contains(decides, field):
		case slices.Contains(said, field):
			row.Said = append(row.Said, prefix+field)
		case slices.Contains(evidence, field):
			row.Evidence = append(row.Evidence, prefix+field)
		default:
			row.Unused[prefix+field] = "all guards of the branches share the reading"
		}
	}
	return row
}
