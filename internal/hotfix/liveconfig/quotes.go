//go:build linux

package liveconfig

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// take goes over the next bytes, and counts lines.
func (s *shell) take(n int) string {
	taken := s.text[s.at : s.at+n]
	s.line += strings.Count(taken, "\n")
	s.at += n
	return taken
}

// single reads what stands in single quotes: itself.
func (s *shell) single(text *strings.Builder) error {
	length := strings.IndexByte(s.text[s.at+1:], '\'')
	if length < 0 {
		return s.wrong("a quote has no end")
	}
	taken := s.take(length + 2)
	text.WriteString(taken[1 : len(taken)-1])
	return nil
}

// escaped reads a backslash outside of quotes, and what it makes itself.
func (s *shell) escaped(text *strings.Builder) error {
	if s.at+1 >= len(s.text) {
		return s.wrong("a backslash is the last character")
	}
	if taken := s.take(2); taken != "\\\n" {
		text.WriteByte(taken[1])
	}
	return nil
}

// double reads what stands in double quotes, where a shell puts in values.
func (s *shell) double(text *strings.Builder, of *word) error {
	s.at++
	for s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case '"':
			s.at++
			return nil
		case '\\':
			if s.at+1 >= len(s.text) {
				return s.wrong("a quote has no end")
			}
			taken := s.take(2)
			switch {
			case taken == "\\\n":
			case strings.IndexByte("$`\"\\", taken[1]) >= 0:
				text.WriteByte(taken[1])
			default:
				text.WriteString(taken)
			}
		case '$', '`':
			of.expanded = true
			if err := s.expansion(text); err != nil {
				return err
			}
		default:
			text.WriteString(s.take(1))
		}
	}
	return s.wrong("a quote has no end")
}

// dollarSingle reads $'…', where a backslash stands for characters.
func (s *shell) dollarSingle(text *strings.Builder) error {
	s.at += 2
	for s.at < len(s.text) {
		if s.text[s.at] == '\'' {
			s.at++
			return nil
		}
		if s.text[s.at] != '\\' {
			text.WriteString(s.take(1))
			continue
		}
		if s.at+1 >= len(s.text) {
			break
		}
		const escaped, meant = "abefnrtv\\'\"?", "\a\b\x1b\f\n\r\t\v\\'\"?"
		c := s.take(2)[1]
		if i := strings.IndexByte(escaped, c); i >= 0 {
			text.WriteByte(meant[i])
			continue
		}
		if err := s.numbered(c, text); err != nil {
			return err
		}
	}
	return s.wrong("a quote has no end")
}

// numbered reads a character that is given by its number.
func (s *shell) numbered(kind byte, text *strings.Builder) error {
	base, most := 16, 0
	switch {
	case kind == 'x':
		most = 2
	case kind == 'u':
		most = 4
	case kind == 'U':
		most = 8
	case kind >= '0' && kind <= '7':
		base, most = 8, 3
		s.at--
	default:
		return s.wrong("an escape is not known here")
	}
	length := 0
	for length < most && s.at+length < len(s.text) {
		if _, err := strconv.ParseUint(s.text[s.at+length:s.at+length+1], base, 8); err != nil {
			break
		}
		length++
	}
	number, err := strconv.ParseUint(s.take(length), base, 32)
	switch {
	case err != nil, number == 0:
		return s.wrong("an escape has no character")
	case kind == 'u' || kind == 'U':
		if number > utf8.MaxRune || !utf8.ValidRune(rune(number)) {
			return s.wrong("an escape has no character")
		}
		text.WriteRune(rune(number))
	default:
		text.WriteByte(byte(number)) //nolint:gosec // G115: two hexadecimal digits, or three octal ones as shells take them
	}
	return nil
}

// maxNested bounds how deep expansions are in each other.
const maxNested = 50

// expansion goes over $name, ${…}, $(…), $((…)) or `…`, as it is written.
func (s *shell) expansion(text *strings.Builder) error {
	began := s.at
	err := s.passExpansion(0)
	text.WriteString(s.text[began:s.at])
	return err
}

func (s *shell) passExpansion(depth int) error {
	if depth > maxNested {
		return s.wrong("expansions are nested too deep")
	}
	opening := s.take(1)
	if opening == "`" {
		return s.passTo('`', depth)
	}
	if s.at >= len(s.text) {
		return nil
	}
	switch s.text[s.at] {
	case '(':
		s.at++
		return s.passTo(')', depth)
	case '{':
		s.at++
		return s.passTo('}', depth)
	}
	return nil // a name goes on as part of the word
}

// passTo goes behind a closing bracket or quote that is in no quotes and in no other
// expansion.
func (s *shell) passTo(closing byte, depth int) error {
	if depth > maxNested {
		return s.wrong("expansions are nested too deep")
	}
	var ignored strings.Builder
	for s.at < len(s.text) {
		ignored.Reset()
		var err error
		switch c := s.text[s.at]; {
		case c == closing:
			s.at++
			return nil
		case c == '\'':
			err = s.single(&ignored)
		case c == '"':
			err = s.passDouble(depth + 1)
		case c == '\\':
			err = s.escaped(&ignored)
		case c == '$' || c == '`':
			err = s.passExpansion(depth + 1)
		case c == '(':
			s.at++
			err = s.passTo(')', depth+1)
		default:
			s.take(1)
		}
		if err != nil {
			return err
		}
	}
	return s.wrong("an expansion has no end")
}

func (s *shell) passDouble(depth int) error {
	if depth > maxNested {
		return s.wrong("expansions are nested too deep")
	}
	s.at++
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			s.at++
			return nil
		case '\\':
			s.take(min(2, len(s.text)-s.at))
		case '$', '`':
			if err := s.passExpansion(depth); err != nil {
				return err
			}
		default:
			s.take(1)
		}
	}
	return s.wrong("a quote has no end")
}
