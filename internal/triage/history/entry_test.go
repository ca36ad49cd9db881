package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/triage/history"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// entry is a run of a change with one group, of which 3 of 10 scenarios fail.
func entry(build, change string, at time.Time, groups ...string) history.Entry {
	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprint("TestA/", i))
	}
	e := history.Entry{
		Build: build, Change: change, Time: at, Ran: history.SetOf(names),
		Totals: history.Totals{Scenarios: 10, Passed: 10},
	}
	for _, key := range groups {
		e.Totals.Passed, e.Totals.Failed = 7, 3
		e.Groups = append(e.Groups, history.Group{
			Key: key, Failures: 3, Tests: 1, Scenarios: history.SetOf(names[:3]), Names: names[:3],
			Example: history.Example{
				Type: "timeout", Message: "node is not ready " + key, Text: "line\n", File: "a.go", Line: 7,
			},
		})
	}
	return e
}

func open(t *testing.T, folder string, o history.Options) *history.History {
	t.Helper()
	h, err := history.Open(t.Context(), folder, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// record writes entries as that many triages would, one after the other.
func record(t *testing.T, folder string, entries ...history.Entry) (files []string) {
	t.Helper()
	for _, e := range entries {
		file, err := open(t, folder, history.Options{}).Record(e)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

func clean(t *testing.T, h *history.History) {
	t.Helper()
	if len(h.Problems) > 0 {
		t.Errorf("problems: %v", h.Problems)
	}
}

const month = 30 * 24 * time.Hour

func TestOneMoreTriageNeverRaisesACount(t *testing.T) {
	folder := t.TempDir()
	first := entry("1", "pr-1", noon, "g1-a", "g1-b")
	record(t, folder, first, entry("2", "pr-2", noon.Add(time.Hour), "g1-a"))
	if again := record(t, folder, first); again[0] != "" {
		t.Errorf("the same outcome was written once more: %s", again[0])
	}
	other := entry("1", "pr-1", noon, "g1-a", "g1-c")
	if again := record(t, folder, other, other); again[0] == "" || again[1] != "" {
		t.Errorf("another outcome is written once: %q", again)
	}
	h := open(t, folder, history.Options{})
	clean(t, h)
	for key, want := range map[string]int{"g1-a": 2, "g1-b": 0, "g1-c": 1} {
		if got := h.Occurrences(history.Subject{Key: key}, month, noon.Add(2*time.Hour)); got.Count != want {
			t.Errorf("%s: %+v", key, got)
		}
	}
	// And back again: the first outcome stands once more, since it is the latest.
	record(t, folder, first)
	h = open(t, folder, history.Options{})
	if got := h.Occurrences(history.Subject{Key: "g1-c"}, month, noon.Add(2*time.Hour)); got.Count != 0 {
		t.Errorf("what was triaged before the last time counts: %+v", got)
	}
}

func TestABuildIsCountedOnceForAllItsRuns(t *testing.T) {
	folder := t.TempDir()
	one, two := entry("1", "pr-1", noon, "g1-a"), entry("1", "pr-1", noon.Add(time.Minute), "g1-a", "g1-b")
	one.Run, two.Run = "job-1", "job-2"
	record(t, folder, one, two)
	h := open(t, folder, history.Options{})
	got := h.Occurrences(history.Subject{Key: "g1-a"}, month, noon.Add(time.Hour))
	if got.Count != 1 || got.Failures != 6 || !got.First.Equal(noon) || h.Builds() != 1 {
		t.Errorf("%+v", got)
	}
}

func TestBuildBeginsWithItsFirstRunAndHasOneChange(t *testing.T) {
	one, two := entry("1", "pr-1", noon, "g1-a"), entry("1", "pr-2", noon.Add(-time.Hour), "g1-a")
	one.Run, two.Run = "job-1", "job-2"
	h := with(t, one, two)
	if got := h.Occurrences(history.Subject{Key: "g1-a"}, month, noon); !got.First.Equal(two.Time) || got.Changes != 0 {
		t.Errorf("%+v", got)
	}
}

func TestOfTwoBranchesThatDidntKnowOfEachOtherTheFullerTriageStands(t *testing.T) {
	less, more := entry("1", "pr-1", noon, "g1-less"), entry("1", "pr-1", noon, "g1-more")
	for _, scenarios := range []int{11, 12, 13, 14} { // whatever the digests are
		more.Totals.Scenarios = scenarios
		one, two := t.TempDir(), t.TempDir()
		record(t, one, less)
		record(t, two, more)
		for _, text := range lines(t, two) {
			write(t, filepath.Join(one, "theirs.jsonl"), text)
		}
		if got := open(t, one, history.Options{}).Occurrences(history.Subject{Key: "g1-more"}, month, noon); got.Count != 1 {
			t.Errorf("%d scenarios: %+v", scenarios, got)
		}
	}
}

func TestOfTwoThatSawAsMuchTheSameStandsInAnyOrder(t *testing.T) {
	one := string(history.Line(t, entry("1", "pr-1", noon, "g1-a")))
	other := string(history.Line(t, entry("1", "pr-1", noon, "g1-b")))
	var got []string
	for _, order := range []string{one + other, other + one} {
		folder := t.TempDir()
		write(t, filepath.Join(folder, "all.jsonl"), order)
		got = append(got, answers(t, open(t, folder, history.Options{}), noon))
	}
	if got[0] != got[1] {
		t.Errorf("%s\n\n%s", got[0], got[1])
	}
}

func TestRunInHandCountsBeforeItIsRecorded(t *testing.T) {
	folder := t.TempDir()
	record(t, folder, entry("1", "pr-1", noon, "g1-a"))
	h := open(t, folder, history.Options{})
	for range 2 {
		with, err := h.With(entry("2", "pr-2", noon, "g1-a"))
		if err != nil {
			t.Fatal(err)
		}
		if got := with.Occurrences(history.Subject{Key: "g1-a"}, month, noon).Count; got != 2 {
			t.Errorf("%d with it", got)
		}
		if got := h.Occurrences(history.Subject{Key: "g1-a"}, month, noon).Count; got != 1 {
			t.Errorf("%d without it", got)
		}
		h = open(t, folder, history.Options{})
	}
	if _, err := h.With(history.Entry{}); err == nil {
		t.Error("a run without a build was taken")
	}
}

func TestEntriesThatAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*history.Entry){
		"no build":            func(e *history.Entry) { e.Build = "" },
		"no time":             func(e *history.Entry) { e.Time = time.Time{} },
		"a negative count":    func(e *history.Entry) { e.Totals.Passed = -1 },
		"a group's":           func(e *history.Entry) { e.Groups[0].Failures = -1 },
		"no key":              func(e *history.Entry) { e.Groups[0].Key = "" },
		"a line in an ID":     func(e *history.Entry) { e.Build = "1\n2" },
		"an escape in an ID":  func(e *history.Entry) { e.Change = "\x1b[31m" },
		"an ID without end":   func(e *history.Entry) { e.Run = strings.Repeat("1", 1000) },
		"a set that is none":  func(e *history.Entry) { e.Ran = history.Set{1, 2, 3} },
		"a count beyond all":  func(e *history.Entry) { e.Totals.Tests = 1 << 40 },
		"an attribute's less": func(e *history.Entry) { e.Attributes = []history.Value{{Failed: -3}} },
	} {
		t.Run(name, func(t *testing.T) {
			e := entry("1", "pr-1", noon, "g1-a")
			spoil(&e)
			if file, err := open(t, t.TempDir(), history.Options{}).Record(e); err == nil || file != "" {
				t.Errorf("written to %q", file)
			}
		})
	}
}

func TestLongEntriesAreCut(t *testing.T) {
	folder := t.TempDir()
	e := entry("1", "pr-1", noon)
	for i := range 1200 {
		g := entry("", "", noon, fmt.Sprintf("g1-%04d", i)).Groups[0]
		g.Failures = i
		g.Example.Text = strings.Repeat("<\x00>", 900) // of JSON that is six times as long
		e.Groups = append(e.Groups, g)
	}
	raw, err := os.ReadFile(record(t, folder, e)[0])
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), `\u0000`) || strings.Count(string(raw), "\n") != 1 {
		t.Error("what can't be shown was written")
	}
	h := open(t, folder, history.Options{})
	clean(t, h)
	if all := h.Uncategorised(month, noon); len(all) != 1000 || all[0].Key != "g1-0200" || all[999].Key != "g1-1199" {
		t.Errorf("%d groups, %s to %s: the largest should stay", len(all), all[0].Key, all[len(all)-1].Key)
	}
}

func TestFilesAreNamedByTheirContent(t *testing.T) {
	folder := t.TempDir()
	files := record(t, folder, entry("1", "pr-1", noon, "g1-a"), entry("1", "pr-1", noon, "g1-b"),
		entry("2", "pr-1", noon, "g1-b"))
	names := map[string]bool{}
	for _, file := range files {
		names[file] = true
		if relative, err := filepath.Rel(folder, file); err != nil ||
			!strings.HasPrefix(filepath.ToSlash(relative), "2026-11/20261120T120000Z-") {
			t.Errorf("%s", file)
		}
	}
	if len(names) != 3 {
		t.Errorf("%v", files)
	}
}
