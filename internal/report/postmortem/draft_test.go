package postmortem_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"salve/internal/report"
	"salve/internal/report/postmortem"
	"salve/internal/report/reporttest"
	"salve/journal"
)

func allSources(t *testing.T) map[string]postmortem.Sources {
	return map[string]postmortem.Sources{
		"recovered":  {Runs: []*journal.History{reporttest.Recovered(t)}},
		"taken-back": {Runs: []*journal.History{reporttest.TakenBack(t)}},
		"prow-day":   reporttest.ProwDay(t),
	}
}

func TestGolden(t *testing.T) {
	for name, sources := range allSources(t) {
		t.Run(name, func(t *testing.T) {
			made := reporttest.Draft(t, sources, postmortem.Options{})
			golden(t, name+".md", markdown(made))
			var out bytes.Buffer
			if err := report.JSON(&out, made); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", out.String())
			golden(t, name+".redacted.md", markdown(postmortem.Mask(made, sources, []byte("0123456789abcdef"))))
		})
	}
}

// section gives what stands below a heading.
func section(t *testing.T, d postmortem.Draft, id postmortem.SectionID) []postmortem.Item {
	t.Helper()
	for _, s := range d.Sections {
		if s.ID == id {
			return s.Items
		}
	}
	t.Fatalf("no section %q", id)
	return nil
}

func says(items []postmortem.Item, kind postmortem.ItemKind, text string) bool {
	for _, item := range items {
		if item.Kind == kind && strings.Contains(item.Text+" "+item.Command, text) {
			return true
		}
	}
	return false
}

// TestWhatTheRecordTells: each promise of a section, and the source that tells it.
func TestWhatTheRecordTells(t *testing.T) {
	for name, test := range map[string]struct {
		sources string
		section postmortem.SectionID
		kind    postmortem.ItemKind
		text    string
	}{
		"counts name the query": {"recovered", postmortem.Impact, postmortem.Fact,
			"18 writes failed (counted by: Activity Log"},
		"the command that acted": {"recovered", postmortem.Resolution, postmortem.Fact, "salve resume 20190205"},
		"requests are counted": {"recovered", postmortem.Resolution, postmortem.Fact,
			"4 changing requests, of which 3"},
		"an override with its reason": {"recovered", postmortem.WentPoorly, postmortem.Candidate,
			"bo@jump (process 7) overrode guard wedge-evidence: seen in the portal"},
		"a step over its budget": {"recovered", postmortem.WentPoorly, postmortem.Candidate,
			"took 2m30s, its budget is 2m"},
		"attempts that failed": {"recovered", postmortem.WentPoorly, postmortem.Candidate,
			"Step add-stand-in failed or was not known to be done in 1 of 2 attempts"},
		"a wait for an operator": {"recovered", postmortem.WentPoorly, postmortem.Candidate,
			"had to wait for an operator: interrupted"},
		"a guard that refused": {"recovered", postmortem.WentWell, postmortem.Candidate,
			"stand-in-ready of run 20190205-164700-aaaaaa does not hold: 3 of 5"},
		"resumed after a crash": {"recovered", postmortem.WentWell, postmortem.Candidate,
			"resumed from its journal and came to its end"},
		"undone": {"taken-back", postmortem.WentWell, postmortem.Candidate,
			"took back what it had done (1 step of undoing done)"},
		"lucky: no return not passed": {"taken-back", postmortem.GotLucky, postmortem.Candidate,
			"before its point of no return"},
		"no resolution":      {"taken-back", postmortem.Resolution, postmortem.Fact, "did not resolve it: failed"},
		"the cause is asked": {"recovered", postmortem.RootCause, postmortem.Question, "No source tells it"},
		"the verdict tells a cause": {"prow-day", postmortem.RootCause, postmortem.Fact,
			"suspected-change (confidence medium)"},
		"the change before": {"prow-day", postmortem.RootCause, postmortem.Candidate, "step prow/deploy"},
		"detection by the watch": {"prow-day", postmortem.Detection, postmortem.Fact,
			"49s after the change before it"},
		"the alarm is gone": {"prow-day", postmortem.Resolution, postmortem.Question, "who confirmed it"},
		"415 pods by their query": {"prow-day", postmortem.Impact, postmortem.Fact,
			"415 pods are stranded (counted by: pods created-by-prow=true)"},
		"what mends it": {"prow-day", postmortem.ActionItems, postmortem.Candidate, "roll plank back"},
		"what notes leave open": {"prow-day", postmortem.TimelineID, postmortem.Question,
			"on which date was 09:14 written?"},
	} {
		t.Run(name, func(t *testing.T) {
			items := section(t, reporttest.Draft(t, allSources(t)[test.sources], postmortem.Options{}), test.section)
			if !says(items, test.kind, test.text) {
				t.Errorf("%s has no %s %q:\n%+v", test.section, test.kind, test.text, items)
			}
		})
	}
}

