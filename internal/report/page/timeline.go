package page

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"time"

	"salve/internal/report/postmortem"
)

// timelineView is what happened, in order: what a reader needs, and all of it to be unfolded.
type timelineView struct {
	Items   itemsView
	Zone    string
	Local   bool // the zone is another one than UTC
	Telling []dayView
	All     []dayView
	Total   string
	// LeftTelling are telling rows, and Left events, that are not listed for want of room.
	LeftTelling, Left int
	Long              bool
	Undated           []undatedView
	UndatedTotal      string
	UndatedLeft       int
	UndatedLong       bool
	// places are the rows' own names, by what they come from.
	places map[postmortem.Source]string
}

// dayView is the rows of one day.
type dayView struct {
	Day  string
	Rows []rowView
}

// rowView is one event.
type rowView struct {
	ID           string
	Stamp        string
	Clock, Local string
	Mark, Tone   string
	Text         []part
	Times        string
	Source       sourceView
}

// undatedView is a message without a known date.
type undatedView struct {
	Clock  string
	Text   []part
	Source sourceView
}

// manyRows is from how many rows a table that is folded is not unfolded for printing.
const manyRows = 200

func newTimeline(d postmortem.Draft) timelineView {
	zone, err := time.LoadLocation(d.Zone)
	if err != nil {
		zone = time.UTC // the draft was made with one that there is
	}
	view := timelineView{Zone: one(d.Zone), Local: zone != time.UTC && d.Zone != "UTC",
		places: map[postmortem.Source]string{}, Total: plural(d.Timeline.Total, "event", "events"),
		Left: d.Timeline.Omitted}
	view.tell(d.Timeline.Events, zone)
	view.list(d.Timeline.Events, zone)
	view.undated(d.Timeline)
	return view
}

// tell makes the rows that a reader needs.
func (v *timelineView) tell(events []postmortem.Event, zone *time.Location) {
	space := room{telledRoom}
	for _, e := range events {
		if !e.Telling {
			continue
		}
		if e.Short != "" {
			e.Text = e.Short
		}
		row := v.row(e, zone)
		if !space.takes(row.size(), "") {
			v.LeftTelling++
			continue
		}
		row.ID = v.place(e.Source)
		v.Telling = onDay(v.Telling, e.At, row)
	}
}

// list makes the rows of all events.
func (v *timelineView) list(events []postmortem.Event, zone *time.Location) {
	space := room{allRoom}
	rows := 0
	for _, e := range events {
		row := v.row(e, zone)
		if !space.takes(row.size(), "") {
			v.Left += max(e.Count, 1)
			continue
		}
		if !e.Telling {
			row.ID = v.place(e.Source)
		}
		rows++
		v.All = onDay(v.All, e.At, row)
	}
	v.Long = rows > manyRows
}

func (v *timelineView) undated(t postmortem.Timeline) {
	space := room{undatedRoom}
	v.UndatedLeft = t.UndatedOmitted
	for _, note := range t.Undated {
		view := undatedView{one(note.Clock), linked(one(note.Text)), sourceView{Text: one(note.Source.String())}}
		if !space.takes(rowOverhead+sizeOf(view.Text), view.Source.Text, note.Clock) {
			v.UndatedLeft++
			continue
		}
		v.Undated = append(v.Undated, view)
	}
	v.UndatedTotal = plural(len(t.Undated)+t.UndatedOmitted, "message", "messages")
	v.UndatedLong = len(v.Undated) > manyRows
}

func (v *timelineView) row(e postmortem.Event, zone *time.Location) rowView {
	at := e.At.UTC()
	row := rowView{Stamp: stamp(at), Clock: at.Format("15:04:05"), Text: linked(one(e.Text)),
		Source: sourceView{Text: one(brief(e.Source))}}
	if v.Local {
		local := e.At.In(zone)
		row.Local = local.Format("15:04:05 MST")
		if local.Format(time.DateOnly) != at.Format(time.DateOnly) {
			row.Local = local.Format("2 Jan 15:04:05 MST")
		}
	}
	row.Mark, row.Tone = marked(e.Kind)
	if e.Count > 1 {
		row.Times = fmt.Sprintf("%d times, until %s", e.Count, e.Until.UTC().Format("15:04:05"))
	}
	return row
}

// brief is a source without the step, which the line tells.
func brief(s postmortem.Source) string {
	if s.Kind == postmortem.FromPipeline {
		s.Detail = ""
	}
	return s.String()
}

func (r rowView) size() int {
	return rowOverhead + sizeOf(r.Text) + escaped(r.Source.Text) + len(r.ID) + 40
}

func onDay(days []dayView, at time.Time, row rowView) []dayView {
	day := at.UTC().Format("Monday, 2 January 2006")
	if n := len(days); n == 0 || days[n-1].Day != day {
		days = append(days, dayView{Day: day})
	}
	last := &days[len(days)-1]
	last.Rows = append(last.Rows, row)
	return days
}

// marked is the sign of an event, and how bad it is.
func marked(kind postmortem.EventKind) (mark, tone string) {
	switch kind {
	case postmortem.Opened, postmortem.Resumed, postmortem.Begun:
		return "▸", ""
	case postmortem.Done, postmortem.Checked:
		return "✓", "good"
	case postmortem.Closed:
		return "■", ""
	case postmortem.Failed:
		return "✕", "bad"
	case postmortem.NotKnown, postmortem.Blinded:
		return "?", "known"
	case postmortem.Refused, postmortem.Overridden, postmortem.Warned, postmortem.Interrupted, postmortem.Parked:
		return "!", "known"
	case postmortem.RollingBack:
		return "↩", "known"
	case postmortem.Found:
		return "▲", "bad"
	case postmortem.Cleared:
		return "▽", "good"
	case postmortem.Judged:
		return "◆", ""
	case postmortem.Said:
		return "“", ""
	default:
		return "·", ""
	}
}

// place gives the row of a source a name of its own; the first row of a source has it.
func (v *timelineView) place(s postmortem.Source) string {
	key := placeOf(s)
	if _, taken := v.places[key]; taken {
		return ""
	}
	v.places[key] = named(key)
	return v.places[key]
}

// placeOf is a source without what several sources of one line may differ in.
func placeOf(s postmortem.Source) postmortem.Source {
	if s.At > 0 {
		s.Detail = ""
	}
	return s
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9.-]{1,64}$`)

// named is a source as the name of a row, the same one whenever the page is made.
func named(s postmortem.Source) string {
	of := s.Of
	if !plainName.MatchString(of) || s.Detail != "" {
		sum := sha256.Sum256([]byte(of + "\x00" + s.Detail))
		of = hex.EncodeToString(sum[:8])
	}
	return fmt.Sprintf("%s-%s-%d", sourceKind(s.Kind), of, s.At)
}

func sourceKind(kind postmortem.SourceKind) string {
	switch kind {
	case postmortem.FromJournal, postmortem.FromPipeline, postmortem.FromWatch, postmortem.FromTriage, postmortem.FromNote:
		return string(kind)
	default:
		return "source"
	}
}

// cite names a source, with the row of it, if it has one.
func (v *timelineView) cite(s postmortem.Source) sourceView {
	return sourceView{Text: one(s.String()), At: v.places[placeOf(s)]}
}
