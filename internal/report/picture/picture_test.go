package picture

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"salve/internal/report/postmortem"
	"salve/internal/report/reporttest"
	"salve/journal"
)

const run = "20190205-120000-aaaaaa"

// span is an attempt of the run, in minutes since noon.
func span(step string, from, to float64, result journal.ResultKind) postmortem.Span {
	return postmortem.Span{Kind: postmortem.Attempt, Run: run, Step: step, Attempt: 1, Began: minute(from),
		Ended: minute(to), Result: result}
}

func minute(m float64) time.Time { return noon.Add(time.Duration(m * float64(time.Minute))) }

// drawn is the panel of a run with a chart.
func drawn(t *testing.T, last float64, chart postmortem.Chart) Panel {
	t.Helper()
	p := New(postmortem.Draft{Chart: chart, Runs: []postmortem.Run{{Run: run, Runbook: "b", Target: "t",
		State: "remediated", Opened: noon, Last: minute(last)}}})
	if p == nil || len(p.Runs) != 1 || p.Overview != nil {
		t.Fatalf("%+v", p)
	}
	expectInside(t, p.Runs[0])
	return p.Runs[0]
}

// expectInside: whatever is drawn stands within the plot and within its row.
func expectInside(t *testing.T, p Panel) {
	t.Helper()
	inside := func(what string, x, width float64) {
		if math.IsNaN(x) || math.IsNaN(width) || x < p.Left-0.1 || width < 0 || x+width > p.Right+0.1 {
			t.Errorf("%s reaches from %v to %v", what, x, x+width)
		}
	}
	below := p.Top
	for _, row := range p.Rows {
		if row.Top != below {
			t.Errorf("row %q begins at %v, the one before ends at %v", row.Full, row.Top, below)
		}
		below += row.Height
		within := func(what string, y, height float64) {
			if math.IsNaN(y) || y < row.Top || height < 0 || y+height > below+0.1 {
				t.Errorf("%s of row %q reaches from %v to %v", what, row.Full, y, y+height)
			}
		}
		for _, b := range row.Bars {
			inside("bar "+b.Title, b.X, b.W)
			within("bar "+b.Title, b.Y, b.H)
			if b.OverW > 0 && (b.OverX < b.X || b.OverX+b.OverW > b.X+b.W+0.1) {
				t.Errorf("the budget of %s is outside of its bar", b.Title)
			}
		}
		for _, m := range row.Marks {
			inside("mark "+m.Title, m.X, 0)
			within("mark "+m.Title, m.Y, 0)
		}
		for _, l := range row.Levels {
			inside("level "+l.Title, l.X, l.W)
			within("level "+l.Title, l.Y, l.H)
			within("what is missing of "+l.Title, l.MissY, l.MissH)
		}
	}
	if below != p.Bottom || p.Height <= p.Bottom {
		t.Errorf("the rows end at %v, the plot at %v of %v", below, p.Bottom, p.Height)
	}
}

func row(t *testing.T, p Panel, name string) Row {
	t.Helper()
	for _, r := range p.Rows {
		if r.Full == name {
			return r
		}
	}
	t.Fatalf("no row %q", name)
	return Row{}
}

