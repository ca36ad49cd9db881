package chat

import "strings"

// transcript is the chat of one block.
type transcript struct {
	block   block
	channel string
	entries []entry
	// before is how many lines of the block stand before the first message.
	before int
}

// entry is a message with its time as written, and the dividing line before it.
type entry struct {
	message Message
	stamp   stamp
	divider *divider
	// open is whether it isn't known if AM or PM is meant.
	open bool
}

// divider is a line between messages that says on which day the next ones are.
type divider struct {
	line   int
	day    day
	marked bool // with dashes around it, or a weekday: not a text's own line
}

// candidate is a line that may be a header.
type candidate struct {
	*header
	index int // of its line in the block; of the name's, if that stands above the time
	next  int // the first line of its text
	firm  bool
	// loose is whether only the place of the line, not the name, says that it is a header.
	loose bool
}

// readTranscript reads the chat of a block; nil if there is none.
func readTranscript(b block, asked *questions) *transcript {
	if !b.part {
		return nil
	}
	found, misfits := candidates(b.lines)
	chosen := chooseForm(found, misfits)
	if chosen == 0 {
		return nil
	}
	found = accepted(found, chosen)
	if len(found) == 0 {
		return nil
	}
	askAboutDoubtful(b.lines, found, chosen, asked)
	chat := &transcript{block: b, before: found[0].index, channel: channelPattern.FindString(b.title)}
	author, bot := "", false
	var pending *divider
	for i, c := range found {
		end := len(b.lines)
		if i+1 < len(found) {
			end = found[i+1].index
		}
		if c.form != formLone {
			author, bot = c.name, c.bot
		}
		e := entry{stamp: c.stamp, divider: pending}
		e.message = Message{Line: b.lines[c.index].number, Author: author, Bot: bot, Clock: c.clock, Edited: c.edited}
		body, next := withoutDivider(b.lines[c.next:end], i+1 < len(found))
		pending = next
		e.message.Text = messageText(&e.message, c, body, b.lines[c.index].quoted)
		chat.entries = append(chat.entries, e)
	}
	if first := lastDivider(b.lines[:chat.before]); first != nil {
		chat.entries[0].divider = first
	}
	settleHalves(chat.entries, asked)
	return chat
}

// candidates are the lines that may be headers, and how many lines begin with a time in brackets but go on in prose.
func candidates(lines []line) (found []candidate, misfits int) {
	for i := range lines {
		l := &lines[i]
		h := headerOf(l)
		firm := i == 0 || lines[i-1].blank() || lines[i-1].code
		if loose := looseHeaderOf(l); h == nil && loose != nil && firm {
			found = append(found, candidate{header: loose, index: i, next: i + 1, firm: true, loose: true})
			continue
		}
		if h == nil {
			if strings.HasPrefix(l.text, "[") && !l.code && clockLike.MatchString(l.text[:min(len(l.text), 8)]) {
				misfits++
			}
			continue
		}
		c := candidate{header: h, index: i, next: i + 1, firm: firm || h.certain}
		nameless := h.form == formTimeAfter && h.name == ""
		if (h.form == formLone && !h.wide || nameless) && i > 0 && !lines[i-1].code && lines[i-1].text != "" {
			c = belowName(lines, i, c)
		}
		if c.name == "" && c.form != formLone {
			continue
		}
		found = append(found, c)
	}
	return found, misfits
}

// belowName is a time with its name on the line above, or the line of the bot mark between.
func belowName(lines []line, i int, c candidate) candidate {
	above := i - 1
	name, bot, ok := personName(lines[above].text)
	if bot && name == "" && above > 0 {
		above--
		name, _, ok = personName(lines[above].text)
	}
	apart := above == 0 || lines[above-1].blank()
	if !ok && apart && lines[i].indent() > 0 {
		name, ok = looseName(lines[above].text)
	}
	if !ok || lines[i].indent() == 0 && !(apart && (c.marked || c.form == formTimeAfter)) {
		return c
	}
	h := *c.header
	h.form, h.name, h.bot = formTimeBelow, name, bot || h.bot
	return candidate{header: &h, index: above, next: i + 1, firm: apart}
}

// chooseForm is the one form of headers in the block: what looks like another in it is text of a message. The first
// candidate tells, if its form is one that prose doesn't have; else the commonest.
func chooseForm(found []candidate, misfits int) form {
	counts := map[form]int{}
	for _, c := range found {
		if !c.loose {
			counts[c.form]++
		}
	}
	if counts[formTimeBefore] <= misfits {
		delete(counts, formTimeBefore)
	}
	for _, c := range found {
		if f := c.form; (f == formBracketAfter || f == formAngle) && counts[f] > 0 {
			return f
		} else if f != formLone {
			break
		}
	}
	best := form(0)
	for f := formBracketAfter; f < formLone; f++ {
		if counts[f] > counts[best] {
			best = f
		}
	}
	return best
}

