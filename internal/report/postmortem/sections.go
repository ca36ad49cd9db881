package postmortem

import (
	"fmt"
	"slices"

	"salve/internal/prow/finding"
	"salve/internal/report"
	"salve/internal/triage"
	"salve/runbook"
)

// sections are all of them, in the order of the document.
func (s *story) sections() []Section {
	return []Section{
		{About, "", s.about()},
		{Summary, "Summary", s.summary()},
		{Impact, "Impact", s.impact()},
		{RootCause, "Root cause", s.rootCause()},
		{Detection, "Detection", s.detection()},
		{Resolution, "Resolution", s.resolution()},
		{Lessons, "Lessons learned", nil},
		{WentWell, "What went well", s.wentWell()},
		{WentPoorly, "What went poorly", s.wentPoorly()},
		{GotLucky, "Where we got lucky", s.gotLucky()},
		{ActionItems, "Action items", s.actionItems()},
		{TimelineID, "Timeline", s.timelineNotes()},
		{AppendixID, "Appendix", nil},
	}
}

func (m mention) item(kind ItemKind) Item {
	item := Item{Kind: kind, Text: m.text, Command: m.command}
	if m.count > 1 {
		item.Text += fmt.Sprintf(" (%d times)", m.count)
	}
	if m.source.Of != "" {
		item.Sources = []Source{m.source}
	}
	return item
}

func question(format string, args ...any) Item {
	return Item{Kind: Question, Text: line(format, args...)}
}

func fact(source Source, format string, args ...any) Item {
	return Item{Kind: Fact, Text: line(format, args...), Sources: []Source{source}}
}

// items lists mentions; of too many the rest is counted.
func items(kind ItemKind, lead string, mentions []mention) []Item {
	var list []Item
	for i, m := range mentions {
		if i == listRoom {
			list = append(list, Item{Kind: kind, Text: line("%sand %s; see the timeline", lead,
				report.Count(len(mentions)-i, "more of this kind", "more of this kind"))})
			break
		}
		m.text = lead + m.text
		list = append(list, m.item(kind))
	}
	return list
}

func (r Run) source() Source {
	kind := FromJournal
	if r.Pipeline {
		kind = FromPipeline
	}
	return Source{Kind: kind, Of: r.Run}
}

func (s *story) about() []Item {
	p := s.period()
	var list []Item
	if !p.First.IsZero() {
		list = append(list, Item{Kind: Fact, Text: line("The record reaches from %s to %s.", instant(p.First),
			instant(p.Last))})
	}
	if p.Outside > 0 {
		list = append(list, Item{Kind: Fact, Text: line("%s of the sources are outside of the bounds and not told.",
			report.Count(p.Outside, "event", "events"))})
	}
	list = append(list, s.turnsInShort()...)
	return append(list, items(Fact, "", s.facts.torn)...)
}

func (s *story) summary() []Item {
	var list []Item
	for _, run := range s.runs {
		what := "runbook " + run.Runbook
		if run.Pipeline {
			what = "pipeline"
		}
		text := fmt.Sprintf("%s on %s: %s", what, run.Target, run.State)
		if run.Reason != "" {
			text += " (" + run.Reason + ")"
		}
		text += fmt.Sprintf("; %s to %s, %s; %s.", instant(run.Opened), instant(run.Last), span(run.Last.Sub(run.Opened)),
			s.attempts(run.Run))
		list = append(list, fact(run.source(), "%s", text))
	}
	if n := s.alarms(); n > 0 {
		first := slices.IndexFunc(s.facts.watch, watchFact.raised)
		list = append(list, fact(s.facts.watch[first].source, "The watch raised %s; the first at %s: %s.",
			report.Count(n, "warning or alert", "warnings and alerts"), instant(s.facts.watch[first].at),
			s.facts.watch[first].text))
	}
	for _, file := range s.facts.triage {
		list = append(list, fact(Source{Kind: FromTriage, Of: file.Name}, "Triage: %s, confidence %s. %s",
			file.Document.Verdict, file.Document.Confidence, file.Document.Summary))
	}
	return append(list, question("What happened, in two sentences for somebody who was not there?"))
}

// attempts counts what became of a run's steps.
func (s *story) attempts(run string) string {
	done, failed, again := 0, 0, 0
	for _, one := range s.chart.Spans {
		if one.Run != run || one.Kind != Attempt {
			continue
		}
		switch one.Result {
		case "done":
			done++
		case "failed", "unknown":
			failed++
		default: // it was left out, or nobody knows
		}
		if one.Attempt > 1 {
			again++
		}
	}
	text := report.Count(done, "step attempt done", "step attempts done")
	if failed > 0 {
		text += fmt.Sprintf(", %d failed or not known", failed)
	}
	if again > 0 {
		text += fmt.Sprintf(", %s", report.Count(again, "retry", "retries"))
	}
	return text
}

func (w watchFact) raised() bool {
	return (w.change == appeared || w.change == worsened) && w.severity.AtLeast(finding.Warn)
}

func (s *story) alarms() int {
	n := 0
	for _, w := range s.facts.watch {
		if w.raised() {
			n++
		}
	}
	return n
}

func (s *story) impact() []Item {
	counts := make([]mention, len(s.facts.counts))
	for i, m := range s.facts.counts {
		m.command = ""
		counts[i] = m
	}
	list := items(Fact, "Counted: ", counts)
	for _, w := range s.facts.watch {
		if w.raised() && w.severity == finding.Alert && len(list) < 2*listRoom {
			list = append(list, fact(w.source, "Seen by the watch at %s: %s", instant(w.at), w.text))
		}
	}
	for _, file := range s.facts.triage {
		c := file.Document.Counts
		list = append(list, fact(Source{Kind: FromTriage, Of: file.Name}, "%d of %d scenarios failed, %d passed, %d skipped",
			c.Failed, c.Scenarios, c.Passed, c.Skipped))
	}
	return append(list,
		question("Who was affected, how, and from when to when? The record has what was counted, not what "+
			"users saw."))
}

