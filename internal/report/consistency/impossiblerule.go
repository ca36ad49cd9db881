package consistency

import (
	"strconv"
	"strings"
	"time"
)

// checkImpossible finds times of the timeline and dates that there are not.
func checkImpossible(d *document, t *timeline) []Finding {
	found := t.noTimes(d)
	for _, b := range d.claiming() {
		for _, at := range dateText.FindAllStringSubmatchIndex(b.claims, -1) {
			if text := b.claims[at[0]:at[1]]; pastMonthsEnd(b.claims, at) && len(found) < maxFindings {
				found = append(found, d.finding(NoSuchTime, []int{b.lineAt(at[0])}, "there is no %s",
					strings.TrimRight(text, "Tt ")))
			}
		}
	}
	return found
}

// pastMonthsEnd tells of a date with a year whether its month ends before its day. Where the month is none, or no month
// has such a day, it may be no date at all.
func pastMonthsEnd(text string, at []int) bool {
	group := func(i int) string {
		if at[2*i] < 0 {
			return ""
		}
		return text[at[2*i]:at[2*i+1]]
	}
	day, _ := strconv.Atoi(group(3) + group(5) + group(7) + group(10))
	if day < 29 || day > 31 || group(1)+group(6)+group(9)+group(12) == "" {
		return false
	}
	if _, there := readDate(text, at, time.Time{}); there {
		return false
	}
	// The same month has a first day if it is one.
	year, _ := strconv.Atoi(group(1) + group(6) + group(9) + group(12))
	month, err := strconv.Atoi(group(2) + group(11))
	return year > 1970 && year < 2200 && (err != nil || month >= 1 && month <= 12)
}

// noTimes are what stands for a time in front of an event, and is none. Minutes and seconds since the beginning, and
// hours that go on after midnight, are other ways to tell the time.
func (t *timeline) noTimes(d *document) []Finding {
	var found []Finding
	for _, one := range t.refused {
		if !one.minutes && (t.sinceBegin() || one.afterMidnight) {
			continue
		}
		found = append(found, d.finding(NoSuchTime, []int{one.line}, "%s is no time of day", one.text))
	}
	if len(found) > len(t.events) {
		return nil // they are not times of day
	}
	return found
}

// sinceBegin tells whether the timeline may count minutes and seconds from zero.
func (t *timeline) sinceBegin() bool {
	return len(t.events) > 0 && t.events[0].at.Hour() == 0 && !t.events[0].dated && t.events[0].zone == ""
}

// refused is what stands for a time and is none: its minutes are too many, or else its hours. afterMidnight: the hours
// may go on from those of the evening before.
type refused struct {
	line                   int
	text                   string
	minutes, afterMidnight bool
}

// refuse keeps what can't be read as a time. Fractions of an hour and half days are nothing that can be said of it.
func (t *timeline) refuse(text string, at []int, line int) {
	if at[2] < 0 || at[8] >= 0 {
		return
	}
	hour, _ := strconv.Atoi(text[at[2]:at[3]])
	minute, _ := strconv.Atoi(text[at[4]:at[5]])
	evening := len(t.events) > 0 && t.events[len(t.events)-1].at.Hour() >= 20
	late := len(t.refused) > 0 && t.refused[len(t.refused)-1].afterMidnight
	t.refused = append(t.refused, refused{line: line, text: strings.TrimSpace(text[at[0]:at[1]]), minutes: minute > 59,
		afterMidnight: hour >= 24 && hour < 30 && (evening || late) || hour == 24 && minute == 0})
}
