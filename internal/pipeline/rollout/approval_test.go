package rollout_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"salve/engine"
	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

// approver answers every question about a plan, or none.
type approver struct {
	mu      sync.Mutex
	silent  bool
	expires time.Duration
	// before is called before an answer is given.
	before func()
	asked  []journal.Question
}

func (*approver) Requester(context.Context, journal.ApprovalRule) (journal.Identity, error) {
	return journal.Identity{User: "bob"}, nil
}

func (a *approver) Statements(
	_ context.Context, _ journal.ApprovalRule, run string, question journal.Question,
) ([]engine.Said, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.asked) == 0 || a.asked[len(a.asked)-1].ID != question.ID {
		a.asked = append(a.asked, question)
	}
	if a.silent {
		return nil, nil
	}
	if a.before != nil {
		a.before()
	}
	expires := a.expires
	if expires == 0 {
		expires = time.Hour
	}
	return []engine.Said{{Statement: journal.Statement{
		ID: "yes to " + question.ID, Run: run, Digest: question.Digest, Question: question.ID, Expires: expires.Seconds(),
		By: journal.Identity{User: "alice"},
	}}}, nil
}

var fourEyes = rollout.Options{Approval: &journal.ApprovalRule{FourEyes: true, WaitSeconds: 3600}}

func (b *bench) approvedBy(people *approver) *rollout.Runner {
	runner := b.runner()
	runner.Approvals = people
	return runner
}

// TestNothingIsMadeBeforeTheApproval: no step runs, and nothing is built.
func TestNothingIsMadeBeforeTheApproval(t *testing.T) {
	for name, people := range map[string]*approver{"nobody answers": {silent: true}, "it is approved": {}} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				built := 0
				runner := b.approvedBy(people)
				runner.Prepare = func(context.Context) (string, error) {
					built++
					return "built", nil
				}
				people.before = func() {
					if built > 0 || len(b.calls) > 0 {
						t.Errorf("built %d times, ran %v before it was approved", built, b.calls)
					}
				}
				result, err := runner.Run(t.Context(), b.plan("", "a", "b < a"), fourEyes)
				switch {
				case err != nil:
					t.Fatal(err)
				case !people.silent:
					b.expect(result, runbook.RolledOut, "all 2 steps")
					if built != 1 {
						t.Errorf("built %d times", built)
					}
				default:
					b.expect(result, runbook.Failed, "was not approved within 1h")
					if built > 0 || len(b.calls) > 0 || result.Open {
						t.Errorf("built %d times, ran %v, open %v", built, b.calls, result.Open)
					}
				}
			})
		})
	}
}

// TestWhoeverResumesAsksAnew: wherever the process dies, before the approval or after it, the one that goes on does
// nothing more until its plan is approved.
func TestWhoeverResumesAsksAnew(t *testing.T) {
	for at, complete := 1, false; !complete; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, after it %v", at, after), func(t *testing.T) {
				in(t, func(t *testing.T, b *bench) {
					kept := b.journal
					plan := b.plan("", "a; idempotent: true", "b < a; idempotent: true")
					b.journal = &dying{Store: kept, at: at, after: after}
					_, err := b.approvedBy(&approver{}).Run(t.Context(), plan, fourEyes)
					b.journal = kept
					if complete = err == nil; complete {
						return
					}
					ran, done := len(b.calls), b.doneSteps()
					if len(done) == 2 {
						return // nothing is left to approve
					}
					silent := &approver{silent: true}
					result, err := b.approvedBy(silent).Run(t.Context(), plan, rollout.Options{Approval: fourEyes.Approval})
					if err != nil {
						t.Fatal(err)
					}
					b.expect(result, runbook.Failed, "was not approved")
					if len(b.calls) > ran || len(silent.asked) != 1 {
						t.Errorf("ran %v, asked %d times", b.calls[ran:], len(silent.asked))
					}
					if ran > 0 && !result.Open {
						t.Errorf("closed after %v", b.calls)
					}
					if !result.Open {
						return
					}
					resumed, err := b.approvedBy(&approver{}).Resume(t.Context(), plan, result.Run, rollout.Options{})
					if err != nil {
						t.Fatal(err)
					}
					b.expect(resumed, runbook.RolledOut, "all 2 steps")
					for _, name := range b.calls[ran:] {
						if slices.Contains(done, name) {
							t.Errorf("%s was run again", name)
						}
					}
				})
			})
		}
	}
}

// TestRuleIsKept: a run that was started with a rule is not resumed without one.
func TestRuleIsKept(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"] = fails("no")
		plan := b.plan("", "a")
		result, err := b.approvedBy(&approver{}).Run(t.Context(), plan, fourEyes)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.runner().Resume(t.Context(), plan, result.Run, rollout.Options{})
		var invalid *engine.InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "waits for an approval") {
			t.Errorf("got %v", err)
		}
	})
}

// TestStepAfterTheApprovalIsOver does not begin: the run stays open, and asks anew for what is left.
func TestStepAfterTheApprovalIsOver(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		plan := b.plan("", "a", "b < a")
		result, err := b.approvedBy(&approver{expires: 30 * time.Second}).Run(t.Context(), plan, fourEyes)
		if err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.Failed, "approval expired: that of alice was good for 30s")
		if !slices.Equal(b.calls, []string{"a"}) || !result.Open {
			t.Errorf("ran %v, open %v", b.calls, result.Open)
		}
		anew := &approver{}
		if result, err = b.approvedBy(anew).Resume(t.Context(), plan, result.Run, rollout.Options{}); err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.RolledOut, "all 2 steps")
		if !slices.Equal(b.calls, []string{"a", "b"}) || len(anew.asked) != 1 {
			t.Errorf("ran %v, asked %d times", b.calls, len(anew.asked))
		}
	})
}