// accepted are the candidates of the chosen form that are headers: after an empty line, or of somebody who speaks
// there, or all if the chat has no empty lines. Times alone on a line go on for the same author, if they fit in.
func accepted(found []candidate, chosen form) []candidate {
	firm, loose := map[string]bool{}, 0
	for _, c := range found {
		if c.form == chosen && c.firm {
			firm[c.name] = true
		} else if c.form == chosen {
			loose++
		}
	}
	dense := loose > len(found)/2 || chosen == formAngle || chosen == formLabel || chosen == formTimeBelow
	var kept []candidate
	for i, c := range found {
		switch {
		case c.form == chosen:
			if c.firm || dense || firm[c.name] {
				kept = append(kept, c)
			}
		case c.form == formLone && len(kept) > 0 && c.wide == (chosen == formBracketAfter) && chosen < formTimeBefore:
			if h := continued(kept[len(kept)-1], c, following(found[i+1:], chosen)); h != nil {
				c.header = h
				kept = append(kept, c)
			}
		}
	}
	return kept
}

func following(found []candidate, chosen form) *candidate {
	for i := range found {
		if found[i].form == chosen {
			return &found[i]
		}
	}
	return nil
}

// continued is the time alone on its line as a header, AM or PM as it fits between the messages around; nil if it
// doesn't fit. After the last header an hour is what it may be away.
func continued(before, c candidate, after *candidate) *header {
	from, to := before.clock.seconds(), before.clock.seconds()+3600
	if after != nil {
		to = after.clock.seconds()
	}
	h := *c.header
	for {
		if at := h.clock.seconds(); at >= from && at <= to {
			h.marked = h.marked || before.marked
			return &h
		}
		if c.marked || !before.marked || h.clock.Hour >= 12 {
			return nil
		}
		h.clock.Hour += 12
	}
}

// messageText is the text of a message: without quote marks, link definitions and rules at its end.
func messageText(m *Message, c candidate, body []line, quoted bool) string {
	var texts []string
	if c.text != "" {
		text, edited := withoutEdited(c.text)
		m.Edited = m.Edited || edited
		texts = append(texts, text)
	}
	for i := range body {
		text := body[i].raw
		if body[i].quoted && !quoted && !body[i].blank() {
			text = "> " + text
		}
		if !body[i].code {
			var edited bool
			text, edited = withoutEdited(text)
			m.Edited = m.Edited || edited
		}
		texts = append(texts, strings.TrimRight(text, " \t"))
	}
	for len(texts) > 0 && notOfText(texts[len(texts)-1]) {
		texts = texts[:len(texts)-1]
	}
	return strings.Trim(strings.Join(texts, "\n"), "\n")
}

// notOfText is whether a line at the end belongs to the document: empty, a rule, a link's definition.
func notOfText(text string) bool {
	trimmed := strings.TrimSpace(text)
	return trimmed == "" || trimmed == "---" || trimmed == "***" ||
		strings.HasPrefix(trimmed, "[") && strings.Contains(trimmed, "]: http")
}

// withoutDivider cuts the dividing line off the end of a message's lines.
func withoutDivider(body []line, more bool) ([]line, *divider) {
	end := len(body)
	for end > 0 && body[end-1].blank() {
		end--
	}
	if end == 0 || !more {
		return body, nil
	}
	d := dividerOf(&body[end-1])
	if d == nil || !d.marked && (end < 2 || !body[end-2].blank()) {
		return body, nil
	}
	return body[:end-1], d
}

func lastDivider(lines []line) *divider {
	_, d := withoutDivider(lines, true)
	return d
}

func dividerOf(l *line) *divider {
	if l.code || len(l.text) > 80 {
		return nil
	}
	m := dividerPattern.FindStringSubmatch(l.text)
	if m == nil {
		return nil
	}
	d, ok := parseDay(m[1])
	if !ok {
		return nil
	}
	return &divider{line: l.number, day: d, marked: strings.HasPrefix(l.text, "--") || weekdayPrefix.MatchString(m[1])}
}

// settleHalves finds the entries of which it isn't known whether AM or PM is meant. A 24-hour clock shows itself by an
// hour over 12, by 0, or by hours of two digits.
func settleHalves(entries []entry, asked *questions) {
	halves, whole := false, false
	for _, e := range entries {
		s := e.stamp
		halves = halves || s.marked
		whole = whole || !s.marked && (s.clock.Hour > 12 || s.clock.Hour == 0 || s.padded && s.clock.Hour < 10)
	}
	first := 0
	single := false
	for _, e := range entries {
		single = single || !e.stamp.padded
	}
	for i := range entries {
		s := entries[i].stamp
		certain := s.marked || s.clock.Hour > 12 || s.clock.Hour == 0 || s.seconds && s.padded || s.day.year != 0 && s.padded
		if certain || !halves && (whole || !single) {
			continue
		}
		entries[i].open = true
		if first == 0 {
			first = entries[i].message.Line
		}
	}
	if first != 0 {
		asked.ask(first, "AM or PM? The time has neither, and it could be either (from this line on)")
	}
}
