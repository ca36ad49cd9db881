package postmortem_test

import (
	"strings"
	"testing"
	"time"

	"salve/internal/report/postmortem"
	"salve/internal/report/reporttest"
	"salve/journal"
)

// TestClockThatRunsBackwardsIsSaid: with its place, at the beginning and with the timeline, and never smoothed.
func TestClockThatRunsBackwardsIsSaid(t *testing.T) {
	const run = "20190205-164700-cccccc"
	for name, row := range map[string]struct {
		write func(*reporttest.Writer)
		want  string // the remark; none: nothing ran backwards
		at    int
	}{
		"forwards": {func(w *reporttest.Writer) {
			w.After(time.Minute).Begin("drain", 1).After(time.Minute)
		}, "", 0},
		"at the same time": {func(w *reporttest.Writer) { w.Begin("drain", 1) }, "", 0},
		"within a step": {func(w *reporttest.Writer) {
			w.After(time.Minute).Step("drain", 1, -3*time.Minute, journal.Result{Result: journal.Done})
		}, "Entry 3 of run " + run + " is timed 2019-02-05 16:45:00 UTC, 3m before entry 2, which was written before it: " +
			"the clock of host jump ran backwards.", 3},
		"by less than a second": {func(w *reporttest.Writer) {
			w.After(-20*time.Millisecond).Begin("drain", 1)
		}, "16:46:59 UTC, 20ms before entry 1,", 2},
		"between alike entries": {func(w *reporttest.Writer) {
			w.After(time.Hour).Write(journal.Warned, "", journal.Message{Text: "a pod is left"})
			w.After(-time.Minute).Write(journal.Warned, "", journal.Message{Text: "a pod is left"})
		}, "Entry 3 of run " + run + " is timed 2019-02-05 17:46:00 UTC, 1m before entry 2,", 3},
		"where another machine goes on": {func(w *reporttest.Writer) {
			w.After(time.Minute).Write(journal.Parked, "", journal.Verdict{Outcome: "needs-attention"})
			w.After(-30*time.Second).Write(journal.Resumed, "", journal.Resumption{Holder: journal.Holder{Host: "ci-7"}})
		}, "30s before entry 2, which was written before it: the clock of host ci-7, which went on with the run, is behind " +
			"that of host jump.", 3},
	} {
		t.Run(name, func(t *testing.T) {
			header := journal.Header{Run: run, Runbook: "b", Holder: journal.Holder{Host: "jump"}}
			w := reporttest.Open(t, reporttest.Morning(), header)
			row.write(w)
			made := reporttest.Draft(t, of(w.History()), postmortem.Options{})
			short := says(section(t, made, postmortem.About), postmortem.Fact, "The clock of a record runs backwards in 1 place")
			if short != (row.want != "") {
				t.Errorf("the beginning says so: %t\n%s", short, markdown(made))
			}
			notes := section(t, made, postmortem.TimelineID)
			if row.want == "" {
				if len(notes) > 0 {
					t.Errorf("%+v", notes)
				}
				return
			}
			if len(notes) != 1 || !strings.Contains(notes[0].Text, row.want) || notes[0].Sources[0].At != row.at {
				t.Errorf("want %q of entry %d:\n%+v", row.want, row.at, notes)
			}
		})
	}
}

// TestAlikeEventsAreApartWhereTheClockRunsBackwards: as one they would last less than no time.
func TestAlikeEventsAreApartWhereTheClockRunsBackwards(t *testing.T) {
	w := reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-cccccc", Runbook: "b"})
	for _, after := range []time.Duration{time.Hour, -time.Minute} {
		w.After(after).Write(journal.Warned, "", journal.Message{Text: "a pod is left"})
	}
	events := reporttest.Draft(t, of(w.History()), postmortem.Options{}).Timeline.Events
	if len(events) != 3 || events[1].Source.At != 3 || events[2].Source.At != 2 {
		t.Errorf("%+v", events)
	}
}

// TestBoundsBoundTheRemarksOnClocks.
func TestBoundsBoundTheRemarksOnClocks(t *testing.T) {
	w := reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-cccccc", Runbook: "b"})
	w.After(time.Hour).Begin("drain", 1)
	w.After(-time.Minute).Write(journal.Warned, "", journal.Message{Text: "a pod is left"})
	before := postmortem.Options{Until: reporttest.Morning().Add(time.Minute)}
	if notes := section(t, reporttest.Draft(t, of(w.History()), before), postmortem.TimelineID); len(notes) > 0 {
		t.Errorf("%+v", notes)
	}
}

// TestManyBackwardsClocksAreCounted: a record of nothing else fills no document.
func TestManyBackwardsClocksAreCounted(t *testing.T) {
	w := reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-cccccc", Runbook: "b"})
	for range 50 {
		w.After(-time.Second).Write(journal.Warned, "", journal.Message{Text: "a pod is left"})
	}
	made := reporttest.Draft(t, of(w.History()), postmortem.Options{})
	notes := section(t, made, postmortem.TimelineID)
	if len(notes) != 21 || !strings.Contains(notes[20].Text, "in 30 more places") {
		t.Errorf("%d remarks, the last: %+v", len(notes), notes[len(notes)-1])
	}
}

// TestClockOfAWatchThatRunsBackwardsIsSaid.
func TestClockOfAWatchThatRunsBackwardsIsSaid(t *testing.T) {
	file, err := postmortem.ReadWatch("watch.jsonl", []byte(
		`{"time":"2019-02-05T16:48:00Z","change":"sees","rule":"A1"}`+"\n\n"+
			`{"time":"2019-02-05T16:47:00Z","change":"sees","rule":"A2"}`+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	made := reporttest.Draft(t, postmortem.Sources{Watch: []postmortem.WatchFile{file}}, postmortem.Options{})
	if !says(section(t, made, postmortem.TimelineID), postmortem.Fact,
		"Line 3 of watch.jsonl is timed 2019-02-05 16:47:00 UTC, 1m before line 1") {
		t.Errorf("%s", markdown(made))
	}
}

// TestTornLineIsSaid: what it said may be what mattered.
func TestTornLineIsSaid(t *testing.T) {
	history := reporttest.Recovered(t)
	history.Torn = true
	if !says(section(t, reporttest.Draft(t, of(history), postmortem.Options{}), postmortem.About), postmortem.Fact,
		"has a torn line") {
		t.Error("it is not said")
	}
}
