package rescuepods

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

// TestTwoPersons are asked for above the cap, and are two wherever one is named.
func TestTwoPersons(t *testing.T) {
	reading := func(strays, home int) *stranded.Reading {
		seen := &stranded.Reading{Stranded: make([]stranded.Misplaced, strays), Expected: make([]stranded.Pod, home)}
		for i := range seen.Expected {
			seen.Expected[i].Phase = corev1.PodRunning
		}
		return seen
	}
	by := func(approver, planner string) Prow {
		return Prow{ApprovedList: "0123456789abcdef", ApprovedBy: approver, Planner: planner}
	}
	const yes, no, unknown = runbook.AnswerHolds, runbook.AnswerDoesNotHold, runbook.AnswerUnknown
	for rule, row := range map[string]struct {
		seen   *stranded.Reading
		prow   Prow
		answer runbook.Answer
		says   string
	}{
		"below the cap one person is enough": {reading(500, 500), Prow{}, yes, "one person may delete 500 and 50 %"},
		"above it in number":                 {reading(501, 900), Prow{}, no, "--approved-by WHO"},
		"above it in share":                  {reading(2, 1), Prow{}, no, "2 of 3 pods"},
		"a digest alone is one person's": {reading(501, 900), Prow{ApprovedList: "0123456789abcdef"}, no,
			"second person"},
		"a second person": {reading(501, 900), by("jo", "sam"), yes,
			"sam made the run; by the command line jo approved"},
		"the same person": {reading(501, 900), by("sam", "sam"), no, "that is one person"},
		"the same person, written in another way": {reading(501, 900), by("Sam@example.com", "sam"), no,
			"that is one person"},
		"the same person, below the cap":           {reading(1, 900), by("sam", "sam"), no, "that is one person"},
		"nobody knows who runs it":                 {reading(501, 900), by("jo", ""), unknown, "export USER"},
		"nobody knows who runs it, below the cap":  {reading(1, 900), by("jo", ""), unknown, "export USER"},
		"nothing is stranded, and nothing is home": {reading(0, 0), Prow{}, yes, ""},
	} {
		got := twoPersons(tallyOf(row.seen), row.prow)
		if got.Answer != row.answer || !strings.Contains(got.Reason, row.says) ||
			row.answer == no && got.Outcome != runbook.NeedsAttention {
			t.Errorf("%s: %+v", rule, got)
		}
	}
	r := &rescue{in: Inputs{}, prow: &prowPods{}}
	if !r.twoPersons().NotOverridable {
		t.Error("two persons can be overridden by one")
	}
}

// TestTheRecordKnowsWhoPlanned: who goes on with a run does not become its planner.
func TestTheRecordKnowsWhoPlanned(t *testing.T) {
	asked := Prow{ApprovedList: "0123456789abcdef", ApprovedBy: "jo"}
	begun := asked.plannedBy("sam")
	if begun.Planner != "sam" || begun.plannedBy("jo").Planner != "sam" || (Prow{}).plannedBy("sam") != (Prow{}) {
		t.Errorf("%+v, then %+v", begun, begun.plannedBy("jo"))
	}
	for what, prow := range map[string]Prow{
		"who, and not what":      {Proven: 1, MaxShare: 50, ApprovedBy: "jo"},
		"a name with a space":    {Proven: 1, MaxShare: 50, ApprovedList: "a", ApprovedBy: "jo and sam"},
		"a name that is nothing": {Proven: 1, MaxShare: 50, ApprovedList: "a", ApprovedBy: " "},
	} {
		if err := prow.validate(); err == nil || !strings.Contains(err.Error(), "--approved-by") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
