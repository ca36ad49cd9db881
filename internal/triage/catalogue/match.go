package catalogue

import (
	"slices"
	"strings"
	"time"

	"salve/internal/triage/results"
)

// Hit is a signature that a scenario shows, in the files of one producer.
type Hit struct {
	Signature *Signature
	Producer  string
	Kind      string // of the file of First; empty: none
	// Lines show it: of several literals those with the rarest one, of an expression the first 4096.
	Lines   int
	First   results.Place // of them; nowhere, if the place of the failure alone speaks for it
	Text    string        // the first of them: at most 512 bytes, without control characters
	Expired bool          // the signature's last day is over
	Unknown []string      // attributes that it asks for and that aren't known of the scenario
}

// Decides says whether a verdict may rest on it.
func (h Hit) Decides() bool { return !h.Expired && len(h.Unknown) == 0 }

// Signatures are those that a scenario shows, by the order of the catalogue and then of the texts. The attributes are
// all that are known of it; place is where it failed, such as "test/e2e/vmss.go:211", empty for none.
func (c *Catalogue) Signatures(found []Found, attributes []results.Attribute, place string, now time.Time) []Hit {
	var hits []Hit
	for _, number := range c.candidates(found, place) {
		s := c.signatures[number]
		from := len(hits)
		for i := range found {
			if hit, ok := s.ask(question{&found[i], attributes, place, false}); ok {
				hits = merge(hits, from, hit)
			}
		}
		if len(found) == 0 {
			if hit, ok := s.ask(question{&Found{Producer: DefaultProducer}, attributes, place, false}); ok {
				hits = append(hits, hit)
			}
		}
		for i := from; i < len(hits); i++ {
			hits[i].Expired = s.Expired(now)
		}
	}
	return hits
}

// candidates are the signatures that something speaks for, in their order.
func (c *Catalogue) candidates(found []Found, place string) []int {
	var asked []int
	if place != "" {
		asked = append(asked, c.placed...)
	}
	for i := range found {
		for _, s := range found[i].facts {
			asked = append(asked, c.byFact[s.fact]...)
		}
	}
	slices.Sort(asked)
	return slices.Compact(asked)
}

// merge adds a hit to that of the same producer. One that decides is worth more than one that doesn't.
func merge(hits []Hit, from int, hit Hit) []Hit {
	for i := from; i < len(hits); i++ {
		had := &hits[i]
		if had.Producer != hit.Producer {
			continue
		}
		lines := had.Lines + hit.Lines
		if len(hit.Unknown) < len(had.Unknown) || had.First == (results.Place{}) && len(hit.Unknown) == len(had.Unknown) {
			*had = hit
		}
		had.Lines = lines
		return hits
	}
	return append(hits, hit)
}

// question is whether a signature holds for one text of a scenario.
type question struct {
	found      *Found
	attributes []results.Attribute
	place      string
	textOnly   bool // whatever the kind, the attributes and the place
}

// ask gives no hit where the signature doesn't hold, and one with what is unknown where that can't be said.
func (s *Signature) ask(q question) (Hit, bool) {
	unknown, holds := q.holds(&s.Condition, s.own)
	if !holds {
		return Hit{}, false
	}
	anchors := q.anchors(s.own)
	if len(s.alts) > 0 {
		best := -1
		var least []string
		for i := range s.alts {
			missing, holds := q.holds(&s.AnyOf[i], s.alts[i])
			if holds && (best < 0 || len(missing) < len(least)) {
				best, least = i, missing
			}
		}
		if best < 0 {
			return Hit{}, false
		}
		unknown = append(unknown, least...)
		anchors = append(anchors, q.anchors(s.alts[best])...)
	}
	slices.Sort(unknown)
	hit := Hit{Signature: s, Producer: DefaultProducer, Unknown: slices.Compact(unknown)}
	if len(anchors) > 0 {
		rarest := slices.MinFunc(anchors, func(a, b *seen) int { return a.lines - b.lines })
		hit.Producer, hit.Lines, hit.Text = q.found.Producer, rarest.lines, rarest.text
		hit.First = results.Place{File: q.found.File, Line: rarest.line}
		if len(q.found.Kinds) > 0 {
			hit.Kind = q.found.Kinds[0]
		}
	}
	return hit, true
}