func (s *story) rootCause() []Item {
	var list []Item
	told := false
	for _, file := range s.facts.triage {
		for _, group := range file.Document.Groups {
			if len(list) >= listRoom {
				break
			}
			source := Source{Kind: FromTriage, Of: file.Name, Detail: clean(group.Key, 64)}
			list = append(list, fact(source, "Triage says %s (confidence %s) of %s: %s. %s", group.Verdict, group.Confidence,
				report.Count(group.Failures, "failure", "failures"), group.Cause.Text, group.Alternative.Text))
			told = told || group.Verdict != triage.Undecided && group.Verdict != triage.New
		}
	}
	if change, sign, found := s.changeBefore(); found {
		list = append(list, Item{Kind: Candidate, Sources: []Source{change.Source, sign.Source},
			Text: line("The last change in the record before the first sign of trouble: %s, at %s, %s before it. That "+
				"it is the cause is not in the record.", change.Text, instant(change.At), span(sign.At.Sub(change.At)))})
	}
	if told {
		return append(list, question("Is what triage says the root cause? What made it possible?"))
	}
	return append(list, question("What is the root cause? No source tells it."))
}

func (s *story) resolution() []Item {
	var list []Item
	for _, run := range s.runs {
		switch {
		case !s.follows(run):
		case runbook.Outcome(run.State).Successful():
			list = append(list, fact(run.source(), "Run %s ended %s at %s, %s after it was opened: %s.", run.Run, run.State,
				instant(run.Last), span(run.Last.Sub(run.Opened)), run.Reason))
		case run.cut:
			list = append(list, fact(run.source(), "Run %s was %s at %s, %s.", run.Run, run.State, instant(run.Last),
				run.Reason))
		default:
			list = append(list, fact(run.source(), "Run %s did not resolve it: %s.", run.Run, run.State))
		}
	}
	list = append(list, items(Fact, "", s.facts.commands)...)
	list = append(list, s.sent()...)
	if e, found := s.lastCleared(); found {
		list = append(list, fact(e.Source, "The last alarm of the watch was gone at %s: %s.", instant(e.At), e.Text))
	}
	if s.facts.questions != nil {
		for _, m := range s.facts.questions[:min(len(s.facts.questions), listRoom)] {
			if m.source.Kind != FromNote {
				m.text = "The run asked: " + m.text
				list = append(list, m.item(Question))
			}
		}
	}
	return append(list, question("When could users work again, and who confirmed it?"))
}

// follows tells whether a run may have been for the incident: what ended before the first sign of trouble was not.
func (s *story) follows(run Run) bool {
	onset, found := first(s.events, sign)
	return !found && !run.Pipeline || found && !run.Last.Before(onset.At)
}

// sent counts the changing requests of each run, and those that were refused.
func (s *story) sent() []Item {
	var list []Item
	for _, run := range s.runs {
		sent, refused := 0, 0
		for _, one := range s.chart.Requests {
			if one.Run != run.Run {
				continue
			}
			sent += one.Count
			if one.Refused() {
				refused += one.Count
			}
		}
		if sent > 0 {
			list = append(list, fact(run.source(),
				"Run %s sent %s, of which %d were refused or not answered (counted by: salve runs "+
					"show %s --requests).", run.Run, report.Count(sent, "changing request", "changing requests"), refused, run.Run))
		}
	}
	return list
}

// lastCleared is the last alarm that went away, if none is left.
func (s *story) lastCleared() (Event, bool) {
	for i := len(s.events) - 1; i >= 0; i-- {
		if e := s.events[i]; e.Source.Kind == FromWatch && e.Telling {
			return e, e.Kind == Cleared
		}
	}
	return Event{}, false
}

// timelineNotes are what has to be known to read the timeline.
func (s *story) timelineNotes() []Item {
	list := s.turnNotes()
	if n, first := s.near(); n > 0 {
		list = append(list, Item{Kind: Fact, Sources: []Source{first[0].Source, first[1].Source},
			Text: line("%s of different machines are within %s of each other: their clocks are not compared, so the order "+
				"there says nothing. The first: %s.", report.Count(n, "pair of lines", "pairs of lines"), nearby,
				instant(first[0].At))})
	}
	for _, m := range s.facts.questions {
		if m.source.Kind == FromNote && len(list) < 3*listRoom {
			list = append(list, m.item(Question))
		}
	}
	if n := len(s.undated); n > 0 {
		list = append(list,
			question("%s of the notes: not in the timeline, because date or zone is not known. On which date and in "+
				"which zone was it written? (--notes-date, --notes-zone)", report.Count(n, "message", "messages")))
	}
	return list
}

// told is the text of an event in short.
func (e Event) told() string {
	if e.Short != "" {
		return e.Short
	}
	return e.Text
}

// near counts lines of different machines that follow each other closely, with the first two.
func (s *story) near() (count int, first [2]Event) {
	var before Event
	for _, e := range s.events {
		if !e.Telling {
			continue
		}
		if before.clock != "" && before.clock != e.clock && e.At.Sub(before.At) < nearby {
			if count++; count == 1 {
				first = [2]Event{before, e}
			}
		}
		before = e
	}
	return count, first
}
