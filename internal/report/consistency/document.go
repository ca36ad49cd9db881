package consistency

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// document is a post-mortem as blocks under sections.
type document struct {
	lines    []string
	sections []section
	blocks   []*block
	// title is the first heading; nil without one.
	title *block
}

// shape is how a block stands in the document.
type shape string

const (
	heading   shape = "heading"
	paragraph shape = "paragraph"
	item      shape = "item"
	row       shape = "row"
	quote     shape = "quote"
	comment   shape = "comment"
)

// block is a heading, a paragraph, an item of a list, a row of a table, a quote or a comment.
type block struct {
	shape   shape
	line    int
	section int
	// text is what a reader reads, each line of the source a line; claims is the same with code and addresses blotted.
	text, claims string
	// raw is the source.
	raw string
	// linked: it has a link or a reference.
	linked bool
	// parent is the item that an item is nested in; list tells lists and tables from each other.
	parent *block
	list   int
	// cells and columns are a row's, and its table's head.
	cells, columns []string
}

// lineAt is the line of a place in text or claims.
func (b *block) lineAt(offset int) int { return b.line + strings.Count(b.claims[:offset], "\n") }

func (d *document) kind(b *block) kind { return d.sections[b.section].kind }

// place quotes a line.
func (d *document) place(line int) Place {
	if line < 1 || line > len(d.lines) {
		return Place{Line: line}
	}
	return Place{Line: line, Text: clip(strings.TrimSpace(d.lines[line-1]))}
}

func (d *document) finding(rule string, lines []int, format string, args ...any) Finding {
	f := Finding{Rule: rule, Line: lines[0], Message: fmt.Sprintf(format, args...)}
	for _, line := range lines {
		if q := d.place(line); len(f.Quotes) == 0 || f.Quotes[len(f.Quotes)-1] != q {
			f.Quotes = append(f.Quotes, q)
		}
	}
	return f
}

// claiming are the blocks that claim something: not those of the appendix, quotes or comments.
func (d *document) claiming() []*block {
	var claiming []*block
	for _, b := range d.blocks {
		if d.kind(b) != appendix && b.shape != quote && b.shape != comment {
			claiming = append(claiming, b)
		}
	}
	return claiming
}

// printable checks the text and takes control characters out, lines and columns kept.
func printable(raw []byte) ([]byte, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("too large: %d bytes, at most %d are read", len(raw), MaxSize)
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if at := bytes.IndexByte(raw, 0); at >= 0 {
		return nil, fmt.Errorf("not text: line %d has a NUL byte", 1+bytes.Count(raw[:at], []byte("\n")))
	}
	for i, line := range bytes.Split(raw, []byte("\n")) {
		if len(line) > maxLine {
			return nil, fmt.Errorf("line %d is longer than %d bytes", i+1, maxLine)
		}
	}
	raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	raw = bytes.ReplaceAll(raw, []byte("\r"), []byte("\n"))
	return bytes.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u00a0' || r == '\u202f' || r == '\u2009':
			return ' '
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, raw), nil
}
