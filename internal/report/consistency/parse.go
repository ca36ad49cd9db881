package consistency

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// blockParser reads blocks alone. Inline text is read by plainText: goldmark takes time in the square of the number of
// links of a paragraph and of link definitions, and what is checked comes from anybody.
func blockParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
	)
}

// parse reads a post-mortem.
func parse(raw []byte) (*document, error) {
	source, err := printable(raw)
	if err != nil {
		return nil, err
	}
	d := &document{lines: strings.Split(string(source), "\n"), sections: []section{{}}}
	if line := tooDeep(d.lines); line > 0 {
		return nil, fmt.Errorf("line %d is nested too deep: at most %d levels are read", line, maxDepth)
	}
	r := &reader{document: d, source: blankFrontMatter(d, source), starts: lineStarts(source)}
	if err := r.children(blockParser().Parse(text.NewReader(r.source)), nil, 0); err != nil {
		return nil, err
	}
	d.classify()
	return d, nil
}

// tooDeep finds a line that opens more quotes and lists than are read; 0 for none.
func tooDeep(lines []string) int {
	for i, line := range lines {
		depth, previous := 0, byte(' ')
		for j := 0; j < len(line); j++ {
			switch c := line[j]; {
			case c == ' ' || c == '\t':
			case c == '>' || (c == '-' || c == '+' || c == '*') && (previous == ' ' || previous == '\t' || previous == '>'):
				depth++
			default:
				j = len(line)
				continue
			}
			previous = line[j]
		}
		if depth > maxDepth {
			return i + 1
		}
	}
	return 0
}

// blankFrontMatter takes YAML front matter out of what is Markdown and makes its lines a paragraph of fields.
func blankFrontMatter(d *document, source []byte) []byte {
	if len(d.lines) < 3 || strings.TrimRight(d.lines[0], " ") != "---" {
		return source
	}
	size := len(d.lines[0]) + 1
	for i, line := range d.lines[1:min(len(d.lines), 100)] {
		size += len(line) + 1
		if fence := strings.TrimRight(line, " "); fence != "---" && fence != "..." {
			continue
		}
		body := strings.Join(d.lines[1:i+1], "\n")
		d.blocks = append(d.blocks, &block{shape: paragraph, line: 2, text: body, claims: body, raw: body})
		blank := []byte(strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return ' '
		}, string(source[:min(size, len(source))])))
		return append(blank, source[min(size, len(source)):]...)
	}
	return source
}

// reader turns goldmark's tree into blocks.
type reader struct {
	*document
	source []byte
	starts []int
	lists  int
}

func (r *reader) children(node ast.Node, within *block, depth int) error {
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		if err := r.take(child, within, depth); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) take(node ast.Node, within *block, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested too deep: at most %d levels are read", maxDepth)
	}
	switch n := node.(type) {
	case *ast.Heading:
		r.add(heading, r.rawOf(n)).list = n.Level
	case *ast.Paragraph, *ast.TextBlock:
		r.add(paragraph, r.rawOf(n))
	case *ast.List:
		return r.list(n, within, depth)
	case *ast.Blockquote:
		raw := r.quoted(n)
		if raw.text != "" {
			r.add(quote, raw)
		}
	case *ast.HTMLBlock:
		raw := r.rawOf(n)
		if n.HasClosure() {
			raw.text += string(n.ClosureLine.Value(r.source))
		}
		r.add(comment, raw)
	case *tables.Table:
		r.table(n)
	}
	return nil
}

func (r *reader) list(list *ast.List, within *block, depth int) error {
	r.lists++
	number := r.lists
	for entry := list.FirstChild(); entry != nil; entry = entry.NextSibling() {
		var own source
		for child := entry.FirstChild(); child != nil; child = child.NextSibling() {
			switch child.(type) {
			case *ast.Paragraph, *ast.TextBlock:
				own = own.join(r.rawOf(child))
			}
		}
		b := r.add(item, own)
		b.list, b.parent = number, within
		for child := entry.FirstChild(); child != nil; child = child.NextSibling() {
			switch child.(type) {
			case *ast.Paragraph, *ast.TextBlock:
			default:
				if err := r.take(child, b, depth+1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// maxColumns bounds what is read of a row.
const maxColumns = 64

func (r *reader) table(table *tables.Table) {
	r.lists++
	var columns []string
	for line := table.FirstChild(); line != nil; line = line.NextSibling() {
		var cells []string
		var raw source
		for cell := line.FirstChild(); cell != nil && len(cells) < maxColumns; cell = cell.NextSibling() {
			part := r.rawOf(cell)
			cells = append(cells, part.text)
			if raw.line == 0 {
				raw.line = part.line
			}
			raw.text += " " + part.text
		}
		if _, head := line.(*tables.TableHeader); head {
			for _, cell := range cells {
				text, _, _ := plainText(cell)
				columns = append(columns, text)
			}
			continue
		}
		if raw.line == 0 {
			continue
		}
		b := r.add(row, raw)
		b.list, b.columns = r.lists, columns
		for _, cell := range cells {
			text, _, _ := plainText(cell)
			b.cells = append(b.cells, strings.TrimSpace(text))
		}
	}
}

func (r *reader) add(as shape, raw source) *block {
	b := &block{shape: as, line: max(raw.line, 1), raw: raw.text}
	b.text, b.claims, b.linked = plainText(raw.text)
	r.blocks = append(r.blocks, b)
	return b
}

// source is raw text from a line on.
type source struct {
	text string
	line int
}

func (s source) join(more source) source {
	if s.line == 0 {
		return more
	}
	last := s.line + strings.Count(s.text, "\n")
	return source{s.text + strings.Repeat("\n", max(more.line-last, 0)) + more.text, s.line}
}

// rawOf is the source of a leaf, each of its lines on the line where it stands.
func (r *reader) rawOf(node ast.Node) source {
	var raw strings.Builder
	first, at := 0, 0
	segments := node.Lines()
	for i := range segments.Len() {
		segment := segments.At(i)
		line := r.lineOf(segment.Start)
		if first == 0 {
			first, at = line, line
		}
		for ; at < line; at++ {
			raw.WriteByte('\n')
		}
		raw.WriteString(strings.Trim(string(segment.Value(r.source)), "\n"))
	}
	return source{raw.String(), first}
}

// quoted is the source of all paragraphs in a quote; code in it is left out.
func (r *reader) quoted(node ast.Node) source {
	var raw source
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.(type) {
		case *ast.Paragraph, *ast.TextBlock:
			if entering {
				raw = raw.join(r.rawOf(n))
			}
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return raw
}
