package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scanner is a pull reader of XML in constant memory: encoding/xml holds a text node whole, and a log in a
// <system-out> may be gigabytes. It forgives what writers of results do ("<" in attributes, a bare "&") and refuses
// declarations in document types, and so entities.
type scanner struct {
	in    *bufio.Reader
	line  int
	open  []element
	ended bool // the last tag was self-closing: its end comes next
	cdata bool
	text  []byte
	limit int
	brk   error // follows the text before it
}

// element is an open one and where it began.
type element struct {
	name string
	line int
}

type tokenKind int

const (
	startToken tokenKind = iota
	endToken
	textToken
)

type token struct {
	kind  tokenKind
	name  string // without a namespace's prefix
	line  int
	attrs map[string]string
	text  []byte // good until the next token; a long text comes in pieces
}

const (
	textPiece     = 16 << 10
	maxDepth      = 100
	maxTagAttrs   = 256
	maxNameLength = 256
)

// malformed is what can't be read as XML.
type malformed struct {
	line   int
	reason string
}

func (m *malformed) Error() string { return m.reason }

func (s *scanner) malformed(format string, args ...any) error {
	return &malformed{s.line, fmt.Sprintf(format, args...)}
}

// next gives io.EOF after the end of the root element.
func (s *scanner) next() (token, error) {
	switch {
	case s.brk != nil:
		return token{}, s.brk
	case s.ended:
		s.ended = false
		return s.pop(), nil
	}
	for {
		t, found, err := s.step()
		if err != nil && len(t.text) > 0 {
			s.brk = err
			return t, nil
		}
		if err != nil || found {
			return t, err
		}
	}
}

// step reads one piece of the input, which may hold no token.
func (s *scanner) step() (t token, found bool, err error) {
	if s.cdata {
		return s.readCDATA()
	}
	char, err := s.byte()
	switch {
	case errors.Is(err, io.EOF) && len(s.open) > 0:
		last := s.open[len(s.open)-1]
		return t, false, s.malformed("the file ends inside <%s> of line %d", last.name, last.line)
	case err != nil:
		return t, false, err
	case char != '<':
		s.back(char)
		return s.readText()
	}
	char, err = s.byte()
	if err != nil {
		return t, false, s.cutOff(err, "a tag")
	}
	switch {
	case char == '?':
		return t, false, s.skip("?>", "a processing instruction")
	case char == '!':
		return t, false, s.declaration()
	case char == '/':
		return s.endTag()
	}
	s.back(char)
	return s.startTag()
}

func (s *scanner) byte() (byte, error) {
	char, err := s.in.ReadByte()
	if char == '\n' {
		s.line++
	}
	return char, err
}

func (s *scanner) back(char byte) {
	_ = s.in.UnreadByte() // follows a ReadByte always
	if char == '\n' {
		s.line--
	}
}

// cutOff says inside of what the file ends.
func (s *scanner) cutOff(err error, inside string) error {
	if errors.Is(err, io.EOF) {
		return s.malformed("the file ends inside %s", inside)
	}
	return err
}

// readText reads to the next tag, at most a piece.
func (s *scanner) readText() (token, bool, error) {
	t := token{kind: textToken, line: s.line}
	s.text = s.text[:0]
	for len(s.text) < textPiece {
		s.takeUntil("<&")
		char, err := s.byte()
		switch {
		case errors.Is(err, io.EOF):
			t.text = s.text
			return t, true, nil // the next step says what is open
		case err != nil:
			t.text = s.text
			return t, false, err
		case char == '<':
			s.back(char)
			t.text = s.text
			return t, true, nil
		case char == '&':
			s.text = s.reference(s.text)
		default:
			s.text = append(s.text, char)
		}
	}
	t.text = s.text
	return t, true, nil
}

func (s *scanner) readCDATA() (token, bool, error) {
	t := token{kind: textToken, line: s.line}
	s.text = s.text[:0]
	for len(s.text) < textPiece {
		s.takeUntil("]")
		if s.follows("]]>") {
			s.cdata = false
			break
		}
		char, err := s.byte()
		if err != nil {
			t.text = s.text
			return t, false, s.cutOff(err, "a CDATA section")
		}
		s.text = append(s.text, char)
	}
	t.text = s.text
	return t, len(s.text) > 0, nil
}

// takeUntil takes what is buffered up to a byte that needs a look, at most a piece.
func (s *scanner) takeUntil(stops string) {
	ahead, _ := s.in.Peek(min(s.in.Buffered(), textPiece-len(s.text)))
	if end := bytes.IndexAny(ahead, stops); end >= 0 {
		ahead = ahead[:end]
	}
	s.text = append(s.text, ahead...)
	s.line += bytes.Count(ahead, []byte("\n"))
	_, _ = s.in.Discard(len(ahead))
}

// follows takes a mark off the input if it comes next.
func (s *scanner) follows(mark string) bool {
	if first, err := s.in.Peek(1); err != nil || first[0] != mark[0] {
		return false
	}
	next, err := s.in.Peek(len(mark))
	if err != nil || string(next) != mark {
		return false
	}
	_, _ = s.in.Discard(len(mark))
	return true
}

