package simulation_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/analysis"
	"salve/internal/triage/decision"
	"salve/internal/triage/record"
	"salve/internal/triage/replay"
	"salve/internal/triage/simulation"
)

// recorded is a triage as its record has it, read back.
func recorded(t *testing.T, result *analysis.Result, thresholds triage.Thresholds) *record.Record {
	t.Helper()
	raw, leftOut, err := record.Write(record.Triage{
		Program: "this", Architecture: "any", Build: result.Document.Build, Created: result.Document.Created,
		Thresholds: thresholds, Evidence: result.Evidence, Examined: result.Examined, Decision: result.Decision,
	})
	if err != nil || len(leftOut) > 0 {
		t.Errorf("%s: %v, left out %q", result.Document.Build, err, leftOut)
		return nil
	}
	back, err := record.Read(raw)
	if err != nil {
		t.Errorf("%s: %v", result.Document.Build, err)
	}
	return back
}

// replaysEqually checks that the record of a triage decides as the triage did, to the byte, and that the document says
// what was decided.
func replaysEqually(t *testing.T, result *analysis.Result) {
	t.Helper()
	back := recorded(t, result, triage.Default())
	if back == nil {
		return
	}
	if err := replay.Verify(back); err != nil {
		t.Errorf("%s: %v", result.Document.Build, err)
	}
	got, err := replay.Replay(back, replay.Options{Program: "this", Architecture: "any"})
	if err != nil || got.Verdict != replay.Same || !got.Checked {
		t.Errorf("%s: %v: %s %s", result.Document.Build, err, got.Verdict, got.Reason)
	}
	for i := range result.Document.Groups {
		g, d := &result.Document.Groups[i], &result.Decision.Groups[i]
		if g.Key != d.Key || g.Verdict != d.Verdict || g.Failures != d.Failures || g.Confidence != d.Confidence {
			t.Errorf("%s: the document says %s of %s, decided is %s of %s", result.Document.Build, g.Verdict, g.Key, d.Verdict,
				d.Key)
		}
	}
}

// TestOtherThresholdsSayWhatATriageWithThemSays: what is replayed with another threshold is what the same results would
// have given, or it is said to be lacking.
func TestOtherThresholdsSayWhatATriageWithThemSays(t *testing.T) {
	kinds := simulation.Kinds()
	compared, lacking, different := 0, 0, 0
	for seed := range uint64(max(12, *seeds/10)) {
		folder, err := os.MkdirTemp(scratch(), "salve-triage-")
		if err != nil {
			t.Fatal(err)
		}
		w, r := prepare(t, folder, seed, kinds[seed%uint64(len(kinds))])
		result, err := analysis.Analyze(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		back := recorded(t, result, r.Thresholds)
		random := rand.New(rand.NewPCG(seed, 7))
		names := r.Thresholds.Named()
		for range 3 {
			n := names[random.IntN(len(names))]
			r.Thresholds = altered(t, n, random)
			if r.Past != nil {
				r.Past = past(t, w, r.Build)
			}
			live, err := analysis.Analyze(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			again, err := decision.Decide(*back.Evidence, r.Thresholds)
			if err != nil {
				t.Fatal(err)
			}
			for i := range live.Decision.Groups {
				of := &live.Decision.Groups[i]
				at := slices.IndexFunc(again.Groups, func(g decision.Group) bool { return g.Key == of.Key })
				switch {
				case at < 0:
					t.Errorf("seed %d, %s: no group %s", seed, n.Name, of.Key)
				case again.Groups[at].Lacks != "":
					lacking++
				default:
					compared++
					if !equal(t, *of, again.Groups[at]) {
						t.Errorf("seed %d, %s of %g: live\n%s\nreplayed\n%s", seed, n.Name, r.Thresholds.Values()[n.Name],
							encoded(t, *of), encoded(t, again.Groups[at]))
					}
					usual := slices.IndexFunc(result.Decision.Groups, func(g decision.Group) bool { return g.Key == of.Key })
					different += one(usual < 0 || !equal(t, *of, result.Decision.Groups[usual]))
				}
			}
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d groups compared, of which %d are not as with the usual thresholds; %d lacking", compared, different,
		lacking)
	if compared < 10*lacking || different == 0 {
		t.Errorf("%d groups compared, %d different, %d lacking", compared, different, lacking)
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// altered are thresholds of which one has another value.
func altered(t *testing.T, n triage.Named, random *rand.Rand) triage.Thresholds {
	t.Helper()
	value := n.Value * (0.2 + 2*random.Float64())
	if n.Whole {
		value = float64(int(value + 0.5))
	}
	with, err := triage.Default().With(n.Name, min(n.Most, max(n.Least, value)))
	if err != nil {
		t.Fatal(err)
	}
	return with
}

func encoded(t *testing.T, g decision.Group) []byte {
	t.Helper()
	raw, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func equal(t *testing.T, a, b decision.Group) bool {
	t.Helper()
	return bytes.Equal(encoded(t, a), encoded(t, b))
}