func TestBarsOfAttempts(t *testing.T) {
	over := span("s", 0, 10, journal.Done)
	over.BudgetSeconds = 300
	open := span("s", 0, 10, "")
	open.Open = true
	again := span("s", 0, 10, journal.Done)
	again.Attempt = 2
	later := span("s", 0, 10, journal.Unknown)
	later.Later = journal.Done
	odd := span("s", 0, 10, journal.Done)
	odd.BudgetSeconds = math.NaN()
	for name, test := range map[string]struct {
		span postmortem.Span
		want string // tone, sign, beginning, width, whether over its budget and going on
		note string
		says string
	}{
		"done": {span("s", 0, 5, journal.Done), "done  186 293 false false", "5m",
			"s: done; 5 Feb 2019 12:00:00 to 12:05:00 UTC, 5m"},
		"failed": {span("s", 5, 10, journal.Failure), "failed ✕ 479 293 false false", "failed, 5m", "s: failed;"},
		"unknown": {span("s", 5, 10, journal.Unknown), "unknown ? 479 293 false false", "not known, 5m",
			"not known whether done"},
		"found out":      {later, "unknown ? 186 586 false false", "not known, later done", "later seen to be done"},
		"skipped":        {span("s", 5, 5, journal.Skipped), "skipped  479 2 false false", "skipped, 0s", "s: skipped"},
		"no length":      {span("s", 5, 5, journal.Done), "done  479 2 false false", "0s", "12:05:00 to 12:05:00 UTC, 0s"},
		"failed at once": {span("s", 5, 5, journal.Failure), "failed  479 2 false false", "failed, 0s", "s: failed"},
		"at the end":     {span("s", 10, 10, journal.Done), "done  770 2 false false", "0s", ""},
		"over budget":    {over, "done  186 586 true false", "10m, budget 5m", "over its budget of 5m"},
		"no such budget": {odd, "done  186 586 false false", "10m", ""},
		"without an end": {open, "open ? 186 560 false true", "no outcome recorded", "its end is not in the record"},
		"clock set back": {span("s", 5, 4, journal.Done), "done  479 2 false false", "done, clock set back",
			"-1m (a clock was set back)"},
		"again": {again, "done  186 586 false false", "10m, try 2", "s, attempt 2: done"},
	} {
		t.Run(name, func(t *testing.T) {
			r := row(t, drawn(t, 10, postmortem.Chart{Spans: []postmortem.Span{test.span}}), "s")
			b := r.Bars[0]
			got := fmt.Sprintf("%s %s %v %v %t %t", b.Tone, b.Sign, b.X, b.W, b.OverW > 0, b.Arrow)
			if len(r.Bars) != 1 || got != test.want || r.Note != test.note || !strings.Contains(b.Title, test.says) {
				t.Errorf("%s, note %q, %q; want %s, note %q, %q", got, r.Note, b.Title, test.want, test.note, test.says)
			}
			if b.OverW > 0 && (b.OverX != 479 || b.OverW != 293) {
				t.Errorf("over from %v for %v", b.OverX, b.OverW)
			}
		})
	}
}

func TestStepsHaveARowEachInOrder(t *testing.T) {
	retry := postmortem.Span{Kind: postmortem.Retry, Run: run, Step: "b", Attempt: 2, Began: minute(3), Ended: minute(5)}
	second := span("b", 5, 8, journal.Done)
	second.Attempt = 2
	wait := postmortem.Span{Kind: postmortem.Person, Run: run, Began: minute(9), Ended: minute(12), Reason: "interrupted"}
	other := span("z", 0, 1, journal.Done)
	other.Run = "another"
	p := drawn(t, 12, postmortem.Chart{Spans: []postmortem.Span{span("a", 0, 1, journal.Done),
		span("b", 1, 3, journal.Failure), retry, second, wait, other}})
	names := ""
	for _, r := range p.Rows {
		names += fmt.Sprintf("%s %d; ", r.Full, len(r.Bars))
	}
	if names != "a 1; b 3; waiting for an operator 1; " {
		t.Errorf("rows: %s", names)
	}
	if b := row(t, p, "b"); !b.Bars[1].Thin || b.Bars[1].Tone != Waiting || b.Note != "3m, try 2" {
		t.Errorf("the wait of b: %+v", b)
	}
	if w := row(t, p, "waiting for an operator"); w.Note != "3m" || !strings.Contains(w.Bars[0].Title, "interrupted") {
		t.Errorf("the wait for an operator: %+v", w)
	}
	for _, want := range []string{"b: 3m, try 2.", "waiting for an operator: 3m.", "5 Feb 2019 12:00:00 to 12:12:00 UTC"} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("the description lacks %q: %s", want, p.Text)
		}
	}
}

// TestWaitsAloneAreNoAttempts, and bars that stand on another of the same look are drawn once.
func TestWaitsAloneAreNoAttempts(t *testing.T) {
	wait := postmortem.Span{Kind: postmortem.Retry, Run: run, Step: "a", Attempt: 2, Began: minute(0), Ended: minute(10)}
	p := drawn(t, 10, postmortem.Chart{Spans: []postmortem.Span{wait, wait, span("b", 5, 5, journal.Done),
		span("b", 5, 5, journal.Done), span("b", 5, 5, journal.Failure)}})
	if r := row(t, p, "a"); len(r.Bars) != 1 || r.Note != "waited" || r.Tone != Waiting || r.Bars[0].Sign != "" {
		t.Errorf("%+v", r)
	}
	if r := row(t, p, "b"); len(r.Bars) != 2 || r.Note != "failed, 0s, try 3" {
		t.Errorf("%+v", r)
	}
}

