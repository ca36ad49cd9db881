package check

import (
	"fmt"

	"salve/internal/diagnostic"
	"salve/internal/prow/finding"
)

// Result is what all rules came to.
type Result struct {
	Findings finding.List
	// Verdicts are one a rule, in the order of Rules.
	Verdicts []finding.Verdict
}

// Rule is one thing that is looked for.
type Rule struct {
	// ID stays the same for ever.
	ID string
	// Says is one line on what is looked for; Why is why that is wrong.
	Says, Why string
	// needs are inputs without which the rule can't be asked at all.
	needs []need
	// find is a pure function. What it could not look at is in missing: then the rule is
	// UNKNOWN, where it found nothing worse.
	find func(*facts) (found finding.List, missing string)
}

// need is an input that a rule can't be asked without. It says what is missing; empty
// where it is there.
type need func(*facts) string

// Run asks all rules. The error is one of a rule, and nothing that files can cause.
func Run(given Facts) (Result, error) {
	f := derive(given)
	var result Result
	for _, rule := range Rules() {
		found, missing := rule.ask(f)
		for i := range found {
			found[i].Rule = rule.ID
		}
		verdict, err := finding.Judge(rule.ID, found, missing)
		if err != nil {
			return Result{}, fmt.Errorf("rule %s: %w", rule.ID, err)
		}
		result.Findings = append(result.Findings, found...)
		result.Verdicts = append(result.Verdicts, verdict)
	}
	result.Findings.Sort()
	return result, nil
}

func (r Rule) ask(f *facts) (finding.List, string) {
	for _, need := range r.needs {
		if missing := need(f); missing != "" {
			return nil, missing
		}
	}
	return r.find(f)
}

// Diagnostics are the rules as code scanning knows them.
func Diagnostics() []diagnostic.Rule {
	var rules []diagnostic.Rule
	for _, rule := range Rules() {
		rules = append(rules, diagnostic.Rule{ID: rule.ID, Says: rule.Says, Why: rule.Why})
	}
	return rules
}

func wholeConfig(f *facts) string {
	if f.now == nil {
		return "the configuration could not be read as a whole"
	}
	return ""
}

func baseConfig(f *facts) string {
	switch {
	case f.Base == nil:
		return "needs --base"
	case f.Base.Failed != "":
		return "the configuration of " + f.Base.Name + " could not be read: " + f.Base.Failed
	case f.base == nil:
		return "the configuration of " + f.Base.Name + " could not be read as a whole"
	}
	return ""
}

func manifests(f *facts) string {
	if f.Manifests == nil {
		return "needs --manifests"
	}
	return ""
}

func baseManifests(f *facts) string {
	switch missing := baseConfig(f); {
	case f.Base == nil || f.Base.Failed != "":
		return missing
	case f.Base.Manifests == nil:
		return "needs --manifests"
	case f.Base.Manifests.Incomplete():
		return "the manifests of " + f.Base.Name + " could not be read as a whole"
	}
	return ""
}

func pullRequests(f *facts) string {
	if f.PullRequests == nil {
		return "needs --pull-requests"
	}
	return ""
}

// plain makes a rule's function of one that looks at all there is.
func plain(find func(*facts) finding.List) func(*facts) (finding.List, string) {
	return func(f *facts) (finding.List, string) { return find(f), "" }
}
