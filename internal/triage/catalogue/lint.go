package catalogue

import (
	"fmt"
	"slices"
	"time"

	"salve/internal/diagnostic"
	"salve/internal/triage/results"
)

// Rules of lint.
const (
	RuleExample     = "catalogue-example"
	RuleExpired     = "catalogue-expired"
	RuleExpensive   = "catalogue-expensive"
	RuleUnreachable = "catalogue-unreachable"
	RuleOverlap     = "catalogue-overlap"
	RuleNever       = "catalogue-never-matched"
	RuleUnspecific  = "catalogue-unspecific"
	RuleName        = "catalogue-name"
)

// Rules are those of lint, in the order in which they are documented.
func Rules() []diagnostic.Rule {
	return []diagnostic.Rule{
		{ID: RuleExample, Says: "Examples match, and counterexamples don't.", Why: "They are the signature's tests."},
		{ID: RuleExpired, Says: "A signature's last day is not over.",
			Why: "It no longer decides: renew validUntil, or delete the signature."},
		{ID: RuleExpensive, Says: "Literals and expressions are cheap to search for.",
			Why: "A text that most lines have makes each of them be looked at."},
		{ID: RuleUnreachable, Says: "A signature can be found.", Why: "Its conditions contradict each other."},
		{ID: RuleOverlap, Says: "A failure has one signature.",
			Why: "Where two are found, two owners are told: narrow one, or make them one with anyOf."},
		{ID: RuleNever, Says: "A signature is found now and then.",
			Why: "One that never is costs those who read the catalogue: retire it."},
		{ID: RuleUnspecific, Says: "A signature is on few passing scenarios.",
			Why: "What passing scenarios show as well explains no failure."},
		{ID: RuleName, Says: "A signature called after an attribute's value goes with that value.",
			Why: "Its name tells readers a cause that its data contradict."},
	}
}

// LintOptions is what lint needs beside the catalogue.
type LintOptions struct {
	Now time.Time
	// PassingShare of passing scenarios is what a specific signature may hit; 0: a tenth.
	PassingShare float64
	Statistics   *Statistics // of a run, or several; nil: rules that need them are left out
}

// Lint says what is wrong with the signatures of a catalogue that can be loaded.
func Lint(c *Catalogue, options LintOptions) diagnostic.List {
	l := linter{c: c, options: options}
	for _, s := range c.signatures {
		l.examples(s)
		l.expired(s)
		l.expensive(s)
		l.unreachable(s)
		if options.Statistics != nil {
			l.counted(s, options.Statistics)
			l.name(s, options.Statistics)
		}
	}
	for _, a := range c.attributes {
		l.expression(a.position, fmt.Sprintf("attribute %q", a.name), a.pattern.String())
	}
	l.overlaps()
	l.found.Sort()
	return l.found
}

type linter struct {
	c       *Catalogue
	options LintOptions
	found   diagnostic.List
}

func (l *linter) report(at diagnostic.Position, severity diagnostic.Severity, rule, format string, args ...any) {
	l.found = append(l.found, diagnostic.Diagnostic{
		Position: at, Severity: severity, Rule: rule, Message: fmt.Sprintf(format, args...),
	})
}

// inExample is what a text shows: its kind, its attributes and its place aside.
func (l *linter) inExample(text string) (Found, []int) {
	o := l.c.Observer().Observe("")
	o.Text(1, []byte(text))
	o.End()
	found := l.c.Found(results.Case{Observation: o})
	var shown []int
	for _, number := range l.c.candidates([]Found{found}, "") {
		if _, holds := l.c.signatures[number].ask(question{found: &found, textOnly: true}); holds {
			shown = append(shown, number)
		}
	}
	return found, shown
}

func (l *linter) examples(s *Signature) {
	shows := func(text string) bool {
		_, shown := l.inExample(text)
		return slices.ContainsFunc(shown, func(number int) bool { return l.c.signatures[number] == s })
	}
	for _, text := range s.Examples.Match {
		if !shows(text) {
			l.report(s.Position, diagnostic.Error, RuleExample, "signature %q does not match its example %.80q", s.ID, text)
		}
	}
	for _, text := range s.Examples.NoMatch {
		if shows(text) {
			l.report(s.Position, diagnostic.Error, RuleExample,
				"signature %q matches %.80q, which it must not", s.ID, text)
		}
	}
}

func (l *linter) expired(s *Signature) {
	if s.Expired(l.options.Now) {
		l.report(s.Position, diagnostic.Warning, RuleExpired,
			"signature %q expired after %s and no longer decides", s.ID, s.ValidUntil.Format(time.DateOnly))
	}
}