// TestContentIsReadAgainAfterTheApproval: what is approved is what is executed.
func TestContentIsReadAgainAfterTheApproval(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		plan := b.plan("", "a")
		plan.Content = "as planned"
		content := plan.Content
		runner := b.approvedBy(&approver{before: func() { content = "another" }})
		runner.Content = func(context.Context) (string, error) { return content, nil }
		result, err := runner.Run(t.Context(), plan, fourEyes)
		if err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.Failed, "content-unmoved does not hold")
		if len(b.calls) > 0 || result.Open {
			t.Errorf("ran %v, open %v", b.calls, result.Open)
		}
	})
}

// TestOutputsAreEmptyInThePlan and are filled in by the steps before; a plan with secrets keeps its digest.
func TestOutputsAreEmptyInThePlan(t *testing.T) {
	for name, output := range map[string]rollout.Output{
		"open": {Value: "3"}, "secret": {Value: "h1dden", Secret: true},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				b.does["a"] = hands(output)
				b.changed = func(inputs *rollout.Inputs) { inputs.Digest = "1" }
				plan := b.plan("", "a; variables: [{name: DB_PASSWORD, value: s3same}]", "b < a;"+lookup)
				result, err := b.approvedBy(&approver{}).Run(t.Context(), plan, fourEyes)
				if err != nil {
					t.Fatal(err)
				}
				b.expect(result, runbook.RolledOut, "all 2 steps")
				kept := b.record(result.Run)
				if err := kept.Plan.Verify(); err != nil {
					t.Error(err)
				}
				if text, err := json.Marshal(kept.Plan); err != nil || strings.Contains(string(text), "s3same") {
					t.Errorf("%s, %v", text, err)
				}
				if step := kept.Plan.Steps[1]; string(step.Inputs) != `{"SIZE":null}` ||
					!strings.HasSuffix(step.Changes, "of pipeline.yaml; SIZE is size of g/a") {
					t.Errorf("%s with %s", step.Changes, step.Inputs)
				}
			})
		})
	}
}

func hands(size rollout.Output) func(context.Context, *rollout.Attempt) rollout.Outcome {
	return func(context.Context, *rollout.Attempt) rollout.Outcome {
		return rollout.Outcome{Result: journal.Done, Outputs: map[string]rollout.Output{"size": size}}
	}
}

// TestStepThatIsDoneAgainIsInThePlan: one whose secret was not kept is approved like any other.
func TestStepThatIsDoneAgainIsInThePlan(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"], b.does["b"] = hands(rollout.Output{Value: "h1dden", Secret: true}), fails("no")
		plan := b.plan("", "a; idempotent: true", "b < a;"+lookup)
		result, err := b.approvedBy(&approver{}).Run(t.Context(), plan, fourEyes)
		if err != nil {
			t.Fatal(err)
		}
		b.does["b"], b.calls = nil, nil
		result, err = b.approvedBy(&approver{}).Resume(t.Context(), plan, result.Run, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.RolledOut, "all 2 steps")
		planned := b.record(result.Run).Plan.Steps
		if len(planned) != 2 || planned[0].Name != "g/a" || !slices.Equal(b.calls, []string{"a", "b"}) {
			t.Errorf("planned %v, ran %v", planned, b.calls)
		}
	})
}

// discreet is an action that learns which variables are secrets from what may have to be built.
type discreet struct {
	scripted
	built *bool
}

func (d discreet) Check(context.Context, *pipeline.Step) error {
	if !*d.built {
		return errors.New("it is not built yet")
	}
	return nil
}

func (d discreet) Secret(_ *pipeline.Step, variable string) bool {
	return *d.built && variable == "KEY"
}

// TestWhatMayBeASecretIsNotInThePlan while that is not known: what tells is built after the approval.
func TestWhatMayBeASecretIsNotInThePlan(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		built := false
		b.changed = func(inputs *rollout.Inputs) { inputs.Digest = "1" }
		runner := b.approvedBy(&approver{})
		runner.Actions["Shell"] = discreet{scripted{b}, &built}
		runner.Prepare = func(context.Context) (string, error) {
			built = true
			return "built", nil
		}
		plan := b.plan("", "a; variables: [{name: KEY, value: h1dden}, {name: OTHER, value: seen}]")
		result, err := runner.Run(t.Context(), plan, fourEyes)
		if err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.RolledOut, "its only step")
		for _, entry := range b.record(result.Run).Entries {
			if strings.Contains(string(entry.Data), "h1dden") {
				t.Errorf("%s: %s", entry.Kind, entry.Data)
			}
		}
	})
}

// TestPartOfAnApprovedRunAsksNobody, and keeps the rule for whoever resumes it by itself.
func TestPartOfAnApprovedRunAsksNobody(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"] = fails("no")
		plan, silent := b.plan("", "a"), &approver{silent: true}
		covered := fourEyes
		covered.ApprovedIn = "run-whole"
		result, err := b.approvedBy(silent).Run(t.Context(), plan, covered)
		if err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.Failed, "step g/a: no")
		if result, err = b.approvedBy(silent).Resume(t.Context(), plan, result.Run, rollout.Options{}); err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.Failed, "was not approved")
		if len(b.calls) != 1 || len(silent.asked) != 1 {
			t.Errorf("ran %v, asked %d times", b.calls, len(silent.asked))
		}
	})
}
