package verdict_test

import (
	"slices"
	"strings"
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/alternative"
	"salve/internal/triage/cause"
	"salve/internal/triage/verdict"
)

// edit is one thing that is different.
type edit func(*verdict.Facts)

// outage is 100 failures on one cluster, of which the change is refuted, seen by two producers.
func outage(edits ...edit) verdict.Facts {
	f := verdict.Facts{
		Failures: 100, Scenario: "TestGPU/arm64", Place: "gpu.go:12", Passing: 200, Environment: true,
		Cause: triage.Cause{State: cause.StateFound, Unexplained: 5, Candidates: []triage.Candidate{
			{Attribute: "cluster", Value: "a"}, {Attribute: "region"},
		}},
		Alternative: refuted(alternative.Unreachable, alternative.Dose),
		Producers:   []string{"test", "cluster"},
	}
	for _, e := range edits {
		e(&f)
	}
	return f
}

// suspect is 8 failures, of which two checks speak for the change.
func suspect(edits ...edit) verdict.Facts {
	f := verdict.Facts{
		Failures: 8, Scenario: "TestGPU/arm64", Place: "gpu.go:12", Passing: 200,
		Cause:       triage.Cause{State: cause.StateUndecided, Unexplained: 8},
		Alternative: supported(alternative.Dose, alternative.Prior),
		Producers:   []string{"test", "kubelet"},
	}
	for _, e := range edits {
		e(&f)
	}
	return f
}

func checks(stance triage.Stance, names ...string) []triage.ChangeCheck {
	var out []triage.ChangeCheck
	for _, name := range []string{
		alternative.Unreachable, alternative.Dose, alternative.Prior, alternative.Order, alternative.Product,
	} {
		c := triage.ChangeCheck{Name: name, Stance: triage.Open}
		if slices.Contains(names, name) {
			c.Stance = stance
		}
		out = append(out, c)
	}
	return out
}

func refuted(names ...string) triage.Alternative {
	return triage.Alternative{State: alternative.Refuted, Checks: checks(triage.Refutes, names...)}
}

func supported(names ...string) triage.Alternative {
	return triage.Alternative{State: alternative.Supported, Checks: checks(triage.Supports, names...)}
}

func open(texts ...string) edit {
	return func(f *verdict.Facts) {
		f.Alternative = triage.Alternative{State: alternative.Open, Checks: checks(triage.Open)}
		for i, text := range texts {
			f.Alternative.Checks[i].Text = text
		}
	}
}

func noChange(f *verdict.Facts) { f.Alternative = triage.Alternative{State: alternative.NoChange} }
func noCause(f *verdict.Facts) {
	f.Cause = triage.Cause{State: cause.StateUndecided, Unexplained: f.Failures}
}
func tested(f *verdict.Facts)      { f.Environment = false }
func newToOthers(f *verdict.Facts) { f.Baseline.Answer = triage.NewFailure }
func othersHadIt(f *verdict.Facts) { f.Baseline.Answer = triage.PreExisting }
func oneProducer(f *verdict.Facts) { f.Producers = f.Producers[:1] }
func fewFailures(f *verdict.Facts) { f.Failures, f.Cause.Unexplained = 4, 0 }
func enoughFailures(f *verdict.Facts) {
	f.Failures, f.Cause.Unexplained = triage.Default().HighFailures, 0
}
func justExplained(f *verdict.Facts) { f.Cause.Unexplained = 20 }
func someUnknown(f *verdict.Facts)   { f.Unknown = []string{"region"} }
func recovered(f *verdict.Facts)     { f.Flakiness = triage.Flaky }
func unexplained(f *verdict.Facts)   { f.Cause.Unexplained = 21 }
func oneSupport(f *verdict.Facts)    { f.Alternative = supported(alternative.Dose) }
func asOften(f *verdict.Facts)       { f.Alternative = refuted(alternative.Prior, alternative.Order) }
func component(f *verdict.Facts)     { f.Tested = true }
func contradicted(f *verdict.Facts)  { f.Alternative.Checks[3].Stance = triage.Refutes }

func signed(class string, failures, passing int, more ...func(*triage.Signature)) edit {
	return func(f *verdict.Facts) {
		s := triage.Signature{ID: "known", Class: class, Failures: failures, Passing: passing}
		for _, e := range more {
			e(&s)
		}
		f.Signatures = append(f.Signatures, s)
	}
}

func expired(s *triage.Signature)  { s.Expired = true }
func restarts(s *triage.Signature) { s.Action = "restart the webhook" }

