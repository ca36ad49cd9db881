package chat

import "strings"

const (
	halfDay = 12 * 3600
	ahead   = 3 // so many messages after a step over midnight must not return to before it
)

// dater gives dates to the messages of a chat, in order.
type dater struct {
	now   day // zero: not known
	last  int // seconds of the day of the last message; -1: none
	order slashOrder
	// reference gives a year to a date without one.
	reference day
	// today is the day on which the chat was copied; zero: not known.
	today  day
	asked  *questions
	rolled bool
}

// slashOrder is how 2/5/2019 is meant in this document.
type slashOrder int

const (
	orderUnknown slashOrder = iota
	monthFirst
	dayFirst
)

// setDates gives each message its date where the document tells it.
func setDates(chats []*transcript, doc prose, told day, asked *questions) {
	order := orderOf(chats, doc, told)
	rolled := false
	today := copiedOn(chats[0].entries[0], told)
	for i, chat := range chats {
		start, soft := day{}, false
		switch {
		case i == 0 && told.known():
			start = told
		case chat.ownDay(doc).known():
			start = chat.ownDay(doc)
		case told.known(), doc.day.known():
			start, soft = told, !told.known()
			if soft {
				start = doc.day
			}
			first := chats[0].entries[0].message.Clock.seconds()
			if i > 0 && (rolled || chat.entries[0].message.Clock.seconds() < first) {
				asked.ask(chat.entries[0].message.Line, "which date? This part of the chat has none, "+
					"and may be of another day than the first")
				start = day{}
			}
		}
		reference := start
		if !reference.known() {
			reference = doc.day
		}
		if soft && crossesMidnight(chat.entries) {
			asked.ask(chat.entries[0].message.Line, "which date is the first message's? The document is about %s, and "+
				"the chat goes past midnight", start.text())
			start = day{}
		} else if !start.known() && needsDate(chat.entries) {
			asked.ask(chat.entries[0].message.Line, "which date is this message's? %s", doc.why())
		}
		d := dater{now: start, last: -1, order: order, reference: reference, today: today, asked: asked}
		d.run(chat.entries)
		rolled = rolled || d.rolled
	}
}

// needsDate is whether the first message of a chat has no date of its own.
func needsDate(entries []entry) bool {
	return entries[0].stamp.day == day{} && entries[0].divider == nil
}

func crossesMidnight(entries []entry) bool {
	if !needsDate(entries) {
		return false
	}
	for i := 1; i < len(entries); i++ {
		if entries[i].divider != nil || entries[i].stamp.day != (day{}) {
			return false
		}
		if entries[i-1].message.Clock.seconds()-entries[i].message.Clock.seconds() >= halfDay {
			return true
		}
	}
	return false
}

func (d *dater) run(entries []entry) {
	for i := range entries {
		e := &entries[i]
		if e.divider != nil {
			d.divide(e.divider)
		}
		at := e.message.Clock.seconds()
		switch {
		case e.stamp.day != (day{}):
			d.now = d.written(e.stamp.day, e.message.Line)
		case e.open:
			continue
		case d.last >= 0 && back(entries[i-1], *e, d.last) > 0:
			d.stepBack(entries, i)
		}
		d.last = at
		if d.now.known() && !e.open {
			e.message.Date = d.now.text()
		}
	}
}

// back is by how many seconds the clock went back; a minute without seconds is as long as it lasts.
func back(before, e entry, last int) int {
	at := e.message.Clock.seconds()
	if !before.stamp.seconds || !e.stamp.seconds {
		return (last/60 - at/60) * 60
	}
	return last - at
}

// stepBack decides what it means that the clock went back: by half a day and more is the next day, if the messages
// after it stay there; anything else may be the next day or a message out of order.
func (d *dater) stepBack(entries []entry, i int) {
	e := entries[i]
	returns := false
	for j := i + 1; j <= i+ahead && j < len(entries); j++ {
		returns = returns || entries[j].message.Clock.seconds() >= d.last
	}
	if d.last-e.message.Clock.seconds() >= halfDay && !returns {
		d.rolled = true
		if d.now.known() {
			d.now = d.now.next()
		}
		return
	}
	d.now, d.rolled = day{}, true
	d.asked.ask(e.message.Line, "the time goes back to %s: the next day, or out of order? Write a line such as "+
		"\"--- 2019-12-31 ---\" before it", e.message.Clock)
}

