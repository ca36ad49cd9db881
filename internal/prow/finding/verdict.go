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
	Lack
}

// Lack is what a rule lacked to be asked as a whole. The zero value is nothing.
type Lack struct {
	// Reason says what is missing.
	Reason string `json:"reason,omitempty"`
	// NotGiven: nobody gave the input. Otherwise it was given, and could not be read.
	NotGiven bool `json:"notGiven,omitempty"`
}

// Judge is the verdict of a rule over what it found. With what it lacked the rule can't
// be OK, whatever it found.
func Judge(rule string, found List, lack Lack) (Verdict, error) {
	verdict := Verdict{Rule: rule, Severity: OK, Findings: len(found), Lack: lack}
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
	if lack.Reason != "" && !verdict.Severity.AtLeast(Unknown) {
		verdict.Severity = Unknown
	}
	return verdict, nil
}
