package postmortem

import (
	"time"

	"salve/internal/report"
)

// sign tells whether an event shows trouble by itself.
func sign(e Event) bool {
	switch e.Kind {
	case Failed, NotKnown:
		return true
	case Found:
		return e.Telling
	default:
		return false
	}
}

// notices tells whether by this event somebody, or something that watches, has seen trouble.
func notices(e Event) bool {
	switch e.Kind {
	case Found:
		return e.Telling && e.Source.Kind == FromWatch
	case Judged, Parked, Resumed:
		return e.Telling
	case Opened:
		return e.Source.Kind == FromJournal // a runbook is opened because something is wrong; a pipeline is not
	case Said:
		return e.noticed
	default:
		return false
	}
}

// same tells whether two events are one. A source may tell of several: a triage of the first failure and of its
// verdict.
func same(a, b Event) bool { return a.Source == b.Source && a.Kind == b.Kind && a.At.Equal(b.At) }

func first(events []Event, is func(Event) bool) (Event, bool) {
	for _, e := range events {
		if is(e) {
			return e, true
		}
	}
	return Event{}, false
}

// changeBefore is the newest step of a pipeline before the first sign of trouble. The steps of a runbook are the
// repair.
func (s *story) changeBefore() (change, trouble Event, found bool) {
	trouble, found = first(s.events, sign)
	if !found {
		return change, trouble, false
	}
	found = false
	for _, e := range s.events {
		if !e.At.Before(trouble.At) {
			break
		}
		if e.Source.Kind == FromPipeline && (e.Kind == Begun || e.Kind == Done) {
			change, found = e, true
		}
	}
	return change, trouble, found
}

// gap is the time from the first sign of trouble to the first notice of it, where the record has both.
func (s *story) gap() (onset, noticed Event, gap time.Duration, found bool) {
	onset, found = first(s.events, sign)
	if !found {
		return onset, noticed, 0, false
	}
	noticed, found = first(s.events, notices)
	if found && noticed.At.Before(onset.At) {
		return onset, noticed, 0, false // what made somebody look is not in the record
	}
	return onset, noticed, noticed.At.Sub(onset.At), found
}

func (s *story) detection() []Item {
	var list []Item
	noticed, seen := first(s.events, notices)
	if seen {
		list = append(list, fact(noticed.Source, "The first notice in the record: %s, at %s.", noticed.told(),
			instant(noticed.At)))
	}
	onset, next, gap, found := s.gap()
	switch {
	case found && !same(onset, next):
		list = append(list, Item{Kind: Fact, Sources: []Source{onset.Source, next.Source},
			Text: line("From the first sign of trouble in the record (%s, at %s) to the first notice after it (%s, at %s): %s.",
				onset.Text, instant(onset.At), next.told(), instant(next.At), span(gap))})
	case seen && onset.Kind != "" && noticed.At.Before(onset.At):
		list = append(list, fact(noticed.Source,
			"No source shows trouble before the first notice: how long it lasted until then is "+
				"not in the record."))
	case found:
		text := "The first sign of trouble in the record is what noticed it"
		if change, _, before := s.changeBefore(); before {
			text += ", " + span(onset.At.Sub(change.At)) + " after the change before it"
		}
		list = append(list, fact(onset.Source, "%s.", text))
	}
	for _, file := range s.facts.triage {
		list = append(list, fact(Source{Kind: FromTriage, Of: file.Name}, "Triage was made at %s, over %s.",
			instant(file.Document.Created), report.Count(file.Document.Counts.Scenarios, "scenario", "scenarios")))
	}
	return append(list, question("When did it begin for users, and who or what noticed it first?"))
}
