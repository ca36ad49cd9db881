package rollout_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

func TestAsParallelAsTheGraphAllows(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		began := time.Now()
		result := b.run(t.Context(), b.plan("", "a", "b < a", "c < a", "d < b, c", "e"), rollout.Options{})
		b.expect(result, runbook.RolledOut, "all 5 steps are done")
		if took := time.Since(began); took != 3*time.Minute {
			t.Errorf("took %s", took)
		}
		// e may still be ending at the instant at which a lets b and c begin.
		if result.Open || b.most < 2 || b.most > 3 || slices.Index(b.calls, "a") > 1 || b.calls[4] != "d" {
			t.Errorf("open %v, %d at once, %v", result.Open, b.most, b.calls)
		}
	})
}

func TestConcurrencyIsBounded(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.changed = func(inputs *rollout.Inputs) { inputs.Concurrency = 2 }
		b.run(t.Context(), b.plan("", "a", "b", "c", "d", "e < d", "f < e"), rollout.Options{})
		if b.most != 2 {
			t.Errorf("%d at once", b.most)
		}
		if !slices.Contains(b.calls[:2], "d") || b.calls[2] == "f" {
			t.Errorf("the longest chain comes first, and not %v", b.calls)
		}
	})
}

func TestFailureStopsWhatHasNotBegun(t *testing.T) {
	for name, test := range map[string]struct {
		keepGoing bool
		calls     []string
		says      string
	}{
		"nothing more begins": {false, []string{"a", "b"},
			`step g/b: no; 1 of 5 steps are done; not done: g/b; not begun: g/c, g/d, g/e`},
		"what does not depend on it": {true, []string{"a", "b", "c", "e"},
			`step g/b: no; 3 of 5 steps are done; not done: g/b; not begun: g/d`},
		"what does not depend on it, also": {true, []string{"a", "b", "c", "e"}, "not begun: g/d"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				b.changed = func(inputs *rollout.Inputs) { inputs.KeepGoing = test.keepGoing }
				b.does["b"] = fails("no")
				result := b.run(t.Context(), b.plan("", "a", "b", "c < a", "d < b", "e < c"), rollout.Options{})
				b.expect(result, runbook.Failed, test.says)
				if slices.Sort(b.calls); !slices.Equal(b.calls, test.calls) || !result.Open {
					t.Errorf("ran %v, open %v", b.calls, result.Open)
				}
			})
		})
	}
}

func TestAllFailuresAreNamed(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"], b.does["b"], b.does["c"] = fails("no room"), fails("no"), fails("no")
		b.changed = func(inputs *rollout.Inputs) { inputs.Concurrency, inputs.KeepGoing = 1, true }
		b.expect(b.run(t.Context(), b.plan("", "a", "b", "c", "d"), rollout.Options{}), runbook.Failed,
			`step g/a: no room; g/b, g/c failed too; 1 of 4 steps are done; not done: g/a, g/b, g/c`)
	})
}

func TestRetriesOnlyWhatIsNamed(t *testing.T) {
	const rule = `; automatedRetry: {errorContainsAny: [flaky], maximumRetryCount: 2, durationBetweenRetries: 5m}`
	for name, test := range map[string]struct {
		says  []string
		tries int
		ends  runbook.Outcome
		took  time.Duration
	}{
		"until it works":       {[]string{"flaky", ""}, 2, runbook.RolledOut, 5 * time.Minute},
		"until it is too much": {[]string{"flaky", "flaky", "flaky", ""}, 3, runbook.Failed, 10 * time.Minute},
		"another error":        {[]string{"broken", ""}, 1, runbook.Failed, 0},
		"another error later":  {[]string{"flaky", "broken", ""}, 2, runbook.Failed, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				b.does["a"] = func(_ context.Context, attempt *rollout.Attempt) rollout.Outcome {
					if said := test.says[attempt.Number-1]; said != "" {
						return rollout.Outcome{Result: journal.Failure, Reason: "exit code 1", Said: "it is " + said}
					}
					return done()
				}
				began := time.Now()
				result := b.run(t.Context(), b.plan("", "a"+rule), rollout.Options{})
				b.expect(result, test.ends, "")
				if took := time.Since(began); len(b.calls) != test.tries || took != test.took {
					t.Errorf("%d tries in %s", len(b.calls), took)
				}
			})
		})
	}
}

func TestTimeout(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		result := b.run(t.Context(), b.plan("", "a; timeout: 10s | idempotent: true"), rollout.Options{})
		b.expect(result, runbook.Failed, `step g/a: not done within its timeout of 10s: cut off`)
	})
}

func TestValidationComesLast(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		file, found := pipeline.Parse("p.yaml", []byte(`$schema: pipeline.schema.v1
serviceGroup: Example.Service
rolloutName: Example
resourceGroups:
- name: g
  resourceGroup: rg
  subscription: sub
  steps:
  - {name: a, action: Shell, command: x, shellIdentity: {value: none}}
  validationSteps:
  - {name: check, action: Shell, command: x, shellIdentity: {value: none}, validation: [GA]}
`))
		if len(found) > 0 {
			t.Fatal(found)
		}
		plan, err := rollout.NewPlan(file, rollout.Inputs{Digest: "1", Concurrency: 4})
		if err != nil {
			t.Fatal(err)
		}
		b.run(t.Context(), plan, rollout.Options{})
		if !slices.Equal(b.calls, []string{"a", "check"}) {
			t.Errorf("ran %v", b.calls)
		}
	})
}
