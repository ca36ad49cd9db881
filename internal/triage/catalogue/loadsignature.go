package catalogue

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v3"
)

func (l *loader) signature(r *reader, node *yaml.Node) {
	s := &Signature{Position: r.at(node)}
	var class string
	known := l.condition(r, node, &s.Condition)
	for name, read := range (fields{
		"id": r.text(&s.ID, maxText), "title": r.text(&s.Title, maxText), "class": r.text(&class, maxText),
		"owner": r.text(&s.Owner, maxText), "component": r.text(&s.Component, maxText),
		"links": r.oneOrMore(&s.Links), "action": r.text(&s.Action, maxText), "validUntil": r.date(&s.ValidUntil),
		"escalation": func(value *yaml.Node) {
			r.mapping(value, fields{"count": r.count(&s.Escalation.Count), "days": r.count(&s.Escalation.Days)})
		},
		"examples": func(value *yaml.Node) {
			r.mapping(value, fields{
				"match": r.texts(&s.Examples.Match, maxExample), "noMatch": r.texts(&s.Examples.NoMatch, maxExample),
			})
		},
		"anyOf": func(value *yaml.Node) {
			r.list(value, maxList, func(item *yaml.Node) {
				var alternative Condition
				r.mapping(item, l.condition(r, item, &alternative))
				l.check(r, item, &alternative)
				s.AnyOf = append(s.AnyOf, alternative)
			})
		},
	}) {
		known[name] = read
	}
	before := len(r.found)
	r.mapping(node, known)
	l.check(r, node, &s.Condition)
	s.Class, s.Title = Class(class), cmp.Or(s.Title, s.ID)
	switch {
	case len(r.found) > before: // what is missing may be what was refused
	case !idPattern.MatchString(s.ID):
		r.refuse(node, "catalogue-value", "id %.60q is not 1 to 100 letters, digits, dots, dashes and underscores", s.ID)
	case s.Class != Infrastructure && s.Class != Product && s.Class != Test:
		r.refuse(node, "catalogue-value", "class %.60q is none of infrastructure, product, test", class)
	case !s.askable():
		r.refuse(node, "catalogue-missing",
			"signature %q, or an alternative of it, asks for no literal (all, any, line) and no place", s.ID)
	}
	l.unique(r, node, "id", s.ID)
	if l.c.signatures = append(l.c.signatures, s); len(l.c.signatures) == maxSignatures+1 {
		r.refuse(node, "catalogue-size", "more than %d signatures", maxSignatures)
	}
}

// askable says whether each way for it to hold asks for something that a failure has.
func (s *Signature) askable() bool {
	return s.positive() || len(s.AnyOf) > 0 && all(s.AnyOf, func(c Condition) bool { return c.positive() })
}

func (c *Condition) positive() bool {
	return len(c.All)+len(c.Any) > 0 || c.Place != "" || c.Line != nil && len(c.Line.All)+len(c.Line.Any) > 0
}

// condition is the keys of one.
func (l *loader) condition(r *reader, node *yaml.Node, c *Condition) fields {
	c.Position = r.at(node)
	return fields{
		"all": r.oneOrMore(&c.All), "any": r.oneOrMore(&c.Any), "none": r.oneOrMore(&c.None),
		"matches": r.oneOrMore(&c.Matches), "place": r.text(&c.Place, maxText), "kind": r.oneOrMore(&c.Kind),
		"where": r.requirements(&c.Where), "unless": r.requirements(&c.Unless),
		"line": func(value *yaml.Node) {
			c.Line = &Line{}
			r.mapping(value, fields{
				"all": r.oneOrMore(&c.Line.All), "any": r.oneOrMore(&c.Line.Any), "none": r.oneOrMore(&c.Line.None),
				"matches": r.oneOrMore(&c.Line.Matches),
			})
			if len(c.Line.All)+len(c.Line.Any) == 0 {
				r.refuse(value, "catalogue-missing", "a condition on a line needs a literal that the line has (all, any)")
			}
		},
	}
}

// check looks at a condition that was read.
func (l *loader) check(r *reader, node *yaml.Node, c *Condition) {
	matches := c.Matches
	literals := slices.Concat(c.All, c.Any, c.None)
	if c.Line != nil {
		matches = slices.Concat(matches, c.Line.Matches)
		literals = slices.Concat(literals, c.Line.All, c.Line.Any, c.Line.None)
	}
	for _, text := range literals {
		l.literal(r, node, text)
	}
	for _, text := range matches {
		r.expression(node, text)
	}
	if len(c.Matches) > 0 && len(c.All)+len(c.Any) == 0 {
		r.refuse(node, "catalogue-missing",
			"an expression (matches) needs a literal beside it (all, any) that the lines have on which it is tried")
	}
}

// requirements reads a mapping from attributes to a value or several.
func (r *reader) requirements(to *[]Requirement) func(*yaml.Node) {
	return func(node *yaml.Node) {
		if node.Kind != yaml.MappingNode || len(node.Content) > 2*maxList {
			r.refuse(node, "catalogue-type", "%s where a mapping from attributes to values belongs", describe(node))
			return
		}
		seen := map[string]bool{}
		for i := 0; i < len(node.Content); i += 2 {
			var q Requirement
			r.text(&q.Name, maxText)(node.Content[i])
			r.oneOrMore(&q.Values)(node.Content[i+1])
			if seen[q.Name] {
				r.refuse(node.Content[i], "catalogue-duplicate", "duplicate key %q", q.Name)
			}
			seen[q.Name] = true
			for _, value := range q.Values {
				q.values = append(q.values, wildcard(value))
			}
			*to = append(*to, q)
		}
	}
}
