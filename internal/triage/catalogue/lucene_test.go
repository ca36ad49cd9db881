package catalogue_test

import (
	"errors"
	"fmt"
	"strings"
)

// term is one condition of a query: a field, what it must say, and whether it must not.
type term struct {
	field, value string
	quoted       bool
	not          bool
}

// dnf is a query as an OR of ANDs.
type dnf [][]term

// query parses as much of Lucene's language as the real signatures use: fields, phrases, AND, OR, NOT, groups, + and
// terms in a row, which are an OR. A row of terms beside an AND has no meaning that two readers agree on.
func query(text string) (dnf, error) {
	p := parser{rest: text}
	q, err := p.or("message")
	if err == nil && p.space() != "" {
		err = fmt.Errorf("%.30q is left over", p.rest)
	}
	return q, err
}

type parser struct{ rest string }

func (p *parser) space() string {
	p.rest = strings.TrimLeft(p.rest, " \t\n")
	return p.rest
}

func (p *parser) takes(word string) bool {
	after, ok := strings.CutPrefix(p.space(), word)
	if ok && (word == "(" || word == ")" || word == "+" || after == "" || strings.ContainsRune(" (\n\t", rune(after[0]))) {
		p.rest = after
		return true
	}
	return false
}

func (p *parser) or(field string) (dnf, error) {
	all, err := p.and(field)
	rows := 0
	for err == nil {
		explicit := p.takes("OR")
		if !explicit && (p.space() == "" || strings.HasPrefix(p.rest, ")")) {
			break
		}
		if !explicit {
			rows++
		}
		var next dnf
		next, err = p.and(field)
		all = append(all, next...)
	}
	for _, conjunction := range all {
		if rows > 0 && len(conjunction) > 1 {
			return nil, errors.New("terms in a row beside an AND")
		}
	}
	return all, err
}

func (p *parser) and(field string) (dnf, error) {
	left, err := p.not(field)
	for err == nil {
		// "a NOT b" is "a AND NOT b", and "+a +b" is "a AND b".
		if !p.takes("AND") && !strings.HasPrefix(p.space(), "NOT ") && !strings.HasPrefix(p.rest, "+") {
			break
		}
		var right, product dnf
		right, err = p.not(field)
		for _, l := range left {
			for _, r := range right {
				product = append(product, append(append([]term{}, l...), r...))
			}
		}
		left = product
	}
	return left, err
}

func (p *parser) not(field string) (dnf, error) {
	if !p.takes("NOT") {
		return p.primary(field)
	}
	inner, err := p.primary(field)
	negated := dnf{{}}
	for _, conjunction := range inner { // de Morgan
		if len(conjunction) > 1 {
			return nil, errors.New("NOT of an AND")
		}
		conjunction[0].not = true
		negated[0] = append(negated[0], conjunction[0])
	}
	return negated, err
}

func (p *parser) primary(field string) (dnf, error) {
	p.takes("+")
	if p.takes("(") {
		inner, err := p.or(field)
		if err == nil && !p.takes(")") {
			err = errors.New("a parenthesis is not closed")
		}
		return inner, err
	}
	if strings.HasPrefix(p.space(), `"`) {
		return p.phrase(field)
	}
	end := strings.IndexAny(p.rest, " ():\n\"")
	switch {
	case end == 0 || p.rest == "":
		return nil, fmt.Errorf("a term is missing at %.30q", p.rest)
	case end > 0 && p.rest[end] == ':':
		field, p.rest = p.rest[:end], p.rest[end+1:]
		return p.primary(field)
	case end < 0:
		end = len(p.rest)
	}
	value := p.rest[:end]
	p.rest = p.rest[end:]
	return dnf{{{field: field, value: value}}}, nil
}

func (p *parser) phrase(field string) (dnf, error) {
	var value strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch p.rest[i] {
		case '\\':
			if i++; i < len(p.rest) {
				value.WriteByte(p.rest[i])
			}
		case '"':
			p.rest = p.rest[i+1:]
			if p.rest != "" && !strings.ContainsRune(" )\n\t", rune(p.rest[0])) {
				return nil, errors.New("a quote inside of a phrase is not escaped")
			}
			return dnf{{{field: field, value: value.String(), quoted: true}}}, nil
		default:
			value.WriteByte(p.rest[i])
		}
	}
	return nil, errors.New("a phrase has no end")
}
