package chat

import (
	"strconv"
	"strings"
	"unicode"

	"salve/internal/lazyregexp"
)

// form is a kind of header line.
type form int

const (
	formBracketAfter form = iota + 1 // Name [8:27 AM]
	formTimeAfter                    // Name  8:27 AM
	formTimeBelow                    // Name, and on the next line the time
	formTimeBefore                   // [8:27 AM] Name
	formAngle                        // [08:27] <name> text
	formLabel                        // [08:27] Name: text
	formLone                         // [8:28 AM]: the same author goes on
)

// header is what a line says if it is the header of a message.
type header struct {
	form form
	name string
	bot  bool
	stamp
	text   string
	edited bool
	wide   bool // two blanks or a tab are between name and time
	// certain is whether prose has no such line: a dash and a date are before the time, as Discord copies it.
	certain bool
}

// stamp is a time as written.
type stamp struct {
	clock Clock
	// marked is whether AM or PM was written; padded whether the hour has two digits, as on a 24-hour clock.
	marked, padded, seconds bool
	day                     day
	zone                    string
	// slashed is whether the date is of numbers alone; its order is then known from one over 12.
	slashed bool
	first   int
}

const (
	stampDay  = `(?:(?:` + anyDay + `|today|yesterday|` + weekdayWord + `)(?:T|,?\s+(?:at\s+)?))?`
	stampTime = `\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:\s?[ap]\.?m\.?)?`
	stampZone = `(?:\s?(?:Z|[+-]\d{2}:?\d{2}|(?-i:[A-Z]{3,5})))?`
	stampText = stampDay + stampTime + stampZone
)

var (
	stampPattern = lazyregexp.New(`(?i)^(` + stampDay + `)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?` +
		`(?:\s?([ap])\.?m\.?)?(` + stampZone + `)$`)
	afterPattern  = lazyregexp.New(`(?i)^(.+?)([\s,—–]+)(` + stampText + `)$`)
	beforePattern = lazyregexp.New(`(?i)^(` + stampText + `)(?:\s+-)?\s+(\S.*)$`)
	anglePattern  = lazyregexp.New(`^<[@+%~& ]?([^<>\s][^<>]{0,79})>(?:\s+(.*))?$`)
	actionPattern = lazyregexp.New(`^\* ([^\s:*]{1,40}) (.*)$`)
	labelPattern  = lazyregexp.New(`^([^:]{1,80}):(?:\s+(.*))?$`)
	numberOnly    = lazyregexp.New(`^\d{1,2}/\d{1,2}/\d{2,4}$`)
	clockLike     = lazyregexp.New(`\d:\d\d`)
	trailingClock = lazyregexp.New(`(?i)(?:\]|\d|m\.?|z|[A-Z])$`)
)

func parseStamp(text string) (stamp, bool) {
	m := stampPattern.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return stamp{}, false
	}
	s := stamp{marked: m[5] != "", padded: len(m[2]) == 2, seconds: m[4] != "", zone: strings.TrimSpace(m[6])}
	s.clock.Hour, _ = strconv.Atoi(m[2])
	s.clock.Minute, _ = strconv.Atoi(m[3])
	s.clock.Second, _ = strconv.Atoi(m[4])
	if s.clock.Hour > 23 || s.clock.Minute > 59 || s.clock.Second > 59 {
		return stamp{}, false
	}
	if s.marked && s.clock.Hour <= 12 {
		s.clock.Hour %= 12
		if strings.EqualFold(m[5], "p") {
			s.clock.Hour += 12
		}
	} else if s.marked && strings.EqualFold(m[5], "a") {
		return stamp{}, false
	}
	written := strings.TrimRight(strings.TrimSpace(m[1]), ",")
	written = strings.TrimSpace(strings.TrimSuffix(written, " at"))
	if trimmed, iso := strings.CutSuffix(written, "T"); iso && trimmed != "" {
		written = trimmed
	}
	written = strings.TrimRight(written, ",")
	if written == "" {
		return s, true
	}
	s.slashed = numberOnly.MatchString(written)
	if first, err := strconv.Atoi(numberPattern.FindString(written)); err == nil {
		s.first = first
	}
	var ok bool
	if s.day, ok = parseDay(written); !ok {
		if strings.ContainsAny(written, "0123456789") {
			return stamp{}, false
		}
		s.day = day{relative: strings.ToLower(written)}
	}
	return s, true
}

