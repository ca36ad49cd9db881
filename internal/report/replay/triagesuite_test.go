package replay_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"salve/internal/report/replay"
	triage "salve/internal/triage/replay"
)

// TestASuiteHasTriagesBesideRuns: one test suite of its own for them, and what diverged is a failure.
func TestASuiteHasTriagesBesideRuns(t *testing.T) {
	item := func(name string, result triage.Result, err error) replay.Item {
		return replay.Item{Name: name, Triage: func() (triage.Result, error) { return result, err }}
	}
	suite := replay.RunSuite([]replay.Item{
		item("same.triage", triage.Result{Verdict: triage.Same}, nil),
		item("diverged.triage", triage.Result{Verdict: triage.Diverged, Reason: "group g1-a: new → undecided"}, nil),
		item("lacking.triage", triage.Result{Verdict: triage.Unreplayable, Reason: "the scenarios"}, nil),
		item("spoiled.triage", triage.Result{}, errors.New("invalid triage record: it was cut")),
	})
	if suite.Failed() != 3 || !suite.Cases[0].Passed() || suite.Cases[1].Verdict() != replay.Diverged ||
		len(suite.NeverRefused) > 0 {
		t.Errorf("%d failed: %+v, never refused %v", suite.Failed(), suite.Cases, suite.NeverRefused)
	}
	var out bytes.Buffer
	if err := suite.JUnit(&out); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`<testsuite name="triage" tests="3" failures="1" errors="1">`,
		`<testcase classname="triage" name="same.triage"></testcase>`,
		`<failure message="group g1-a: new → undecided"></failure>`, `<error message="unreplayable: the scenarios"></error>`,
		`<testsuite name="unreadable" tests="1" failures="0" errors="1">`,
		`<error message="invalid triage record: it was cut"></error>`,
	} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("JUnit does not have %s:\n%s", part, out.String())
		}
	}
}
