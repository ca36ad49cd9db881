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
	// find is a pure function. With what it lacked the rule is UNKNOWN, where it found
	// nothing worse.
	find func(*facts) (finding.List, finding.Lack)
	// live is find without what is about files and changes of them; nil where nothing is left.
	live func(*facts) (finding.List, finding.Lack)
}

// need is an input that a rule can't be asked without. It says what is missing; the
// zero value where nothing is.
type need func(*facts) finding.Lack

// nothing lacks.
func nothing() finding.Lack { return finding.Lack{} }

// notGiven says which flag would give an input.
func notGiven(flag string) finding.Lack {
	return finding.Lack{Reason: "needs " + flag, NotGiven: true}
}

// failed says what could not be read.
func failed(format string, args ...any) finding.Lack {
	return finding.Lack{Reason: fmt.Sprintf(format, args...)}
}

// Run asks all rules. The error is one of a rule, and nothing that files can cause.
func Run(given Facts) (Result, error) {
	return run(given, Rules())
}

// RunLive asks the rules about what holds now on GitHub and in Prow's own cluster, which a
// poller asks again and again; what files alone show they leave out. The error is one of a
// rule.
func RunLive(given Facts) (Result, error) { return run(given, liveRules()) }

// Unasked are the verdicts of RunLive where there was nothing to ask it over.
func Unasked(reason string) []finding.Verdict {
	var verdicts []finding.Verdict
	for _, rule := range liveRules() {
		verdicts = append(verdicts, finding.Verdict{Rule: rule.ID, Severity: finding.Unknown, Lack: failed("%s", reason)})
	}
	return verdicts
}

func liveRules() []Rule {
	var rules []Rule
	for _, rule := range Rules() {
		if rule.live != nil {
			rule.find = rule.live
			rules = append(rules, rule)
		}
	}
	return rules
}

func run(given Facts, rules []Rule) (Result, error) {
	f := derive(given)
	var result Result
	for _, rule := range rules {
		found, lack := rule.ask(f)
		found = once(found)
		for i := range found {
			found[i].Rule = rule.ID
		}
		verdict, err := finding.Judge(rule.ID, found, lack)
		if err != nil {
			return Result{}, fmt.Errorf("rule %s: %w", rule.ID, err)
		}
		result.Findings = append(result.Findings, found...)
		result.Verdicts = append(result.Verdicts, verdict)
	}
	result.Findings.Sort()
	return result, nil
}

func (r Rule) ask(f *facts) (finding.List, finding.Lack) {
	for _, need := range r.needs {
		if lack := need(f); lack != nothing() {
			return nil, lack
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

func wholeConfig(f *facts) finding.Lack {
	if f.now == nil {
		return failed("the configuration could not be read as a whole")
	}
	return nothing()
}

func baseConfig(f *facts) finding.Lack {
	switch {
	case f.Base == nil && f.Options.Watched:
		return finding.Lack{NotGiven: true, Reason: "not asked: contexts that only an earlier configuration produced. They " +
			"are B2's, as soon as the latest commits lack them"}
	case f.Base == nil:
		return notGiven("--base")
	case f.Base.Failed != "":
		return failed("%s could not be read: %s", f.Base.Name, f.Base.Failed)
	case f.base == nil:
		return failed("the configuration of %s could not be read as a whole", f.Base.Name)
	}
	return nothing()
}

func manifests(f *facts) finding.Lack {
	if f.Manifests == nil {
		return notGiven("--manifests")
	}
	return nothing()
}

func baseManifests(f *facts) finding.Lack {
	switch {
	case f.Base == nil || f.Base.Failed != "":
		return baseConfig(f)
	case f.Base.Manifests == nil:
		return notGiven("--manifests")
	case f.Base.Manifests.Incomplete():
		return failed("the manifests of %s could not be read as a whole", f.Base.Name)
	}
	return nothing()
}

// allManifests lacks where some of them could not be read.
func allManifests(f *facts) finding.Lack {
	if f.Manifests.Incomplete() {
		return failed("not all of %s could be read", f.Manifests.Folder)
	}
	return nothing()
}

func pullRequests(f *facts) finding.Lack {
	switch {
	case f.PullRequests != nil:
		return nothing()
	case f.GitHub == nil:
		return notGiven("--pull-requests, or --live --github")
	}
	return liveGitHub(f)
}

// plain makes a rule's function of one that looks at all there is.
func plain(find func(*facts) finding.List) func(*facts) (finding.List, finding.Lack) {
	return func(f *facts) (finding.List, finding.Lack) { return find(f), nothing() }
}

// needing makes a rule's function need an input.
func needing(
	input need, find func(*facts) (finding.List, finding.Lack),
) func(*facts) (finding.List, finding.Lack) {
	return func(f *facts) (finding.List, finding.Lack) {
		if lack := input(f); lack != nothing() {
			return nil, lack
		}
		return find(f)
	}
}
