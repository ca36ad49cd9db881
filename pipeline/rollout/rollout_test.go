package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/journal"
	"salve/pipeline"
	"salve/pipeline/rollout"
	"salve/runbook"
)

// bench is a journal on which pipelines of scripted steps are run.
type bench struct {
	*testing.T
	journal  journal.Backend
	mu       sync.Mutex
	calls    []string
	together int
	most     int
	// does says what a step does, by its name; a step that isn't here takes a
	// minute and is done.
	does    map[string]func(context.Context, *rollout.Attempt) rollout.Outcome
	events  []engine.Event
	changed func(*rollout.Inputs)
	serial  int
}

func newBench(t *testing.T) *bench {
	return &bench{T: t, journal: journal.NewMemory(), does: map[string]func(context.Context, *rollout.Attempt) rollout.Outcome{}}
}

// scripted is the action of the bench's steps.
type scripted struct{ bench *bench }

func (scripted) Traits() rollout.Traits     { return rollout.Traits{} }
func (scripted) Check(*pipeline.Step) error { return nil }
func (scripted) Preview(context.Context, *rollout.Attempt) (string, error) {
	return "", nil
}

func (s scripted) Run(ctx context.Context, attempt *rollout.Attempt) rollout.Outcome {
	b, name := s.bench, attempt.Step.Name.Value
	b.mu.Lock()
	b.calls = append(b.calls, name)
	b.together++
	b.most = max(b.most, b.together)
	does := b.does[name]
	b.mu.Unlock()
	defer func() { b.mu.Lock(); b.together--; b.mu.Unlock() }()
	if does != nil {
		return does(ctx, attempt)
	}
	select {
	case <-time.After(time.Minute):
		return done()
	case <-ctx.Done():
		return rollout.Outcome{Result: journal.Unclear, Reason: "cut off"}
	}
}

func done() rollout.Outcome { return rollout.Outcome{Result: journal.Done} }

func fails(reason string) func(context.Context, *rollout.Attempt) rollout.Outcome {
	return func(context.Context, *rollout.Attempt) rollout.Outcome {
		return rollout.Outcome{Result: journal.Failure, Reason: reason}
	}
}

type nowhere struct{}

func (nowhere) Write(text []byte) (int, error) { return len(text), nil }
func (nowhere) Hide(string)                    {}
func (nowhere) Close() error                   { return nil }

func (b *bench) runner() *rollout.Runner {
	return &rollout.Runner{
		Journal: b.journal, Clock: clock.RealClock{}, Holder: journal.Holder{User: "ana", Host: "laptop", PID: 7},
		Watch: func(event engine.Event) { b.events = append(b.events, event) },
		NewRun: func(time.Time) string {
			b.serial++
			return fmt.Sprintf("run-%d", b.serial)
		},
		Actions: map[string]rollout.Action{"Shell": scripted{b}, "Soak": rollout.Soak{Clock: clock.RealClock{}}},
		OpenLog: func(string, pipeline.StepID, int) (rollout.Log, error) { return nowhere{}, nil },
	}
}

// plan makes a pipeline of one resource group. A line is "name < one, other":
// the step waits for those; what follows a semicolon are more of its fields.
func (b *bench) plan(header string, lines ...string) *rollout.Plan {
	b.Helper()
	text := "$schema: pipeline.schema.v1\nserviceGroup: Example.Service\nrolloutName: Example\n" + header +
		"resourceGroups:\n- name: g\n  resourceGroup: rg\n  subscription: sub\n  steps:\n"
	for _, line := range lines {
		line, more, _ := strings.Cut(line, ";")
		name, waits, _ := strings.Cut(line, "<")
		text += "  - name: " + strings.TrimSpace(name) + "\n"
		if !strings.Contains(more, "action:") {
			text += "    action: Shell\n    command: x\n    shellIdentity: {value: none}\n"
		}
		if waits != "" {
			text += "    dependsOn:\n"
			for before := range strings.SplitSeq(waits, ",") {
				text += "    - {resourceGroup: g, step: " + strings.TrimSpace(before) + "}\n"
			}
		}
		for field := range strings.SplitSeq(strings.TrimSpace(more), " | ") {
			if field != "" {
				text += "    " + strings.TrimSpace(field) + "\n"
			}
		}
	}
	file, found := pipeline.Parse("pipeline.yaml", []byte(text))
	if len(found) > 0 {
		b.Fatal(found, text)
	}
	inputs := rollout.Inputs{Pipeline: "/p/pipeline.yaml", Digest: text, Concurrency: 4}
	if b.changed != nil {
		b.changed(&inputs)
	}
	plan, err := rollout.NewPlan(file, inputs)
	if err != nil {
		b.Fatal(err)
	}
	return plan
}

