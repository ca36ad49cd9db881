package history_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/history"
)

func with(t *testing.T, entries ...history.Entry) *history.History {
	t.Helper()
	h := open(t, filepath.Join(t.TempDir(), "none"), history.Options{})
	for _, e := range entries {
		more, err := h.With(e)
		if err != nil {
			t.Fatal(err)
		}
		h = more
	}
	return h
}

// elsewhere is a run that ran other scenarios.
func elsewhere(build, change string, at time.Time) history.Entry {
	e := entry(build, change, at)
	e.Ran = history.SetOf([]string{"TestLint"})
	return e
}

// many are runs of other changes.
func many(count int, groups ...string) []history.Entry {
	var entries []history.Entry
	for i := range count {
		entries = append(entries, entry(fmt.Sprint("other-", i), fmt.Sprint("pr-", 100+i), noon.Add(-time.Hour), groups...))
	}
	return entries
}

func TestBaseline(t *testing.T) {
	before, long := noon.Add(-time.Hour), noon.Add(-25*time.Hour)
	for _, test := range []struct {
		name   string
		runs   []history.Entry
		change string
		want   history.Baseline
	}{
		{"nothing", nil, "pr-1", history.Baseline{Answer: history.NotEnoughHistory}},
		{"enough runs of other changes without it", many(20), "pr-1",
			history.Baseline{Answer: history.New, Runs: 20, Changes: 20}},
		{"one run less", many(19), "pr-1", history.Baseline{Answer: history.NotEnoughHistory, Runs: 19, Changes: 19}},
		{"two other changes had it", append(many(5), entry("7", "pr-7", before.Add(-time.Hour), "g1-a"),
			entry("8", "pr-8", before, "g1-a")), "pr-1",
			history.Baseline{Answer: history.SameReason, Runs: 7, Changes: 7, SeenRuns: 2, SeenChanges: 2,
				First: before.Add(-time.Hour), Last: before}},
		{"one other change had it, twice",
			[]history.Entry{entry("7", "pr-7", before, "g1-a"), entry("8", "pr-7", before, "g1-a")}, "pr-1",
			history.Baseline{Answer: history.SameReason, Runs: 2, Changes: 1, SeenRuns: 2, SeenChanges: 1,
				First: before, Last: before}},
		{"its scenarios failed in another group", many(1, "g1-z"), "pr-1",
			history.Baseline{Answer: history.OtherReason, Runs: 1, Changes: 1, OtherRuns: 1}},
		{"the same change, the same build, no change, too long ago, not yet", []history.Entry{
			entry("6", "pr-1", before, "g1-a"), entry("1", "pr-9", before, "g1-a"), entry("7", "", before, "g1-a"),
			entry("8", "pr-8", long, "g1-a"), entry("9", "pr-9", noon.Add(time.Hour), "g1-a"),
		}, "pr-1", history.Baseline{Answer: history.NotEnoughHistory}},
		{"ahead by what clocks differ", []history.Entry{entry("9", "pr-9", noon.Add(time.Minute), "g1-a")}, "pr-1",
			history.Baseline{Answer: history.SameReason, Runs: 1, Changes: 1, SeenRuns: 1, SeenChanges: 1,
				First: noon, Last: noon}},
		{"runs that didn't run its scenarios show nothing by not failing",
			[]history.Entry{elsewhere("7", "pr-7", before), elsewhere("8", "pr-8", before)}, "pr-1",
			history.Baseline{Answer: history.NotEnoughHistory}},
		{"a change that nobody knows has no others", many(20, "g1-a"), "",
			history.Baseline{Answer: history.NotEnoughHistory}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := with(t, test.runs...).Baseline(history.Question{
				Subject: history.Subject{Key: "g1-a"}, Scenarios: []string{"TestA/0", "TestA/1", "TestA/2", "TestA/3"},
				Change: test.change, Build: "1", Since: 24 * time.Hour, Enough: 20, Otherwise: 0.5,
			}, noon)
			if len(got.Rates) != got.Runs {
				t.Errorf("%d rates of %d runs", len(got.Rates), got.Runs)
			}
			got.Rates = nil
			if different := cmp.Diff(test.want, got); different != "" {
				t.Error(different)
			}
		})
	}
}

func TestRatesAreOfAllAndOfThoseInQuestion(t *testing.T) {
	h := with(t, entry("7", "pr-7", noon.Add(-2*time.Hour), "g1-a"), entry("8", "pr-8", noon.Add(-time.Hour), "g1-z"))
	got := h.Baseline(history.Question{
		Subject: history.Subject{Key: "g1-a"}, Scenarios: []string{"TestA/0", "TestA/1", "TestElsewhere"},
		Change: "pr-1", Build: "1", Since: 24 * time.Hour,
	}, noon).Rates
	want := []history.Rate{
		{Change: "pr-7", Time: noon.Add(-2 * time.Hour), Failures: 3, Scenarios: 10, FailedAsked: 2, Asked: 2},
		{Change: "pr-8", Time: noon.Add(-time.Hour), Scenarios: 10, Asked: 2, Otherwise: 2},
	}
	if different := cmp.Diff(want, got); different != "" {
		t.Error(different)
	}
}

