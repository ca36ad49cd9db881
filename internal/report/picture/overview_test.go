package picture

import (
	"fmt"
	"strings"
	"testing"

	"salve/internal/report/postmortem"
)

// runOf is a run in minutes since noon.
func runOf(name, state string, from, to float64) postmortem.Run {
	return postmortem.Run{Run: name, Runbook: "b", Target: "t", State: state, Opened: minute(from), Last: minute(to)}
}

func TestOverviewShowsHowRunsEnded(t *testing.T) {
	d := postmortem.Draft{Runs: []postmortem.Run{
		runOf("a", "remediated", 0, 10), runOf("b", "failed", 10, 20), runOf("c", "undecided", 20, 30),
		runOf("d", "open: needs-attention", 30, 40), runOf("e", "nothing-to-do", 40, 50), runOf("e", "nothing-to-do", 40, 50),
	}, Chart: postmortem.Chart{Spans: []postmortem.Span{
		{Kind: postmortem.Person, Run: "a", Began: minute(2), Ended: minute(5)},
		{Kind: postmortem.Person, Run: "b", Began: minute(12), Ended: minute(12), Open: true},
		{Kind: postmortem.Attempt, Run: "c", Began: minute(22), Ended: minute(25)},
	}}}
	p := New(d)
	expectInside(t, *p.Overview)
	got := ""
	for _, r := range p.Overview.Rows {
		got += fmt.Sprintf("%s %s: %s;", r.Full, r.Tone, r.Note)
		for _, b := range r.Bars {
			got += fmt.Sprintf(" %s%s", b.Tone, b.Sign)
		}
		got += "\n"
	}
	want := "a done: remediated, 10m; done waiting\nb failed: failed, 10m; failed✕\n" +
		"c unknown: undecided, 10m; unknown?\nd open: needs-attention, 10m; open?\ne done: nothing-to-do, 10m; done\n" +
		"e done: nothing-to-do, 10m; done\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !p.Overview.Rows[3].Bars[0].Arrow || p.Overview.Rows[0].Bars[0].Arrow {
		t.Error("a run goes on that ended, or the other way round")
	}
	if len(p.Runs) != 5 {
		t.Errorf("%d panels: a run has two, or none", len(p.Runs))
	}
	for _, want := range []string{"6 runs, 5 Feb 2019 12:00:00 to 12:50:00 UTC.", "b: failed, 10m."} {
		if !strings.Contains(p.Overview.Text, want) {
			t.Errorf("the description lacks %q: %s", want, p.Overview.Text)
		}
	}
}

// TestAlarmsAreInOrder also where the timeline is not: the first of those that stand together is where they stand.
func TestAlarmsAreInOrder(t *testing.T) {
	event := func(at float64, kind postmortem.EventKind, rule string) postmortem.Event {
		return postmortem.Event{At: minute(at), Kind: kind, Telling: true, Text: rule, Source: postmortem.Source{Detail: rule,
			Kind: postmortem.FromWatch}}
	}
	d := postmortem.Draft{Runs: []postmortem.Run{runOf("a", "remediated", 0, 10)},
		Timeline: postmortem.Timeline{Events: []postmortem.Event{event(9, postmortem.Found, "A2"),
			event(1, postmortem.Found, "A1"), event(1.01, postmortem.Blinded, "A3"), event(10, postmortem.Cleared, "A1")}}}
	got := ""
	for _, m := range New(d).Overview.Rows[0].Marks {
		got += fmt.Sprintf("%s %s %d %t; ", m.Shape, m.Label, m.Count, m.End)
	}
	if want := "raised A1, A3 blind 2 false; raised A2 1 false; cleared A1 gone 1 true; "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
