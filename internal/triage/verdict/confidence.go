package verdict

import (
	"fmt"
	"strings"

	"salve/internal/triage"
	"salve/internal/triage/alternative"
)

// confidence is high only where nothing that matters is missing, medium where one thing is, else low.
func confidence(f Facts, verdict triage.Verdict, t triage.Thresholds) (triage.Confidence, []string) {
	var behind, missing []string
	check := func(holds bool, yes, no string) {
		if holds {
			behind = append(behind, yes)
		} else {
			missing = append(missing, no)
		}
	}
	check(len(f.Producers) >= t.HighProducers, "evidence from "+strings.Join(f.Producers, " and "),
		fmt.Sprintf("evidence from one producer only (%s)", strings.Join(f.Producers, "")))
	check(f.Failures >= t.HighFailures, fmt.Sprintf("%d failures", f.Failures),
		"few failures: "+fmt.Sprint(f.Failures))
	if n := len(f.Unknown); n > 0 {
		missing = append(missing, "many scenarios lack "+strings.Join(f.Unknown[:min(n, 5)], ", "))
	}
	switch verdict {
	case triage.KnownInfrastructure, triage.KnownProduct:
		check(f.Alternative.State == alternative.Refuted, "the change is refuted", "there is no change to compare with")
		if signature := Decisive(f.Signatures, f.Failures, f.Passing, t); signature != nil {
			behind = append(behind, "signature "+signature.ID)
		}
		check(explained(f, t), fmt.Sprintf("%d of %d failures explained", f.Failures-f.Cause.Unexplained, f.Failures),
			"no cause in the attributes")
	case triage.SuspectedChange:
		supports, refutes := stances(f.Alternative)
		check(supports >= 2, fmt.Sprintf("%d checks speak for it", supports), "only one check speaks for it")
		check(refutes == 0, "none against it", "one check speaks against it")
		check(f.Flakiness != triage.Flaky, "no scenario passed when tried again", "scenarios passed when tried again")
	case triage.New:
		return capped(missing, triage.Medium), append(behind, missing...)
	default:
		return triage.Low, append(missing, behind...)
	}
	return capped(missing, triage.High), append(behind, missing...)
}

func capped(missing []string, best triage.Confidence) triage.Confidence {
	switch {
	case len(missing) == 0:
		return best
	case len(missing) == 1:
		return triage.Medium
	}
	return triage.Low
}

func stances(a triage.Alternative) (supports, refutes int) {
	for _, check := range a.Checks {
		switch check.Stance {
		case triage.Supports:
			supports++
		case triage.Refutes:
			refutes++
		case triage.Open:
		}
	}
	return supports, refutes
}
