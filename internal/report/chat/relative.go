package chat

import (
	"strings"
	"time"
)

// copiedOn is the day that "today" means in a chat: the told date of the first message, if that is from today or
// yesterday. If the message names a weekday, the day of the copy stays unknown.
func copiedOn(first entry, told day) day {
	switch {
	case !told.known():
		return day{}
	case first.stamp.day.relative == "today":
		return told
	case first.stamp.day.relative == "yesterday":
		return told.next()
	}
	return day{}
}

// relative is the date of "today", "yesterday" or a weekday; zero if it can't be told.
func (d *dater) relative(word string) day {
	switch word {
	case "today":
		return d.today
	case "yesterday":
		if !d.today.known() {
			return day{}
		}
		return dayOf(d.today.time().AddDate(0, 0, -1))
	}
	if !d.now.known() {
		return day{}
	}
	// A chat goes forward: a weekday is that of the day that is known, or the next such one within the week.
	const week = 7
	for after := range week {
		at := d.now.time().AddDate(0, 0, after)
		if strings.HasPrefix(word, strings.ToLower(at.Weekday().String()[:3])) {
			if after > 0 && d.last < 0 {
				return day{} // the date that was told for the first message is another weekday
			}
			return dayOf(at)
		}
	}
	return day{}
}

func dayOf(t time.Time) day { return day{year: t.Year(), month: int(t.Month()), day: t.Day()} }