func TestFewOfManyScenariosThatFailedOtherwiseAreNoBaseline(t *testing.T) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprint("TestA/", i))
	}
	got := with(t, many(20, "g1-z")...).Baseline(history.Question{
		Subject: history.Subject{Key: "g1-a"}, Scenarios: names, Change: "pr-1", Since: 24 * time.Hour, Enough: 20,
		Otherwise: 0.5,
	}, noon)
	if got.Answer != history.New || got.OtherRuns != 0 {
		t.Errorf("%+v", got)
	}
}

func TestSignatureFindsBuildsByTheKeyToo(t *testing.T) {
	known := entry("2", "pr-2", noon, "g1-b")
	known.Groups[0].Signatures = []string{"outage"}
	both := entry("3", "pr-2", noon, "g1-a")
	both.Groups[0].Signatures = []string{"outage"}
	h := with(t, entry("1", "pr-1", noon, "g1-a"), known, both)
	for want, s := range map[int]history.Subject{
		3: {Key: "g1-a", Signature: "outage"}, 2: {Signature: "outage"}, 1: {Key: "g1-b"}, 0: {},
	} {
		if got := h.Occurrences(s, month, noon); got.Count != want || got.Changes > 2 {
			t.Errorf("%+v: %+v", s, got)
		}
	}
}

func TestEscalation(t *testing.T) {
	day := func(days ...int) (at []time.Time) {
		for _, d := range days {
			at = append(at, noon.AddDate(0, 0, d))
		}
		return at
	}
	rule := history.Rule{At: 6, Days: 30, Below: 3}
	for _, test := range []struct {
		name  string
		at    []time.Time
		now   int // days
		count int
		since int // the number of the build; -1 for not escalated
	}{
		{"none", nil, 0, 0, -1},
		{"four of six", day(-20, -10, -5, 0), 0, 4, -1},
		{"the sixth", day(-29, -20, -10, -5, -1, 0), 0, 6, 5},
		{"six, the first too long ago", day(-30, -20, -10, -5, -1, 0), 0, 5, -1},
		{"it stays below six", day(-40, -39, -38, -37, -36, -35, -9, -8, -7), 0, 3, 5},
		{"it ends below three", day(-40, -39, -38, -37, -36, -35, -9, -8), 0, 2, -1},
		{"ended in between, and not begun again", day(-90, -89, -88, -87, -86, -85, -9, -8, -7, -6, -5), 0, 5, -1},
		{"ended in between, and begun again", day(-90, -89, -88, -87, -86, -85, -9, -8, -7, -6, -5, -4), 0, 6, 11},
		{"what comes later doesn't count yet", day(-5, -4, -3, -2, -1, 2), 0, 5, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var entries []history.Entry
			for i, at := range test.at {
				entries = append(entries, entry(fmt.Sprint(i), "pr-1", at, "g1-a"))
			}
			slices.Reverse(entries)
			got := with(t, entries...).Escalation(history.Subject{Key: "g1-a"}, rule, noon.AddDate(0, 0, test.now))
			want := history.Escalation{Count: test.count, Threshold: 6, Days: 30}
			if test.since >= 0 {
				want.Escalated, want.Since = true, test.at[test.since]
			}
			if different := cmp.Diff(want, got); different != "" {
				t.Error(different)
			}
		})
	}
	if got := with(t, many(9, "g1-a")...).Escalation(history.Subject{Key: "g1-a"}, history.Rule{}, noon); got.Escalated {
		t.Errorf("without a rule: %+v", got)
	}
}

func TestTrendIsByWeeksFromMonday(t *testing.T) {
	monday := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC) // noon is the Friday after
	h := with(t, entry("1", "a", monday, "g1-a"), entry("2", "a", monday.Add(-time.Second), "g1-a"),
		entry("3", "a", monday.Add(-time.Hour)), entry("4", "a", monday.AddDate(0, 0, -14), "g1-a"))
	want := []history.Week{
		{Monday: monday.AddDate(0, 0, -7), Count: 1, Builds: 2}, {Monday: monday, Count: 1, Builds: 1},
	}
	if different := cmp.Diff(want, h.Trend(history.Subject{Key: "g1-a"}, 2, noon)); different != "" {
		t.Error(different)
	}
	if got := h.Trend(history.Subject{Key: "g1-a"}, 0, noon); len(got) != 0 {
		t.Errorf("no weeks: %v", got)
	}
}