// headerOf reads a line as the header of a message; nil if it can be none.
func headerOf(l *line) *header {
	if l.code || l.indent() >= 4 || len(l.text) < 4 || !clockLike.MatchString(l.text) {
		return nil
	}
	text, edited := withoutEdited(l.text)
	if h := headerBefore(text); h != nil {
		return h
	}
	if len(text) > 200 || !trailingClock.MatchString(text) {
		return nil
	}
	h := headerAfter(text)
	if h == nil {
		return nil
	}
	h.edited = edited
	name, bot, ok := personName(h.name)
	if !ok && !(bot && name == "") {
		return nil
	}
	h.name, h.bot = name, bot
	return h
}

// headerBefore reads a header that begins with its time.
func headerBefore(text string) *header {
	var s stamp
	var rest string
	bracketed := false
	if inner, after, found := strings.Cut(strings.TrimPrefix(text, "["), "]"); found && text[0] == '[' {
		var ok bool
		if s, ok = parseStamp(inner); !ok {
			return nil
		}
		rest, bracketed = strings.TrimSpace(after), true
	} else if s, ok := parseStamp(text); ok {
		return &header{form: formLone, stamp: s}
	} else if text[0] >= '0' && text[0] <= '9' || unicode.IsLetter(rune(text[0])) {
		m := beforePattern.FindStringSubmatch(text)
		if m == nil {
			return nil
		}
		if s, ok = parseStamp(m[1]); !ok {
			return nil
		}
		rest = m[2]
		return spoken(s, rest, false)
	} else {
		return nil
	}
	return spoken(s, rest, bracketed)
}

// spoken reads what follows a time: <name> text, * name text, Name: text, a name, or nothing.
func spoken(s stamp, rest string, bracketed bool) *header {
	if rest == "" {
		return &header{form: formLone, stamp: s, wide: true}
	}
	if m := anglePattern.FindStringSubmatch(rest); m != nil {
		return &header{form: formAngle, stamp: s, name: strings.TrimSpace(m[1]), text: m[2]}
	}
	if m := actionPattern.FindStringSubmatch(rest); m != nil {
		return &header{form: formAngle, stamp: s, name: m[1], text: m[2]}
	}
	if m := labelPattern.FindStringSubmatch(rest); m != nil {
		if name, bot, ok := personName(m[1]); ok {
			return &header{form: formLabel, stamp: s, name: name, bot: bot, text: m[2]}
		}
	}
	if name, bot, ok := personName(rest); ok && bracketed {
		return &header{form: formTimeBefore, stamp: s, name: name, bot: bot}
	}
	return nil
}

// headerAfter reads a header that ends with its time.
func headerAfter(text string) *header {
	if inner, bracketed := strings.CutSuffix(text, "]"); bracketed {
		open := strings.LastIndexByte(inner, '[')
		if open <= 0 {
			return nil
		}
		s, ok := parseStamp(inner[open+1:])
		if !ok {
			return nil
		}
		return &header{form: formBracketAfter, stamp: s, name: inner[:open], wide: true}
	}
	m := afterPattern.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	s, ok := parseStamp(m[3])
	if !ok {
		return nil
	}
	return &header{form: formTimeAfter, stamp: s, name: m[1], wide: m[2] != " ",
		certain: strings.ContainsAny(m[2], "—–") && s.day != (day{})}
}

// withoutEdited takes the mark of an edited message off the end of a line.
func withoutEdited(text string) (string, bool) {
	trimmed := strings.TrimRight(text, " \t")
	if rest, edited := strings.CutSuffix(trimmed, "(edited)"); edited {
		return strings.TrimRight(rest, " \t"), true
	}
	return text, false
}

// order is that of day and month, if the date's numbers show it.
func (s stamp) order() slashOrder {
	switch {
	case s.day.month == s.day.day:
		return orderUnknown
	case s.first > 12:
		return dayFirst
	}
	return monthFirst
}