func TestPointOfNoReturn(t *testing.T) {
	first, again, late := span("a", 5, 6, journal.Failure), span("a", 6, 9, journal.Done), span("b", 9.9, 10, journal.Done)
	first.Irreversible, again.Irreversible, again.Attempt, late.Irreversible = true, true, 2, true
	p := drawn(t, 10, postmortem.Chart{Spans: []postmortem.Span{first, again, late}})
	if len(p.NoReturn) != 2 || p.NoReturn[0].X != 479 || p.NoReturn[0].End || !p.NoReturn[1].End ||
		!strings.Contains(p.NoReturn[0].Title, "point of no return: a, 5 Feb 2019 12:05:00 UTC") {
		t.Errorf("%+v", p.NoReturn)
	}
	if p.Top <= headHeight {
		t.Error("no room for its label")
	}
}

func TestTooMuchSharesARowAndIsCounted(t *testing.T) {
	d := reporttest.Draft(t, postmortem.Sources{Runs: []*journal.History{reporttest.Wide(t)}}, postmortem.Options{})
	p := New(d).Runs[0]
	expectInside(t, p)
	shared := row(t, p, "30 more steps")
	if p.MoreSteps != 30 || len(shared.Bars) == 0 || len(shared.Bars) > 30 || p.MorePools != 3 {
		t.Errorf("%d steps share %d bars, %d pools more", p.MoreSteps, len(shared.Bars), p.MorePools)
	}
	for _, i := range []int{7, 27, 47} { // those that failed have rows of their own
		if r := row(t, p, fmt.Sprintf("region-%02d/cluster-with-a-long-name/deploy", i)); r.Tone != Bad {
			t.Errorf("%+v", r)
		}
	}
	if r := row(t, p, "cloud operations"); r.Note != "3000 requests, 120 refused" {
		t.Errorf("requests: %s", r.Note)
	}
	many := d
	for i := range 30 {
		many.Runs = append(many.Runs, postmortem.Run{Run: fmt.Sprint(i), Opened: noon, Last: minute(1)})
	}
	if all := New(many); len(all.Runs) != mostPanels || all.MoreRuns != 31-mostPanels ||
		all.Overview.MoreRuns != 31-mostRuns {
		t.Errorf("%d panels, %d more, %d more in the overview", len(all.Runs), all.MoreRuns, all.Overview.MoreRuns)
	}
}

func TestOverviewHasRunsAndWhatWasNoticed(t *testing.T) {
	p := New(reporttest.Draft(t, reporttest.ProwDay(t), postmortem.Options{}))
	got := ""
	for _, r := range p.Overview.Rows {
		got += fmt.Sprintf("%s: %s;", r.Full, r.Note)
		for _, m := range r.Marks {
			got += " " + string(m.Shape)
		}
		got += "\n"
	}
	want := "alarms: 3 lines of the watch; raised blind cleared\ntriage: 2 lines of triage; judged judged\n" +
		"chat: 2 messages that tell; said said\n20190205-164700-cccccc: rolled-out, 21s;\n" +
		"20190205-184500-dddddd: remediated, 1m31s;\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	expectInside(t, *p.Overview)
}

// TestWithoutRunsThereIsNoPicture: nothing else tells how long something took.
func TestWithoutRunsThereIsNoPicture(t *testing.T) {
	chat := postmortem.Sources{Notes: reporttest.ProwDay(t).Notes}
	if p := New(reporttest.Draft(t, chat, postmortem.Options{})); p != nil {
		t.Errorf("%+v", p)
	}
}

func TestAllSamplesStayInside(t *testing.T) {
	for _, sample := range reporttest.Samples(t) {
		t.Run(sample.Name, func(t *testing.T) {
			p := New(reporttest.Draft(t, sample.Sources, postmortem.Options{}))
			if p == nil {
				return
			}
			for _, panel := range p.Runs {
				expectInside(t, panel)
			}
			if p.Overview != nil {
				expectInside(t, *p.Overview)
			}
		})
	}
}

func TestWordsFit(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		room int
		want string
	}{
		"short":       {"drain", 8, "drain"},
		"long":        {"region-1/cluster-2/deploy", 11, "regio…eploy"},
		"wide":        {"部署部署部署部署", 7, "部署…署"},
		"one letter":  {"abc", 2, "a…"},
		"empty":       {"", 3, ""},
		"of no width": {"abc", 1, "…"},
	} {
		if got := shortened(test.text, test.room); got != test.want || cells(got) > test.room {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s", 1500 * time.Millisecond: "1.5s", 59 * time.Second: "59s", 2 * time.Minute: "2m", 90 * time.Minute: "1h30m",
		5 * aDay: "5d", 51 * time.Hour: "2d3h", -40 * time.Second: "-40s",
	} {
		if got := Lasting(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}
