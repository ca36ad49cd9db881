package decision

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/cause"
)

// row is scenarios that are alike: how many, whether they fail, run the change, and where they ran.
type row struct {
	count int
	way   cause.Outcome
	reach Reach
	place string
}

// ran is evidence of scenarios of one attribute, with a change.
func ran(attribute string, lists ...row) Observed {
	rows := &cause.Rows{
		Attributes: []cause.Attribute{{Name: attribute, Values: []string{""}}},
		Values:     make([][]uint32, 1),
	}
	var reach []Reach
	o := Observed{Change: &Change{Files: 1}}
	for _, list := range lists {
		value := slices.Index(rows.Attributes[0].Values, list.place)
		if value < 0 {
			value = len(rows.Attributes[0].Values)
			rows.Attributes[0].Values = append(rows.Attributes[0].Values, list.place)
		}
		for range list.count {
			rows.Outcomes, rows.Tests = append(rows.Outcomes, list.way), append(rows.Tests, len(rows.Tests))
			rows.Values[0], reach = append(rows.Values[0], uint32(value)), append(reach, list.reach)
		}
		for len(o.Ways) < int(list.way) {
			o.Ways = append(o.Ways, Way{Key: "g1-" + string(rune('a'+len(o.Ways)))})
		}
		if list.way > 0 {
			o.Ways[list.way-1].Failures += list.count
			o.Ways[list.way-1].Finished += list.count
		}
	}
	o.Scenarios = Count(rows, reach, triage.Default())
	return o
}

func examined(t *testing.T, o Observed) []ExaminedGroup {
	t.Helper()
	x, err := Examine(o, triage.Default())
	if err != nil {
		t.Fatal(err)
	}
	return x.Groups
}

// TestAPlaceConfinesWhatHardlyAnythingElseRanOn: what is bad there can't be told apart from the change.
func TestAPlaceConfinesWhatHardlyAnythingElseRanOn(t *testing.T) {
	elsewhere := row{60, 0, No, "b"}
	for rule, test := range map[string]struct {
		attribute string
		rows      []row
		want      string
	}{
		"all failures ran on one, and nothing else": {"cluster", []row{{8, 1, Yes, "a"}, elsewhere}, "cluster=a"},
		"nearly all":                    {"cluster", []row{{8, 1, Yes, "a"}, {2, 1, Yes, "b"}, elsewhere}, "cluster=a"},
		"too few of them":               {"cluster", []row{{7, 1, Yes, "a"}, {3, 1, Yes, "b"}, elsewhere}, ""},
		"of those of which it is known": {"cluster", []row{{8, 1, Yes, "a"}, {20, 1, Yes, ""}, elsewhere}, "cluster=a"},
		"of none it is known":           {"cluster", []row{{8, 1, Yes, ""}, elsewhere}, ""},
		"two that don't run the change passed there": {"cluster", []row{{8, 1, Yes, "a"}, {2, 0, No, "a"}, elsewhere},
			"cluster=a"},
		"three did":                     {"cluster", []row{{8, 1, Yes, "a"}, {3, 0, No, "a"}, elsewhere}, ""},
		"three of which nobody knows":   {"cluster", []row{{8, 1, Yes, "a"}, {3, 0, Unknown, "a"}, elsewhere}, "cluster=a"},
		"three that failed another way": {"cluster", []row{{8, 1, Yes, "a"}, {3, 2, No, "a"}, elsewhere}, "cluster=a"},
		"it is no place":                {"os", []row{{8, 1, Yes, "a"}, elsewhere}, ""},
	} {
		if got := examined(t, ran(test.attribute, test.rows...))[0].Confined; got != test.want {
			t.Errorf("%s: %q, want %q", rule, got, test.want)
		}
	}
	o := ran("cluster", row{8, 1, Yes, "a"}, elsewhere)
	o.Change = nil
	if g := examined(t, o)[0]; g.Confined != "" || g.Outside.PassedNoReach+g.Outside.FailedReach > 0 {
		t.Errorf("without a change: %+v", g)
	}
}

