package catalogue

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"salve/internal/triage/literal"
)

// A fact is something that a text has or lacks: a literal, or a line that a condition on one line holds for. Facts are
// known by their number, and shared by all signatures that ask for them.

// use is what a literal of the set is looked for.
type use struct {
	fact       int   // that the text has it; -1: nobody asks
	lines      []int // conditions that it is the time to look at
	attributes []int
}

// line is a condition on one line.
type line struct {
	fact           int
	all, any, none []string
	matches        []*regexp.Regexp
}

// compiled is a condition by its facts.
type compiled struct {
	all, any, none []int
}

// empty says that no fact can speak for it.
func (c compiled) empty() bool { return len(c.all)+len(c.any) == 0 }

// compiler makes an index.
type compiler struct {
	*index
	texts    [][]byte
	byText   map[string]int
	compiled map[string]*regexp.Regexp
}

func (c *Catalogue) compile() error {
	c.index = index{facts: map[string]int{}}
	b := compiler{index: &c.index, byText: map[string]int{}, compiled: map[string]*regexp.Regexp{}}
	for number, s := range c.signatures {
		s.own, s.alts = b.condition(&s.Condition), nil
		for i := range s.AnyOf {
			s.alts = append(s.alts, b.condition(&s.AnyOf[i]))
		}
		b.refer(number, s)
	}
	for number, a := range c.attributes {
		if a.from == fromLine {
			of := b.literal(a.literal)
			b.literals[of].attributes = append(b.literals[of].attributes, number)
		}
	}
	set, err := literal.New(b.texts)
	if err != nil {
		return fmt.Errorf("%w", err)
	}
	c.set = set
	for _, text := range b.texts {
		c.overlap = max(c.overlap, len(text)-1)
	}
	return nil
}

// refer says by which facts a signature has to be looked at.
func (b *compiler) refer(number int, s *Signature) {
	alone := s.own.empty() && len(s.alts) == 0
	for _, condition := range append([]compiled{s.own}, s.alts...) {
		for _, fact := range slices.Concat(condition.all, condition.any) {
			if of := &b.byFact[fact]; len(*of) == 0 || (*of)[len(*of)-1] != number {
				*of = append(*of, number)
			}
		}
	}
	for _, alternative := range s.alts {
		alone = alone || s.own.empty() && alternative.empty()
	}
	if alone {
		b.placed = append(b.placed, number)
	}
}

func (b *compiler) condition(c *Condition) compiled {
	var out compiled
	for _, text := range c.All {
		out.all = append(out.all, b.text(text))
	}
	for _, text := range c.Any {
		out.any = append(out.any, b.text(text))
	}
	for _, text := range c.None {
		out.none = append(out.none, b.text(text))
	}
	for _, expression := range c.Matches {
		out.all = append(out.all, b.line(Line{Any: slices.Concat(c.All, c.Any), Matches: []string{expression}}))
	}
	if c.Line != nil {
		out.all = append(out.all, b.line(*c.Line))
	}
	return out
}

// literal is the number of a text in the set.
func (b *compiler) literal(text string) int {
	number, known := b.byText[text]
	if !known {
		number = len(b.texts)
		b.byText[text] = number
		b.texts = append(b.texts, []byte(text))
		b.literals = append(b.literals, use{fact: -1})
	}
	return number
}

func (b *compiler) fact(name string) (number int, known bool) {
	number, known = b.facts[name]
	if !known {
		number = len(b.facts)
		b.facts[name] = number
		b.byFact = append(b.byFact, nil)
	}
	return number, known
}

// text is the fact that a literal is there.
func (b *compiler) text(text string) int {
	fact, _ := b.fact("literal " + text)
	b.literals[b.literal(text)].fact = fact
	return fact
}

// line is the fact that a condition holds for some line. It is looked at when the line has the longest of the literals
// that it must have, or one of those of which it must have one.
func (b *compiler) line(of Line) int {
	fact, known := b.fact(fmt.Sprintf("line %q", of))
	if known {
		return fact
	}
	l := &line{fact: fact, all: of.All, any: of.Any, none: of.None}
	for _, text := range of.Matches {
		l.matches = append(l.matches, b.expression(text))
	}
	triggers := of.Any
	if len(of.All) > 0 {
		triggers = []string{slices.MaxFunc(of.All, func(a, b string) int { return len(a) - len(b) })}
	}
	for _, text := range triggers {
		at := &b.literals[b.literal(text)]
		at.lines = append(at.lines, len(b.lines))
	}
	b.lines = append(b.lines, l)
	return fact
}

// expression was compiled when it was read, and so it can be.
func (b *compiler) expression(text string) *regexp.Regexp {
	if b.compiled[text] == nil {
		b.compiled[text] = regexp.MustCompile(text)
	}
	return b.compiled[text]
}

// holds looks at a line.
func (l *line) holds(text []byte) bool {
	has := func(literal string) bool { return containsText(text, literal) }
	if !all(l.all, has) || len(l.any) > 0 && !slices.ContainsFunc(l.any, has) || slices.ContainsFunc(l.none, has) {
		return false
	}
	return all(l.matches, func(r *regexp.Regexp) bool { return r.Match(text) })
}

func all[T any](items []T, holds func(T) bool) bool {
	return !slices.ContainsFunc(items, func(item T) bool { return !holds(item) })
}

// kindsOf are the kinds of a file, and its producer: that of the first kind.
func (c *Catalogue) kindsOf(file string) (kinds []string, producer string) {
	path := strings.ReplaceAll(file, `\`, "/")
	producer = DefaultProducer
	for _, k := range c.kinds {
		if !slices.ContainsFunc(k.files, func(r *regexp.Regexp) bool { return r.MatchString(path) }) {
			continue
		}
		if len(kinds) == 0 {
			producer = k.producer
		}
		kinds = append(kinds, k.name)
	}
	return kinds, producer
}
