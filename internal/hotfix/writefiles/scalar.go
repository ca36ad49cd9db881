package writefiles

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// indicators are what no scalar without quotes begins with.
const indicators = ",[]{}#&*!|>'\"%@`"

// value reads what stands behind a field's colon, in an entry in this column, and
// goes to the next token.
func (r *reader) value(column int) (Text, error) {
	r.spaces()
	if r.peek(0) == '\n' || r.peek(0) == '#' {
		if err := r.endLine(); err != nil {
			return Text{}, err
		}
		if r.ended() || r.column() <= column || r.dash() || r.atMarker() {
			return Text{}, r.wrong("a field before this has no value; an empty text is written as \"\"")
		}
		if c := r.peek(0); c == '|' || c == '>' || c == '!' {
			return Text{}, r.wrong("%q has to be on the line of the field's name", c)
		}
	}
	text := Text{Line: r.line}
	tag, err := r.tag()
	if err != nil {
		return Text{}, err
	}
	switch r.peek(0) {
	case '|', '>':
		text.Value, err = r.block(column)
	case '\'', '"':
		if text.Value, err = r.quoted(); err == nil {
			err = r.endLine()
		}
	default:
		text.Value, err = r.plain(column, tag)
	}
	if err == nil {
		text.Value, err = r.untagged(tag, text)
	}
	return text, err
}

// The tags that are known.
const (
	tagText   = "!!str"
	tagBinary = "!!binary"
)

func (r *reader) tag() (string, error) {
	if r.peek(0) != '!' {
		return "", nil
	}
	for _, tag := range []string{tagText, tagBinary} {
		if strings.HasPrefix(r.text[r.at:], tag+" ") {
			r.at += len(tag)
			r.spaces()
			return tag, nil
		}
	}
	return "", r.wrong("no tags are known here but %s and %s", tagText, tagBinary)
}

func (r *reader) untagged(tag string, text Text) (string, error) {
	if tag != tagBinary {
		return text.Value, nil
	}
	raw, err := base64.StdEncoding.DecodeString(text.Value)
	if err != nil {
		r.line = text.Line
		return "", r.wrong("%s: %w", tagBinary, err)
	}
	return string(raw), nil
}

// plain reads a scalar without quotes, on one line or more, and goes to the next
// token.
func (r *reader) plain(column int, tag string) (string, error) {
	began := r.line
	value, err := r.plainOnLine(false)
	if err != nil {
		return "", err
	}
	var lines strings.Builder
	for !r.commented() {
		breaks, more := r.continues(column)
		if !more {
			break
		}
		lines.WriteString(value)
		lines.WriteString(folded(breaks))
		if value, err = r.restOnLine(false); err != nil {
			return "", err
		}
	}
	if lines.Len() > 0 {
		lines.WriteString(value)
		value = lines.String()
	}
	if tag == "" && !isText(value) {
		r.line = began
		return "", r.wrong("%.40q is no text to all readers of YAML; it has to be put into quotes", value)
	}
	return value, r.endLine()
}

// commented tells whether a comment ends the line that a scalar is on.
func (r *reader) commented() bool {
	ahead := 0
	for r.peek(ahead) == ' ' {
		ahead++
	}
	return r.peek(ahead) == '#'
}

// continues goes to the next line of a scalar without quotes, if there is one: it is
// further in than its entry. breaks are how many lines end on the way.
func (r *reader) continues(column int) (breaks int, more bool) {
	before := *r
	for {
		r.spaces()
		switch {
		case r.ended():
		case r.peek(0) == '\n':
			r.newline()
			breaks++
			continue
		case breaks > 0 && r.column() > column && r.peek(0) != '#' && r.peek(0) != '\t':
			return breaks, true
		}
		entries := r.entries
		*r = before
		r.entries = entries
		return 0, false
	}
}

// folded is what line breaks inside of a scalar mean.
func folded(breaks int) string {
	if breaks == 1 {
		return " "
	}
	return strings.Repeat("\n", breaks-1)
}

// plainOnLine reads a scalar without quotes from its beginning to the end of the
// line, of a comment, a colon, or in a flow collection the end of the item.
func (r *reader) plainOnLine(inFlow bool) (string, error) {
	c := r.peek(0)
	switch {
	case strings.IndexByte(indicators, c) >= 0:
		return "", r.wrong("%q is not expected here; a text that begins with it has to be put into quotes", c)
	case (c == '-' || c == '?' || c == ':') && (blank(r.peek(1)) || inFlow):
		return "", r.wrong("%q is not expected here", c)
	case blank(c):
		return "", r.wrong("a value is expected here")
	}
	return r.restOnLine(inFlow)
}

