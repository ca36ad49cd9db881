package chat

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"salve/internal/lazyregexp"
)

// day is a date as written; what isn't written is 0.
type day struct {
	year, month, day int
	// swapped is whether day and month might be the other way round, as in 2/5/2019.
	swapped bool
	// relative is "today", "yesterday" or a weekday: a date that only the copying person knew.
	relative string
}

const (
	monthWord = `(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|` +
		`oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
	weekdayWord = `(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?`
	isoDay      = `\d{4}[-/.]\d{1,2}[-/.]\d{1,2}`
	wordDay     = monthWord + `\.?\s+\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?`
	dayWord     = `\d{1,2}(?:st|nd|rd|th)?\.?\s+(?:of\s+)?` + monthWord + `\.?,?(?:\s+\d{4})?`
	numberDay   = `\d{1,2}[/.\-]\d{1,2}[/.\-](?:\d{4}|\d{2})`
	anyDay      = `(?:` + weekdayWord + `,?\s+)?(?:` + isoDay + `|` + wordDay + `|` + dayWord + `|` + numberDay + `)`
)

var (
	dayPattern     = lazyregexp.New(`(?i)\b` + anyDay + `\b`)
	weekdayPrefix  = lazyregexp.New(`(?i)^` + weekdayWord + `,?\s+`)
	numberPattern  = lazyregexp.New(`\d+`)
	monthPattern   = lazyregexp.New(`(?i)` + monthWord)
	dividerPattern = lazyregexp.New(`(?i)^(?:[-–—─=_*#\s]*)(?:(?:day changed|log opened)\s+(?:to\s+)?)?(` +
		anyDay +
		`)(?:[-–—─=_*#\s]*)$`)
)

// parseDay reads a text that is a date and nothing else.
func parseDay(text string) (day, bool) {
	text = strings.TrimSpace(text)
	weekday := weekdayPrefix.FindString(text)
	rest := text[len(weekday):]
	numbers := numberPattern.FindAllString(rest, -1)
	values := make([]int, len(numbers))
	for i, number := range numbers {
		values[i], _ = strconv.Atoi(number)
	}
	d := day{}
	month := monthPattern.FindString(rest)
	switch {
	case month != "" && len(values) >= 1:
		at, err := time.Parse("Jan", strings.ToUpper(month[:1])+strings.ToLower(month[1:3]))
		if err != nil {
			return day{}, false
		}
		d.month, d.day = int(at.Month()), values[0]
		if len(values) > 1 {
			d.year = values[1]
		}
	case len(values) == 3 && len(numbers[0]) == 4:
		d = day{year: values[0], month: values[1], day: values[2]}
	case len(values) == 3:
		d = numberedDay(values, strings.Contains(rest, "."))
	default:
		return day{}, false
	}
	if d.year != 0 && d.year < 100 {
		d.year += 2000
	}
	if !d.exists() {
		return day{}, false
	}
	if weekday != "" && d.year != 0 && !strings.EqualFold(d.time().Weekday().String()[:3], weekday[:3]) {
		return day{}, false
	}
	return d, true
}

// numberedDay is 2/5/2019: with dots the day comes first, with slashes only a number over 12 tells.
func numberedDay(values []int, dots bool) day {
	d := day{year: values[2], month: values[0], day: values[1]}
	switch {
	case dots, values[0] > 12:
		d.month, d.day = d.day, d.month
	case values[0] <= 12 && values[1] <= 12 && values[0] != values[1]:
		d.swapped = true
	}
	return d
}

func (d day) exists() bool {
	year := d.year
	if year == 0 {
		year = 2000
	}
	t := time.Date(year, time.Month(d.month), d.day, 0, 0, 0, 0, time.UTC)
	return d.day > 0 && d.month > 0 && int(t.Month()) == d.month && t.Day() == d.day && t.Year() == year &&
		year >= 1970 && year < 2200
}

// known is whether it is one certain date.
func (d day) known() bool { return d.year != 0 && !d.swapped && d.relative == "" }

func (d day) text() string { return fmt.Sprintf("%04d-%02d-%02d", d.year, d.month, d.day) }

func (d day) time() time.Time {
	return time.Date(d.year, time.Month(d.month), d.day, 0, 0, 0, 0, time.UTC)
}

func (d day) next() day {
	return dayOf(d.time().AddDate(0, 0, 1))
}

// daysIn finds the dates in a line of prose. A date that goes on ("February 5th-6th", "2019-02-05/06") is none.
func daysIn(text string) []day {
	var found []day
	for _, at := range dayPattern.FindAllStringIndex(text, -1) {
		d, ok := parseDay(text[at[0]:at[1]])
		rest := strings.TrimLeft(text[at[1]:], " ")
		if rest != "" && strings.ContainsAny(rest[:1], "-/") && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9' ||
			strings.HasPrefix(rest, "–") {
			d.year, ok = 0, d.exists()
		}
		if ok {
			found = append(found, d)
		}
	}
	return found
}