func TestVerdict(t *testing.T) {
	for rule, row := range map[string]struct {
		facts verdict.Facts
		want  triage.Verdict
	}{
		"a place where scenarios run, and the change is refuted": {outage(), triage.KnownInfrastructure},
		"the same, while nobody knows of a change":               {outage(noChange), triage.KnownInfrastructure},
		"an open alternative is undecided, whatever the cause":   {outage(open()), triage.Undecided},
		"and whatever the signature": {
			outage(open(), signed("infrastructure", 100, 0)), triage.Undecided,
		},
		"and whatever the history":             {outage(open(), newToOthers), triage.Undecided},
		"a supported alternative is suspected": {suspect(), triage.SuspectedChange},
		"also where a signature and a cause are known": {
			outage(signed("infrastructure", 100, 0), func(f *verdict.Facts) {
				f.Alternative = supported(alternative.Dose)
			}), triage.SuspectedChange,
		},
		"a cause with too much unexplained is none":            {outage(unexplained), triage.Undecided},
		"one that explains just enough is one":                 {outage(justExplained), triage.KnownInfrastructure},
		"what is tested is the product's, where it is refuted": {outage(tested), triage.KnownProduct},
		"or where others had it": {
			outage(tested, noChange, othersHadIt), triage.KnownProduct,
		},
		"but not by itself": {outage(tested, noChange), triage.Undecided},
		"a signature of the infrastructure": {
			outage(noCause, signed("infrastructure", 80, 20)), triage.KnownInfrastructure,
		},
		"a signature of the product": {
			outage(noCause, signed("product", 80, 20)), triage.KnownProduct,
		},
		"a signature of the test says less than the place": {
			outage(signed("test", 100, 0)), triage.KnownInfrastructure,
		},
		"a signature of too few failures decides nothing": {
			outage(noCause, signed("product", 79, 0)), triage.Undecided,
		},
		"nor one that passing scenarios show": {
			outage(noCause, signed("product", 100, 21)), triage.Undecided,
		},
		"nor one that has expired": {
			outage(noCause, signed("product", 100, 0, expired)), triage.Undecided,
		},
		"what other changes have as often is known": {
			outage(noCause, asOften, component), triage.KnownProduct,
		},
		"but nobody knows whose it is where all kinds fail": {outage(noCause, asOften), triage.Undecided},
		"what they have not as often is not": {
			outage(noCause, othersHadIt, component), triage.Undecided,
		},
		"nobody's, and never seen: new": {outage(noCause, newToOthers), triage.New},
		"new as well without a change": {
			outage(noCause, noChange, newToOthers), triage.New,
		},
		"nothing known at all": {outage(noCause, noChange), triage.Undecided},
	} {
		t.Run(rule, func(t *testing.T) {
			if got := verdict.Decide(row.facts, triage.Default()).Verdict; got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
}

func TestConfidence(t *testing.T) {
	for rule, row := range map[string]struct {
		facts  verdict.Facts
		want   triage.Confidence
		reason string
	}{
		"nothing is missing": {outage(), triage.High, "evidence from test and cluster"},
		"two lines of one producer are one": {
			outage(oneProducer), triage.Medium, "one producer only (test)",
		},
		"few failures":                {outage(fewFailures), triage.Medium, "few failures: 4"},
		"just enough failures":        {outage(enoughFailures), triage.High, "5 failures"},
		"an attribute that many lack": {outage(someUnknown), triage.Medium, "lack region"},
		"two things are missing": {
			outage(oneProducer, fewFailures), triage.Low, "few failures: 4",
		},
		"no change to compare with": {
			outage(noChange), triage.Medium, "no change to compare with",
		},
		"a signature, and no cause": {
			outage(noCause, signed("product", 100, 0)), triage.Medium, "signature known",
		},
		"a cause says how much it explains": {outage(), triage.High, "95 of 100 failures explained"},
		"two checks against the change":     {suspect(), triage.High, "2 checks speak for it"},
		"only one check": {
			suspect(oneSupport), triage.Medium, "only one check speaks for it",
		},
		"one check on the other side": {
			suspect(contradicted), triage.Medium, "one check speaks against it",
		},
		"scenarios that passed when tried again": {
			suspect(recovered), triage.Medium, "passed when tried again",
		},
		"new is never high": {
			outage(noCause, newToOthers), triage.Medium, "evidence from test and cluster",
		},
		"new with one thing missing": {
			outage(noCause, newToOthers, oneProducer), triage.Medium, "one producer only",
		},
		"undecided is low, and says what is missing": {
			outage(open(), oneProducer), triage.Low, "one producer only",
		},
	} {
		t.Run(rule, func(t *testing.T) {
			d := verdict.Decide(row.facts, triage.Default())
			if d.Confidence != row.want || !strings.Contains(strings.Join(d.Reasons, "; "), row.reason) {
				t.Errorf("%s: %q, want %s: %q", d.Confidence, d.Reasons, row.want, row.reason)
			}
		})
	}
}

func TestWouldChange(t *testing.T) {
	for rule, row := range map[string]struct {
		facts verdict.Facts
		want  []string
	}{
		"a suspicion": {
			suspect(), []string{"2 other changes within 24 h", "3 failures on scenarios that don't run"},
		},
		"a known failure": {outage(), []string{
			"without cluster=a and an unknown region", "20 runs of other changes without one"}},
		"a known failure by a signature": {
			outage(noCause, signed("product", 100, 0)), []string{"20 runs of other changes"},
		},
		"a known failure without a change": {outage(noChange), []string{
			"a change to compare with (--diff, --base)", "without cluster=a", "20 runs"}},
		"nobody knows what runs the change": {
			suspect(open("which scenarios run it is not known", "not known", "few")), []string{
				"which scenarios run what the change touches (--map)", "which scenarios run what the change touches (--map)",
				"runs of other changes within 24 h: 2 with it, or 20 without", "a signature in the catalogue"}},
		"it is known, and not enough": {suspect(open("2 of 8 failures", "too small", "few")), []string{
			"runs of other changes", "a signature in the catalogue"}},
		"undecided with a cause": {outage(open("2 of 8", "", "")), []string{"runs of other changes"}},
		"undecided without a change": {outage(noCause, noChange), []string{
			"the change under test (--diff, --base)", "a signature in the catalogue"}},
	} {
		t.Run(rule, func(t *testing.T) {
			got := verdict.Decide(row.facts, triage.Default()).WouldChange
			if len(got) != len(row.want) {
				t.Fatalf("%q, want %q", got, row.want)
			}
			for i := range got {
				if !strings.Contains(got[i], row.want[i]) {
					t.Errorf("%q, want %q", got[i], row.want[i])
				}
			}
		})
	}
}

func TestAction(t *testing.T) {
	escalated := func(owner string, is bool) edit {
		return func(f *verdict.Facts) {
			f.Occurrences = &triage.Occurrences{Of: "known", Count: 6, Days: 30, Escalated: is, Owner: owner}
		}
	}
	noPlace := func(f *verdict.Facts) { f.Place = "" }
	for rule, row := range map[string]struct {
		facts verdict.Facts
		want  string
	}{
		"what has to be escalated is not run again": {
			outage(escalated("team-a", true)), "escalate to team-a: known was seen 6 times in 30 days",
		},
		"nor where nobody is named": {
			outage(escalated("", true)), "escalate to whoever owns it: the catalogue names nobody: known was seen 6 times",
		},
		"below the threshold it is": {
			outage(escalated("team-a", false)),
			"look after cluster=a and an unknown region; run the failed scenarios again elsewhere",
		},
		"the signature says what to do": {
			outage(signed("product", 100, 0, restarts)), "restart the webhook",
		},
		"one that doesn't decide says nothing": {
			outage(signed("product", 10, 0, restarts)), "look after cluster=a",
		},
		"nor of a suspicion": {
			suspect(signed("product", 8, 0, restarts)), "hold the change; look at gpu.go:12",
		},
		"a suspicion without a place": {
			suspect(noPlace), "hold the change; look at TestGPU/arm64",
		},
		"infrastructure that only a signature tells of": {
			outage(noCause, signed("infrastructure", 100, 0)), "run the failed scenarios again",
		},
		"the product's": {outage(tested), "the change needn't wait"},
		"a new one":     {outage(noCause, newToOthers), "salve triage learn"},
		"undecided":     {outage(open()), "give what is missing below"},
	} {
		t.Run(rule, func(t *testing.T) {
			if got := verdict.Decide(row.facts, triage.Default()).Action; !strings.Contains(got, row.want) {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

func TestOverall(t *testing.T) {
	for rule, row := range map[string]struct {
		groups  []triage.Verdict
		aborted bool
		want    triage.Verdict
		mixed   bool
	}{
		"no failures": {nil, false, triage.Passed, false},
		"the worst": {
			[]triage.Verdict{triage.New, triage.KnownProduct, triage.SuspectedChange}, false, triage.SuspectedChange, true,
		},
		"all alike":                   {[]triage.Verdict{triage.New, triage.New}, false, triage.New, false},
		"an aborted run never passes": {nil, true, triage.Undecided, false},
		"nor is it known": {
			[]triage.Verdict{triage.KnownInfrastructure}, true, triage.Undecided, false,
		},
		"an aborted run with something worse in it": {
			[]triage.Verdict{triage.SuspectedChange}, true, triage.SuspectedChange, false,
		},
	} {
		t.Run(rule, func(t *testing.T) {
			if got, mixed := verdict.Overall(row.groups, row.aborted); got != row.want || mixed != row.mixed {
				t.Errorf("%s %v, want %s %v", got, mixed, row.want, row.mixed)
			}
		})
	}
}

func TestFlakinessIsWhatAttemptsSay(t *testing.T) {
	for rule, row := range map[string]struct {
		recovered, insisted int
		want                triage.Flakiness
	}{
		"once is not enough":           {0, 1, triage.FlakinessUnknown},
		"twice is not enough":          {0, 2, triage.FlakinessUnknown},
		"three times is deterministic": {0, 3, triage.Deterministic},
		"one scenario that recovers":   {1, 1, triage.Flaky},
		"recovered and insisted":       {1, 3, triage.Flaky},
	} {
		if got := verdict.Flakiness(row.recovered, row.insisted, triage.Default()); got != row.want {
			t.Errorf("%s: %s, want %s", rule, got, row.want)
		}
	}
}