// holds is false if the condition can't hold, whatever isn't known.
func (q question) holds(c *Condition, facts compiled) (unknown []string, holds bool) {
	shows := func(fact int) bool { return q.found.shows(fact) != nil }
	if !all(facts.all, shows) || len(facts.any) > 0 && !slices.ContainsFunc(facts.any, shows) ||
		slices.ContainsFunc(facts.none, shows) {
		return nil, false
	}
	if q.textOnly {
		return nil, true
	}
	if len(c.Kind) > 0 && !share(c.Kind, q.found.Kinds) || c.Place != "" && !at(q.place, c.Place) {
		return nil, false
	}
	for i, requirement := range slices.Concat(c.Where, c.Unless) {
		known, has := requirement.in(q.attributes)
		switch {
		case !known:
			unknown = append(unknown, requirement.Name)
		case has != (i < len(c.Where)):
			return nil, false
		}
	}
	return unknown, true
}

// share says whether two lists have something in common.
func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(item string) bool { return slices.Contains(b, item) })
}

// in says whether the attribute is known, and has one of the values.
func (r *Requirement) in(attributes []results.Attribute) (known, has bool) {
	for _, a := range attributes {
		if a.Name != r.Name || a.Value == "" {
			continue
		}
		known = true
		for _, value := range r.values {
			has = has || value.MatchString(a.Value)
		}
	}
	return known, has
}

// anchors are the facts that a hit can be shown by: the conditions on lines, or else literals.
func (q question) anchors(c compiled) []*seen {
	var anchors []*seen
	for _, fact := range c.all {
		anchors = append(anchors, q.found.shows(fact))
	}
	if len(anchors) > 0 {
		return anchors
	}
	for _, fact := range c.any {
		if s := q.found.shows(fact); s != nil {
			anchors = append(anchors, s)
		}
	}
	return anchors
}

// at says whether a place is, or lies in, another one: "vmss.go" is "test/e2e/vmss.go:211", and "e2e/vmss.go:21" isn't.
func at(place, wanted string) bool {
	for from := 0; ; {
		i := strings.Index(place[from:], wanted)
		if i < 0 {
			return false
		}
		begin, end := from+i, from+i+len(wanted)
		if (begin == 0 || !partOfName(place[begin-1])) && (end == len(place) || !partOfName(place[end])) {
			return true
		}
		from = begin + 1
	}
}

func partOfName(char byte) bool {
	return char >= '0' && char <= '9' || char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char == '_' ||
		char == '-'
}

// Ambiguous is an attribute that a scenario gives several values for. It counts as unknown.
type Ambiguous struct {
	Name   string
	Values []string
}

// Attributes are those that the catalogue's patterns tell of a scenario, by name. Of several patterns for one attribute
// the first that gives a value decides; if it gives several, the value is unknown and they are listed as ambiguous.
func (c *Catalogue) Attributes(name string, found []Found) ([]results.Attribute, []Ambiguous) {
	var told []results.Attribute
	var ambiguous []Ambiguous
	decided := map[string]bool{}
	for number, a := range c.attributes {
		if decided[a.name] {
			continue
		}
		values := a.valuesIn(name, found, number)
		switch len(values) {
		case 0:
			continue
		case 1:
			told = append(told, results.Attribute{Name: a.name, Value: values[0]})
		default:
			ambiguous = append(ambiguous, Ambiguous{a.name, values})
		}
		decided[a.name] = true
	}
	slices.SortFunc(told, func(a, b results.Attribute) int { return strings.Compare(a.Name, b.Name) })
	return told, ambiguous
}

// valuesIn are the values that a pattern gives, sorted, each once.
func (a *attribute) valuesIn(name string, found []Found, number int) []string {
	var values []string
	try := func(text string) {
		if match := a.pattern.FindStringSubmatch(text); match != nil {
			if value := a.value(match[a.group]); value != "" {
				values = append(values, value)
			}
		}
	}
	switch a.from {
	case fromName:
		try(name)
	case fromFile:
		for i := range found {
			try(found[i].File)
		}
	case fromLine:
		for i := range found {
			for _, g := range found[i].values {
				if g.attribute == number {
					values = append(values, g.values...)
				}
			}
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}
