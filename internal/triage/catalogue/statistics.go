package catalogue

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"salve/internal/diagnostic"
	"salve/internal/triage/results"
)

// Rows counts scenarios.
type Rows struct{ Failing, Passing int }

func (r Rows) all() int { return r.Failing + r.Passing }

func (r Rows) plus(failed bool) Rows {
	if failed {
		return Rows{r.Failing + 1, r.Passing}
	}
	return Rows{r.Failing, r.Passing + 1}
}

// Statistics are of the scenarios of runs. The zero value is of none.
type Statistics struct {
	rows   Rows
	values map[results.Attribute]Rows
	hits   map[string]*hitRows // by ID
	pairs  map[pair]int        // scenarios that show both
}

// pair is two signatures' IDs, in order.
type pair struct{ first, second string }

func pairOf(one, other string) pair { return pair{min(one, other), max(one, other)} }

// Bounds of what is counted of pairs: of one scenario's signatures, and in all. Beyond, no overlap is told.
const (
	maxPaired = 64
	maxPairs  = 1 << 18
)

type hitRows struct {
	rows   Rows
	values map[results.Attribute]Rows
}

// Add counts one scenario.
func (s *Statistics) Add(failed bool, attributes []results.Attribute, hits []Hit) {
	if s.values == nil {
		s.values, s.hits = map[results.Attribute]Rows{}, map[string]*hitRows{}
		s.pairs = map[pair]int{}
	}
	s.rows = s.rows.plus(failed)
	for _, a := range attributes {
		s.values[a] = s.values[a].plus(failed)
	}
	counted := map[string]bool{}
	for _, h := range hits {
		id := h.Signature.ID
		if counted[id] {
			continue
		}
		counted[id] = true
		of := s.hits[id]
		if of == nil {
			of = &hitRows{values: map[results.Attribute]Rows{}}
			s.hits[id] = of
		}
		of.rows = of.rows.plus(failed)
		for _, a := range attributes {
			of.values[a] = of.values[a].plus(failed)
		}
	}
	s.addPairs(slices.Sorted(maps.Keys(counted)))
}

func (s *Statistics) addPairs(ids []string) {
	ids = ids[:min(len(ids), maxPaired)]
	for i, first := range ids {
		for _, second := range ids[i+1:] {
			both := pair{first, second}
			if s.pairs[both] > 0 || len(s.pairs) < maxPairs {
				s.pairs[both]++
			}
		}
	}
}

// Of scenarios with two signatures for these to overlap: how many, and which share of one's.
const (
	minTogether = 3
	together    = 0.90
)

// together tells of signatures that are on the same scenarios, where nothing was told of the two already.
func (l *linter) together(told map[pair]bool, stats *Statistics) {
	for both, count := range stats.pairs { // what is told is sorted
		one, other := l.c.Signature(both.first), l.c.Signature(both.second)
		if count < minTogether || told[both] || one == nil || other == nil {
			continue
		}
		if stats.hits[other.ID].rows.all() < stats.hits[one.ID].rows.all() {
			one, other = other, one
		}
		if rows := stats.hits[one.ID].rows.all(); float64(count) >= together*float64(rows) {
			l.report(one.Position, diagnostic.Warning, RuleOverlap,
				"signature %q: on %d of %d scenarios with it, %q (%s) is found too", one.ID, count, rows, other.ID, other.Position)
		}
	}
}

// counted are the rules about how often a signature is found.
func (l *linter) counted(s *Signature, stats *Statistics) {
	of := stats.hits[s.ID]
	if of == nil {
		if stats.rows.all() > 0 {
			l.report(s.Position, diagnostic.Note, RuleNever, "signature %q is on none of %d scenarios", s.ID, stats.rows.all())
		}
		return
	}
	limit := cmp.Or(l.options.PassingShare, 0.10)
	if share := float64(of.rows.Passing) / float64(max(1, stats.rows.Passing)); share > limit {
		l.report(s.Position, diagnostic.Warning, RuleUnspecific,
			"signature %q is on %d of %d passing scenarios (%.0f %%): it isn't specific", s.ID, of.rows.Passing,
			stats.rows.Passing, 100*share)
	}
}

// Of a name to contradict its data: scenarios with the value and without, those that show the signature, and the rate
// without the value as a share of that with it.
const (
	minNamedRows = 3
	minNamedHits = 5
	alike        = 0.5
)

// name finds a signature that is called after an attribute's value, and is on scenarios without it as often.
func (l *linter) name(s *Signature, stats *Statistics) {
	of := stats.hits[s.ID]
	if of == nil || of.rows.all() < minNamedHits {
		return
	}
	called := " " + strings.Join(append(wordsOf(s.ID), wordsOf(s.Title)...), " ") + " "
	for value := range stats.values { // what is told is sorted
		words := strings.Join(wordsOf(value.Value), " ")
		with := stats.values[value].all()
		without := stats.rows.all() - with
		if len(words) < 3 || !strings.Contains(called, " "+words+" ") || with < minNamedRows || without < minNamedRows {
			continue
		}
		hitWith := of.values[value].all()
		hitWithout := of.rows.all() - hitWith
		if float64(hitWithout)/float64(without) >= alike*float64(hitWith)/float64(with) {
			l.report(s.Position, diagnostic.Warning, RuleName,
				"signature %q is called %q, but is on %d of %d scenarios with %s=%s and on %d of %d others",
				s.ID, value.Value, hitWith, with, value.Name, value.Value, hitWithout, without)
		}
	}
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
