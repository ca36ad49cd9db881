package runbook_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/runbook"
)

func guard(name string) runbook.Guard {
	return runbook.Guard{Name: name,
		Evaluate: func(context.Context, runbook.Run) runbook.Finding { return runbook.Yes("so") }}
}

func step(name string, after ...string) runbook.Step {
	return runbook.Step{
		Name: name, After: after,
		Observe: func(context.Context, runbook.Run) runbook.Observation { return runbook.Done("so") },
		Apply:   func(context.Context, runbook.Run) error { return nil },
	}
}

func valid() runbook.Runbook {
	return runbook.Runbook{
		Name: "drain-tank", Version: "1", Budget: time.Hour, Target: runbook.Target{ID: "tank/1"},
		Guards: []runbook.Guard{guard("full")}, Preflight: []runbook.Step{step("tidy")},
		Steps: []runbook.Step{step("open"), step("close")}, Checks: []runbook.Guard{guard("empty")},
	}
}

func TestInvalidRunbooksAreRefused(t *testing.T) {
	for name, row := range map[string]struct {
		spoil func(*runbook.Runbook)
		want  string
	}{
		"no name":                {func(r *runbook.Runbook) { r.Name = "" }, "a name is required"},
		"no version":             {func(r *runbook.Runbook) { r.Version = "" }, "a version is required"},
		"no target":              {func(r *runbook.Runbook) { r.Target.ID = "" }, "a target ID is required"},
		"no budget":              {func(r *runbook.Runbook) { r.Budget = 0 }, "a budget is required"},
		"a negative budget":      {func(r *runbook.Runbook) { r.Budget = -1 }, "a budget is required"},
		"a negative limit":       {func(r *runbook.Runbook) { r.Parallel = -1 }, "parallel is -1"},
		"an unknown posture":     {func(r *runbook.Runbook) { r.Posture = "brave" }, `posture "brave"`},
		"no steps":               {func(r *runbook.Runbook) { r.Steps = nil }, "at least one step is required"},
		"no checks":              {func(r *runbook.Runbook) { r.Checks = nil }, "at least one check is required"},
		"a guard without a name": {func(r *runbook.Runbook) { r.Guards[0].Name = "" }, "a guard has no name"},
		"a guard without a function": {func(r *runbook.Runbook) { r.Guards[0].Evaluate = nil },
			`guard "full" has no Evaluate`},
		"two guards of one name": {func(r *runbook.Runbook) { r.Guards = append(r.Guards, guard("full")) },
			`duplicate guard "full"`},
		"a check without a function": {func(r *runbook.Runbook) { r.Checks[0].Evaluate = nil },
			`check "empty" has no Evaluate`},
		"two checks of one name": {func(r *runbook.Runbook) { r.Checks = append(r.Checks, guard("empty")) },
			`duplicate check "empty"`},
		"a step without a name": {func(r *runbook.Runbook) { r.Steps[0].Name = "" }, `a step has the name ""`},
		"a step with the name of Start": {func(r *runbook.Runbook) { r.Steps[0].Name = runbook.Start },
			"a step has the name"},
		"two steps of one name":           {func(r *runbook.Runbook) { r.Steps[1].Name = "open" }, `duplicate step "open"`},
		"a step named like the preflight": {func(r *runbook.Runbook) { r.Steps[1].Name = "tidy" }, `duplicate step "tidy"`},
		"a rollback named like a step": {func(r *runbook.Runbook) {
			back := step("close")
			r.Steps[0].Rollback = &back
		}, `duplicate step "close"`},
		"a step without Observe": {func(r *runbook.Runbook) { r.Steps[0].Observe = nil }, "requires Observe and Apply"},
		"a step without Apply":   {func(r *runbook.Runbook) { r.Steps[0].Apply = nil }, "requires Observe and Apply"},
		"a rollback without Apply": {func(r *runbook.Runbook) {
			back := step("reopen")
			back.Apply = nil
			r.Steps[0].Rollback = &back
		}, `step "reopen" requires Observe and Apply`},
		"a rollback of a rollback": {func(r *runbook.Runbook) {
			back, further := step("reopen"), step("close-again")
			back.Rollback = &further
			r.Steps[0].Rollback = &back
		}, `rollback "reopen" can't be rolled back`},
		"an irreversible rollback": {func(r *runbook.Runbook) {
			back := step("reopen")
			back.Irreversible = true
			r.Steps[0].Rollback = &back
		}, `rollback "reopen" can't be rolled back, irreversible`},
		"a step with a negative budget": {func(r *runbook.Runbook) { r.Steps[0].Budget = -1 }, "negative budget"},
		"a step with a negative permit": {func(r *runbook.Runbook) { r.Steps[0].PermitLasts = -1 },
			"negative budget, permit"},
		"a step with a negative grace": {func(r *runbook.Runbook) { r.Steps[0].Grace = -1 },
			"negative budget, permit or grace"},
		"retries of nothing": {func(r *runbook.Runbook) { r.Steps[0].Retries = &runbook.Retries{Count: 1} },
			"require When"},
		"a step with an unknown guard": {func(r *runbook.Runbook) { r.Steps[0].Guards = []string{"moon"} },
			`requires guard "moon"`},
		"a precondition without a name": {func(
			r *runbook.Runbook) {
			r.Steps[0].Preconditions = []runbook.Guard{guard("")}
		}, "has no name"},
		"a precondition that asks nobody": {func(
			r *runbook.Runbook) {
			r.Steps[0].Preconditions = []runbook.Guard{{Name: "dry"}}
		}, "has no Evaluate"},
		"two preconditions of one name": {func(r *runbook.Runbook) {
			r.Steps[0].Preconditions = []runbook.Guard{guard("dry"), guard("dry")}
		}, "duplicate precondition"},
		"a precondition that is a guard of the step too": {func(r *runbook.Runbook) {
			r.Steps[0].Guards, r.Steps[0].Preconditions = []string{"full"}, []runbook.Guard{guard("full")}
		}, "as a precondition too"},
		"a prepared precondition": {func(r *runbook.Runbook) {
			made := guard("dry")
			made.Prepare, made.PrepareBudget = func(context.Context, runbook.Run) error { return nil }, time.Hour
			r.Steps[0].Preconditions = []runbook.Guard{made}
		}, "has a Prepare function"},
		"a guard that is prepared for ever": {func(r *runbook.Runbook) {
			r.Guards[0].Prepare = func(context.Context, runbook.Run) error { return nil }
		}, "requires both Prepare and PrepareBudget"},
		"an irreversible preflight": {func(r *runbook.Runbook) {
			r.Preflight[0].Irreversible, r.Preflight[0].Guards = true, []string{"full"}
		}, "preflight step"},
		"an irreversible step that asks nothing": {func(r *runbook.Runbook) {
			r.Steps[0].Irreversible, r.Steps[0].Guards, r.Steps[0].Preconditions = true, nil, nil
		}, "requires a guard or a precondition"},
		"a failure as its success":    {func(r *runbook.Runbook) { r.Success = runbook.Failed }, "success"},
		"a success that nobody knows": {func(r *runbook.Runbook) { r.Success = "banana" }, "success"},
		"an ordered preflight": {func(r *runbook.Runbook) {
			r.Preflight[0].After = []string{"open"}
		}, "preflight step"},
		"a preflight with a rollback": {func(r *runbook.Runbook) {
			back := step("untidy")
			r.Preflight[0].Rollback = &back
		}, "preflight step"},
		"an unknown predecessor": {func(r *runbook.Runbook) { r.Steps[0].After = []string{"moon"} }, `comes after "moon"`},
		"a step that is its own": {func(r *runbook.Runbook) { r.Steps[0].After = []string{"open"} },
			`"close" waits for itself`},
		"steps that wait in a row": {func(r *runbook.Runbook) { r.Steps[0].After = []string{"close"} }, "form a cycle"},
	} {
		t.Run(name, func(t *testing.T) {
			book := valid()
			row.spoil(&book)
			var invalid *runbook.InvalidError
			if err := book.Validate(); !errors.As(err, &invalid) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
	book := valid()
	if err := book.Validate(); err != nil {
		t.Errorf("a valid one: %v", err)
	}
}

func TestPredecessorsAreTheStepBeforeUnlessNamed(t *testing.T) {
	graph := runbook.Predecessors([]runbook.Step{
		step("a"), step("b"), step("c", runbook.Start), step("d", "a", "c", "a"), step("e"),
	})
	for name, want := range map[string][]string{"a": nil, "b": {"a"}, "c": nil, "d": {"a", "c"}, "e": {"d"}} {
		if !slices.Equal(graph[name], want) {
			t.Errorf("%s comes after %v, want %v", name, graph[name], want)
		}
	}
}

func TestDigestStandsForAllThatAPlanRestsOn(t *testing.T) {
	seen := time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC)
	findings := func() []runbook.Finding {
		finding := runbook.Yes("so").WithEvidence(runbook.NewEvidence("gauge", "etag-1", seen, 7))
		finding.Guard = "full"
		return []runbook.Finding{finding}
	}
	digest := func(book runbook.Runbook, findings []runbook.Finding) string {
		t.Helper()
		plan, err := book.Plan(nil, book.Steps, findings)
		if err != nil {
			t.Fatal(err)
		}
		return plan.Digest
	}
	same := digest(valid(), findings())
	for name, row := range map[string]struct {
		change func(*runbook.Runbook, []runbook.Finding)
		equal  bool
	}{
		"nothing": {change: func(*runbook.Runbook, []runbook.Finding) {}, equal: true},
		"the time it was seen": {change: func(_ *runbook.Runbook,
			f []runbook.Finding) {
			f[0].Evidence[0].Seen = seen.Add(time.Hour)
		}, equal: true},
		"the reason": {change: func(_ *runbook.Runbook,
			f []runbook.Finding) {
			f[0].Reason = "in other words"
		}, equal: true},
		"the name":    {change: func(r *runbook.Runbook, _ []runbook.Finding) { r.Name = "fill-tank" }},
		"the version": {change: func(r *runbook.Runbook, _ []runbook.Finding) { r.Version = "2" }},
		"the target":  {change: func(r *runbook.Runbook, _ []runbook.Finding) { r.Target.ID = "tank/2" }},
		"the inputs": {change: func(r *runbook.Runbook,
			_ []runbook.Finding) {
			r.Inputs = map[string]int{"litres": 3}
		}},
		"a step": {change: func(r *runbook.Runbook,
			_ []runbook.Finding) {
			r.Steps[0].Changes = "open it wide"
		}},
		"that a step is irreversible": {change: func(r *runbook.Runbook,
			_ []runbook.Finding) {
			r.Steps[0].Irreversible = true
		}},
		"what a step is made with": {change: func(r *runbook.Runbook, _ []runbook.Finding) {
			r.Steps[0].Inputs = func(runbook.Run) (any, error) { return 3, nil }
		}},
		"a guard": {change: func(_ *runbook.Runbook, f []runbook.Finding) { f[0].Guard = "other" }},
		"an answer": {change: func(_ *runbook.Runbook,
			f []runbook.Finding) {
			f[0].Answer = runbook.AnswerUnknown
		}},
		"the evidence's source": {change: func(_ *runbook.Runbook,
			f []runbook.Finding) {
			f[0].Evidence[0].Source = "eye"
		}},
		"the evidence's identity": {change: func(_ *runbook.Runbook,
			f []runbook.Finding) {
			f[0].Evidence[0].Identity = "etag-2"
		}},
		"the evidence's value": {change: func(_ *runbook.Runbook,
			f []runbook.Finding) {
			f[0].Evidence[0].Value = []byte("8")
		}},
		"a finding without a fact": {change: func(_ *runbook.Runbook, f []runbook.Finding) { f[0].Evidence = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			book, found := valid(), findings()
			row.change(&book, found)
			if got := digest(book, found); (got == same) != row.equal {
				t.Errorf("digest %s beside %s", got, same)
			}
		})
	}
}

func TestStepWhoseInputsCannotBeToldMakesNoPlan(t *testing.T) {
	unknown := valid()
	unknown.Inputs = make(chan int)
	if plan, err := unknown.Plan(nil, unknown.Steps, nil); err == nil || !strings.Contains(err.Error(), "digest") {
		t.Errorf("inputs that JSON can't hold: %+v, %v", plan, err)
	}
	for name, inputs := range map[string]func(runbook.Run) (any, error){
		"an error":         func(runbook.Run) (any, error) { return nil, errors.New("no gauge") },
		"nothing for JSON": func(runbook.Run) (any, error) { return make(chan int), nil },
	} {
		book := valid()
		book.Steps[0].Inputs = inputs
		if plan, err := book.Plan(nil, book.Steps, nil); err == nil || !strings.Contains(err.Error(), `step "open"`) {
			t.Errorf("%s: %+v, %v", name, plan, err)
		}
	}
}

func TestZeroAnswersAreUnknown(t *testing.T) {
	if (runbook.Finding{}).Passes() {
		t.Error("the zero finding passes")
	}
	if err := (runbook.Observation{}).Failure(); err == nil {
		t.Error("the zero observation is one")
	}
	if found := runbook.Unknown(nil); found.Answer != runbook.AnswerUnknown || found.Reason == "" {
		t.Errorf("unknown without a cause: %+v", found)
	}
	if err := runbook.NotObserved(errors.New("403")).Failure(); err == nil || err.Error() != "403" {
		t.Errorf("not observed: %v", err)
	}
	for _, seen := range []runbook.Observation{
		runbook.NotStarted("x"), runbook.InFlight("x"), runbook.Done("x"), runbook.Undecidable("?", "x"),
	} {
		if seen.Failure() != nil || seen.Reason != "x" {
			t.Errorf("%+v: %v", seen, seen.Failure())
		}
	}
}

func TestOverridesPassOnlyWhatIsNotLocked(t *testing.T) {
	for name, row := range map[string]struct {
		finding runbook.Finding
		passes  bool
	}{
		"holds":         {runbook.Yes(""), true},
		"does not hold": {runbook.No(""), false},
		"unknown":       {runbook.Unknownf("?"), false},
		"overridden": {runbook.Finding{Answer: runbook.AnswerDoesNotHold, Override: "on call says so"},
			true},
		"overridden and locked": {runbook.Finding{Answer: runbook.AnswerDoesNotHold, Override: "x", Locked: true},
			false},
		"locked by its own guard":     {runbook.No("").NotOverridable(), false},
		"locked, and holds":           {runbook.Yes("").NotOverridable(), true},
		"an answer that there is not": {runbook.Finding{Answer: "perhaps"}, false},
	} {
		if row.finding.Passes() != row.passes {
			t.Errorf("%s: passes %v", name, row.finding.Passes())
		}
	}
}

func TestAnyIsThreeValued(t *testing.T) {
	yes, no, unknown := runbook.Yes("y"), runbook.No("n"), runbook.Unknownf("u")
	for _, row := range []struct {
		findings []runbook.Finding
		want     runbook.Answer
	}{
		{nil, runbook.AnswerUnknown},
		{[]runbook.Finding{no, yes}, runbook.AnswerHolds},
		{[]runbook.Finding{unknown, yes}, runbook.AnswerHolds},
		{[]runbook.Finding{no, unknown}, runbook.AnswerUnknown},
		{[]runbook.Finding{no, no}, runbook.AnswerDoesNotHold},
		{[]runbook.Finding{no, {}}, runbook.AnswerUnknown},
	} {
		if got := runbook.Any(row.findings...); got.Answer != row.want || got.Reason == "" {
			t.Errorf("%v: %+v, want %s", row.findings, got, row.want)
		}
	}
}

func TestAnyNamesTheGuardsThatWereAsked(t *testing.T) {
	named, nameless := runbook.No("dry"), runbook.No("closed")
	named.Guard = "tank-full"
	if got := runbook.Any(named, nameless); got.Reason != "tank-full: dry; closed" {
		t.Errorf("the reason is %q", got.Reason)
	}
}

func TestEvidenceOfOneFindingIsNotSharedWithAnother(t *testing.T) {
	base := runbook.Yes("so").WithEvidence(runbook.Evidence{Source: "a"})
	one, other := base.WithEvidence(runbook.Evidence{Source: "b"}), base.WithEvidence(runbook.Evidence{Source: "c"})
	if one.Evidence[1].Source != "b" || other.Evidence[1].Source != "c" {
		t.Errorf("%v and %v", one.Evidence, other.Evidence)
	}
	if got := runbook.NewEvidence("x", "", time.Now(), make(chan int)); !strings.Contains(string(got.Value),
		"not encodable") {
		t.Errorf("evidence that JSON can't hold: %s", got.Value)
	}
}