// TestScenariosThatAreNotThereAreLacking, but for a run in which none failed.
func TestScenariosThatAreNotThereAreLacking(t *testing.T) {
	_, err := Examine(Observed{Ways: []Way{{Failures: 1}}, Omitted: "left out"}, triage.Default())
	if err == nil || err.Error() != "unreplayable: the record does not have the scenarios (left out)" {
		t.Errorf("%v", err)
	}
	if got := examined(t, Observed{}); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// TestPlacesAreKnownByTheLastWordOfTheirName.
func TestPlacesAreKnownByTheLastWordOfTheirName(t *testing.T) {
	for _, place := range strings.Fields("cluster region zone location datacenter pool nodepool node host hostname " +
		"runner agent machine subscription account network shard site") {
		for _, name := range []string{place, strings.ToUpper(place), "e2e." + place, "azure/" + place, "test " + place} {
			if !surroundings(name) {
				t.Errorf("%q is no place", name)
			}
		}
	}
	for _, name := range []string{"", "-", "os", "cluster-version", "node.os", "clusters", "bootstrap"} {
		if surroundings(name) {
			t.Errorf("%q is a place", name)
		}
	}
}

// TestCausesAreAPlaceIfAllTheirNamesAre, also those that can't be told apart.
func TestCausesAreAPlaceIfAllTheirNamesAre(t *testing.T) {
	candidate := func(attribute string, aliases ...string) triage.Candidate {
		return triage.Candidate{Attribute: attribute, Aliases: aliases}
	}
	for rule, row := range map[string]struct {
		candidates []triage.Candidate
		want       bool
	}{
		"no cause":                         {nil, false},
		"a cluster":                        {[]triage.Candidate{candidate("cluster")}, true},
		"a cluster and an image":           {[]triage.Candidate{candidate("cluster"), candidate("image")}, false},
		"a cluster of one region":          {[]triage.Candidate{candidate("cluster", "region=a", "zone unknown")}, true},
		"a cluster of one image":           {[]triage.Candidate{candidate("cluster", "region=a", "image=b")}, false},
		"a cluster where no image is told": {[]triage.Candidate{candidate("cluster", "image unknown")}, false},
	} {
		if got := environment(triage.Cause{Candidates: row.candidates}); got != row.want {
			t.Errorf("%s: %v", rule, got)
		}
	}
}

// TestWhatMayRunTheChangeIsCountedWithoutABadPlace, but with a bad image: that is of what is tested.
func TestWhatMayRunTheChangeIsCountedWithoutABadPlace(t *testing.T) {
	rows := []row{
		{20, 1, Yes, "a"}, {2, 0, No, "a"}, {3, 1, Unknown, "b"},
		{40, 0, No, "b"}, {7, 0, Yes, "b"}, {5, 2, Yes, "b"},
	}
	for attribute, want := range map[string]Share{"cluster": {3, 10}, "image": {23, 30}} {
		g := examined(t, ran(attribute, rows...))[0]
		if g.MayReach != want || len(g.Classes) != 1 || g.Classes[0].Label != attribute+"=a" {
			t.Errorf("%s: %+v of %+v, want %+v", attribute, g.MayReach, g.Classes, want)
		}
		if c := g.Classes[0]; c.FailedReach != 20 || c.PassedNoReach != 2 || g.Outside.FailedUnknown != 3 ||
			g.Outside.PassedReach != 7 || g.Outside.PassedNoReach != 40 {
			t.Errorf("%s: %+v, %+v", attribute, c, g.Outside)
		}
		asked := AskReaching(Question{Ways: []int{0}}, &g)
		if !asked.MayReach || slices.Equal(asked.Without, []string{"cluster=a"}) != (attribute == "cluster") {
			t.Errorf("%s: asked %+v", attribute, asked)
		}
	}
	two := ExaminedGroup{Cause: triage.Cause{Candidates: []triage.Candidate{
		{Attribute: "cluster", Value: "b"}, {Attribute: "zone"},
	}}}
	if q := AskReaching(Question{}, &two); !slices.Equal(q.Without, []string{"an unknown zone", "cluster=b"}) {
		t.Errorf("%q", q.Without)
	}
}

// TestWaysOfOneSignatureAreOneGroup, named by the most frequent one; the largest group is the first.
func TestWaysOfOneSignatureAreOneGroup(t *testing.T) {
	way := func(failures int, shows ...Shows) Way { return Way{Failures: failures, Shows: shows} }
	signatures := []Signature{{ID: "a"}, {ID: "b"}, {ID: "old", Expired: true}}
	for rule, row := range map[string]struct {
		ways []Way
		want [][]int
	}{
		"none":                      {[]Way{way(3), way(2)}, [][]int{{0}, {1}}},
		"one":                       {[]Way{way(3, Shows{0, 3, 3}), way(2, Shows{0, 2, 2})}, [][]int{{0, 1}}},
		"two":                       {[]Way{way(3, Shows{0, 3, 3}), way(2, Shows{1, 2, 2})}, [][]int{{0}, {1}}},
		"in a log of somebody else": {[]Way{way(3, Shows{0, 3, 3}), way(2, Shows{0, 2, 1})}, [][]int{{0}, {1}}},
		"nearly all failures of it": {[]Way{way(5, Shows{0, 4, 4}), way(2, Shows{0, 2, 2})}, [][]int{{0, 1}}},
		"expired":                   {[]Way{way(3, Shows{2, 3, 3}), way(2, Shows{2, 2, 2})}, [][]int{{0}, {1}}},
		"two small ones are more than the largest": {
			[]Way{way(5), way(4, Shows{0, 4, 4}), way(3, Shows{0, 3, 3})}, [][]int{{1, 2}, {0}},
		},
	} {
		got := unite(Observed{Ways: row.ways, Signatures: signatures, Counts: triage.Counts{Passed: 10}}, triage.Default())
		if gotRaw, wantRaw := raw(t, got), raw(t, row.want); gotRaw != wantRaw {
			t.Errorf("%s: %s, want %s", rule, gotRaw, wantRaw)
		}
	}
}

func raw(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWhatMayBeTheChangesStandsFirst, then what is new, and all else by its failures.
func TestWhatMayBeTheChangesStandsFirst(t *testing.T) {
	// What runs the change fails in the last way alone.
	o := ran("os", row{9, 1, No, "x"}, row{8, 2, No, "x"}, row{7, 3, No, "x"}, row{6, 4, Yes, "x"}, row{90, 0, No, "x"})
	e := Evidence{Observed: o, Past: Past{History: NoHistory}}
	d, err := Decide(e, triage.Default())
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, g := range d.Groups {
		keys = append(keys, g.Key)
	}
	if got := strings.Join(keys, " "); got != "g1-d g1-a g1-b g1-c" || d.Groups[0].Verdict != triage.SuspectedChange {
		t.Errorf("%s, the first is %s", got, d.Groups[0].Verdict)
	}
	if urgency(triage.SuspectedChange) <= urgency(triage.New) || urgency(triage.New) <= urgency(triage.Undecided) {
		t.Error("what is new does not stand between")
	}
}

// TestAHistoryThatHasItIsAProducer of evidence, beside those of texts and logs.
func TestAHistoryThatHasItIsAProducer(t *testing.T) {
	o := ran("os", row{9, 1, No, "x"}, row{90, 0, No, "x"})
	o.Ways[0].Producers = []string{"test"}
	q := Question{Ways: []int{0}}
	e := Evidence{Observed: o, Past: Past{History: Asked, Hours: 24, Runs: []Answer{
		{q, []Span{{Hours: 1, Runs: 1, Change: "pr-7", Failed: 9, Of: 99}}},
		{Question{Ways: []int{0}, MayReach: true}, nil},
	}, Occurrences: []Occurrences{{Key: "g1-a", Rule: Rule{6, 30, 3}}}}}
	d, err := Decide(e, triage.Default())
	if err != nil || d.Lacks != "" {
		t.Fatal(err, d.Lacks)
	}
	if reasons := strings.Join(d.Groups[0].Reasons, "; "); !strings.Contains(reasons, "evidence from test and history") {
		t.Errorf("%s", reasons)
	}
}