func TestListsOfSignaturesAndOfWhatHasNone(t *testing.T) {
	known := entry("3", "pr-2", noon.Add(-time.Hour), "g1-k", "g1-later")
	known.Groups[0].Signatures = []string{"outage", "slow"}
	later := entry("4", "pr-2", noon, "g1-later")
	later.Groups[0].Signatures = []string{"slow"}
	h := with(t, known, later, entry("1", "pr-1", noon, "g1-a", "g1-b"), entry("2", "pr-2", noon, "g1-b"))
	line := func(all []history.Seen) (lines []string) {
		for _, s := range all {
			lines = append(lines, fmt.Sprintf("%s%s %d %s", s.Signature, s.Key, s.Count, s.Message))
		}
		return lines
	}
	want := []string{"slow 2 node is not ready g1-later", "outage 1 node is not ready g1-k"}
	if different := cmp.Diff(want, line(h.Signatures(month, noon))); different != "" {
		t.Error(different)
	}
	want = []string{"g1-b 2 node is not ready g1-b", "g1-a 1 node is not ready g1-a"}
	if different := cmp.Diff(want, line(h.Uncategorised(month, noon))); different != "" {
		t.Error(different)
	}
}

// g1 is the way of grouping of a reader that is newer than g0, which took numbers for differences.
func g1(x history.Example) string {
	if x.Message == "" {
		return ""
	}
	return "g1-" + strings.ReplaceAll(strings.TrimRight(x.Message, "0123456789"), " ", "-")
}

func TestOlderKeysAreMadeAnewWhenTheyAreRead(t *testing.T) {
	folder := t.TempDir()
	old := entry("1", "pr-1", noon, "g0-7", "g0-8", "g0-9")
	old.Groups[0].Example.Message, old.Groups[1].Example.Message = "timeout after 7", "timeout after 8"
	old.Groups[2].Example.Message = "" // nothing to make a key of
	record(t, folder, old, entry("2", "pr-2", noon, "g1-timeout-after-"))
	h := open(t, folder, history.Options{Grouping: history.Grouping{Version: "g1", Key: g1}})
	for key, want := range map[string]int{"g1-timeout-after-": 2, "g0-7": 0, "g0-8": 0, "g0-9": 1} {
		if got := h.Occurrences(history.Subject{Key: key}, month, noon).Count; got != want {
			t.Errorf("%s: %d", key, got)
		}
	}
	if got := h.Occurrences(history.Subject{Key: "g1-timeout-after-"}, month, noon).Failures; got != 9 {
		t.Errorf("%d failures of 3 in each of three groups", got)
	}
	// Without a way of grouping, keys stay.
	if got := open(t, folder, history.Options{}).Occurrences(history.Subject{Key: "g0-7"}, month, noon).Count; got != 1 {
		t.Errorf("%d", got)
	}
	// The run that was recorded with the old keys is not written once more because the reader is newer.
	if file, err := h.Record(old); err != nil || file != "" {
		t.Errorf("%s, %v", file, err)
	}
}

func TestSetsKnowWhatTheyDontKnow(t *testing.T) {
	var names []string
	for i := range 10_000 {
		names = append(names, fmt.Sprint("TestLarge/", i))
	}
	small, large := history.SetOf(names[:100]), history.SetOf(names)
	in, unknown := 0, 0
	for i, name := range names {
		has, known := small.Has(name)
		if !known || has != (i < 100) {
			t.Errorf("%s in the small one: %t, %t", name, has, known)
		}
		switch has, known := large.Has(name); {
		case has:
			in++
		case known:
			t.Errorf("%s is known to be missing from the large one", name)
		default:
			unknown++
		}
	}
	if in != 4096 || unknown != len(names)-4096 {
		t.Errorf("%d are in, of %d nothing is known", in, unknown)
	}
	if has, known := (history.Set)(nil).Has("a"); has || known {
		t.Error("an empty set knows something")
	}
}

func TestRatesOfOtherChanges(t *testing.T) {
	before := noon.Add(-time.Hour)
	h := with(t,
		entry("7", "pr-7", before, "g1-a"), entry("8", "pr-8", before, "g1-z"), entry("9", "pr-1", before, "g1-a"))
	got := h.Baseline(history.Question{
		Subject: history.Subject{Key: "g1-a"}, Scenarios: []string{"TestA/0", "TestA/1", "TestNever"},
		Change: "pr-1", Build: "1", Since: 24 * time.Hour, Enough: 20, Otherwise: 0.5,
	}, noon)
	want := []history.Rate{
		{Change: "pr-7", Time: before, Failures: 3, Scenarios: 10, FailedAsked: 2, Asked: 2},
		{Change: "pr-8", Time: before, Scenarios: 10, Asked: 2, Otherwise: 2},
	}
	if different := cmp.Diff(want, got.Rates); different != "" {
		t.Error(different)
	}
}
