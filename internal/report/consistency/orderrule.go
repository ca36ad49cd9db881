package consistency

import (
	"slices"
	"time"

	"salve/internal/lazyregexp"
)

// checkOrder finds events that are told after later ones. A timeline that goes back all along is told newest first.
func checkOrder(d *document, t *timeline) []Finding {
	var found []Finding
	up, down := 0, 0
	for i := 1; i < len(t.events); i++ {
		before, e := t.events[i-1], t.events[i]
		switch {
		case before.track != e.track || !before.comparable || !e.comparable ||
			t.mixed && (before.zone == "") != (e.zone == ""):
		case e.at.After(before.at):
			up++
		case e.at.Before(before.at) && slices.Max(t.lengths(before.at, e.at)) < 0:
			down++
			found = append(found, d.finding(EventsOutOfOrder, []int{before.line, e.line},
				"%s stands after %s: events are out of order, or a date is missing", shown(e.at), shown(before.at)))
		}
	}
	if up == 0 && down > 1 {
		return nil
	}
	return found
}

func shown(at time.Time) string {
	if at.Year() < 1970 {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}

var (
	stamps = lazyregexp.New(`(?im)^[\s|]*(last modified|last updated|last edited|modified|updated|created|` +
		`published|reviewed)(?: on| at)?[ \t]*[:|][ \t]*(.+)$`)
	due = lazyregexp.New(`(?i)\b(?:due|due date|deadline|eta|target)[ :(]+([^)]{6,30})`)
)

// checkDates finds dates that can't belong to the incident.
func checkDates(d *document, t *timeline) []Finding {
	first, line := t.incident, t.titled
	if first.IsZero() {
		for _, e := range t.events {
			if e.at.Year() > 1970 && (first.IsZero() || e.at.Before(first)) {
				first, line = e.at.Truncate(24*time.Hour), e.line
			}
		}
	}
	if first.IsZero() {
		return nil
	}
	var found []Finding
	for _, b := range d.claiming() {
		if b.shape == heading {
			continue
		}
		for _, at := range stamps.FindAllStringSubmatchIndex(b.claims, -1) {
			if date, ok := firstDate(b.claims[at[4]:at[5]], first); ok && date.Before(first) {
				found = append(found, d.finding(DateOutsideIncident, []int{b.lineAt(at[2]), line},
					"%s on %s, before the incident of %s", b.claims[at[2]:at[3]], date.Format(time.DateOnly),
					first.Format(time.DateOnly)))
			}
		}
		if at := due.FindStringSubmatchIndex(b.claims); at != nil && d.kind(b) == actions {
			if date, ok := firstDate(b.claims[at[2]:at[3]], first); ok && date.Before(first) {
				found = append(found, d.finding(DateOutsideIncident, []int{b.lineAt(at[2]), line},
					"due on %s, before the incident of %s", date.Format(time.DateOnly), first.Format(time.DateOnly)))
			}
		}
		found = append(found, slippedDates(d, t, b, line)...)
	}
	return found
}

// slippedDates are those of summary, impact and timeline whose month or year is one off the title's.
func slippedDates(d *document, t *timeline, b *block, line int) []Finding {
	if t.incident.IsZero() || d.kind(b) != summary && d.kind(b) != impact && d.kind(b) != events {
		return nil
	}
	var found []Finding
	for _, at := range dateText.FindAllStringSubmatchIndex(b.claims, -1) {
		date, ok := readDate(b.claims, at, t.incident)
		if !ok || !slipped(date, t.incident) || d.kind(b) == events && b.shape != paragraph && justBackground(t, b.line) {
			continue
		}
		found = append(found, d.finding(DateOutsideIncident, []int{b.lineAt(at[0]), line},
			"%s is not the date of the incident, %s", date.Format(time.DateOnly), t.incident.Format(time.DateOnly)))
	}
	return found
}

// justBackground: the event is the first of the timeline, and tells what was long before.
func justBackground(t *timeline, line int) bool {
	return len(t.events) > 1 && t.events[0].line == line && t.events[1].at.Sub(t.events[0].at) > 24*time.Hour
}

func slipped(date, incident time.Time) bool {
	for _, back := range []time.Time{date.AddDate(0, 1, 0), date.AddDate(0, -1, 0), date.AddDate(1, 0, 0),
		date.AddDate(-1, 0, 0),
	} {
		if days := back.Sub(incident).Hours() / 24; days >= 0 && days <= 1 {
			return true
		}
	}
	return false
}
