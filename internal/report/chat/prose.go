package chat

import "salve/internal/lazyregexp"

// prose is what the document says outside of the chat.
type prose struct {
	titleLine *line
	// day is the one date that the document is about; zero if there is none, or several.
	day     day
	several bool
	zones   []zoneStatement
}

// zoneStatement is a time zone as named in prose.
type zoneStatement struct {
	line   int
	name   string
	offset string // such as +8, if the statement has it beside the name
	own    bool   // stands right before a chat
}

var (
	timesPattern = lazyregexp.New(`(?i)\b(?:all\s+)?(?:times?(?:stamps?)?|time\s?zone|tz)\b(?:\s+(?:below|here|` +
		`shown|given|listed|` +
		`are|is|in|all|to|the|zone)\b)*[\s:,(]*((?-i:[A-Z]{1,5}/[A-Z]{2,5}\b|[A-Z][A-Za-z]+/[A-Z][A-Za-z_]+|[A-Z]{2,5}\b|` +
		`Z\b)|` +
		`(?:us\s+)?(?:pacific|eastern|mountain|central)\b)?\s*\(?((?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?)?`)
	headingZone = lazyregexp.New(`\((?:[Aa]ll )?(?:[Tt]imes? )?(?:in )?([A-Z]{3,5})\)`)
	datePrefix  = lazyregexp.New(`(?i)^(?:incident\s+)?(?:date|day)\s*:`)
	timesLine   = lazyregexp.New(`(?i)\btimes?\b`)
)

// readProse finds dates and zones: in the title and the headings, in "All times in PST, on February 5th 2019", in
// "Date: …", and in lines of a timeline that are a date alone. When it was last modified doesn't count.
func readProse(blocks []block, chats []*transcript) prose {
	doc := prose{}
	var days []day
	for i := range blocks {
		b := &blocks[i]
		if b.heading != nil {
			if doc.titleLine == nil {
				doc.titleLine = b.heading
			}
			days = append(days, daysIn(b.title)...)
			if m := headingZone.FindStringSubmatch(b.title); m != nil {
				doc.zones = append(doc.zones, zoneStatement{line: b.heading.number, name: m[1]})
			}
		}
		lines, chat := b.lines, false
		for _, t := range chats {
			if len(t.block.lines) > 0 && len(b.lines) > 0 && &t.block.lines[0] == &b.lines[0] {
				lines, chat = b.lines[:t.before], true
			}
		}
		for j := range lines {
			days = append(days, doc.readLine(&lines[j], chat, i == 0 && j < 5)...)
		}
	}
	distinct := map[day]bool{}
	for _, d := range days {
		distinct[d] = true
	}
	doc.several = len(distinct) > 1
	if len(distinct) == 1 {
		doc.day = days[0]
	}
	return doc
}

// readLine reads one line of prose: its zone, and its dates if the line is about the incident's date.
func (doc *prose) readLine(l *line, chat, top bool) []day {
	if l.code || len(l.text) > 300 {
		return nil
	}
	if m := timesPattern.FindStringSubmatch(l.text); m != nil && m[1]+m[2] != "" {
		doc.zones = append(doc.zones, zoneStatement{line: l.number, name: m[1], offset: m[2], own: chat})
	}
	d := dividerOf(l)
	switch {
	case d != nil:
		return []day{d.day}
	case writtenAt(l.text):
		return nil
	case timesLine.MatchString(l.text) && timesPattern.MatchString(l.text), datePrefix.MatchString(l.text), top:
		return daysIn(l.text)
	}
	return nil
}

func (doc prose) why() string {
	if doc.several {
		return "The document names several dates"
	}
	return "Nothing tells it"
}