func (b *bench) run(ctx context.Context, plan *rollout.Plan, options rollout.Options) engine.Result {
	b.Helper()
	result, err := b.runner().Run(ctx, plan, options)
	if err != nil {
		b.Fatal(err)
	}
	return result
}

func (b *bench) expect(result engine.Result, outcome runbook.Outcome, reason string) {
	b.Helper()
	if result.Outcome != outcome || !strings.Contains(result.Reason, reason) {
		b.Fatalf("%s: %s; want %s: %s", result.Outcome, result.Reason, outcome, reason)
	}
}

func (b *bench) record(run string) *journal.Record {
	b.Helper()
	record, err := journal.Load(context.Background(), b.journal, run)
	if err != nil {
		b.Fatal(err)
	}
	return record
}

func in(t *testing.T, story func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { story(t, newBench(t)) })
}

func TestAsParallelAsTheGraphAllows(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		began := time.Now()
		result := b.run(t.Context(), b.plan("", "a", "b < a", "c < a", "d < b, c", "e"), rollout.Options{})
		b.expect(result, runbook.RolledOut, "all 5 steps are done")
		if took := time.Since(began); took != 3*time.Minute {
			t.Errorf("took %s", took)
		}
		if result.Open || b.most != 2 || b.calls[0] != "a" || b.calls[4] != "d" {
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
		if b.calls[0] != "d" {
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
		"nothing more begins":              {false, []string{"a", "b"}, "step g/b: no; 1 of 5 steps are done; not done: g/b; not begun: g/c, g/d, g/e"},
		"what does not depend on it":       {true, []string{"a", "b", "c", "e"}, "step g/b: no; 3 of 5 steps are done; not done: g/b; not begun: g/d"},
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

func TestResumeRunsWhatWasNotDone(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		plan := b.plan("", "a", "b < a", "c < b")
		b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
			return rollout.Outcome{Result: journal.Done, Outputs: map[string]rollout.Output{"size": {Value: "3"}}}
		}
		b.does["b"] = fails("no")
		first := b.run(t.Context(), plan, rollout.Options{})
		b.expect(first, runbook.Failed, "no")
		delete(b.does, "b")
		b.calls = nil
		result, err := b.runner().Resume(t.Context(), plan, first.Run, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.RolledOut, "all 3")
		if !slices.Equal(b.calls, []string{"b", "c"}) {
			t.Errorf("ran %v", b.calls)
		}
		if _, err := b.runner().Resume(t.Context(), plan, first.Run, rollout.Options{}); err == nil || !strings.Contains(err.Error(), "is closed") {
			t.Errorf("resumed once more: %v", err)
		}
	})
}

// TestRunGoesOnWithItsOpenRun: run after run is as good as resume, and another
// content closes the run before.
func TestRunGoesOnWithItsOpenRun(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["b"] = fails("no")
		first := b.run(t.Context(), b.plan("", "a", "b < a"), rollout.Options{})
		again := b.run(t.Context(), b.plan("", "a", "b < a"), rollout.Options{})
		if again.Run != first.Run || len(b.calls) != 3 {
			t.Errorf("run %s after %s, %v", again.Run, first.Run, b.calls)
		}
		other := b.run(t.Context(), b.plan("", "a", "c < a"), rollout.Options{})
		b.expect(other, runbook.RolledOut, "")
		closed := b.record(first.Run).Closed
		if closed == nil || !strings.Contains(closed.Reason, "superseded by run "+other.Run) {
			t.Errorf("closed %+v", closed)
		}
	})
}

const lookup = `variables: [{name: SIZE, input: {resourceGroup: g, step: a, name: size}}]`

