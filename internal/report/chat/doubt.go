package chat

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"salve/internal/lazyregexp"
)

// A header that isn't understood would put what follows it into the mouth of whoever spoke before. So a line with the
// look of one is either read more freely, where its place shows what it is, or asked about.

var (
	bracketShape = lazyregexp.New(`^(\S.*?)\s*\[([^\[\]]*\d:\d\d[^\[\]]*)\]$`)
	afterShape   = lazyregexp.New(`(?i)^(\S.*?)(?:\s{2,}|\s*[—–]\s*)(\S*[^\d]?\s?(?:at\s)?\d{1,2}:\d\d(?:\s?[ap]m)?)$`)
	beforeShape  = lazyregexp.New(`^\[([^\[\]]*\d:\d\d[^\[\]]*)\]\s*(\S[^:<>]*|<.*|[^:]{1,80}:.*)$`)
)

// looseHeaderOf reads a line "anything [8:27 AM]" with a name such as "Dr. No, PhD" or "Bob [SRE]", which prose could
// have too; nil if it is none. Only where a line is a header by its place is it one.
func looseHeaderOf(l *line) *header {
	if l.code || l.indent() >= 4 || len(l.text) > 200 {
		return nil
	}
	text, edited := withoutEdited(l.text)
	m := bracketShape.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	s, ok := parseStamp(m[2])
	name, named := looseName(m[1])
	if !ok || !named {
		return nil
	}
	return &header{form: formBracketAfter, stamp: s, name: name, edited: edited, wide: true}
}

// looseName is a name that plausible refuses for its signs, though not for its words.
func looseName(text string) (string, bool) {
	name := strings.TrimSpace(text)
	first, _ := utf8.DecodeRuneInString(name)
	words := strings.Fields(name)
	ok := name != "" && utf8.RuneCountInString(name) <= 80 && len(words) <= 6 &&
		(unicode.IsLetter(first) || unicode.IsDigit(first)) && !clockLike.MatchString(name) &&
		!strings.ContainsAny(name, "\"=;!?{}<>\\/#") && !slices.ContainsFunc(words, notOfNames)
	return name, ok
}

// askAboutDoubtful asks about lines that look like headers of the chat's form and were not taken as one.
func askAboutDoubtful(lines []line, taken []candidate, chosen form, asked *questions) {
	headers := map[int]bool{}
	for _, c := range taken {
		for i := c.index; i < c.next; i++ {
			headers[i] = true
		}
	}
	for i := taken[0].index; i < len(lines); i++ {
		l := &lines[i]
		if headers[i] || l.code || l.indent() >= 4 || len(l.text) > 200 || !clockLike.MatchString(l.text) {
			continue
		}
		if looksLike(l, chosen, lines[i-1].blank()) {
			asked.ask(l.number, "is %q the first line of a message? Its name or its time is not understood, and it "+
				"stands in the text of the message before", shortened(l.text))
		}
	}
}

// looksLike is whether a line looks like a header of a form. After an empty line its shape is enough; else it must have
// nothing of prose.
func looksLike(l *line, chosen form, apart bool) bool {
	text, _ := withoutEdited(l.text)
	var name string
	switch chosen {
	case formBracketAfter:
		m := bracketShape.FindStringSubmatch(text)
		if m == nil {
			return false
		}
		name = m[1]
	case formTimeAfter:
		m := afterShape.FindStringSubmatch(text)
		if m == nil {
			return false
		}
		name = m[1]
	case formTimeBelow:
		return apart && l.indent() > 0 && looksLike(l, formTimeAfter, apart)
	case formTimeBefore, formAngle, formLabel:
		return beforeShape.MatchString(text) && (apart || chosen != formTimeBefore)
	default:
		return false
	}
	_, named := looseName(name)
	return named || apart && len(strings.Fields(name)) <= 6
}

// shortened is a line to be quoted in a question.
func shortened(text string) string {
	const room = 80
	if utf8.RuneCountInString(text) <= room {
		return text
	}
	return string([]rune(text)[:room]) + "…"
}
