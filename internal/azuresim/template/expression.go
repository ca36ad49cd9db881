package template

import (
	"encoding/json"
	"fmt"
	"strings"
)

// expression is a part of the expression language that has a value.
type expression interface {
	evaluate(*environment) (any, error)
}

type (
	literal struct{ value any }

	call struct {
		name      string // as it was written
		function  *function
		arguments []expression
	}

	// member is a.b and a[b]; with safe (a.?b, a[?b]) null where there is none.
	member struct {
		of, by expression
		safe   bool
	}
)

// isExpression tells an expression from a text that stands for itself. ARM takes [[ at the start for an escaped [.
func isExpression(text string) bool {
	return strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") && !strings.HasPrefix(text, "[[")
}

// plain is what a text that is no expression stands for.
func plain(text string) string {
	if strings.HasPrefix(text, "[[") && strings.HasSuffix(text, "]") {
		return text[1:]
	}
	return text
}

// longest is ARM's limit for an expression, in characters.
const longest = 24576

// parse reads an expression with its brackets.
func parse(text string) (expression, error) {
	p := &parser{text: text[1 : len(text)-1]}
	if len(text) > longest {
		return nil, fmt.Errorf("unable to parse language expression: it is longer than %d characters", longest)
	}
	e, err := p.expression(0)
	if err == nil && p.skipSpace() < len(p.text) {
		err = fmt.Errorf("unexpected '%c'", p.text[p.at])
	}
	if err != nil {
		return nil, fmt.Errorf("unable to parse language expression '%s': %w at position '%d'", p.text, err, p.at+1)
	}
	return e, nil
}

type parser struct {
	text string
	at   int
}

func (p *parser) skipSpace() int {
	for p.at < len(p.text) && strings.ContainsRune(" \t\r\n", rune(p.text[p.at])) {
		p.at++
	}
	return p.at
}

// take eats a mark if it is next.
func (p *parser) take(mark string) bool {
	p.skipSpace()
	if !strings.HasPrefix(p.text[p.at:], mark) {
		return false
	}
	p.at += len(mark)
	return true
}

func (p *parser) expect(mark string) error {
	if p.take(mark) {
		return nil
	}
	return fmt.Errorf("expected '%s', found %s", mark, p.next())
}

func (p *parser) next() string {
	if p.skipSpace() == len(p.text) {
		return "the end"
	}
	return fmt.Sprintf("'%c'", p.text[p.at])
}

func (p *parser) expression(depth int) (expression, error) {
	if depth > deepest {
		return nil, fmt.Errorf("expressions are nested deeper than %d", deepest)
	}
	e, err := p.primary(depth)
	for err == nil {
		var by expression
		safe := false
		switch {
		case p.take(".?"), p.take("."):
			safe = p.text[p.at-1] == '?'
			by, err = p.name()
		case p.take("[?"), p.take("["):
			safe = p.text[p.at-1] == '?'
			if by, err = p.expression(depth + 1); err == nil {
				err = p.expect("]")
			}
		default:
			return e, nil
		}
		e = &member{of: e, by: by, safe: safe}
	}
	return nil, err
}

func (p *parser) name() (expression, error) {
	if word := p.word(); word != "" {
		return &literal{word}, nil
	}
	return nil, fmt.Errorf("expected a name, found %s", p.next())
}

func (p *parser) word() string {
	start := p.skipSpace()
	for p.at < len(p.text) && (isLetter(p.text[p.at]) || p.at > start && isDigit(p.text[p.at])) {
		p.at++
	}
	return p.text[start:p.at]
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

func (p *parser) primary(depth int) (expression, error) {
	switch start := p.skipSpace(); {
	case start == len(p.text):
		return nil, fmt.Errorf("expected a function, a string or a number, found the end")
	case p.text[start] == '\'':
		return p.quoted()
	case isDigit(p.text[start]) || p.text[start] == '-':
		return p.number()
	}
	name := p.word()
	if name == "" {
		return nil, fmt.Errorf("expected a function, a string or a number, found %s", p.next())
	}
	known := functions[strings.ToLower(name)]
	if known == nil {
		p.at -= len(name)
		return nil, fmt.Errorf("the template function '%s' is not valid", name)
	}
	arguments, err := p.arguments(depth)
	if err != nil {
		return nil, err
	}
	if n := len(arguments); n < known.least || known.most >= 0 && n > known.most {
		return nil, fmt.Errorf("the template function '%s' does not take %d arguments", name, n)
	}
	return &call{name: name, function: known, arguments: arguments}, nil
}

func (p *parser) arguments(depth int) ([]expression, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	if p.take(")") {
		return nil, nil
	}
	var all []expression
	for {
		argument, err := p.expression(depth + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, argument)
		if p.take(")") {
			return all, nil
		}
		if err := p.expect(","); err != nil {
			return nil, err
		}
	}
}

// quoted: two quotes stand for one.
func (p *parser) quoted() (expression, error) {
	var text strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		if p.text[p.at] != '\'' {
			text.WriteByte(p.text[p.at])
			continue
		}
		p.at++
		if p.at == len(p.text) || p.text[p.at] != '\'' {
			return &literal{text.String()}, nil
		}
		text.WriteByte('\'')
	}
	return nil, fmt.Errorf("a string has no end")
}

func (p *parser) number() (expression, error) {
	start := p.at
	p.at++ // a sign or the first digit
	for p.at < len(p.text) && isDigit(p.text[p.at]) {
		p.at++
	}
	number := json.Number(p.text[start:p.at])
	if _, err := number.Int64(); err != nil {
		p.at = start
		return nil, fmt.Errorf("'%s' is not an integer", number)
	}
	return &literal{number}, nil
}
