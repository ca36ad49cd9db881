package consistency

import (
	"slices"
	"time"
	_ "time/tzdata" // a zone means the same on every machine

	"salve/internal/lazyregexp"
)

// regions are where families of zones are used: their clocks are set forward and back.
var regions = map[string]string{ //nolint:gochecknoglobals // a table
	"Pacific": "America/Los_Angeles", "Mountain": "America/Denver", "Central": "America/Chicago",
	"Eastern": "America/New_York", "CentralEurope": "Europe/Berlin", "Sydney": "Australia/Sydney",
	"Auckland": "Pacific/Auckland",
}

var regionText = lazyregexp.New(`\b(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific)/` +
	`[A-Z][A-Za-z]+(?:[_-][A-Za-z]+){0,4}(?:/[A-Z][A-Za-z]+(?:[_-][A-Za-z]+){0,4})?`)

// zoneIn is the first zone that a text names, by its abbreviation or by its region; "" for none.
func zoneIn(text string) string {
	short, region := zoneText.FindStringIndex(text), regionText.FindStringIndex(text)
	if region != nil && (short == nil || region[0] <= short[0]) {
		if _, known := locationOf(text[region[0]:region[1]]); known {
			return text[region[0]:region[1]]
		}
	}
	if short == nil {
		return ""
	}
	return text[short[0]:short[1]]
}

// locationOf is a zone that is named by its region.
func locationOf(zone string) (*time.Location, bool) {
	if regionText.FindString(zone) != zone || zone == "" {
		return nil, false
	}
	place, err := time.LoadLocation(zone)
	return place, err == nil
}

// familyOf is what zones have in common that people use for each other.
func familyOf(zone string) string {
	if family, known := families[zone]; known {
		return family
	}
	for family, region := range regions {
		if region == zone {
			return family
		}
	}
	return zone
}

// seasonal are the regions whose clocks the timeline may go by: one when its zone tells, all when there is none that
// is known. exact: it goes by that one.
func seasonal(zone string) (places []*time.Location, exact bool) {
	if place, known := locationOf(zone); known {
		return []*time.Location{place}, true
	}
	_, fixed := offsetOf(zone)
	family := familyOf(zone)
	for of, region := range regions {
		if of != family && (fixed || regions[family] != "") {
			continue
		}
		if place, err := time.LoadLocation(region); err == nil {
			places = append(places, place)
		}
	}
	return places, false
}

// seasons is seasonal of the timeline's zone, read once.
func (t *timeline) seasons() (places []*time.Location, exact bool) {
	if t.places == nil || t.placesOf != t.zone {
		t.places, t.exact = seasonal(t.zone)
		t.placesOf = t.zone
	}
	return t.places, t.exact
}

// lengths are how long it may have been from one time of the timeline to another. It is more than one where the clocks
// may have been set forward or back in between.
func (t *timeline) lengths(from, to time.Time) []time.Duration {
	plain := to.Sub(from)
	if from.Year() < 1970 || to.Year() < 1970 {
		return []time.Duration{plain}
	}
	places, exact := t.seasons()
	var all []time.Duration
	if !exact {
		all = append(all, plain)
	}
	for _, place := range places {
		for _, begin := range instants(from, place) {
			for _, end := range instants(to, place) {
				if length := end.Sub(begin); !slices.Contains(all, length) {
					all = append(all, length)
				}
			}
		}
	}
	return all
}

// instants are when a clock of a place showed a time: twice where it was set back.
func instants(shown time.Time, place *time.Location) []time.Time {
	at := time.Date(shown.Year(), shown.Month(), shown.Day(), shown.Hour(), shown.Minute(), shown.Second(), 0, place)
	found := []time.Time{at}
	for _, hour := range []time.Duration{-time.Hour, time.Hour} {
		if again := at.Add(hour).In(place); again.Hour() == at.Hour() && again.Day() == at.Day() {
			found = append(found, again)
		}
	}
	return found
}
