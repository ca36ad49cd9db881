package decision_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/decision"
	"salve/internal/triage/triagetest"
)

func outage() decision.Evidence                     { return triagetest.OutageEvidence() }
func regression() decision.Evidence                 { return triagetest.RegressionEvidence() }
func tooMany(e decision.Evidence) decision.Evidence { return triagetest.WithoutScenarios(e) }

// with are the usual thresholds with others by name.
func with(t *testing.T, values map[string]float64) triage.Thresholds {
	t.Helper()
	thresholds := triage.Default()
	for name, value := range values {
		var err error
		if thresholds, err = thresholds.With(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return thresholds
}

// TestWhatWasNotAskedIsLacking: no answer that isn't there is taken for an empty one.
func TestWhatWasNotAskedIsLacking(t *testing.T) {
	none := func(*decision.Evidence) {}
	for rule, row := range map[string]struct {
		evidence   decision.Evidence
		edit       func(*decision.Evidence)
		thresholds map[string]float64
		lacks      string // of the first group that lacks anything; empty for nothing
	}{
		"as asked":              {outage(), none, nil, ""},
		"a shorter time back":   {outage(), none, map[string]float64{"baseline": 6}, ""},
		"a longer time back":    {outage(), none, map[string]float64{"baseline": 25}, "more than 24 h before"},
		"without the signature": {outage(), none, map[string]float64{"signature-passing": 0}, "group g1-a"},
		"without a bad cluster": {outage(), none, map[string]float64{"causes": 0},
			"group g1-a together with others by signature pod-timeout, on scenarios that may run the change"},
		"answers were left out": {outage(), func(e *decision.Evidence) {
			e.Past.Runs, e.Past.Omitted = nil, "left out: they take too much"
		}, nil, "(left out: they take too much)"},
		"no history is an answer": {outage(), func(e *decision.Evidence) {
			e.Past = decision.Past{Now: triagetest.Noon(), History: decision.NoHistory}
			e.Observed.Baselines = nil
		}, nil, ""},
		"a baseline was asked beside no history": {outage(), func(e *decision.Evidence) {
			e.Past = decision.Past{Now: triagetest.Noon(), History: decision.NoHistory}
		}, nil, "what runs of other changes show of group g1-a"},
		"a history that can't know other changes": {outage(), func(e *decision.Evidence) {
			e.Past.History, e.Past.Runs, e.Observed.Baselines = decision.ChangeUnknown, nil, nil
		}, nil, ""},
		"occurrences by another rule": {regression(), func(e *decision.Evidence) {
			e.Past.Occurrences[0].Times = []time.Time{triagetest.Noon()}
		}, map[string]float64{"escalate": 4}, ""},
		"too many occurrences for another rule": {regression(), none, map[string]float64{"escalate": 4},
			"when g1-c was seen: it was more than 50 times"},
		"occurrences that nobody counted": {regression(), func(e *decision.Evidence) { e.Past.Occurrences = nil }, nil,
			"in how many runs g1-c was seen"},
		"the scenarios": {regression(), func(e *decision.Evidence) {
			e.Observed.Scenarios, e.Observed.Omitted = nil, "left out: they take too much"
		}, nil, "the scenarios (left out: they take too much)"},
		"scenarios that were counted with these thresholds": {tooMany(regression()), none,
			map[string]float64{"change-difference": 0.5}, ""},
		"scenarios that were counted with others": {tooMany(regression()), none, map[string]float64{"risk-ratio": 3},
			"the scenarios, which threshold risk-ratio takes"},
	} {
		t.Run(rule, func(t *testing.T) {
			row.edit(&row.evidence)
			d, err := decision.Decide(row.evidence, with(t, row.thresholds))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i := len(d.Groups) - 1; i >= 0; i-- {
				if g := d.Groups[i]; g.Lacks != "" {
					got = g.Lacks
					if g.Verdict != "" {
						t.Errorf("%s is %s all the same", g.Key, g.Verdict)
					}
				}
			}
			if row.lacks == "" && got != "" || !strings.Contains(got, row.lacks) {
				t.Errorf("lacks %q, want %q", got, row.lacks)
			}
			if (d.Lacks == "") != (got == "") || d.Lacks != "" && d.Verdict != "" {
				t.Errorf("the run lacks %q, and is %q", d.Lacks, d.Verdict)
			}
		})
	}
}

// TestHowManyScenariosTheJobHadIsLackingForOtherDays, and then nothing is said of the run.
func TestHowManyScenariosTheJobHadIsLackingForOtherDays(t *testing.T) {
	e := triagetest.FreshEvidence()
	if d := mustDecide(t, e); d.Aborted == nil || d.Aborted.Expected != 100 {
		t.Errorf("%+v", d.Aborted)
	}
	e.Past.Occurrences[0].Times = []time.Time{triagetest.Noon()}
	d, err := decision.Decide(e, with(t, map[string]float64{"escalate-days": 31}))
	if err != nil || d.Lacks != "how many scenarios the job had in 31 days" || d.Verdict != "" ||
		d.Groups[0].Verdict == "" {
		t.Errorf("%v: lacks %q, %q", err, d.Lacks, d.Verdict)
	}
}

// TestOccurrencesByTheirTimesAreThoseThatWereCounted: the answer and the times say the same of the rule that was asked,
// and the times say more.
func TestOccurrencesByTheirTimesAreThoseThatWereCounted(t *testing.T) {
	e := outage()
	counted := mustDecide(t, e).Groups[0].Occurrences
	e.Past.Occurrences[0].Rule.Calm = 2 // another rule: the times have to tell
	timed := mustDecide(t, e).Groups[0].Occurrences
	if *counted != *timed || counted.Count != 3 || counted.Escalated {
		t.Errorf("counted %+v, by their times %+v", counted, timed)
	}
	e.Observed.Signatures[0].Escalation.Count = 3
	if o := mustDecide(t, e).Groups[0].Occurrences; !o.Escalated || o.Threshold != 3 {
		t.Errorf("%+v", o)
	}
}

// TestNothingButItsOwnThresholdsTakesTheScenarios: a record without them is decided as one with them, by all thresholds
// that are not said to take part in examining.
func TestNothingButItsOwnThresholdsTakesTheScenarios(t *testing.T) {
	for name, whole := range map[string]decision.Evidence{
		"outage": outage(), "regression": regression(), "fresh": triagetest.FreshEvidence(),
		"suspect": triagetest.SuspectEvidence(), "broken": triagetest.BrokenEvidence(),
	} {
		left := tooMany(whole)
		whole.Observed.Omitted = left.Observed.Omitted
		for _, n := range triage.Default().Named() {
			for _, value := range []float64{n.Least, n.Value * 2, n.Value / 2, n.Most} {
				thresholds, err := triage.Default().With(n.Name, value)
				if err != nil {
					continue
				}
				want, err := decision.Decide(whole, thresholds)
				if err != nil {
					t.Fatal(err)
				}
				got, err := decision.Decide(left, thresholds)
				if err != nil {
					t.Fatal(err)
				}
				_, takes := left.Examined.With[n.Name]
				if takes {
					if lacking := strings.Contains(got.Lacks, "which threshold "+n.Name+" takes"); lacking == (value == n.Value) {
						t.Errorf("%s, %s of %g: lacks %q", name, n.Name, value, got.Lacks)
					}
					continue
				}
				if !bytes.Equal(encoded(t, want), encoded(t, got)) {
					t.Errorf("%s, %s of %g:\n%s\nand without the scenarios\n%s", name, n.Name, value, encoded(t, want),
						encoded(t, got))
				}
			}
		}
	}
}

func encoded(t *testing.T, d decision.Decision) []byte {
	t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func mustDecide(t *testing.T, e decision.Evidence) decision.Decision {
	t.Helper()
	d, err := decision.Decide(e, triage.Default())
	if err != nil {
		t.Fatal(err)
	}
	return d
}