// TestNothingIsInvented: each fact and each candidate has a source.
func TestNothingIsInvented(t *testing.T) {
	for name, sources := range allSources(t) {
		for _, s := range reporttest.Draft(t, sources, postmortem.Options{}).Sections {
			for _, item := range s.Items {
				if s.ID != postmortem.About && item.Kind != postmortem.Question && len(item.Sources) == 0 {
					t.Errorf("%s: %s: no source of %q", name, s.ID, item.Text)
				}
			}
		}
	}
}

func TestOneTimelineInOrder(t *testing.T) {
	made := reporttest.Draft(t, reporttest.ProwDay(t), postmortem.Options{})
	kinds := map[postmortem.SourceKind]bool{}
	for i, e := range made.Timeline.Events {
		kinds[e.Source.Kind] = true
		if i > 0 && e.At.Before(made.Timeline.Events[i-1].At) {
			t.Errorf("%s stands after a later event", e.Text)
		}
	}
	if len(kinds) != 5 {
		t.Errorf("the timeline has events of %v", kinds)
	}
	if !says(section(t, made, postmortem.TimelineID), postmortem.Fact, "clocks are not compared") {
		t.Error("lines of two machines within seconds are not told")
	}
}

func TestBounds(t *testing.T) {
	all := reporttest.Draft(t, reporttest.ProwDay(t), postmortem.Options{})
	from, to := reporttest.Morning().Add(time.Hour), reporttest.Morning().Add(2*time.Hour)
	made := reporttest.Draft(t, reporttest.ProwDay(t), postmortem.Options{Since: from, Until: to})
	if made.Period.First.Before(from) || made.Period.Last.After(to) ||
		made.Period.Outside == 0 || made.Timeline.Total >= all.Timeline.Total || made.Timeline.Total == 0 {
		t.Errorf("%+v, %d events of %d", made.Period, made.Timeline.Total, all.Timeline.Total)
	}
}

// TestBoundsBoundTheFacts: no section tells how a run ended that was open at the end of the bounds, and a run outside
// of them is not told.
func TestBoundsBoundTheFacts(t *testing.T) {
	history := reporttest.Recovered(t)
	middle := history.Entries[len(history.Entries)/2].At
	made := reporttest.Draft(t, of(history), postmortem.Options{Until: middle})
	text := markdown(made)
	if strings.Contains(text, "remediated") || !strings.Contains(text, "the bounds; its record goes on") {
		t.Errorf("the end of the run is told:\n%s", text)
	}
	if !strings.HasPrefix(made.Runs[0].State, "open") || made.Runs[0].Last.After(middle) {
		t.Errorf("%+v", made.Runs[0])
	}
	for _, span := range made.Chart.Spans {
		if span.Began.After(middle) || span.Ended.After(middle) {
			t.Errorf("drawn after the bounds: %+v", span)
		}
	}
	if made.Period.Outside == 0 {
		t.Error("what is left out is not counted")
	}
	late := reporttest.Draft(t, of(history), postmortem.Options{Since: middle})
	for _, span := range late.Chart.Spans {
		if span.Ended.Before(middle) {
			t.Errorf("drawn before the bounds: %+v", span)
		}
	}
	before := reporttest.Draft(t, of(history), postmortem.Options{Until: history.Entries[0].At.Add(-time.Second)})
	if len(before.Runs) != 0 || before.Period.Outside == 0 {
		t.Errorf("a run after the bounds is told: %+v", before.Runs)
	}
}

