package consistency

import (
	"sort"
	"strings"

	"salve/internal/lazyregexp"
)

func lineStarts(source []byte) []int {
	starts := []int{0}
	for i, c := range source {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// lineOf is the line, from 1, that holds a byte of the source.
func (r *reader) lineOf(offset int) int { return sort.SearchInts(r.starts, offset+1) }

// boldLine is a paragraph that is a heading in all but form.
var boldLine = lazyregexp.New(`^\s*(\*\*|__)([^*_]{3,60})(\*\*|__):?\s*$`)

// boldLevel is the level of a bold line that stands for a heading: below all headings.
const boldLevel = 7

// classify puts blocks into sections. A section that its heading doesn't classify is of its parent's kind.
func (d *document) classify() {
	headings := 0
	for _, b := range d.blocks {
		if b.shape == heading && b.list == 1 {
			headings++
		}
	}
	open := []int{0}
	for _, b := range d.blocks {
		level := 0
		switch {
		case b.shape == heading:
			level = b.list
		case b.shape == paragraph && boldLine.MatchString(b.raw) && kindOfHeading(b.text) != other:
			b.shape, level = heading, boldLevel
		}
		b.section = open[len(open)-1]
		if b.shape != heading {
			continue
		}
		for len(open) > 1 && d.sections[open[len(open)-1]].level >= level {
			open = open[:len(open)-1]
		}
		k := other
		if len(d.sections) < maxHeadings {
			k = kindOfHeading(b.text)
		}
		if d.title == nil && (k == other || level == 1 && headings == 1) {
			d.title, k = b, other
		} else if k == other {
			k = d.sections[open[len(open)-1]].kind
		}
		if d.sections[open[len(open)-1]].kind == appendix {
			k = appendix
		}
		d.sections = append(d.sections, section{kind: k, level: level, heading: b})
		b.section = len(d.sections) - 1
		open = append(open, b.section)
	}
}

// of are the blocks of all sections of a kind, headings aside.
func (d *document) of(k kind) []*block {
	var found []*block
	for _, b := range d.blocks {
		if d.kind(b) == k && b.shape != heading {
			found = append(found, b)
		}
	}
	return found
}

// headingOf is the first heading of a kind; nil when there is none.
func (d *document) headingOf(k kind) *block {
	for _, s := range d.sections {
		if s.kind == k && s.heading != nil {
			return s.heading
		}
	}
	return nil
}

// sentences cuts a text, and gives where each begins.
func sentences(text string) (parts []string, starts []int) {
	begin := 0
	for _, at := range sentenceEnd.FindAllStringIndex(text, -1) {
		if abbreviated.MatchString(text[max(0, at[0]-6) : at[0]+1]) {
			continue
		}
		parts, starts = append(parts, text[begin:at[1]]), append(starts, begin)
		begin = at[1]
	}
	if strings.TrimSpace(text[begin:]) != "" {
		parts, starts = append(parts, text[begin:]), append(starts, begin)
	}
	return parts, starts
}

var (
	sentenceEnd = lazyregexp.New(`[.!?]["')\]]*\s+|\n\s*\n|;\s`)
	abbreviated = lazyregexp.New(`(?i)(\be\.g|\bi\.e|\bapprox|\bca|\bvs|\bno|\b[ap]\.m|\betc)\.$`)
)
