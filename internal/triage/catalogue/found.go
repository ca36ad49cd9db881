package catalogue

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"salve/internal/triage/results"
)

const (
	maxExcerpt   = 512      // bytes of a line that is kept
	maxExcerpts  = 16 << 10 // of all that are kept of one text
	maxValue     = 256      // bytes of an attribute's value
	maxDiffering = 4        // values of one attribute that are kept, when they differ
)

// Found is what a catalogue found in one text. The zero value is of a text of which nothing is known.
type Found struct {
	File     string
	Kinds    []string
	Producer string // who wrote the file
	Cut      bool   // lines were so long that they were looked at in parts

	facts    []seen // sorted by fact, once the text has ended
	byFact   map[int]int
	values   []given
	excerpts int
}

// seen is a fact that a text shows.
type seen struct {
	fact  int
	lines int // that show it
	line  int // of the file, the first one, from 1
	text  string
	last  int // line that showed it last
}

// given is the values that an attribute pattern gives.
type given struct {
	attribute int
	values    []string
}

// Found is what the observer of this catalogue found in the texts of a case.
func (c *Catalogue) Found(of results.Case) Found {
	if o, ok := of.Observation.(*Observation); ok && o.observer.catalogue == c {
		return o.found
	}
	return c.FoundIn(of.Origin.File)
}

// FoundIn is of a file without a text.
func (c *Catalogue) FoundIn(file string) Found {
	kinds, producer := c.kindsOf(file)
	return Found{File: file, Kinds: kinds, Producer: producer}
}

// few facts are searched one by one.
const few = 8

// fact is nil where the text doesn't show it.
func (f *Found) fact(fact int) *seen {
	if f.byFact != nil {
		if i, ok := f.byFact[fact]; ok {
			return &f.facts[i]
		}
		return nil
	}
	for i := range f.facts {
		if f.facts[i].fact == fact {
			return &f.facts[i]
		}
	}
	return nil
}

func (f *Found) add(s seen) *seen {
	f.facts = append(f.facts, s)
	if len(f.facts) > few {
		if f.byFact == nil {
			f.byFact = map[int]int{}
			for i := range f.facts {
				f.byFact[f.facts[i].fact] = i
			}
		}
		f.byFact[s.fact] = len(f.facts) - 1
	}
	return &f.facts[len(f.facts)-1]
}

// end puts the facts in order.
func (f *Found) end() {
	f.byFact = nil
	sort.Slice(f.facts, func(i, j int) bool { return f.facts[i].fact < f.facts[j].fact })
}

// shows is nil where the text doesn't, once it has ended.
func (f *Found) shows(fact int) *seen {
	i, ok := slices.BinarySearchFunc(f.facts, fact, func(s seen, fact int) int { return s.fact - fact })
	if !ok {
		return nil
	}
	return &f.facts[i]
}

func (f *Found) value(attribute int, value string) {
	if value == "" {
		return
	}
	i := slices.IndexFunc(f.values, func(g given) bool { return g.attribute == attribute })
	if i < 0 {
		f.values = append(f.values, given{attribute, []string{value}})
		return
	}
	if known := &f.values[i].values; !slices.Contains(*known, value) && len(*known) < maxDiffering {
		*known = append(*known, value)
	}
}

// value is what a pattern gives, under the name that the catalogue has for it.
func (a *attribute) value(text string) string {
	text = clean(text[:min(len(text), maxValue)])
	if renamed, ok := a.values[text]; ok {
		return renamed
	}
	return text
}

// excerpt is the part of a line around a byte, free of what steers terminals.
func excerpt(text []byte, at int) string {
	if len(text) > maxExcerpt {
		begin := max(0, min(at-maxExcerpt/4, len(text)-maxExcerpt))
		text = text[begin : begin+maxExcerpt]
		for len(text) > 0 && !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
	}
	return clean(string(text))
}

// clean leaves out control characters, terminals' sequences and changes of direction; bytes that are no text become
// U+FFFD.
func clean(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || steers(r) }) {
		return strings.TrimSpace(text)
	}
	var out strings.Builder
	for _, r := range plain(text) {
		switch {
		case r == '\t':
			out.WriteByte(' ')
		case !steers(r):
			out.WriteRune(r)
		}
	}
	return strings.TrimSpace(out.String())
}

func steers(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

const escapeByte = 0x1b

// plain is a text without the sequences that set colours.
func plain(text string) string {
	if strings.IndexByte(text, escapeByte) < 0 {
		return text
	}
	var out strings.Builder
	for {
		before, _, more := strings.Cut(text, string(rune(escapeByte)))
		out.WriteString(before)
		if !more {
			return out.String()
		}
		text = text[len(before):]
		if length := escape(text); length > 0 {
			text = text[length:]
			continue
		}
		out.WriteByte(escapeByte)
		text = text[1:]
	}
}

// escape is the length of a sequence such as colours are set by, ESC [ 3 1 m, where a text begins with one.
func escape[T string | []byte](text T) int {
	if len(text) < 3 || text[0] != escapeByte || text[1] != '[' {
		return 0
	}
	for i := 2; i < min(len(text), 32); i++ {
		switch char := text[i]; {
		case char >= 0x40 && char <= 0x7e:
			return i + 1
		case char < 0x20 || char > 0x3f:
			return 0
		}
	}
	return 0
}

func containsText(text []byte, literal string) bool { return bytes.Contains(text, []byte(literal)) }
