package replay

import (
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/decision"
)

// decided is a group of which each rule came to something.
func decided(edit func(*decision.Group)) *decision.Group {
	g := &decision.Group{
		Key: "g1-a", Ways: []int{0}, Failures: 9, Verdict: triage.KnownInfrastructure, Confidence: triage.Medium,
		Flakiness: triage.FlakinessUnknown, Decisive: "timeout",
		Cause: triage.Cause{State: "found", Candidates: []triage.Candidate{{Attribute: "cluster", Value: "a"}}},
		Alternative: triage.Alternative{State: "refuted", Checks: []triage.ChangeCheck{
			{Name: "unreachable", Stance: triage.Refutes}, {Name: "dose", Stance: triage.Open},
		}},
		Baseline:    triage.BaselineSays{Answer: triage.PreExisting},
		Occurrences: &triage.Occurrences{Count: 7, Escalated: true},
	}
	edit(g)
	return g
}

// TestTheFirstRuleThatDiffersIsTold, in the order in which rules come to bear.
func TestTheFirstRuleThatDiffersIsTold(t *testing.T) {
	edits := []struct {
		want string
		edit func(*decision.Group)
	}{
		{"confidence: medium → low", func(g *decision.Group) { g.Confidence = triage.Low }},
		{"verdict: known-infrastructure → undecided", func(g *decision.Group) { g.Verdict = triage.Undecided }},
		{"escalated: yes → no", func(g *decision.Group) { g.Occurrences = nil }},
		{"baseline: pre-existing-same-reason → new", func(g *decision.Group) { g.Baseline.Answer = triage.NewFailure }},
		{"this change?: refuted → open", func(g *decision.Group) { g.Alternative.State = "open" }},
		{"this change? dose: open → supports", func(g *decision.Group) { g.Alternative.Checks[1].Stance = triage.Supports }},
		{"this change? unreachable: refutes → open", func(g *decision.Group) {
			g.Alternative.Checks[0].Stance = triage.Open
		}},
		{"cause state: found → undecided", func(g *decision.Group) { g.Cause.State = "undecided" }},
		{"cause: cluster=a → cluster=a and zone=(unknown)", func(g *decision.Group) {
			g.Cause.Candidates = append(g.Cause.Candidates, triage.Candidate{Attribute: "zone"})
		}},
		{"flakiness: unknown → flaky", func(g *decision.Group) { g.Flakiness = triage.Flaky }},
		{"signature that decides: timeout → none", func(g *decision.Group) { g.Decisive = "" }},
		{"ways of failing: 1 → 2", func(g *decision.Group) { g.Ways = []int{0, 1} }},
	}
	now := decided(func(*decision.Group) {})
	if got := difference(now, now); got != (Difference{}) {
		t.Errorf("the same: %s", got)
	}
	for i, row := range edits {
		if got := difference(decided(func(*decision.Group) {}), decided(row.edit)); got.String() != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
		row.edit(now) // one rule after the other: the last one comes to bear first
		if got := difference(decided(func(*decision.Group) {}), now); i != 1 && got.String() != row.want {
			t.Errorf("with those before it: %q, want %q", got, row.want)
		}
	}
	without := decided(func(g *decision.Group) { g.Alternative = triage.Alternative{State: "no-change"} })
	if got := difference(decided(func(*decision.Group) {}), without); got.Rule != "this change?" {
		t.Errorf("checks that were not asked: %q", got)
	}
	brief := &decision.Group{Key: "g1-a", Verdict: triage.New}
	if got := difference(brief, decided(func(*decision.Group) {})); got.Rule != "verdict" {
		t.Errorf("of a group of which the verdict alone is kept: %q", got)
	}
}

// TestAThresholdAloneMakesTheDifferenceIfTheVerdictIsTheSame, or what differs first where the verdict doesn't.
func TestAThresholdAloneMakesTheDifferenceIfTheVerdictIsTheSame(t *testing.T) {
	diverged := func(v triage.Verdict) Group { return Group{State: Diverged, Now: &Brief{Verdict: v}} }
	reworded := func(to string) Group { return Group{State: Reworded, First: &Difference{"confidence", "high", to}} }
	for name, row := range map[string]struct {
		both, alone Group
		want        bool
	}{
		"the same verdict":              {diverged(triage.New), diverged(triage.New), true},
		"another verdict":               {diverged(triage.New), diverged(triage.Undecided), false},
		"as recorded":                   {diverged(triage.New), Group{State: Same}, false},
		"no group of its own any more":  {Group{State: Diverged}, Group{State: Diverged}, true},
		"a group, and none":             {Group{State: Diverged}, diverged(triage.New), false},
		"the same confidence":           {reworded("low"), reworded("low"), true},
		"another confidence":            {reworded("low"), reworded("medium"), false},
		"reworded, and as recorded":     {reworded("low"), Group{State: Same}, false},
		"a verdict for other words":     {reworded("low"), diverged(triage.New), false},
		"nothing that differs to begin": {Group{State: Reworded}, reworded("low"), false},
	} {
		if got := row.both.like(row.alone); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAGroupOfAnotherRecordHasNoPlace: what is said of ways that there are not is no group of this evidence.
func TestAGroupOfAnotherRecordHasNoPlace(t *testing.T) {
	strange := func(ways ...int) decision.Group { return decision.Group{Key: "g1-z", Ways: ways, Verdict: triage.New} }
	for _, ways := range [][]int{nil, {-1}, {7}} {
		c := comparison{
			said: decision.Decision{Groups: []decision.Group{strange(ways...)}}, ways: []decision.Way{{Message: "no pod"}},
		}
		g := c.groups()[0]
		if g.State != Diverged || g.Now != nil || g.Message != "" || g.reason() != "group g1-z: new → no group" {
			t.Errorf("ways %v: %+v: %s", ways, g, g.reason())
		}
	}
	c := comparison{
		said: decision.Decision{Groups: []decision.Group{strange(0)}},
		ways: []decision.Way{{Message: "no pod"}},
	}
	if g := c.groups()[0]; g.Message != "no pod" {
		t.Errorf("%+v", g)
	}
}