// divide takes the date of a dividing line.
func (d *dater) divide(line *divider) {
	written := d.written(line.day, line.line)
	if !line.marked && written.known() && d.now.known() && written != d.now && written != d.now.next() {
		d.asked.ask(line.line, "is %s the date of the messages that follow, or a message's text?", written.text())
		written = day{}
	}
	if written.known() && d.now.known() && written.time().Before(d.now.time()) {
		d.asked.ask(line.line, "the date goes back from %s to %s: which is right?", d.now.text(), written.text())
		written = day{}
	}
	d.now, d.last = written, -1
}

// written is a date as it stands in the chat, made whole; zero, and asked, if that can't be.
func (d *dater) written(w day, line int) day {
	if w.relative != "" {
		if found := d.relative(w.relative); found.known() {
			return found
		}
		d.asked.ask(line, "which date is %q? Only who copied the chat knows: give the date of the first message, if that "+
			"has such a word, or write the dates into the file", w.relative)
		return day{}
	}
	if w.swapped {
		if d.order == orderUnknown {
			d.asked.ask(line, "which comes first in %d/%d/%d, the month or the day?", w.month, w.day, w.year)
			return day{}
		}
		w.swapped = false
		if d.order == dayFirst {
			w.month, w.day = w.day, w.month
		}
	}
	if w.year == 0 {
		if !d.reference.known() {
			d.asked.ask(line, "which year? The date %02d-%02d has none", w.month, w.day)
			return day{}
		}
		near := d.reference.time()
		w.year = near.Year()
		if off := w.time().Sub(near).Hours() / 24; off > 180 || off < -180 || !w.exists() {
			d.asked.ask(line, "which year? The date %02d-%02d is far from %s", w.month, w.day, d.reference.text())
			return day{}
		}
	}
	return w
}

// orderOf looks for the order of day and month: a number over 12, or the date that is known, tells.
func orderOf(chats []*transcript, doc prose, told day) slashOrder {
	found := map[slashOrder]bool{}
	for _, chat := range chats {
		for i, e := range chat.entries {
			if e.stamp.day.swapped {
				known := told
				if i > 0 || chat != chats[0] {
					known = day{}
				}
				found[sameAs(e.stamp.day, known)] = true
				found[sameAs(e.stamp.day, doc.day)] = true
			} else if d := e.stamp.day; d.known() && e.stamp.slashed {
				found[e.stamp.order()] = true
			}
		}
	}
	delete(found, orderUnknown)
	if len(found) != 1 {
		return orderUnknown
	}
	for order := range found {
		return order
	}
	return orderUnknown
}

func sameAs(w, known day) slashOrder {
	switch {
	case !known.known() || w.year != known.year:
	case w.month == known.month && w.day == known.day:
		return monthFirst
	case w.day == known.month && w.month == known.day:
		return dayFirst
	}
	return orderUnknown
}

// ownDay is the one date of the block's heading and of the lines before its first message.
func (t *transcript) ownDay(doc prose) day {
	found := daysIn(t.block.title)
	if len(found) == 0 && t.block.heading != doc.titleLine {
		for i := range t.block.lines[:t.before] {
			l := &t.block.lines[i]
			if !l.code && !writtenAt(l.text) && len(l.text) < 200 {
				found = append(found, daysIn(l.text)...)
			}
		}
	}
	if len(found) == 0 {
		return day{}
	}
	for _, d := range found {
		if d != found[0] {
			return day{}
		}
	}
	return found[0]
}

// writtenAt is whether a line says when the document was made, not when the incident was.
func writtenAt(text string) bool {
	lower := strings.ToLower(text)
	for _, word := range []string{"modified", "created", "updated", "edited", "exported", "copied", "written"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}
