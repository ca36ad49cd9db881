package catalogue

import (
	"slices"
	"strings"

	"salve/internal/diagnostic"
)

// ways are all ways in which a signature can hold: its own condition with each alternative.
func (s *Signature) ways() []Condition {
	if len(s.AnyOf) == 0 {
		return []Condition{s.Condition}
	}
	ways := make([]Condition, len(s.AnyOf))
	for i := range s.AnyOf {
		ways[i] = s.and(&s.AnyOf[i])
	}
	return ways
}

// and is both conditions in one, as far as one can say it: of two lists of which one literal is enough, and of two
// conditions on a line, one is left out, which asks for less.
func (c *Condition) and(other *Condition) Condition {
	both := Condition{
		All: slices.Concat(c.All, other.All), None: slices.Concat(c.None, other.None),
		Matches: slices.Concat(c.Matches, other.Matches), Where: slices.Concat(c.Where, other.Where),
		Unless: slices.Concat(c.Unless, other.Unless), Position: other.Position,
		Any: other.Any, Line: other.Line, Place: other.Place, Kind: other.Kind,
	}
	if len(both.Any) == 0 {
		both.Any = c.Any
	}
	if both.Line == nil {
		both.Line = c.Line
	}
	if both.Place == "" {
		both.Place = c.Place
	}
	if len(both.Kind) == 0 {
		both.Kind = c.Kind
	}
	return both
}

// overlaps finds signatures of which one is always there when another one is, examples that two signatures match, and
// signatures that are on the same scenarios.
func (l *linter) overlaps() {
	pairs := map[pair]bool{}
	for number, s := range l.c.signatures {
		told := map[int]bool{number: true}
		for _, other := range l.related(s) {
			if o := l.c.signatures[other]; !told[other] && implies(s, o) {
				told[other] = true
				pairs[pairOf(s.ID, o.ID)] = true
				if other < number && implies(o, s) {
					continue // told the other way round
				}
				l.report(s.Position, diagnostic.Warning, RuleOverlap, "signature %q: wherever it is found, %q (%s) is found too",
					s.ID, o.ID, o.Position)
			}
		}
		for _, text := range s.Examples.Match {
			_, shown := l.inExample(text)
			for _, other := range shown {
				if !told[other] {
					told[other] = true
					o := l.c.signatures[other]
					pairs[pairOf(s.ID, o.ID)] = true
					l.report(s.Position, diagnostic.Warning, RuleOverlap, "signature %q: its example %.80q matches %q (%s) too",
						s.ID, text, o.ID, o.Position)
				}
			}
		}
	}
	if l.options.Statistics != nil {
		l.together(pairs, l.options.Statistics)
	}
}

// related are signatures that search for something that the literals of this one have; some are listed several times.
func (l *linter) related(s *Signature) []int {
	var texts []string
	for _, way := range s.ways() {
		texts = append(texts, way.All...)
		texts = append(texts, way.Any...)
		if way.Line != nil {
			texts = append(texts, way.Line.All...)
			texts = append(texts, way.Line.Any...)
			// On one line, whatever the order: so that conditions on a line can be found.
			texts = append(texts, strings.Join(way.Line.All, " "))
		}
	}
	found, _ := l.inExample(strings.Join(texts, "\n"))
	var related []int
	for _, f := range found.facts {
		related = append(related, l.c.byFact[f.fact]...)
	}
	return related
}

// implies says whether b is found wherever a is. It is sure of a yes, and not of a no.
func implies(a, b *Signature) bool {
	return all(a.ways(), func(way Condition) bool {
		return slices.ContainsFunc(b.ways(), func(other Condition) bool { return way.implies(&other) })
	}) && all(b.conditions(), func(c *Condition) bool { return !c.partial(b) })
}

// partial says that ways left something out, so that a yes isn't sure.
func (c *Condition) partial(of *Signature) bool {
	own := &of.Condition
	return c != own && (len(c.Any) > 0 && len(own.Any) > 0 || c.Line != nil && own.Line != nil ||
		c.Place != "" && own.Place != "" || len(c.Kind) > 0 && len(own.Kind) > 0)
}

func (c *Condition) implies(other *Condition) bool {
	texts, anyOf := c.All, c.Any
	line := Line{}
	if c.Line != nil {
		line = *c.Line
		texts = append(slices.Clone(texts), line.All...)
	}
	there := func(wanted string) bool { return within(texts, wanted) }
	someThere := func(wanted []string) bool {
		return len(wanted) == 0 || slices.ContainsFunc(wanted, there) || coveredBy(anyOf, wanted) ||
			coveredBy(line.Any, wanted)
	}
	return all(other.All, there) && someThere(other.Any) && absent(c.None, other.None) &&
		subset(other.Matches, c.Matches) && (other.Line == nil || c.Line != nil && line.implies(*other.Line)) &&
		(other.Place == "" || c.Place != "" && at(c.Place, other.Place)) &&
		(len(other.Kind) == 0 || len(c.Kind) > 0 && subset(c.Kind, other.Kind)) &&
		all(other.Where, func(q Requirement) bool {
			return slices.ContainsFunc(c.Where, func(own Requirement) bool { return own.within(&q) })
		}) &&
		all(other.Unless, func(q Requirement) bool {
			return slices.ContainsFunc(c.Unless, func(own Requirement) bool { return q.within(&own) })
		})
}

func (l Line) implies(other Line) bool {
	return all(other.All, func(wanted string) bool { return within(l.All, wanted) }) &&
		(len(other.Any) == 0 || slices.ContainsFunc(other.Any, func(wanted string) bool { return within(l.All, wanted) }) ||
			coveredBy(l.Any, other.Any)) &&
		absent(l.None, other.None) && subset(other.Matches, l.Matches)
}

// within says whether a text that is there has the wanted one in it.
func within(texts []string, wanted string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, wanted) })
}

// coveredBy says whether each literal, of which one is there, has one of the wanted in it.
func coveredBy(anyOf, wanted []string) bool {
	return len(anyOf) > 0 && all(anyOf, func(text string) bool {
		return slices.ContainsFunc(wanted, func(w string) bool { return strings.Contains(text, w) })
	})
}

// absent says whether texts are not there because others, which are in them, aren't.
func absent(none, wanted []string) bool {
	return all(wanted, func(text string) bool {
		return slices.ContainsFunc(none, func(n string) bool { return strings.Contains(text, n) })
	})
}

func subset(of, in []string) bool {
	return all(of, func(item string) bool { return slices.Contains(in, item) })
}
