package cause_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/cause"
)

// TestWhoLooksAtManyValuesNeedsMore: what is a cause among two values is a coincidence among eighty.
func TestWhoLooksAtManyValuesNeedsMore(t *testing.T) {
	for _, row := range []struct {
		others int
		want   []string
	}{{0, []string{"zone=1"}}, {400, []string{}}} {
		r := newRun(t)
		r.scenarios(20, 9, "zone", "1")
		r.scenarios(180, 18, "zone", "2")
		for i := range row.others {
			name := fmt.Sprint("a", i)
			for at := range r.rows.Outcomes {
				r.rows.Values[r.attribute(name)][at] = r.value(name, fmt.Sprint((at*7+i)%2))
			}
		}
		if got := names(r.find()[0].Candidates); !slices.Equal(got, row.want) {
			t.Errorf("beside %d attributes: %v, want %v", row.others, got, row.want)
		}
	}
}

func TestACandidateHasItsIntervals(t *testing.T) {
	r := newRun(t)
	r.scenarios(40, 30, "cluster", "A")
	r.scenarios(200, 4, "cluster", "B")
	c := r.find()[0].Candidates[0]
	for name, interval := range map[string]triage.Interval{"with": c.RateWith, "without": c.RateWithout} {
		want := map[string]float64{"with": 0.75, "without": 0.02}[name]
		if interval.Estimate != want || interval.Lower >= want || interval.Upper <= want {
			t.Errorf("rate %s: %+v, want %g", name, interval, want)
		}
	}
	if c.Coverage != 30.0/34 {
		t.Errorf("coverage %g", c.Coverage)
	}
}

func TestOneCauseHasNothingAboveIt(t *testing.T) {
	r := newRun(t)
	r.scenarios(40, 30, "cluster", "A")
	r.scenarios(200, 4, "cluster", "B")
	if found := r.find()[0]; strings.Contains(found.Text, "ogether") || strings.Contains(found.Text, "above") {
		t.Error(found.Text)
	}
}

func TestSmallGroupsAreNotLookedAt(t *testing.T) {
	r := newRun(t)
	r.scenarios(2, 2, "cluster", "A")
	r.scenarios(200, 0, "cluster", "B")
	found := r.find()[0]
	if found.Text != "too few failures to look for a cause: 2 of 5 needed" || len(found.Unjudged) > 0 ||
		found.Of(0) != -1 || found.Unexplained != 2 {
		t.Errorf("%+v", found)
	}
}

func TestALongListOfAttributesIsCut(t *testing.T) {
	r := newRun(t)
	pairs := []string{}
	for i := range 8 {
		pairs = append(pairs, fmt.Sprint("a", i), "same")
	}
	r.scenarios(100, 20, pairs...)
	found := r.find()[0]
	if len(found.Unjudged) != 1 || !strings.HasPrefix(found.Unjudged[0], "a0, a1, a2, a3, a4, a5 and 2 more: ") {
		t.Errorf("%q", found.Unjudged)
	}
}

func TestAliasesAreInOrder(t *testing.T) {
	r := newRun(t)
	r.scenarios(60, 50, "cluster", "A", "zone", "1", "image", "x")
	r.scenarios(100, 2, "cluster", "B", "region", "us", "image", "y")
	r.scenarios(100, 2, "cluster", "C", "region", "eu", "image", "z")
	c := r.find()[0].Candidates[0]
	all := append([]string{c.Attribute + "=" + c.Value}, c.Aliases...)
	slices.Sort(all)
	if !slices.Equal(all, []string{"cluster=A", "image=x", "region unknown", "zone=1"}) || !slices.IsSorted(c.Aliases) {
		t.Errorf("%s=%s (= %v)", c.Attribute, c.Value, c.Aliases)
	}
}

