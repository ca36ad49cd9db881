package catalogue

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"salve/internal/diagnostic"
)

// unreachable finds conditions that nothing can fulfil.
func (l *linter) unreachable(s *Signature) {
	for _, whole := range s.ways() {
		if why := whole.contradiction(); why != "" {
			l.report(whole.Position, diagnostic.Warning, RuleUnreachable, "signature %q can't be found: %s", s.ID, why)
		}
	}
}

// contradiction is why a condition can't hold; empty: it can, as far as can be seen.
func (c *Condition) contradiction() string {
	line := Line{}
	if c.Line != nil {
		line = *c.Line
	}
	must := append(slices.Clone(c.All), line.All...)
	for _, none := range append(slices.Clone(c.None), line.None...) {
		has := func(text string) bool { return strings.Contains(text, none) }
		onLine := slices.Contains(line.None, none)
		if i := slices.IndexFunc(must, has); i >= 0 && (!onLine || slices.Contains(line.All, must[i])) {
			return fmt.Sprintf("it asks for %q and for none of %q", must[i], none)
		}
		anyOf := append(slices.Clone(c.Any), line.Any...)
		if onLine {
			anyOf = line.Any
		}
		if len(anyOf) > 0 && all(anyOf, has) {
			return fmt.Sprintf("each of any has %q, of which it asks for none", none)
		}
	}
	for i, q := range c.Where {
		for _, other := range c.Where[:i] {
			if other.Name == q.Name && !q.meets(&other) {
				return fmt.Sprintf("two values of %q are asked for at once", q.Name)
			}
		}
		for _, not := range c.Unless {
			if not.Name == q.Name && all(q.Values, not.covers) {
				return fmt.Sprintf("it asks for values of %q, and for none of them", q.Name)
			}
		}
	}
	return ""
}

// covers says whether a value, which may have wildcards itself, is within the requirement.
func (r *Requirement) covers(value string) bool {
	return slices.ContainsFunc(r.values, func(v *regexp.Regexp) bool { return v.MatchString(value) })
}

// within says whether what fulfils this requirement fulfils the other one.
func (r *Requirement) within(other *Requirement) bool {
	return r.Name == other.Name && all(r.Values, other.covers)
}

// meets says whether one value may fulfil both requirements. Of two with wildcards that isn't known.
func (r *Requirement) meets(other *Requirement) bool {
	wild := func(value string) bool { return strings.Contains(value, "*") }
	if slices.ContainsFunc(r.Values, wild) && slices.ContainsFunc(other.Values, wild) {
		return true
	}
	return slices.ContainsFunc(r.Values, other.covers) || slices.ContainsFunc(other.Values, r.covers)
}
