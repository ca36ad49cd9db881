package grouping

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// Merger proposes which lines come from one statement of a program, and so which keys belong together. It only
// proposes: a group's identity is always a key.
//
// The groups depend on the set of lines alone, on neither their order nor how often each was added. The zero value is
// ready for use.
type Merger struct {
	lines map[string]struct{}
}

// Add takes one line, masked or not. Adding a line again changes nothing.
func (m *Merger) Add(line string) {
	if m.lines == nil {
		m.lines = map[string]struct{}{}
	}
	m.lines[line] = struct{}{}
}

// Group is the lines that belong together.
type Group struct {
	Pattern string   // what they have in common, with <*> for what varies
	Lines   []string // sorted, each one once
}

// passes bounds how often merged groups are looked at again. Each pass takes one more varying column out; beyond this
// many there is nothing left to tell lines apart by.
const passes = 8

// Groups gives the groups, sorted by pattern; each line that was added is in one of them. It takes time in proportion
// to the lines, but for sorting.
func (m *Merger) Groups() []Group {
	templates := make([]template, 0, len(m.lines))
	for line := range m.lines {
		templates = append(templates, template{tokens: tokens(line), lines: []string{line}})
	}
	templates = unite(templates)
	for range passes {
		before := len(templates)
		if templates = mergeColumns(templates); len(templates) == before {
			break
		}
	}
	groups := make([]Group, 0, len(templates))
	for _, t := range templates {
		slices.Sort(t.lines)
		groups = append(groups, Group{Pattern: strings.Join(t.tokens, " "), Lines: t.lines})
	}
	return groups
}

// template is some lines with the tokens that they have in common.
type template struct {
	tokens []string
	lines  []string
}

// unite puts templates with the same tokens together, and sorts them.
func unite(templates []template) []template {
	slices.SortFunc(templates, func(a, b template) int {
		return cmp.Or(slices.Compare(a.tokens, b.tokens), cmp.Compare(a.lines[0], b.lines[0]))
	})
	united := templates[:0:0]
	for _, t := range templates {
		if last := len(united) - 1; last >= 0 && slices.Equal(united[last].tokens, t.tokens) {
			united[last].lines = append(united[last].lines, t.lines...)
			continue
		}
		united = append(united, t)
	}
	return united
}

// slot is a place in a line with the templates that differ nowhere else. A slot of many columns is all of those that
// look like parameters.
type slot struct {
	before, after uint64 // hashes of the tokens around
	column        int
	length        int
}

const manyColumns = -1

// mergeColumns merges the templates that differ in one column, where that column varies as a parameter does, or only
// in columns whose values look like parameters.
func mergeColumns(templates []template) []template {
	slots := map[slot][]int{}
	for i, t := range templates {
		for _, s := range slotsOf(t.tokens) {
			slots[s] = append(slots[s], i)
		}
	}
	sets := newSets(len(templates))
	for s, members := range slots { // in any order: uniting sets gives the same sets in every order
		if len(members) > 1 && varies(templates, members, s.column) {
			for _, i := range members[1:] {
				sets.unite(members[0], i)
			}
		}
	}
	merged := map[int]*template{}
	for i, t := range templates {
		root := sets.find(i)
		m := merged[root]
		if m == nil {
			merged[root] = &template{tokens: slices.Clone(t.tokens), lines: slices.Clone(t.lines)}
			continue
		}
		m.lines = append(m.lines, t.lines...)
		for column, token := range t.tokens {
			if m.tokens[column] != token {
				m.tokens[column] = wildcard
			}
		}
	}
	result := make([]template, 0, len(merged))
	for _, m := range merged {
		slices.Sort(m.lines)
		result = append(result, template{tokens: collapse(m.tokens), lines: m.lines})
	}
	return unite(result)
}

// slotsOf are the slots that a template fits into.
func slotsOf(tokens []string) []slot {
	hashes := make([]uint64, len(tokens))
	after := make([]uint64, len(tokens)+1)
	for i := len(tokens) - 1; i >= 0; i-- {
		hashes[i] = hashOf(tokens[i])
		after[i] = mix(after[i+1], hashes[i])
	}
	slots := make([]slot, 0, len(tokens)+1)
	var before, constants uint64
	parameters := 0
	for i, token := range tokens {
		if isPunctuation(token) {
			before, constants = mix(before, hashes[i]), mix(constants, hashes[i])
			continue
		}
		slots = append(slots, slot{before: before, after: after[i+1], column: i, length: len(tokens)})
		before = mix(before, hashes[i])
		if likeParameter(token) {
			parameters++
			constants = mix(constants, 1)
		} else {
			constants = mix(constants, hashes[i])
		}
	}
	if parameters > 1 {
		slots = append(slots, slot{before: constants, column: manyColumns, length: len(tokens)})
	}
	return slots
}

// hashOf is FNV-1a: the same on every machine.
func hashOf(token string) uint64 {
	hash := uint64(14695981039346656037)
	for i := range len(token) {
		hash = (hash ^ uint64(token[i])) * 1099511628211
	}
	return hash
}

func mix(hash, next uint64) uint64 {
	high, low := bits.Mul64(hash^0x9e3779b97f4a7c15, next^0xbf58476d1ce4e5b9)
	return high ^ low + 0x94d049bb133111eb
}

// varies says whether the templates' tokens in a column, which are all different, are values of a parameter rather
// than words of different statements. The more of the line is the same, the fewer values it takes.
func varies(templates []template, members []int, column int) bool {
	values := len(members)
	line := templates[members[0]].tokens
	constants := 0
	for i, token := range line {
		if i != column && !isPunctuation(token) && !marked(token) {
			constants++
		}
	}
	if column == manyColumns {
		constants = 0
		for _, token := range line {
			if !isPunctuation(token) && !likeParameter(token) {
				constants++
			}
		}
		return constants >= 2 && values >= 3
	}
	if constants == 0 {
		return false
	}
	parameters := 0
	for _, i := range members {
		if likeParameter(templates[i].tokens[column]) {
			parameters++
		}
	}
	if 2*parameters >= values {
		return true
	}
	if column > 0 {
		switch before := line[column-1]; {
		case before == "=", strings.EqualFold(before, "user"):
			return true
		case before == ":" && values >= 3:
			return true
		}
	}
	needed := 3 + 4/constants
	if column == 0 { // statements differ in their first word more often than its value is one
		needed *= 2
	}
	return values >= needed
}

// sets are disjoint sets of numbers.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func (s sets) find(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

// unite keeps the smaller number as the set's own, so that its depth stays small.
func (s sets) unite(a, b int) {
	a, b = s.find(a), s.find(b)
	s[max(a, b)] = min(a, b)
}
