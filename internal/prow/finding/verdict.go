package finding

import "fmt"

// Verdict is what one rule came to.
type Verdict struct {
	Rule string `json:"rule"`
	// Severity is that of the worst finding, OK where there is none and all inputs were
	// there, and UNKNOWN where they were not.
	Severity Severity `json:"severity"`
	// Findings counts what the rule found.
	Findings int `json:"findings"`
	// Reason says what is missing, for UNKNOWN.
	Reason string `json:"reason,omitempty"`
}

// Judge is the verdict of a rule over what it found. Missing says which input was not
// there; then the rule can't be OK, whatever it found.
func Judge(rule string, found List, missing string) (Verdict, error) {
	verdict := Verdict{Rule: rule, Severity: OK, Findings: len(found), Reason: missing}
	if err := found.Validate(); err != nil {
		return Verdict{}, err
	}
	for _, f := range found {
		if f.Rule != rule {
			return Verdict{}, fmt.Errorf("rule %s has a finding of rule %s", rule, f.Rule)
		}
	}
	if worst, ok := found.Worst(); ok {
		verdict.Severity = worst
	}
	if missing != "" && !verdict.Severity.AtLeast(Unknown) {
		verdict.Severity = Unknown
	}
	return verdict, nil
}
