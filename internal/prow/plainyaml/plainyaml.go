package plainyaml

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// maximumDepth bounds how deep collections are nested here.
const maximumDepth = 100

// Reader reads one document after the other, in the same memory. The zero value is ready; two goroutines must not share
// one.
type Reader struct {
	nodes nodes
}

// Root is the root of a document, or nil where only the library can tell. It is valid until Root is called again; the
// values of its nodes are for ever. Nodes have kind, style, value and place; they have no comments, and no tag: what a
// plain scalar means is for the caller to say.
func (r *Reader) Root(content []byte) *yaml.Node {
	if !plain(content) {
		return nil
	}
	r.nodes.reset()
	p := &parser{text: string(content), nodes: &r.nodes}
	if bytes.HasPrefix(content, []byte("---\n")) {
		p.next, p.line = len("---\n"), 1
	}
	p.nextLine()
	if p.ended {
		return nil
	}
	root := p.block(p.column)
	if p.refused || !p.ended || root.Kind == yaml.ScalarNode {
		return nil
	}
	return root
}

// plain is whether content has nothing but printable ASCII and line feeds, the last of them at its end.
func plain(content []byte) bool {
	if len(content) == 0 || content[len(content)-1] != '\n' {
		return false
	}
	for _, c := range content {
		if c < ' ' && c != '\n' || c > '~' {
			return false
		}
	}
	return true
}

// parser stands at a token: at text[at], in the column of the line. All columns begin with 0.
type parser struct {
	text string
	at   int
	// start and next are where the line begins, and the next one; end is where the line's text ends.
	start, end, next int
	line             int
	// column is that of the line's first character but spaces, or of the token after a dash.
	column int
	depth  int
	// ended says that no line is left; refused that this is for the library.
	ended, refused bool

	nodes *nodes
}

// refuse leaves the whole document to the library.
func (p *parser) refuse() *yaml.Node {
	p.refused = true
	return &yaml.Node{}
}

// node makes one in a column of the line.
func (p *parser) node(kind yaml.Kind, column int) *yaml.Node {
	made := p.nodes.make()
	made.Kind, made.Line, made.Column = kind, p.line, column+1
	return made
}

// cut reads the next line, if there is one, whatever it holds.
func (p *parser) cut() bool {
	if p.next >= len(p.text) {
		p.ended = true
		return false
	}
	p.line++
	p.start, p.at = p.next, p.next
	p.end = p.start
	for p.text[p.end] != '\n' {
		p.end++
	}
	p.next = p.end + 1
	return true
}

// nextLine goes to the next line that has more than a comment.
func (p *parser) nextLine() {
	for p.cut() {
		p.spaces()
		if p.at == p.end || p.text[p.at] == '#' {
			continue
		}
		p.column = p.at - p.start
		if p.column == 0 && p.documentMarker() {
			p.refused = true
		}
		return
	}
}

func (p *parser) documentMarker() bool {
	if p.end-p.at < 3 {
		return p.text[p.at] == '%'
	}
	marker := p.text[p.at : p.at+3]
	return p.text[p.at] == '%' || marker == "---" || marker == "..."
}

func (p *parser) spaces() {
	for p.at < p.end && p.text[p.at] == ' ' {
		p.at++
	}
}

// endOfLine is whether nothing is left of the line but spaces and a comment.
func (p *parser) endOfLine() bool {
	before := p.at
	p.spaces()
	return p.at == p.end || p.text[p.at] == '#' && p.at > before
}

// is whether the token here is a character that ends with the line or has a space after it.
func (p *parser) is(c byte) bool {
	return p.at < p.end && p.text[p.at] == c && (p.at+1 == p.end || p.text[p.at+1] == ' ')
}

// block reads the collection that begins here, and goes to the first line after it.
func (p *parser) block(column int) *yaml.Node {
	if p.depth++; p.depth > maximumDepth {
		return p.refuse()
	}
	defer func() { p.depth-- }()
	if p.is('-') {
		return p.sequence(column)
	}
	return p.mapping(column)
}

func (p *parser) sequence(column int) *yaml.Node {
	list, since := p.node(yaml.SequenceNode, column), p.nodes.mark()
	for !p.refused && !p.ended && p.column == column && p.is('-') {
		p.at++
		item := p.item(column)
		p.nodes.open(item)
	}
	return p.nodes.close(list, since)
}

// item is what stands behind a dash in a column.
func (p *parser) item(column int) *yaml.Node {
	after := p.at - p.start
	if p.endOfLine() {
		return p.below(column, after, false)
	}
	p.column = p.at - p.start
	if p.is('-') || p.keyAhead() {
		return p.nested(column)
	}
	return p.inline(column)
}

// nested is a collection inside of one in a column.
func (p *parser) nested(column int) *yaml.Node {
	inner := p.block(p.column)
	if !p.ended && p.column > column {
		return p.refuse()
	}
	return inner
}

// below is a value that begins on a line of its own, or none at all: then it stands where its key or its dash ends.
func (p *parser) below(column, after int, listToo bool) *yaml.Node {
	none := p.node(yaml.ScalarNode, after)
	p.nextLine()
	switch {
	case p.ended:
		return none
	case p.column > column && (p.is('-') || p.keyAhead()):
		return p.nested(column)
	case p.column > column:
		return p.refuse() // a scalar on a line of its own
	case listToo && p.column == column && p.is('-'):
		return p.nested(column)
	}
	return none
}

func (p *parser) mapping(column int) *yaml.Node {
	mapping, since := p.node(yaml.MappingNode, column), p.nodes.mark()
	for !p.refused && !p.ended && p.column == column {
		key := p.scalar(false)
		p.spaces()
		if p.refused || !p.is(':') || p.at-p.start-column > maximumKey {
			return p.refuse()
		}
		p.at++
		p.nodes.open(key)
		value := p.value(column)
		p.nodes.open(value)
	}
	return p.nodes.close(mapping, since)
}

// maximumKey is less than what the library takes for a key on one line.
const maximumKey = 1000

// value is what stands behind a key of a mapping in a column.
func (p *parser) value(column int) *yaml.Node {
	after := p.at - p.start
	if p.endOfLine() {
		return p.below(column, after, true)
	}
	return p.inline(column)
}

// inline is a value that begins on the line of its key or dash, and what is left of the line.
func (p *parser) inline(column int) *yaml.Node {
	var value *yaml.Node
	switch p.text[p.at] {
	case '|':
		return p.literal(column)
	case '[', '{':
		value = p.flow()
	default:
		value = p.scalar(false)
	}
	if p.refused || !p.endOfLine() {
		return p.refuse()
	}
	p.nextLine()
	if !p.ended && p.column > column {
		return p.refuse() // goes on over more lines than one
	}
	return value
}

// keyAhead is whether a key of a mapping begins here.
func (p *parser) keyAhead() bool {
	switch p.text[p.at] {
	case '|', '[', '{':
		return false
	}
	at, made := p.at, p.nodes.made
	p.scalar(false)
	p.spaces()
	found := !p.refused && p.is(':')
	p.at, p.nodes.made = at, made
	return found
}