// restOnLine reads one line of a scalar without quotes.
func (r *reader) restOnLine(inFlow bool) (string, error) {
	began, last := r.at, r.at // behind the last character that is no space
	for ; r.peek(0) != '\n'; r.at++ {
		c := r.peek(0)
		switch {
		case c == ' ':
			continue
		case c == '\t':
			return "", r.wrong("a text with a tab has to be put into quotes")
		case c == '#' && r.at > began && last < r.at:
			return r.sofar(began, last), nil
		case c == ':' && blank(r.peek(1)):
			return r.sofar(began, last), nil
		case inFlow && strings.IndexByte(",[]{}", c) >= 0:
			return r.sofar(began, last), nil
		case inFlow && (c == '?' || c == ':' && strings.IndexByte(",[]{}?:", r.peek(1)) >= 0):
			return "", r.wrong("a text with %q has to be put into quotes here", c)
		}
		last = r.at + 1
	}
	return r.sofar(began, last), nil
}

func (r *reader) sofar(began, last int) string {
	r.at = last
	return r.text[began:last]
}

// quoted reads a scalar in quotes, on one line or more. How far in those are is
// nothing to any reader of YAML.
func (r *reader) quoted() (string, error) {
	quote := r.peek(0)
	began := r.line
	r.at++
	var value strings.Builder
	for {
		if r.ended() {
			r.line = began
			return "", r.wrong("a text in quotes has no end")
		}
		c := r.peek(0)
		switch {
		case c == quote && quote == '\'' && r.peek(1) == '\'':
			value.WriteByte(c)
			r.at += 2
		case c == quote:
			r.at++
			return value.String(), nil
		case c == '\\' && quote == '"':
			if err := r.escape(&value); err != nil {
				return "", err
			}
		case c == ' ' || c == '\n' || c == '\t':
			if err := r.fold(&value); err != nil {
				return "", err
			}
		default:
			value.WriteByte(c)
			r.at++
		}
	}
}

// fold reads white space inside of quotes: spaces in a line are themselves; around
// the end of a line they are nothing, and the end is a space or, with empty lines
// behind it, line feeds.
func (r *reader) fold(value *strings.Builder) error {
	began := r.at
	for r.peek(0) == ' ' || r.peek(0) == '\t' {
		r.at++
	}
	if r.peek(0) != '\n' || r.ended() {
		value.WriteString(r.text[began:r.at])
		return nil
	}
	breaks, err := r.nextInside()
	if err == nil {
		value.WriteString(folded(breaks))
	}
	return err
}

// nextInside goes to the next line inside of quotes that is not empty, and counts the
// breaks.
func (r *reader) nextInside() (breaks int, err error) {
	for !r.ended() && r.peek(0) == '\n' {
		r.newline()
		breaks++
		r.spaces()
		if r.atMarker() {
			return 0, r.wrong("a text in quotes has no end before the document's")
		}
		if r.peek(0) == '\t' {
			return 0, r.wrong("a tab is no indentation")
		}
	}
	return breaks, nil
}

// What follows a backslash, and what the two of them mean:
// https://yaml.org/spec/1.2.2/#57-escaped-characters, but for «/», which the library
// does not know.
const (
	escaped = "0abtnvfre \"\\N_LP"
	meant   = "\x00\a\b\t\n\v\f\r\x1b \"\\\u0085\u00a0\u2028\u2029"
)

// escape reads a backslash and what it stands for.
func (r *reader) escape(value *strings.Builder) error {
	r.at++
	c := r.peek(0)
	if c == '\n' && !r.ended() {
		breaks, err := r.nextInside()
		if err == nil {
			value.WriteString(strings.Repeat("\n", breaks-1))
		}
		return err
	}
	if at := strings.IndexByte(escaped, c); at >= 0 {
		value.WriteRune([]rune(meant)[at])
		r.at++
		return nil
	}
	digits := 0
	switch c {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return r.wrong("there is no escape \\%c", c)
	}
	r.at++
	point := rune(0)
	for range digits {
		digit := strings.IndexByte("0123456789abcdef", lower(r.peek(0)))
		if digit < 0 || point > utf8.MaxRune>>4 {
			return r.wrong("an escape needs %d hexadecimal digits of a character", digits)
		}
		point = point<<4 | rune(digit) //nolint:gosec // G115: at most 15
		r.at++
	}
	if !utf8.ValidRune(point) {
		return r.wrong("there is no character %#x", point)
	}
	value.WriteRune(point)
	return nil
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'F' {
		return c + 'a' - 'A'
	}
	return c
}
