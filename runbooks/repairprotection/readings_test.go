package repairprotection_test

import (
	"encoding/json"
	"maps"
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
	recordedApplied = `{"what":{"applied":{"github":"api.github.com","revision":"5","digest":"d","time":"t","run":"r"},` +
		`"order":2,"unordered":"","diverged":false,"seen":"2026-11-24T12:00:00Z"},"begun":false}`
)

// TestEveryFieldOfAReadingIsAskedFor: without it the guard does not decide, and with another value it decides
// otherwise.
func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	in := repairprotection.Defaults()
	in.Revision, in.Digest, in.RemoveLeftovers = "5", "d", true
	in.Branches = []repairprotection.Planned{{Branch: "kube/widgets=main", Live: "l", Want: "w"}}
	book, err := repairprotection.Replayed(in, runbook.Target{})
	if err != nil {
		t.Fatal(err)
	}
	states := []string{
		`[` + recordedWrong + `]`, `[` + recordedBare + `]`, `[` + recordedRight + `]`, `[` + recordedLeftover + `]`,
	}
	var seen []string
	for _, state := range states {
		seen = append(seen, `{"what":`+state+`,"seen":"2026-11-24T12:00:00Z"}`)
	}
	demands := []string{
		`[{"Branch":{"Org":"kube","Repo":"widgets","Name":"main"},"Context":"docs","By":"","Why":"optional"}]`,
		`[{"Branch":{"Org":"kube","Repo":"widgets","Name":"main"},"Context":"docs","By":"job docs","Why":""}]`,
	}
	readings := map[string][]string{
		"no-protector-running": {
			`{"what":[{"What":"Job a","Image":"i","Passed":""}],"begun":false}`,
			`{"what":[{"What":"Job a","Image":"i","Passed":"old"}],"begun":false}`,
		},
		"protector-agrees": {
			`{"what":{"Seen":"2026-11-24T12:00:00Z","Deployed":{"a":"v1"},"Declared":{"a":"v1"},"Unread":false},"begun":false}`,
		},
		"configuration-not-older": {recordedApplied},
		"budget-suffices": {
			`{"what":{"Needed":100,"Reserve":0,"Left":{"Known":true,"Limit":5000,"Remaining":60,"Reset":` +
				`"2026-11-24T12:00:00Z","PausedUntil":"0001-01-01T00:00:00Z"}},"begun":false}`,
			`{"what":{"Needed":60,"Reserve":0,"Left":{"Known":true,"Limit":5000,"Remaining":60,"Reset":` +
				`"2026-11-24T12:00:00Z","PausedUntil":"0001-01-01T00:00:00Z"}},"begun":false}`,
		},
		"summary": seen, "protection-differs": states, "no-branch-unprotected": states, "protections-right": states,
		"leftovers-gone": states, "contexts-reported": demands, "branch-contexts-reported": demands,
		"pulls-free": {
			`[{"repository":"kube/widgets","number":7,"head":"h","waits":["docs"],"Free":false,"Reason":"not green","Missing":["docs"]}]`,
			`[{"repository":"kube/widgets","number":7,"head":"h","waits":["docs"],"Free":true,"Reason":"merged","Missing":[]}]`,
		},
		"as-planned": {recordedWrong, recordedRight, recordedLeftover, recordedOther, recordedPlanned},
	}
	const other, evidence = "another guard's", "for the evidence"
	state := func(prefix string, used ...string) map[string]string {
		rest := map[string]string{}
		for _, field := range []string{
			"branch", "kind", "gone", "right", "protected", "liveProtected", "fingerprint", "change", "unknown", "live", "want",
		} {
			rest[prefix+field] = other
		}
		for _, field := range used {
			delete(rest, prefix+field)
		}
		return rest
	}
	summary := state("what[].", "branch", "right", "fingerprint")
	maps.Copy(summary, map[string]string{"seen": evidence})
	unused := map[string]map[string]string{
		"summary": summary, "protection-differs": state("[].", "right"),
		"no-branch-unprotected": state("[].", "branch", "protected", "liveProtected"),
		"protections-right":     state("[].", "branch", "gone", "right", "change"),
		"leftovers-gone":        state("[].", "branch", "kind", "right"),
		"as-planned":            state("", "right", "protected", "unknown", "live", "want", "change"),
		"no-protector-running":  {}, "protector-agrees": {"begun": "it never defers", "what.Seen": evidence},
		"configuration-not-older": {"begun": "it never defers", "what.seen": evidence},
		"budget-suffices": {
			"what.Left.Known": "it is known, as it was asked", "what.Left.PausedUntil": "a pause is an error of reading",
		},
		"pulls-free": {"[].head": "it is read by it"},
	}
	for _, guard := range everyGuard(book) {
		t.Run(guard.Name, func(t *testing.T) {
			var raw []json.RawMessage
			for _, reading := range readings[guard.Name] {
				raw = append(raw, json.RawMessage(reading))
			}
			runbooktest.SweepReadings(t, guard, raw, unused[guard.Name])
		})
	}
}

// everyGuard is each guard and check of a runbook, and the preconditions of one branch.
func everyGuard(book runbook.Runbook) []runbook.Guard {
	all := append(append([]runbook.Guard{}, book.Guards...), book.Checks...)
	return append(all, book.Steps[1].Preconditions...)
}