func TestOutputsAreHandedOnAndKept(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		plan := b.plan("", "a", "b < a;"+lookup)
		b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
			return rollout.Outcome{Result: journal.Done, Outputs: map[string]rollout.Output{"size": {Value: "12345678901234567890"}}}
		}
		var got []string
		b.does["b"] = func(_ context.Context, attempt *rollout.Attempt) rollout.Outcome {
			got = append(got, attempt.Given[0].Name+"="+attempt.Given[0].Text())
			return rollout.Outcome{Result: []journal.ResultKind{journal.Failure, journal.Done}[len(got)-1]}
		}
		b.run(t.Context(), plan, rollout.Options{})
		b.expect(b.run(t.Context(), plan, rollout.Options{}), runbook.RolledOut, "")
		if want := "SIZE=12345678901234567890"; !slices.Equal(got, []string{want, want}) {
			t.Errorf("given %v", got)
		}
	})
}

func TestMissingOutputFailsTheStepThatNeedsIt(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome { return done() }
		result := b.run(t.Context(), b.plan("", "a", "b < a;"+lookup), rollout.Options{})
		b.expect(result, runbook.Failed, `step g/b needs the output "size" of step g/a, which gave none of that name`)
	})
}

// TestSecrets: a secret is handed on, never written down, and made again on
// resume where that does no harm.
func TestSecrets(t *testing.T) {
	for name, idempotent := range map[string]bool{"made again": true, "lost": false} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				plan := b.plan("", "z", fmt.Sprintf("a < z; idempotent: %v", idempotent), "b < a;"+lookup)
				b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
					return rollout.Outcome{Result: journal.Done, Outputs: map[string]rollout.Output{"size": {Value: "hush-hush", Secret: true}}}
				}
				works := false
				b.does["b"] = func(_ context.Context, attempt *rollout.Attempt) rollout.Outcome {
					if attempt.Given[0].Text() != "hush-hush" || !attempt.Given[0].Secret {
						t.Errorf("given %+v", attempt.Given)
					}
					if !works {
						return rollout.Outcome{Result: journal.Failure, Reason: "no, says hush-hush"}
					}
					return done()
				}
				first := b.run(t.Context(), plan, rollout.Options{})
				works, b.calls = true, nil
				result, err := b.runner().Run(t.Context(), plan, rollout.Options{})
				if idempotent {
					b.expect(result, runbook.RolledOut, "")
					if !slices.Equal(b.calls, []string{"a", "b"}) {
						t.Errorf("ran %v", b.calls)
					}
				} else if err == nil || !strings.Contains(err.Error(), `needs the secret output "size" of step g/a, which is not kept`) {
					t.Errorf("got %v", err)
				}
				lines, err := b.journal.Read(t.Context(), first.Run)
				if err != nil {
					t.Fatal(err)
				}
				for _, line := range lines {
					if strings.Contains(string(line), "hush") {
						t.Errorf("in the record: %s", line)
					}
				}
			})
		})
	}
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
		b.expect(result, runbook.Failed, "step g/a: not done within its timeout of 10s: cut off")
	})
}

// TestCutOff: nobody knows what became of a step that was cut off. It is asked
// about, and goes on with the answer.
func TestCutOff(t *testing.T) {
	for name, test := range map[string]struct {
		fields string
		answer rollout.Answer
		calls  []string
		ends   runbook.Outcome
		refuse string
	}{
		"done":            {"", rollout.Done, []string{"b"}, runbook.RolledOut, ""},
		"again":           {"", rollout.Again, []string{"a", "b"}, runbook.RolledOut, ""},
		"no answer":       {"", "", nil, runbook.NeedsAttention, ""},
		"idempotent":      {"; idempotent: true", "", []string{"a", "b"}, runbook.RolledOut, ""},
		"nobody asked it": {"; idempotent: true", rollout.Done, nil, "", "nobody asks what became of step"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				plan := b.plan("", "a"+test.fields, "b < a")
				b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
					return rollout.Outcome{Result: journal.Unclear, Reason: "it was cut off: killed"}
				}
				first := b.run(t.Context(), plan, rollout.Options{})
				if test.fields == "" {
					b.expect(first, runbook.NeedsAttention, "step g/a: it was cut off: killed")
					if want := "Has g/a done its work? Look, and answer by salve resume run-1 --answer g/a=done, or =again"; !strings.Contains(first.Question, want) {
						t.Errorf("asked %q", first.Question)
					}
				}
				b.does["a"], b.calls = nil, nil
				options := rollout.Options{}
				if test.answer != "" {
					options.Answers = map[string]rollout.Answer{"g/a": test.answer}
				}
				result, err := b.runner().Resume(t.Context(), plan, first.Run, options)
				if test.refuse != "" {
					if err == nil || !strings.Contains(err.Error(), test.refuse) {
						t.Errorf("got %v", err)
					}
					return
				}
				if err != nil || result.Outcome != test.ends || !slices.Equal(b.calls, test.calls) {
					t.Errorf("%v: %+v, ran %v", err, result, b.calls)
				}
			})
		})
	}
}

