package consistency

import (
	"strings"
	"time"

	"salve/internal/lazyregexp"
)

// event is a line of the timeline.
type event struct {
	at   time.Time
	line int
	text string
	// dated: the date is written there. day: it is known.
	dated bool
	track int
	zone  string
	// precise: seconds are written.
	precise bool
	// comparable: the zone can be compared with that of the timeline.
	comparable bool
}

// timeline is what happened when, as the post-mortem tells it, in the zone that it tells it in.
type timeline struct {
	events []event
	zone   string
	// incident is the date of the title or of a field; zero when there is none.
	incident time.Time
	titled   int
	// mixed: times stand in several zones, so that one without a zone can't be compared.
	mixed bool
	date  time.Time
	dated bool
	last  time.Time
	track int
	// places are the regions that it may go by, of zone placesOf; exact when it goes by that one.
	places   []*time.Location
	placesOf string
	exact    bool
	// refused are what stands for the time of an event, and is none.
	refused []refused
}

var (
	dateLabel = lazyregexp.New(`(?im)^[ \t]*(?:incident date|date of incident|date)[ \t]*:[ \t]*["']?(.+)$`)
	allTimes  = lazyregexp.New(`(?i)\btimes?(?:tamps?)?\b[^.\n]{0,40}|^\W*(?:UTC|GMT)\W*$|` +
		`(?m:^\W*all (?:(?:are|is|in|events|entries) ){0,3}(?:` + zones + `|[a-z]+/[\w/-]+)\W*$)`)
	leading    = lazyregexp.New(`(?i)^[\s\[("'~≈]*(?:(?:at|around|about|approx\.?|circa|c\.)\s+)?`)
	separators = lazyregexp.New(`^[\s,;|)\]–—-]*(?:at\s+|T)?[\s\[("']*`)
	nextDay    = lazyregexp.New(`(?i)\bnext (?:day|morning)\b|\bfollowing (?:day|morning)\b|\(\+1(?:d| day)?\)`)
	timeColumn = lazyregexp.New(`(?i)^(?:time.*|when|timestamp|date ?/? ?time.*|clock|utc|.*\((?:utc|gmt|pst|pdt|` +
		`cet|cest|est|edt)\))$`)
	dateColumn = lazyregexp.New(`(?i)^(?:date|day)$`)
	beforeZero = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a table
)

func newTimeline(d *document) *timeline {
	t := &timeline{}
	if d.title != nil {
		if date, found := firstDate(d.title.text, time.Time{}); found {
			t.incident, t.titled = date, d.title.line
		}
	}
	for _, b := range d.blocks {
		if at := dateLabel.FindStringSubmatchIndex(b.claims); t.incident.IsZero() && at != nil && d.kind(b) != appendix {
			if date, found := firstDate(b.claims[at[2]:at[3]], time.Time{}); found {
				t.incident, t.titled = date, b.lineAt(at[2])
			}
		}
	}
	t.zone = zoneOf(d)
	t.date = t.incident
	for _, b := range d.blocks {
		if d.kind(b) == events && b.shape != comment {
			t.take(b)
		}
	}
	return t
}

// zoneOf is the zone that the post-mortem says its times are in.
func zoneOf(d *document) string {
	for _, b := range d.blocks {
		if b.shape == heading && d.kind(b) == events {
			if zone := zoneIn(b.text); zone != "" {
				return zone
			}
		}
		if d.kind(b) == appendix {
			continue
		}
		for _, says := range allTimes.FindAllString(b.text, -1) {
			if zone := zoneIn(says); zone != "" && len(zone) > 1 {
				return zone
			}
		}
		if d.kind(b) == events && len(b.columns) > 0 {
			if zone := zoneText.FindString(strings.Join(b.columns, " ")); zone != "" {
				return zone
			}
		}
	}
	return ""
}

func (t *timeline) take(b *block) {
	text := b.text
	if b.shape == row {
		text = rowText(b)
	}
	offset := 0
	for line := range strings.SplitSeq(text, "\n") {
		if b.shape == quote || !t.event(line, b.lineAt(0)+offset) {
			// A line that only tells a date dates what follows; one that tells more does so before the first event.
			if date, found := firstDate(line, t.incident); found && (len(line) < 40 || len(t.events) == 0) {
				t.date, t.dated = date, true
			}
		} else if b.shape == item || b.shape == row {
			return
		}
		offset++
	}
	if b.shape == heading {
		t.track++
	}
}

// rowText is a row with its date and its time in front.
func rowText(b *block) string {
	var date, when string
	var rest []string
	for i, cell := range b.cells {
		switch {
		case i < len(b.columns) && dateColumn.MatchString(b.columns[i]) && date == "":
			date = cell + " "
		case i < len(b.columns) && timeColumn.MatchString(b.columns[i]) && when == "":
			when = cell + " "
		default:
			rest = append(rest, cell)
		}
	}
	return strings.ReplaceAll(date+when+strings.Join(rest, " "), "\n", " ")
}

// event reads a line that begins with a time, or with a date and a time.
func (t *timeline) event(line string, number int) bool {
	rest := line[len(leading.FindString(line)):]
	e := event{line: number, track: t.track, comparable: true}
	if at := dateText.FindStringSubmatchIndex(rest); at != nil && at[0] <= 5 {
		date, found := readDate(rest, at, t.incident)
		if !found {
			return false
		}
		e.dated, rest = true, rest[at[1]:]
		rest = rest[len(separators.FindString(rest)):]
		e.at = date
	}
	at := timeOfDay.FindStringSubmatchIndex(rest)
	if at == nil || at[0] != 0 {
		return false
	}
	when, ok := readTime(rest, at)
	if !ok {
		t.refuse(rest, at, number)
		return false
	}
	e.text, e.zone, e.precise = strings.TrimSpace(rest[at[1]:]), when.zone, when.precise
	t.place(&e, when)
	t.events = append(t.events, e)
	return true
}

// place finds the date of an event: the one that is written, or else the one of the event before, or the day after it
// when the clock went back by half a day or more.
func (t *timeline) place(e *event, when clock) {
	shift := time.Duration(0)
	if e.zone != "" && t.zone == "" {
		t.zone = e.zone
	}
	if e.zone != "" {
		var known bool
		shift, known = between(e.zone, t.zone)
		e.comparable = known
		t.mixed = t.mixed || !known || shift != 0
	}
	time0 := time.Duration(when.seconds)*time.Second + shift
	if e.dated {
		t.date, t.dated = e.at, true
		e.at = e.at.Add(time0)
		t.last = e.at
		return
	}
	day := t.date
	if day.IsZero() {
		day = beforeZero
	}
	e.at = day.Add(time0)
	if when.ambiguous && !t.last.IsZero() && e.at.Before(t.last) && !e.at.Add(12*time.Hour).Before(t.last) {
		e.at = e.at.Add(12 * time.Hour)
	}
	if !t.last.IsZero() && !t.dated && (t.last.Sub(e.at) >= 12*time.Hour || nextDay.MatchString(e.text)) {
		t.date = day.AddDate(0, 0, 1)
		e.at = e.at.AddDate(0, 0, 1)
	} else if t.dated && !t.last.IsZero() && t.last.Sub(e.at) >= 12*time.Hour && sameDay(t.last, day) {
		t.date = day.AddDate(0, 0, 1)
		e.at = e.at.AddDate(0, 0, 1)
	}
	t.last = e.at
}

func sameDay(a, b time.Time) bool { return a.Format(time.DateOnly) == b.Format(time.DateOnly) }