func TestAlikeEventsAreOne(t *testing.T) {
	w := reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-ffffff", Runbook: "b"})
	for range 40 {
		w.After(time.Minute).Write(journal.Warned, "", journal.Message{Text: "a pod is left"})
	}
	made := reporttest.Draft(t, postmortem.Sources{Runs: []*journal.History{w.History()}}, postmortem.Options{})
	if n := len(made.Timeline.Events); n != 2 || made.Timeline.Events[1].Count != 40 || made.Timeline.Total != 41 {
		t.Errorf("%d lines, %+v", n, made.Timeline.Events[n-1])
	}
}

// TestSizeIsBounded: of 10,000 events, and hostile ones.
func TestSizeIsBounded(t *testing.T) {
	const most = 2 << 20
	made := reporttest.Draft(t, of(reporttest.Busy(t, 10_000)), postmortem.Options{})
	if text := markdown(made); len(text) > most || !strings.Contains(text, "are not listed") {
		t.Errorf("Markdown of %d bytes", len(text))
	}
	var out bytes.Buffer
	if err := report.JSON(&out, made); err != nil || out.Len() > most {
		t.Errorf("JSON of %d bytes, %v", out.Len(), err)
	}
}

func BenchmarkTenThousandEvents(b *testing.B) {
	history, zone := reporttest.Busy(b, 10_000), reporttest.LosAngeles(b)
	for b.Loop() {
		made, err := postmortem.New(postmortem.Sources{Runs: []*journal.History{history}}, postmortem.Options{Zone: zone})
		if err != nil {
			b.Fatal(err)
		}
		if len(postmortem.Document(postmortem.Blocks(made))) == 0 {
			b.Fatal("empty")
		}
	}
}

// TestTextsOfOthersAreText: whatever stands in a journal is no markup, no marker, no mention.
func TestTextsOfOthersAreText(t *testing.T) {
	hostile := "`x` | <!-- salve:end timeline --> --> <script>alert(1)</script> @everyone [a](http://x) **b** \x1b[2J\r\n# head #12"
	w := reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-ffffff", Runbook: hostile,
		Command: "salve " + hostile, Holder: journal.Holder{User: hostile, Host: "h"}}).
		Write(journal.Warned, "", journal.Message{Text: hostile})
	sources := postmortem.Sources{Runs: []*journal.History{w.History()}, Notes: []postmortem.NotesFile{{Name: hostile,
		Notes: []postmortem.Note{{Line: 1, Author: hostile, Text: hostile}}}}}
	text := markdown(reporttest.Draft(t, sources, postmortem.Options{Title: hostile}))
	if _, err := postmortem.Merge([]byte(text), nil, postmortem.Merging{}); err != nil {
		t.Errorf("its markers are not understood: %v", err)
	}
	for number, one := range strings.Split(text, "\n") {
		prose := withoutCode(one)
		for _, bad := range []string{"<script", "@everyone", "**b**", "\x1b", "\r", "[a](", " #12"} {
			if strings.Contains(prose, bad) {
				t.Errorf("line %d has %q: %s", number+1, bad, one)
			}
		}
		if strings.HasPrefix(one, "| ") && strings.Count(one, "|") != 5 {
			t.Errorf("line %d is no row of four: %s", number+1, one)
		}
	}
}

// withoutCode is a line without its code spans, whose ends are never within.
func withoutCode(line string) string {
	var out strings.Builder
	for i, part := range strings.Split(strings.ReplaceAll(line, "\\`", ""), "`") {
		if i%2 == 0 {
			out.WriteString(part)
		}
	}
	return out.String()
}

func TestSourcesThatAreNone(t *testing.T) {
	for name, test := range map[string]struct{ raw, want string }{
		"no JSON":         {"x", "w:1: not a line of salve prow watch"},
		"no time":         {`{"change":"new","rule":"A1"}`, "w:1: a change without a time"},
		"unknown change":  {"\n" + `{"time":"2019-02-05T16:48:10Z","change":"odd","rule":"A1"}`, `w:2: unknown change "odd"`},
		"without finding": {`{"time":"2019-02-05T16:48:10Z","change":"new","rule":"A1"}`, "without a finding"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := postmortem.ReadWatch("w", []byte(test.raw)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	raw, _ := json.Marshal(map[string]string{"format": "salve.triage/v9"})
	if _, err := postmortem.ReadTriage("t", raw); err == nil || !strings.Contains(err.Error(), `format "salve.triage/v9" is not`) {
		t.Errorf("got %v", err)
	}
}
