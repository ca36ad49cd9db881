package consistency

import (
	"strconv"
	"strings"
	"time"

	"salve/internal/lazyregexp"
)

// clock is a time of day as written, with what is written of its date and zone. Minutes count from midnight.
type clock struct {
	seconds int
	// date is zero when none is written.
	zone string
	// precise: seconds are written. ambiguous: neither AM, PM nor a leading zero tells which half of the day it is.
	precise, ambiguous bool
}

const (
	months = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|` +
		`oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`
	zones = `UTC ?[+-]\d{1,2}(?::?\d{2})?|GMT ?[+-]\d{1,2}(?::?\d{2})?|UTC|GMT|Z|PST|PDT|PT|MST|MDT|MT|CST|CDT|CT|` +
		`EST|EDT|ET|CET|CEST|BST|IST|JST|AEST|AEDT|NZST|NZDT|[+-]\d{2}:?\d{2}`
	timeText = `(?:(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?: ?([AaPp])\.?[Mm]\b\.?)?|(\d{1,2}) ` +
		`?([AaPp])\.?[Mm]\b\.?)(?: ?\(?\b(` + zones + `)\b\)?)?`
	isoDate = `(\d{4})[-/](\d{1,2})[-/](\d{1,2})`
)

var (
	// The zone of a time may follow it directly, as in 14:05Z and 14:05+01:00.
	timeOfDay = lazyregexp.New(strings.Replace(timeText, `\(?\b(`, `\(?(`, 1))
	dateText  = lazyregexp.New(`(?i)\b` + isoDate + `(?:T|\b)|\b(` + months + `)\.? (\d{1,2})(?:st|nd|rd|` +
		`th)?(?:,? (\d{4}))?\b|` +
		`\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? (` + months + `)\.?(?:,? (\d{4}))?\b|\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b`)
	zoneText = lazyregexp.New(`\b(` + zones + `)\b`)
)

// readTime reads what timeOfDay matched in text.
func readTime(text string, at []int) (clock, bool) {
	group := func(i int) string {
		if at[2*i] < 0 {
			return ""
		}
		return text[at[2*i]:at[2*i+1]]
	}
	hour, half := group(1), group(4)
	if hour == "" {
		hour, half = group(5), group(6)
	}
	h, _ := strconv.Atoi(hour)
	m, _ := strconv.Atoi(group(2))
	s, _ := strconv.Atoi(group(3))
	c := clock{zone: strings.ReplaceAll(group(7), " ", ""), precise: group(3) != ""}
	switch half = strings.ToLower(half); {
	case h > 23 || m > 59 || s > 59 || half != "" && h > 12 && half == "a":
		return clock{}, false
	case half == "p" && h < 12:
		h += 12
	case half == "a" && h == 12:
		h = 0
	case half == "" && h <= 12 && len(hour) == 1:
		c.ambiguous = true
	}
	c.seconds = h*3600 + m*60 + s
	return c, true
}

// readDate reads what dateText matched; a date without a year takes the one of near, and is none without that.
func readDate(text string, at []int, near time.Time) (time.Time, bool) {
	group := func(i int) string {
		if at[2*i] < 0 {
			return ""
		}
		return text[at[2*i]:at[2*i+1]]
	}
	y, m, d := group(1), group(2), group(3)
	switch {
	case group(4) != "":
		y, m, d = group(6), group(4), group(5)
	case group(7) != "":
		y, m, d = group(9), group(8), group(7)
	case group(10) != "":
		y, m, d = group(12), group(11), group(10)
	}
	year, _ := strconv.Atoi(y)
	if y == "" {
		if near.IsZero() {
			return time.Time{}, false
		}
		year = near.Year()
	}
	month, err := strconv.Atoi(m)
	if err != nil {
		month = 1 + strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(m[:3]))/3
	}
	day, _ := strconv.Atoi(d)
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return date, year > 1970 && year < 2200 && date.Day() == day && int(date.Month()) == month
}

// firstDate is the first date in a text.
func firstDate(text string, near time.Time) (time.Time, bool) {
	if at := dateText.FindStringSubmatchIndex(text); at != nil {
		return readDate(text, at, near)
	}
	return time.Time{}, false
}

// offsets are the zones of which it is known how far from UTC they are, in minutes. CST, BST, IST and zones without
// a season stand for several, and are left out.
var offsets = map[string]int{ //nolint:gochecknoglobals // a table
	"UTC": 0, "GMT": 0, "Z": 0, "PST": -480, "PDT": -420, "MST": -420, "MDT": -360, "CDT": -300, "EST": -300,
	"EDT": -240, "CET": 60, "CEST": 120, "JST": 540, "AEST": 600, "AEDT": 660, "NZST": 720, "NZDT": 780,
}

// offsetOf is how far a zone is from UTC.
func offsetOf(zone string) (time.Duration, bool) {
	if minutes, known := offsets[zone]; known {
		return time.Duration(minutes) * time.Minute, true
	}
	text := strings.TrimPrefix(strings.TrimPrefix(zone, "UTC"), "GMT")
	if len(text) < 2 || text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	digits := strings.ReplaceAll(text[1:], ":", "")
	if len(digits) <= 2 {
		digits += "00"
	}
	if len(digits) == 3 {
		digits = "0" + digits
	}
	value, err := strconv.Atoi(digits)
	if err != nil || value > 1400 {
		return 0, false
	}
	offset := time.Duration(value/100)*time.Hour + time.Duration(value%100)*time.Minute
	if text[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// families are zones that people use for each other, whatever the season.
var families = map[string]string{ //nolint:gochecknoglobals // a table
	"PST": "Pacific", "PDT": "Pacific", "PT": "Pacific", "MST": "Mountain", "MDT": "Mountain", "MT": "Mountain",
	"EST": "Eastern", "EDT": "Eastern", "ET": "Eastern", "CST": "Central", "CDT": "Central", "CT": "Central",
	"CET": "CentralEurope", "CEST": "CentralEurope", "GMT": "UTC", "Z": "UTC", "AEST": "Sydney", "AEDT": "Sydney",
	"NZST": "Auckland", "NZDT": "Auckland",
}

// between is what to add to a time in zone from to get it in zone to.
func between(from, to string) (time.Duration, bool) {
	if familyOf(from) == familyOf(to) || from == "" {
		return 0, true
	}
	a, known := offsetOf(from)
	b, also := offsetOf(to)
	return b - a, known && also
}