func (s *scanner) skip(end, what string) error {
	for !s.follows(end) {
		if _, err := s.byte(); err != nil {
			return s.cutOff(err, what)
		}
	}
	return nil
}

func (s *scanner) declaration() error {
	switch {
	case s.follows("--"):
		return s.skip("-->", "a comment")
	case s.follows("[CDATA["):
		s.cdata = true
		return nil
	case len(s.open) == 0 && s.follows("DOCTYPE"):
		return s.documentType()
	}
	return s.malformed("a document type or entity declaration is refused")
}

func (s *scanner) endTag() (token, bool, error) {
	name, err := s.name()
	if err == nil {
		err = s.space()
	}
	if err != nil {
		return token{}, false, s.cutOff(err, "an end tag")
	}
	if char, err := s.byte(); err != nil || char != '>' {
		return token{}, false, s.malformed("</%s is no end tag", name)
	}
	if len(s.open) == 0 {
		return token{}, false, s.malformed("</%s> ends nothing", name)
	}
	if last := s.open[len(s.open)-1]; last.name != name {
		return token{}, false, s.malformed("</%s> where <%s> of line %d is open", name, last.name, last.line)
	}
	return s.pop(), true, nil
}

func (s *scanner) pop() token {
	last := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	return token{kind: endToken, name: last.name, line: s.line}
}

func (s *scanner) startTag() (token, bool, error) {
	t := token{kind: startToken, line: s.line}
	name, err := s.name()
	if err != nil {
		return t, false, s.cutOff(err, "a tag")
	}
	if len(s.open) >= maxDepth {
		return t, false, s.malformed("elements nested deeper than %d", maxDepth)
	}
	t.name = name
	for {
		if err := s.space(); err != nil {
			return t, false, s.cutOff(err, "<"+name+">")
		}
		switch {
		case s.follows("/>"):
			s.ended = true
			fallthrough
		case s.ended || s.follows(">"):
			s.open = append(s.open, element{name, t.line})
			return t, true, nil
		case len(t.attrs) >= maxTagAttrs:
			return t, false, s.malformed("<%s> has more than %d attributes", name, maxTagAttrs)
		}
		if err := s.attribute(&t); err != nil {
			return t, false, s.cutOff(err, "<"+name+">")
		}
	}
}

func (s *scanner) attribute(t *token) error {
	name, err := s.name()
	if err != nil {
		return err
	}
	if err := s.space(); err != nil {
		return err
	}
	if !s.follows("=") {
		return s.malformed("attribute %q of <%s> has no value", name, t.name)
	}
	if err := s.space(); err != nil {
		return err
	}
	quote, err := s.byte()
	if err != nil {
		return err
	}
	if quote != '"' && quote != '\'' {
		return s.malformed("attribute %q of <%s> is not quoted", name, t.name)
	}
	value, err := s.value(quote)
	if t.attrs == nil {
		t.attrs = map[string]string{}
	}
	t.attrs[name] = value
	return err
}

// value reads to the quote. It keeps one byte more than the limit, so that cutting it is noticed.
func (s *scanner) value(quote byte) (string, error) {
	var value []byte
	for {
		char, err := s.byte()
		switch {
		case err != nil:
			return string(value), err
		case char == quote:
			return string(value), nil
		case len(value) > s.limit:
		case char == '&':
			value = s.reference(value)
		default:
			value = append(value, char)
		}
	}
}

// name reads a name, without its namespace's prefix.
func (s *scanner) name() (string, error) {
	var name []byte
	for {
		char, err := s.byte()
		if err != nil {
			return "", err
		}
		if strings.IndexByte(" \t\r\n/>=<\"'&", char) >= 0 {
			s.back(char)
			break
		}
		if name = append(name, char); len(name) > maxNameLength {
			return "", s.malformed("a name longer than %d bytes", maxNameLength)
		}
	}
	if len(name) == 0 || !utf8.Valid(name) {
		return "", s.malformed("a name is missing or is no text")
	}
	text, _ := clean(string(name))
	return text[strings.LastIndexByte(text, ':')+1:], nil
}

func (s *scanner) space() error {
	for {
		char, err := s.byte()
		if err != nil {
			return err
		}
		if char != ' ' && char != '\t' && char != '\r' && char != '\n' {
			s.back(char)
			return nil
		}
	}
}

// reference appends what follows an "&". What XML doesn't define by itself stays as it stands: nothing is expanded.
func (s *scanner) reference(to []byte) []byte {
	ahead, _ := s.in.Peek(12)
	end := strings.IndexByte(string(ahead), ';')
	if end < 0 {
		return append(to, '&')
	}
	char, known := map[string]rune{"lt": '<', "gt": '>', "amp": '&', "quot": '"', "apos": '\''}[string(ahead[:end])]
	if digits, numeric := strings.CutPrefix(string(ahead[:end]), "#"); numeric {
		base := 10
		if rest, hex := strings.CutPrefix(digits, "x"); hex {
			digits, base = rest, 16
		}
		number, err := strconv.ParseUint(digits, base, 21)
		char, known = rune(number), err == nil
	}
	if !known {
		return append(to, '&')
	}
	_, _ = s.in.Discard(end + 1)
	return utf8.AppendRune(to, char)
}
