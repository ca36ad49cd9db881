package chat

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is one line of the input, without what a terminal would obey.
type line struct {
	number int
	// raw is the line without the end and, if it was quoted, without the quote mark.
	raw string
	// text is raw without blanks around it.
	text   string
	quoted bool
	// code is whether the line is of a fenced code block, its fences included.
	code bool
}

// blank is whether nothing stands on the line but perhaps the mark of a quote.
func (l *line) blank() bool { return l.text == "" }

// indent is how many columns of blanks are before the text.
func (l *line) indent() int {
	columns := 0
	for _, r := range l.raw {
		switch r {
		case ' ':
			columns++
		case '\t':
			columns += 4
		default:
			return columns
		}
	}
	return columns
}

func splitLines(raw []byte) ([]line, error) {
	if count := bytes.Count(raw, []byte("\n")); count > maxLines {
		return nil, fmt.Errorf("%w: %d lines, at most %d are read", ErrTooLarge, count, maxLines)
	}
	var lines []line
	for number := 1; len(raw) > 0; number++ {
		one, rest, _ := bytes.Cut(raw, []byte("\n"))
		raw = rest
		if len(one) > maxLine {
			one = one[:maxLine]
		}
		lines = append(lines, newLine(number, cleanLine(string(one))))
	}
	markCode(lines)
	return lines, nil
}

func newLine(number int, text string) line {
	l := line{number: number, raw: strings.TrimRight(text, " \t")}
	if unquoted, quoted := strings.CutPrefix(strings.TrimLeft(l.raw, " "), ">"); quoted {
		l.quoted = true
		l.raw = strings.TrimPrefix(unquoted, " ")
	}
	l.text = strings.TrimSpace(l.raw)
	return l
}

// cleanLine is the text without terminal escapes, control characters and marks that turn or hide text; blanks of all
// widths are spaces, and what isn't UTF-8 is U+FFFD. Tabs stay.
func cleanLine(text string) string {
	if plain(text) {
		return text
	}
	text = withoutEscapes(strings.ToValidUTF8(text, string(utf8.RuneError)))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return r
		case unicode.Is(unicode.Zs, r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u200b', r == '\u2060', r == '\ufeff':
			return -1
		}
		return r
	}, text)
}

func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || c == 0x7f || c < ' ' && c != '\t' {
			return false
		}
	}
	return true
}

// withoutEscapes takes out terminal sequences (ECMA-48): CSI up to its final byte, strings such as OSC up to BEL or
// ST, others with the character after ESC. One that doesn't end takes the rest of the line with it.
func withoutEscapes(text string) string {
	var kept strings.Builder
	for text != "" {
		start := strings.IndexAny(text, "\x1b\u009b\u009d\u0090")
		if start < 0 {
			break
		}
		kept.WriteString(text[:start])
		r, size := utf8.DecodeRuneInString(text[start:])
		text = text[start+size:]
		if r == '\x1b' {
			if text == "" {
				break
			}
			r, size = utf8.DecodeRuneInString(text)
			text = text[size:]
		}
		switch r {
		case '[', '\u009b':
			if end := strings.IndexFunc(text, func(r rune) bool { return r >= '@' && r <= '~' }); end >= 0 {
				text = text[end+1:]
				continue
			}
			text = ""
		case ']', 'P', 'X', '^', '_', '\u009d', '\u0090':
			text = afterString(text)
		}
	}
	return kept.String() + text
}

// afterString is what follows the end of a control string.
func afterString(text string) string {
	end := strings.IndexAny(text, "\a\u009c\x1b")
	if end < 0 {
		return ""
	}
	_, size := utf8.DecodeRuneInString(text[end:])
	return strings.TrimPrefix(text[end+size:], `\`)
}
