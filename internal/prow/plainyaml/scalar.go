package plainyaml

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// scalar reads a scalar on one line. A plain one ends before a colon with a space, or a comment.
func (p *parser) scalar(inFlow bool) *yaml.Node {
	node := p.node(yaml.ScalarNode, p.at-p.start)
	switch p.text[p.at] {
	case '\'':
		node.Style = yaml.SingleQuotedStyle
		node.Value = p.singleQuoted()
	case '"':
		node.Style = yaml.DoubleQuotedStyle
		node.Value = p.doubleQuoted()
	default:
		node.Value = p.plainScalar(inFlow)
	}
	return node
}

func (p *parser) singleQuoted() string {
	p.at++
	began, twice := p.at, false
	for ; p.at < p.end; p.at++ {
		if p.text[p.at] != '\'' {
			continue
		}
		if p.at+1 < p.end && p.text[p.at+1] == '\'' {
			twice = true
			p.at++
			continue
		}
		value := p.text[began:p.at]
		p.at++
		if twice {
			value = strings.ReplaceAll(value, "''", "'")
		}
		return value
	}
	p.refused = true
	return ""
}

// doubleQuoted knows the escapes of quotes and backslashes.
func (p *parser) doubleQuoted() string {
	p.at++
	began := p.at
	var escaped []byte
	for ; p.at < p.end; p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			value := p.text[began:p.at]
			if escaped != nil {
				value = string(escaped)
			}
			p.at++
			return value
		case c == '\\':
			if escaped == nil {
				escaped = []byte(p.text[began:p.at])
			}
			if p.at++; p.text[p.at] != '"' && p.text[p.at] != '\\' {
				p.refused = true
				return ""
			}
			escaped = append(escaped, p.text[p.at])
		case escaped != nil:
			escaped = append(escaped, c)
		}
	}
	p.refused = true
	return ""
}

func (p *parser) plainScalar(inFlow bool) string {
	if !p.beginsPlain() {
		p.refused = true
		return ""
	}
	began, last := p.at, p.at // behind the last character but spaces
	for ; p.at < p.end; p.at++ {
		c := p.text[p.at]
		if c == ' ' {
			continue
		}
		if c == ':' && (p.at+1 == p.end || p.text[p.at+1] == ' ') || c == '#' && last < p.at && p.at > began {
			break
		}
		if inFlow && strings.IndexByte(",[]{}", c) >= 0 {
			break
		}
		if inFlow && (c == '?' || c == ':' && !p.wordAfter()) {
			p.refused = true // the library refuses the one, and makes this or that of the other
		}
		last = p.at + 1
	}
	p.at = last
	value := p.text[began:last]
	p.refused = p.refused || value == "<<" // a merge key
	return value
}

// wordAfter is whether a character that is part of any word comes next.
func (p *parser) wordAfter() bool {
	return p.at+1 < p.end && isWord(p.text[p.at+1])
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/._*$^(\\", c) >= 0
}

// beginsPlain leaves indicators to the library, and signs that are followed by another sign.
func (p *parser) beginsPlain() bool {
	c := p.text[p.at]
	switch {
	case strings.IndexByte(",[]{}#&*!|>'\"%@`?:", c) >= 0:
		return false
	case c == '-':
		return p.wordAfter() || p.at+2 < p.end && p.text[p.at+1] == '-' && isWord(p.text[p.at+2])
	}
	return true
}

// literal reads the lines of a literal block inside of a collection in a column, and goes to the first line after it.
func (p *parser) literal(column int) *yaml.Node {
	node := p.node(yaml.ScalarNode, p.at-p.start)
	node.Style = yaml.LiteralStyle
	p.at++
	strip := p.at < p.end && p.text[p.at] == '-'
	if strip {
		p.at++
	}
	if p.at != p.end {
		return p.refuse() // an indentation, or a comment
	}
	var value strings.Builder
	indent, blank := 0, 0
	for p.cut() {
		p.spaces()
		width := p.at - p.start
		switch {
		case p.at == p.end && (indent == 0 && width > 0 || width > indent):
			return p.refuse() // spaces that may count
		case p.at == p.end:
			blank++
			continue
		case indent == 0 && width > column:
			indent = width
		}
		if indent == 0 || width < indent {
			break
		}
		for ; blank > 0; blank-- {
			value.WriteByte('\n')
		}
		value.WriteString(p.text[p.start+indent : p.next])
	}
	if indent == 0 {
		return p.refuse()
	}
	node.Value = value.String()
	if strip {
		node.Value = strings.TrimSuffix(node.Value, "\n")
	}
	p.afterLiteral(column)
	return node
}

// afterLiteral stands at the line that ended a literal block, if one did.
func (p *parser) afterLiteral(column int) {
	switch {
	case p.ended:
		return
	case p.text[p.at] == '#':
		p.nextLine()
	default:
		p.column = p.at - p.start
		p.refused = p.refused || p.column == 0 && p.documentMarker()
	}
	if !p.ended && p.column > column {
		p.refused = true
	}
}
