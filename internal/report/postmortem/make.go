package postmortem

import (
	"fmt"
	"slices"
	"time"

	"salve/internal/report"
)

// Bounds of a draft: the record has the rest.
const (
	mainRoom    = 300  // telling events
	foldedRoom  = 3000 // all events
	undatedRoom = 500
	guardRoom   = 100
	heldRoom    = 100
	listRoom    = 20 // lines of one kind in a section
	longStep    = time.Minute
	// nearby is how close the lines of two machines may be before their order says nothing.
	nearby = 5 * time.Second
)

// New makes the draft of a post-mortem.
func New(sources Sources, options Options) (Draft, error) {
	if options.Zone == nil {
		options.Zone = time.UTC
	}
	s := &story{options: options}
	for _, history := range sources.Runs {
		if len(history.Entries) == 0 {
			return Draft{}, fmt.Errorf("broken record: run %q has no entry", history.Header.Run)
		}
		if err := s.readRun(history); err != nil {
			return Draft{}, err
		}
	}
	for _, file := range sources.Watch {
		file.Name = clean(file.Name, eventRoom)
		s.readWatch(file)
	}
	for _, file := range sources.Triage {
		file.Name = clean(file.Name, eventRoom)
		s.readTriage(file)
	}
	for _, file := range sources.Notes {
		file.Name = clean(file.Name, eventRoom)
		s.readNotes(file)
	}
	sortEvents(s.events)
	sortSpans(s.chart.Spans)
	draft := Draft{
		Document: report.NewDocument("report"), Format: Format, Title: s.title(), Zone: options.Zone.String(),
		Runs: s.runs, Inputs: inputs(sources), Sections: s.sections(), Appendix: s.appendix(), Chart: s.bounded(),
	}
	draft.Period = s.period()
	draft.Timeline = s.timeline()
	return draft, nil
}

// sortEvents puts events in order of time; those of one time stay in the order of their sources.
func sortEvents(events []Event) {
	slices.SortStableFunc(events, func(a, b Event) int { return a.At.Compare(b.At) })
}

func inputs(sources Sources) []string {
	var names []string
	for _, file := range sources.Watch {
		names = append(names, clean(file.Name, eventRoom))
	}
	for _, file := range sources.Triage {
		names = append(names, clean(file.Name, eventRoom))
	}
	for _, file := range sources.Notes {
		names = append(names, clean(file.Name, eventRoom))
	}
	return names
}

// title is the one that was given, or what and when.
func (s *story) title() string {
	if s.options.Title != "" {
		return clean(s.options.Title, eventRoom)
	}
	title := "Post-mortem"
	if len(s.events) > 0 {
		title = s.events[0].At.In(s.options.Zone).Format("2006-01-02") + " post-mortem"
	}
	if len(s.runs) > 0 {
		title += ": " + s.runs[0].Target
		if len(s.runs) > 1 {
			title += fmt.Sprintf(" and %s", report.Count(len(s.runs)-1, "more run", "more runs"))
		}
	}
	return title
}

func (s *story) period() Period {
	p := Period{Since: s.options.Since.UTC(), Until: s.options.Until.UTC(), Outside: s.outside}
	if s.options.Since.IsZero() {
		p.Since = time.Time{}
	}
	if s.options.Until.IsZero() {
		p.Until = time.Time{}
	}
	if n := len(s.events); n > 0 {
		p.First, p.Last = s.events[0].At, s.events[n-1].At
		for _, e := range s.events {
			if e.Until.After(p.Last) {
				p.Last = e.Until
			}
		}
	}
	return p
}

// timeline is bounded: of too many telling events those in the middle are folded, and of too many events those in the
// middle are left out and counted.
func (s *story) timeline() Timeline {
	t := Timeline{}
	for _, e := range s.events {
		t.Total += max(e.Count, 1)
	}
	var telling []int
	for i, e := range s.events {
		if e.Telling {
			telling = append(telling, i)
		}
	}
	for _, i := range middle(telling, mainRoom) {
		s.events[i].Telling = false
	}
	kept := s.events
	if len(kept) > foldedRoom {
		kept = slices.Clone(kept)
		for i := foldedRoom / 2; i < len(s.events)-foldedRoom/2; i++ {
			if !kept[i].Telling {
				t.Omitted += max(kept[i].Count, 1)
				kept[i].Kind = ""
			}
		}
		kept = slices.DeleteFunc(kept, func(e Event) bool { return e.Kind == "" })
	}
	t.Events = kept
	t.Undated = s.undated[:min(len(s.undated), undatedRoom)]
	t.UndatedOmitted = len(s.undated) - len(t.Undated)
	return t
}

// middle are the elements that are too many, taken from the middle.
func middle(all []int, room int) []int {
	if len(all) <= room {
		return nil
	}
	return all[room/2 : len(all)-room/2]
}

func (s *story) appendix() Appendix {
	a := Appendix{Guards: s.guards, Held: s.held}
	if len(a.Guards) > guardRoom {
		a.Omitted = len(a.Guards) - guardRoom
		a.Guards = append(slices.Clone(a.Guards[:guardRoom/2]), a.Guards[len(a.Guards)-guardRoom/2:]...)
	}
	a.Held = a.Held[:min(len(a.Held), heldRoom)]
	slices.SortStableFunc(a.Guards, func(x, y GuardFinding) int { return x.At.Compare(y.At) })
	return a
}