// TestDoneNeedsItsOutputs: who says that a step is done can't make up its outputs.
func TestDoneNeedsItsOutputs(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		plan := b.plan("", "a", "b < a;"+lookup)
		b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
			return rollout.Outcome{Result: journal.Unclear}
		}
		first := b.run(t.Context(), plan, rollout.Options{})
		_, err := b.runner().Resume(t.Context(), plan, first.Run, rollout.Options{Answers: map[string]rollout.Answer{"g/a": rollout.Done}})
		if err == nil || !strings.Contains(err.Error(), `step g/b needs the output "size" of g/a, which is not known: answer g/a=again`) {
			t.Errorf("got %v", err)
		}
	})
}

func TestInterruptLetsRunningStepsStop(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		ctx, interrupt := context.WithCancelCause(t.Context())
		time.AfterFunc(90*time.Second, func() { interrupt(engine.ErrInterrupted) })
		b.does["b"] = func(ctx context.Context, _ *rollout.Attempt) rollout.Outcome {
			<-ctx.Done()
			time.Sleep(5 * time.Second) // it tidies up, and says itself that it failed
			return rollout.Outcome{Result: journal.Failure, Reason: "exit code 1"}
		}
		plan := b.plan("", "a", "b < a", "c < a", "d < c")
		result := b.run(ctx, plan, rollout.Options{})
		b.expect(result, runbook.NeedsAttention, "interrupted; 1 of 4 steps are done; not done: g/b, g/c; not begun: g/d")
		if !result.Open || !strings.Contains(result.Question, "Has g/c done its work?") {
			t.Errorf("open %v, question %q", result.Open, result.Question)
		}
		delete(b.does, "b")
		resumed, err := b.runner().Resume(t.Context(), plan, result.Run, rollout.Options{Answers: map[string]rollout.Answer{"g/c": rollout.Again}})
		if err != nil {
			t.Fatal(err)
		}
		b.expect(resumed, runbook.RolledOut, "")
	})
}

func TestInterruptWhileItWaitsToTryAgain(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		ctx, interrupt := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { interrupt(engine.ErrInterrupted) })
		b.does["a"] = fails("flaky")
		result := b.run(ctx, b.plan("", "a; automatedRetry: {errorContainsAny: [flaky], maximumRetryCount: 2, durationBetweenRetries: 5m}"), rollout.Options{})
		b.expect(result, runbook.NeedsAttention, "interrupted; 0 of 1 steps are done; not done: g/a")
	})
}

func TestSoakCountsFromTheFirstSuccessOfTheRevision(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		const soak = `soak; action: Soak | since: {resourceGroup: g, step: a} | duration: 4h`
		steps := []string{"a", soak, "b < soak", "c"}
		plan := b.plan("revision: '7'\n", steps...)
		ctx, interrupt := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Hour, func() { interrupt(engine.ErrInterrupted) })
		began := time.Now()
		first := b.run(ctx, plan, rollout.Options{})
		b.expect(first, runbook.NeedsAttention, "not done: g/soak; not begun: g/b")
		if first.Question != "" {
			t.Errorf("a wait is asked about: %s", first.Question)
		}
		time.Sleep(2 * time.Hour)
		b.expect(b.run(t.Context(), plan, rollout.Options{}), runbook.RolledOut, "")
		if took := time.Since(began); took != 4*time.Hour+2*time.Minute {
			t.Errorf("took %s", took)
		}
		// The same revision once more: it has been out for long enough.
		b.changed = func(inputs *rollout.Inputs) { inputs.Digest = "other" }
		began = time.Now()
		b.run(t.Context(), b.plan("revision: '7'\n", steps...), rollout.Options{})
		if took := time.Since(began); took != 2*time.Minute {
			t.Errorf("the same revision took %s", took)
		}
		// A newer one has not.
		b.changed = func(inputs *rollout.Inputs) { inputs.Digest = "newer" }
		began = time.Now()
		b.run(t.Context(), b.plan("revision: '8'\n", steps...), rollout.Options{})
		if took := time.Since(began); took != 4*time.Hour+2*time.Minute {
			t.Errorf("a newer revision took %s", took)
		}
	})
}

func TestOlderRevisionsAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		before, now string
		allow       string
		ends        runbook.Outcome
		reason      string
	}{
		"older":             {"8", "7", "", runbook.Failed, "revision-order does not hold: revision 7 is older than 8, which run run-1 rolled out here"},
		"older, allowed":    {"8", "7", "8 is broken", runbook.RolledOut, ""},
		"the same":          {"8", "8", "", runbook.RolledOut, ""},
		"newer":             {"8", "9", "", runbook.RolledOut, ""},
		"of another kind":   {"8", "2026-03-01T12:00:00Z", "", runbook.Undecided, "revision-order is unknown"},
		"none after one":    {"8", "", "", runbook.Undecided, "the pipeline has no revision, and run run-1 rolled out revision 8 here"},
		"one after none":    {"", "8", "", runbook.RolledOut, ""},
		"neither":           {"", "", "", runbook.RolledOut, ""},
		"none, but allowed": {"8", "", "by hand", runbook.RolledOut, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				plan := func(revision, step string) *rollout.Plan {
					if revision == "" {
						return b.plan("", step)
					}
					return b.plan("revision: '"+revision+"'\n", step)
				}
				b.run(t.Context(), plan(test.before, "a"), rollout.Options{})
				b.calls = nil
				result := b.run(t.Context(), plan(test.now, "another"), rollout.Options{AllowOlder: test.allow})
				b.expect(result, test.ends, test.reason)
				if (test.ends == runbook.RolledOut) != (len(b.calls) > 0) {
					t.Errorf("ran %v", b.calls)
				}
				if test.allow != "" && b.record(result.Run).Header.Overrides["revision-order"] != test.allow {
					t.Errorf("the reason is not in the record: %v", b.record(result.Run).Header.Overrides)
				}
			})
		})
	}
}

func TestUnknownActionsAreRefusedBeforeAnythingBegins(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		const registration = `r < a; action: Ev2Registration | identityFrom: {resourceGroup: g, step: a, name: id}`
		_, err := b.runner().Run(t.Context(), b.plan("", "a", registration, "b < r"), rollout.Options{})
		var wrong *engine.UsageError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "step g/r has the action Ev2Registration, which Salve does not run; --skip-actions Ev2Registration leaves such steps out") {
			t.Errorf("got %v", err)
		}
		if len(b.calls) > 0 {
			t.Errorf("ran %v", b.calls)
		}
		b.changed = func(inputs *rollout.Inputs) { inputs.Skip = []string{"Ev2Registration"} }
		b.expect(b.run(t.Context(), b.plan("", "a", registration, "b < r"), rollout.Options{}), runbook.RolledOut, "all 3")
		if !slices.Equal(b.calls, []string{"a", "b"}) {
			t.Errorf("ran %v", b.calls)
		}
	})
}

func TestOneRunnerForATarget(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		plan := b.plan("", "a")
		lease, err := b.journal.Lock(t.Context(), journal.Claim{Target: plan.Target().ID, Holder: journal.Holder{Run: "run-0", User: "bo"}})
		if err != nil {
			t.Fatal(err)
		}
		var held *journal.HeldError
		if _, err := b.runner().Run(t.Context(), plan, rollout.Options{}); !errors.As(err, &held) || held.Holder.User != "bo" {
			t.Errorf("got %v", err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.expect(b.run(t.Context(), plan, rollout.Options{}), runbook.RolledOut, "")
	})
}

// TestValidationComesLast: the steps that validate a resource group wait for all
// others of it.
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
  - {name: check, action: Shell, command: x, shellIdentity: {value: none}}
`))
		if len(found) > 0 {
			t.Skip("the schema has other validation steps: ", found)
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
