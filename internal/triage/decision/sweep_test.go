package decision_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/decision"
	"salve/internal/triage/triagetest"
	"salve/runbook"
	"salve/runbook/runbooktest"
)

// asGuard is the decision in the form of a guard's, which can be swept. Its outcome is all that is decided.
func asGuard() runbook.Guard {
	read := func(context.Context, runbook.Run) (decision.Evidence, error) { return decision.Evidence{}, nil }
	return runbook.Ask("triage", "?", read, func(e decision.Evidence) runbook.Finding {
		d, err := decision.Decide(e, triage.Default())
		if err != nil {
			return runbook.Unknown(err)
		}
		if d.Lacks != "" {
			return runbook.Unread(d.Lacks)
		}
		raw, err := json.Marshal(d)
		if err != nil {
			return runbook.Unknown(err)
		}
		return runbook.Yes("decided").WithOutcome(runbook.Outcome(raw))
	})
}

// unused are the fields that no decision with the usual thresholds takes, with the reason why they are recorded.
func unused() map[string]string {
	return map[string]string{
		"observed.counts.tests":                     "what the document counts; a reader of the record wants it",
		"observed.ways[].message":                   "by which a reader knows the group",
		"observed.omitted":                          "the reason for what is lacking, in words",
		"past.now":                                  "up to when occurrences are counted, by another rule",
		"past.occurrences[].times":                  "for another rule",
		"examined.groups[].outside.label":           "named where it is compared",
		"examined.groups[].outside.passedUnknown":   "counted as the others are; no check takes it",
		"examined.groups[].classes[].passedUnknown": "counted as the others are; no check takes it",
	}
}

// TestEachFieldOfTheEvidenceIsNeeded: without it nothing is decided, and another value of it is another decision.
func TestEachFieldOfTheEvidenceIsNeeded(t *testing.T) {
	var readings []string
	evidence := triagetest.Evidence()
	for _, name := range slices.Sorted(maps.Keys(evidence)) {
		if err := evidence[name].Validate(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, raw, err := decision.ReadBack(evidence[name])
		if err != nil {
			t.Fatal(err)
		}
		readings = append(readings, string(raw))
	}
	runbooktest.SweepGuards(t, runbooktest.Rows{"triage": {Readings: readings, Unused: unused()}},
		runbook.Runbook{Guards: []runbook.Guard{asGuard()}})
}

// TestEvidenceIsAValue that is the same when it is read back.
func TestEvidenceIsAValue(t *testing.T) {
	for name, e := range triagetest.Evidence() {
		back, raw, err := decision.ReadBack(e)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, again, err := decision.ReadBack(back)
		if err != nil || string(raw) != string(again) {
			t.Errorf("%s: %v\n%s\n%s", name, err, raw, again)
		}
		want, err := json.Marshal(mustDecide(t, e))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(mustDecide(t, back)); err != nil || string(got) != string(want) {
			t.Errorf("%s: read back: %v\n%s\n%s", name, err, got, want)
		}
	}
	var lacking *decision.LackingError
	if _, err := decision.Read[decision.Evidence](json.RawMessage(`{"observed":{}}`)); !errors.As(err, &lacking) ||
		lacking.What != "observed.counts" {
		t.Errorf("%v", err)
	}
}
