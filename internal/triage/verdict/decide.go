package verdict

import (
	"slices"

	"salve/internal/triage"
	"salve/internal/triage/alternative"
	"salve/internal/triage/cause"
)

// Facts are what is known of one group.
type Facts struct {
	Failures    int
	Scenario    string // one that failed
	Place       string
	Cause       triage.Cause
	Unknown     []string // attributes that too many scenarios lack
	Environment bool     // the causes are where scenarios ran, not what they tested
	Alternative triage.Alternative
	Tested      bool // they go with what the change touches, whether or not it is the change
	Signatures  []triage.Signature
	Baseline    triage.BaselineSays
	Flakiness   triage.Flakiness
	Producers   []string // of evidence, each once
	Occurrences *triage.Occurrences
	Passing     int // scenarios of the run that pass
}

// Decision is what follows.
type Decision struct {
	Verdict     triage.Verdict
	Confidence  triage.Confidence
	Reasons     []string
	WouldChange []string
	Action      string
}

// Decide makes it.
func Decide(f Facts, t triage.Thresholds) Decision {
	d := Decision{Verdict: verdict(f, t)}
	d.Confidence, d.Reasons = confidence(f, d.Verdict, t)
	d.WouldChange = wouldChange(f, d.Verdict, t)
	d.Action = action(f, d.Verdict, t)
	return d
}

func verdict(f Facts, t triage.Thresholds) triage.Verdict {
	switch f.Alternative.State {
	case alternative.Supported:
		return triage.SuspectedChange
	case alternative.Refuted, alternative.NoChange:
	default:
		return triage.Undecided
	}
	if known := knownBy(f, t); known != "" {
		return known
	}
	if f.Baseline.Answer == triage.NewFailure {
		return triage.New
	}
	return triage.Undecided
}

// knownBy is the verdict that a signature, the causes or the history give; empty for none. What is tested on one value
// only, an architecture for example, is nobody's infrastructure: it is known where the change is refuted or others saw
// it too. That other changes fail as often makes a failure of what is tested known, without anybody having written a
// signature; of others nobody knows whose they are.
func knownBy(f Facts, t triage.Thresholds) triage.Verdict {
	signature := Decisive(f.Signatures, f.Failures, f.Passing, t)
	switch {
	case signature != nil && signature.Class == "infrastructure", explained(f, t) && f.Environment:
		return triage.KnownInfrastructure
	case signature != nil:
		return triage.KnownProduct
	case explained(f, t) && (f.Alternative.State == alternative.Refuted || f.Baseline.Answer == triage.PreExisting):
		return triage.KnownProduct
	case f.Alternative.State == alternative.Refuted && f.Tested && elsewhere(f.Alternative):
		return triage.KnownProduct
	}
	return ""
}

// elsewhere says whether other changes fail as often.
func elsewhere(a triage.Alternative) bool {
	return slices.ContainsFunc(a.Checks, func(c triage.ChangeCheck) bool {
		return c.Name == alternative.Prior && c.Stance == triage.Refutes
	})
}

// Decisive is the first of a group's signatures that holds for nearly all of its failures, and hardly for the scenarios
// that pass; nil for none.
func Decisive(signatures []triage.Signature, failures, passing int, t triage.Thresholds) *triage.Signature {
	for i, s := range signatures {
		if !s.Expired && float64(s.Failures) >= t.KnownCoverage*float64(failures) &&
			float64(s.Passing) <= t.SignaturePassing*float64(passing) {
			return &signatures[i]
		}
	}
	return nil
}

func explained(f Facts, t triage.Thresholds) bool {
	return f.Cause.State == cause.StateFound &&
		float64(f.Failures-f.Cause.Unexplained) >= t.KnownCoverage*float64(f.Failures)
}

// Overall is the worst verdict of the groups, and whether there are others. A run that was aborted is never better than
// undecided.
func Overall(groups []triage.Verdict, aborted bool) (worst triage.Verdict, mixed bool) {
	worst = triage.Passed
	for _, verdict := range groups {
		mixed = mixed || verdict != groups[0]
		if verdict.Worse(worst) {
			worst = verdict
		}
	}
	if aborted && triage.Undecided.Worse(worst) {
		worst = triage.Undecided
	}
	return worst, mixed
}

// Flakiness is what several attempts say: how many scenarios recovered when tried again, and the most attempts in which
// one scenario always failed.
func Flakiness(recovered, insisted int, t triage.Thresholds) triage.Flakiness {
	switch {
	case recovered > 0:
		return triage.Flaky
	case insisted >= t.Attempts:
		return triage.Deterministic
	}
	return triage.FlakinessUnknown
}
