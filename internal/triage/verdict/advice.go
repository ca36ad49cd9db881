package verdict

import (
	"fmt"
	"strings"

	"salve/internal/triage"
	"salve/internal/triage/alternative"
	"salve/internal/triage/cause"
)

// wouldChange says what, if it were seen, would give another verdict.
func wouldChange(f Facts, verdict triage.Verdict, t triage.Thresholds) []string {
	var out []string
	add := func(format string, values ...any) { out = append(out, fmt.Sprintf(format, values...)) }
	seen := fmt.Sprintf("the same failure in runs of %d other changes within %d h", t.BaselineSeen, t.BaselineHours)
	switch verdict {
	case triage.SuspectedChange:
		add("%s", seen)
		add("%d failures on scenarios that don't run what the change touches", t.UnreachableFailures)
	case triage.KnownInfrastructure, triage.KnownProduct:
		if f.Alternative.State == alternative.NoChange {
			add("a change to compare with (--diff, --base)")
		}
		if len(f.Cause.Candidates) > 0 {
			add("failures of this kind on scenarios without %s", names(f.Cause.Candidates))
		}
		add("%d runs of other changes without one such failure", t.BaselineUnseen)
	default:
		out = append(out, missing(f, t)...)
	}
	return out
}

// missing is what an undecided verdict lacks.
func missing(f Facts, t triage.Thresholds) []string {
	var out []string
	for _, check := range f.Alternative.Checks {
		if check.Stance != triage.Open {
			continue
		}
		switch check.Name {
		case alternative.Unreachable, alternative.Dose:
			if strings.Contains(check.Text, "not known") {
				out = append(out, "which scenarios run what the change touches (--map)")
			}
		case alternative.Prior:
			out = append(out, fmt.Sprintf("runs of other changes within %d h: %d with it, or %d without (--history, --baseline)",
				t.BaselineHours, t.BaselineSeen, t.BaselineUnseen))
		}
	}
	if f.Alternative.State == alternative.NoChange {
		out = append(out, "the change under test (--diff, --base)")
	}
	if f.Cause.State != cause.StateFound && len(f.Signatures) == 0 {
		out = append(out, "a signature in the catalogue, or attributes that tell failing scenarios from passing ones")
	}
	return out
}

// action is what to do: what the catalogue says beside the signature that decides, or else what follows from the
// verdict. What has to be escalated is not run again.
func action(f Facts, verdict triage.Verdict, t triage.Thresholds) string {
	if o := f.Occurrences; o != nil && o.Escalated && verdict != triage.SuspectedChange {
		owner := o.Owner
		if owner == "" {
			owner = "whoever owns it: the catalogue names nobody"
		}
		return fmt.Sprintf("escalate to %s: %s was seen %d times in %d days", owner, o.Of, o.Count, o.Days)
	}
	signature := Decisive(f.Signatures, f.Failures, f.Passing, t)
	if signature != nil && signature.Action != "" && verdict != triage.SuspectedChange {
		return signature.Action
	}
	switch verdict {
	case triage.SuspectedChange:
		where := f.Place
		if where == "" {
			where = f.Scenario
		}
		return "hold the change; look at " + where
	case triage.KnownInfrastructure:
		if len(f.Cause.Candidates) > 0 {
			return fmt.Sprintf("look after %s; run the failed scenarios again elsewhere", names(f.Cause.Candidates))
		}
		return "run the failed scenarios again"
	case triage.KnownProduct:
		return "the change needn't wait for it; the product's failure needs its owner"
	case triage.New:
		return "look at " + f.Scenario + "; then `salve triage learn` proposes a signature"
	default:
		return "run the failed scenarios again, and give what is missing below"
	}
}

func names(candidates []triage.Candidate) string {
	var out []string
	for _, c := range candidates {
		if c.Value == "" {
			out = append(out, "an unknown "+c.Attribute)
			continue
		}
		out = append(out, c.Attribute+"="+c.Value)
	}
	return strings.Join(out, " and ")
}
