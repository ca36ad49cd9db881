package bicep

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a token is.
type kind int

const (
	end kind = iota
	newline
	word
	// text is a string; its value is without quotes, interpolations as written.
	text
	mark
)

// token is a piece of a file and where it stands. Lines and columns count from 1.
type token struct {
	kind         kind
	value        string
	line, column int
}

// lexer takes a file apart:
// https://learn.microsoft.com/azure/azure-resource-manager/bicep/file
type lexer struct {
	rest         string
	line, column int
	// templated: what stands between {{ and }} is Go's, and not Bicep.
	templated bool
	// deep counts the interpolations that are open.
	deep int
}

// deepest is how deep interpolations may be nested; what is deeper is text.
const deepest = 32

func newLexer(source string, templated bool) *lexer {
	return &lexer{rest: source, line: 1, column: 1, templated: templated}
}

// take moves on by some bytes and gives them.
func (l *lexer) take(size int) string {
	taken := l.rest[:size]
	l.rest = l.rest[size:]
	if lines := strings.Count(taken, "\n"); lines > 0 {
		l.line += lines
		l.column = 1 + utf8.RuneCountInString(taken[strings.LastIndexByte(taken, '\n')+1:])
	} else {
		l.column += utf8.RuneCountInString(taken)
	}
	return taken
}

// through takes all up to a text and that text, or the rest where there is none.
func (l *lexer) through(until string) string {
	at := strings.Index(l.rest, until)
	if at < 0 {
		return l.take(len(l.rest))
	}
	return l.take(at + len(until))
}

// next is the next token; comments, spaces and templates are passed over.
func (l *lexer) next() token {
	for l.rest != "" {
		switch {
		case strings.HasPrefix(l.rest, "//"):
			l.take(lengthOfLine(l.rest))
		case strings.HasPrefix(l.rest, "/*"):
			l.through("*/")
		case l.templated && strings.HasPrefix(l.rest, "{{"):
			l.through("}}")
		case l.rest[0] != '\n' && unicode.IsSpace(rune(l.rest[0])):
			l.take(1)
		default:
			return l.token()
		}
	}
	return token{kind: end, line: l.line, column: l.column}
}

func lengthOfLine(source string) int {
	if at := strings.IndexByte(source, '\n'); at >= 0 {
		return at
	}
	return len(source)
}

func (l *lexer) token() token {
	found := token{kind: mark, line: l.line, column: l.column}
	switch first, size := utf8.DecodeRuneInString(l.rest); {
	case first == '\n':
		found.kind, found.value = newline, l.take(1)
	case strings.HasPrefix(l.rest, "'''"):
		l.take(3)
		found.kind, found.value = text, strings.TrimSuffix(l.through("'''"), "'''")
	case first == '\'':
		l.take(1)
		found.kind, found.value = text, l.quoted()
	case first == '_' || unicode.IsLetter(first):
		length := strings.IndexFunc(l.rest, func(r rune) bool {
			return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
		if length < 0 {
			length = len(l.rest)
		}
		found.kind, found.value = word, l.take(length)
	default:
		found.value = l.take(size)
	}
	return found
}

// quoted is the rest of a string behind its quote. One that is never closed ends with its line.
func (l *lexer) quoted() string {
	var value strings.Builder
	for l.rest != "" && l.rest[0] != '\n' {
		switch {
		case l.rest[0] == '\'':
			l.take(1)
			return value.String()
		case l.rest[0] == '\\' && len(l.rest) > 1 && l.rest[1] != '\n':
			value.WriteString(unescaped(l.take(2)))
		case strings.HasPrefix(l.rest, "${") && l.deep < deepest:
			value.WriteString(l.take(2) + l.interpolated())
		case l.templated && strings.HasPrefix(l.rest, "{{"):
			value.WriteString(l.through("}}"))
		default:
			_, size := utf8.DecodeRuneInString(l.rest)
			value.WriteString(l.take(size))
		}
	}
	return value.String()
}

func unescaped(pair string) string {
	switch pair[1] {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	}
	return pair[1:]
}

// interpolated is the rest of an interpolation, with its closing brace. It may hold strings of its own.
func (l *lexer) interpolated() string {
	before, depth := l.rest, 1
	l.deep++
	defer func() { l.deep-- }()
	for depth > 0 {
		switch next := l.next(); {
		case next.kind == end || next.kind == newline:
			return before[:len(before)-len(l.rest)]
		case next.kind == mark && next.value == "{":
			depth++
		case next.kind == mark && next.value == "}":
			depth--
		}
	}
	return before[:len(before)-len(l.rest)]
}