// TestWhatFailsByItselfIsNotExplained: of four bad clusters three are taken; nothing explains the fourth.
func TestWhatFailsByItselfIsNotExplained(t *testing.T) {
	r := newRun(t)
	for i, cluster := range []string{"A", "B", "C", "D"} {
		r.scenarios(40, 38-i, "cluster", cluster)
	}
	r.scenarios(400, 2, "cluster", "E")
	found := r.find()[0]
	if len(found.Candidates) != 3 || len(found.Explained) != 1 || found.Explained[0].Value != "D" ||
		found.Explained[0].ExplainedBy != "" {
		t.Errorf("%v, explained %+v", names(found.Candidates), found.Explained)
	}
}

// TestWhatNothingCanBeComparedInIsExplained: where all of the cause fails and nothing else does, a part of it adds
// nothing.
func TestWhatNothingCanBeComparedInIsExplained(t *testing.T) {
	r := newRun(t)
	r.scenarios(60, 60, "cluster", "A", "size", "large")
	r.scenarios(40, 40, "cluster", "A", "size", "small")
	r.scenarios(20, 20, "cluster", "A", "size", "tiny")
	r.scenarios(400, 0, "cluster", "B", "size", "huge")
	found := r.find()[0]
	var got []string
	for _, e := range found.Explained {
		got = append(got, e.Value+" by "+e.ExplainedBy)
	}
	want := []string{"large by cluster=A", "small by cluster=A", "tiny by cluster=A"}
	if !slices.Equal(names(found.Candidates), []string{"cluster=A"}) || !slices.Equal(got, want) {
		t.Errorf("%v, explained %v", names(found.Candidates), got)
	}
}

// TestExplainedValuesAreInOrder: by their failures, and then by name.
func TestExplainedValuesAreInOrder(t *testing.T) {
	r := newRun(t)
	r.scenarios(30, 30, "cluster", "A", "size", "b", "mode", "y")
	r.scenarios(30, 30, "cluster", "A", "size", "a", "mode", "y")
	r.scenarios(40, 40, "cluster", "A", "size", "c", "mode", "x")
	r.scenarios(400, 0, "cluster", "B", "size", "d", "mode", "z")
	var got []string
	for _, e := range r.find()[0].Explained {
		got = append(got, e.Attribute+"="+e.Value)
	}
	if want := []string{"mode=y", "mode=x", "size=c", "size=a", "size=b"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRowsThatDontFitAreRefused(t *testing.T) {
	for what, edit := range map[string]func(*cause.Rows){
		"fewer tests than rows":           func(r *cause.Rows) { r.Tests = r.Tests[1:] },
		"fewer columns than attributes":   func(r *cause.Rows) { r.Values = nil },
		"a test that can't be":            func(r *cause.Rows) { r.Tests[0] = 99 },
		"an outcome that can't be":        func(r *cause.Rows) { r.Outcomes[0] = -2 },
		"a column that is too short":      func(r *cause.Rows) { r.Values[0] = r.Values[0][1:] },
		"an attribute without an unknown": func(r *cause.Rows) { r.Attributes[0].Values[0] = "x" },
	} {
		r := newRun(t)
		r.scenarios(5, 2, "os", "linux")
		edit(&r.rows)
		if _, err := cause.Find(&r.rows, triage.Default()); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

// TestOtherGroupsCountAsLooks: among the values of many groups, a strange one is to be expected.
func TestOtherGroupsCountAsLooks(t *testing.T) {
	for _, row := range []struct {
		groups int
		want   []string
	}{{0, []string{"zone=1"}}, {300, []string{}}} {
		r := newRun(t)
		r.scenarios(20, 9, "zone", "1")
		r.scenarios(180, 18, "zone", "2")
		for group := range row.groups {
			for i := range 4 {
				r.scenario(fmt.Sprint("Test", group, "of", i), cause.Outcome(group+2), "zone", fmt.Sprint(1+i%2))
			}
		}
		if got := names(r.find()[0].Candidates); !slices.Equal(got, row.want) {
			t.Errorf("beside %d groups: %v, want %v", row.groups, got, row.want)
		}
	}
}
