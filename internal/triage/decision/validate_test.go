package decision_test

import (
	"math"
	"strings"
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/alternative"
	"salve/internal/triage/decision"
)

// TestEvidenceThatContradictsItselfIsRefused, as a file may hold it.
func TestEvidenceThatContradictsItselfIsRefused(t *testing.T) {
	for name, row := range map[string]struct {
		edit func(*decision.Evidence)
		want string // empty: it is valid
	}{
		"as it was made":    {func(*decision.Evidence) {}, ""},
		"as it was counted": {func(e *decision.Evidence) { *e = tooMany(*e) }, ""},
		"a signature that it lacks": {func(e *decision.Evidence) { e.Observed.Ways[0].Shows[0].Signature = 2 },
			"way 0 shows signature 2 of 2"},
		"a signature before the first": {func(e *decision.Evidence) { e.Observed.Ways[0].Shows[0].Signature = -1 },
			"way 0 shows signature -1 of 2"},
		"a signature twice": {func(e *decision.Evidence) {
			e.Observed.Ways[0].Shows = append(e.Observed.Ways[0].Shows, e.Observed.Ways[0].Shows[0])
		}, "way 0 shows signature 0 of 2"},
		"a way without failures": {func(e *decision.Evidence) { e.Observed.Ways[1].Failures = 0 }, "way 1 has 0 failures"},
		"a way without failures, and the scenarios aren't there": {func(e *decision.Evidence) {
			*e = tooMany(*e)
			e.Observed.Ways[1].Failures = 0
		}, "way 1 has 0 failures"},
		"other failures": {func(e *decision.Evidence) {
			e.Observed.Ways[1].Failures = 9
		}, "way 1 has 9 failures, and 12"},
		"scenarios of another way": {func(e *decision.Evidence) {
			e.Observed.Ways = e.Observed.Ways[:1]
		}, "failed in way 2 of 1"},
		"a group of no way": {func(e *decision.Evidence) {
			*e = tooMany(*e)
			e.Examined.Groups[0].Ways = nil
		}, "group 1: no way of failing"},
		"a group of a way that it lacks": {func(e *decision.Evidence) {
			*e = tooMany(*e)
			e.Examined.Groups[0].Ways = []int{0, 2}
		}, "group 1: way 2 of 2 is not there"},
		"a way twice": {func(e *decision.Evidence) {
			*e = tooMany(*e)
			e.Examined.Groups[0].Ways = []int{0, 0}
		}, "group 1: way 0 of 2 is not there, or is there twice"},
		"a way in no group": {func(e *decision.Evidence) {
			*e = tooMany(*e)
			e.Examined.Groups[0].Ways = []int{0}
		}, "way 1 is in no group"},
		"a class without a cause": {func(e *decision.Evidence) {
			*e = tooMany(*e)
			e.Examined.Groups[0].Classes = append(e.Examined.Groups[0].Classes, alternative.Stratum{})
		}, "group 1 has 1 causes and 2 classes"},
	} {
		e := outage()
		row.edit(&e)
		err := e.Validate()
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}

// TestWhatCantBeWorkedOutIsAnError, and no decision on nothing.
func TestWhatCantBeWorkedOutIsAnError(t *testing.T) {
	e := outage()
	e.Observed.Scenarios.Attributes[0].Values = nil
	if d, err := decision.Decide(e, triage.Default()); err == nil || len(d.Groups) > 0 {
		t.Errorf("%+v, %v", d, err)
	}
	_, _, err := decision.ReadBack(decision.Examined{With: map[string]float64{"alias": math.NaN()}})
	if err == nil || !strings.Contains(err.Error(), "recording what was seen") {
		t.Errorf("a number that is none was recorded: %v", err)
	}
	if _, err := decision.Read[decision.Past]([]byte(`{"now":7,"history":"none","hours":1,"runs":[],"occurrences":[],"sizes":null}`)); err == nil ||
		!strings.Contains(err.Error(), "reading back what was seen") {
		t.Errorf("%v", err)
	}
}
