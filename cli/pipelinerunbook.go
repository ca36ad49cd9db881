package cli

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/console"
	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

// runbookAction runs Salve's own runbooks as steps of a pipeline: in this process,
// each with a record of its own in the same journal.
type runbookAction struct {
	app  *app
	kept *journal.Location
	// cloud are the ways to Azure and to clusters.
	cloud cloudFlags
	// pass are the variables of the environment that runbooks may read.
	pass []string
}

// Traits: the engine looks by itself what became of a run that was cut off.
func (*runbookAction) Capabilities() rollout.Capabilities {
	return rollout.Capabilities{Repeatable: true}
}

// Check has nothing to find: the file has been validated, with all that it gives to
// runbooks.
func (*runbookAction) Check(context.Context, *pipeline.Step) error { return nil }

func (b *runbookAction) entry(step *pipeline.Step) (entry, error) {
	for _, definition := range b.app.entries() {
		if definition.name() == step.Runbook.Runbook.Value {
			return definition, nil
		}
	}
	return nil, fmt.Errorf("runbook %q not found", step.Runbook.Runbook.Value)
}

// invocation makes the invocation of a step.
func (b *runbookAction) invocation(attempt *rollout.Attempt, verb verb) (*invocation, error) {
	definition, err := b.entry(attempt.Step)
	if err != nil {
		return nil, err
	}
	asked, flags := inputFlags(definition)
	asked.cloud = b.cloud
	for _, variable := range attempt.Variables {
		if err := give(flags, variable.Name, variable.Value); err != nil {
			return nil, fmt.Errorf("input %s: %w", variable.Name, err)
		}
	}
	person := *b.app
	person.lookup = func(name string) string {
		if slices.Contains(b.pass, name) {
			return b.app.lookup(name)
		}
		return ""
	}
	if err := definition.read(&person, asked, flags); err != nil {
		return nil, err
	}
	factory, err := definition.factory(&person, asked)
	if err != nil {
		return nil, err
	}
	e := newInvocation(&person, asked, factory, verb)
	e.journal = b.kept
	return e, e.validate()
}

// Run runs the runbook, or resumes its open run.
func (b *runbookAction) Run(ctx context.Context, attempt *rollout.Attempt) rollout.Outcome {
	e, err := b.invocation(attempt, act)
	if err != nil {
		return rollout.Outcome{Result: journal.Failure, Reason: err.Error()}
	}
	if err := e.leaseInWorld(ctx); err != nil {
		return rollout.Outcome{Result: journal.Failure, Reason: err.Error()}
	}
	results, err := e.results(ctx, b.app.stepEngine(attempt, e.journal, e.clock))
	if err != nil {
		return rollout.Outcome{Result: journal.Failure, Reason: err.Error()}
	}
	return b.outcome(attempt.Step, results)
}

// stepEngine is an engine for a step's runbooks, which writes its log into the step's.
func (a *app) stepEngine(attempt *rollout.Attempt, kept *journal.Location, clk clock.Clock) *engine.Engine {
	log := console.NewLog(console.NewHandler(attempt.Log, a.verbosity))
	waits := waitTeller{tell: func(text string) { attempt.Wait(attempt.Mask(text)) }}
	return a.engine(kept, clk, func(event engine.Event) {
		log.Watch(event)
		switch event.Kind {
		case engine.RunBegan:
			// A run without this note is found by its target all the same.
			_ = attempt.Begin(event.Run)
			a.observation.within(event.Run, attempt.Run, attempt.Step.ID().String())
			attempt.Report("run " + event.Run + " " + event.Text)
		case engine.StepBegan:
			attempt.Report("run " + event.Run + ": " + event.Step)
		case engine.Waiting:
			waits.watch(event)
		default: // the step's log has the rest
		}
	})
}

// betweenWaits is how often a step says again that it waits.
const betweenWaits = 10 * time.Second

// waitTeller tells what a run waits for that does a step's work: at once, and while it goes on waiting now and then. The
// step's log has every wait.
type waitTeller struct {
	tell func(text string)
	mu   sync.Mutex
	told map[string]time.Time // by step of the run
}

func (w *waitTeller) watch(event engine.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if last, before := w.told[event.Step]; before && event.At.Sub(last) < betweenWaits {
		return
	}
	if w.told == nil {
		w.told = map[string]time.Time{}
	}
	w.told[event.Step] = event.At
	text := "run " + event.Run + ": " + event.Text
	if event.Step != "" {
		text = "run " + event.Run + ": " + event.Step + ": " + event.Text
	}
	w.tell(text)
}

// results runs the invocation's runbooks, one after the other, until one of them does
// not end well.
func (e *invocation) results(ctx context.Context, machine *engine.Engine) ([]engine.Result, error) {
	books, ending, err := e.factory.books(ctx, e.journal)
	if err != nil || ending != nil {
		return ending, err
	}
	var results []engine.Result
	for _, book := range books {
		book, _, err := e.withOpenInputs(ctx, book)
		if err != nil {
			return results, err
		}
		result, err := machine.Run(ctx, book, engine.Options{Overrides: e.overridesFor(book)})
		if result, err = e.undecidedIfUnreachable(book.Target, result, err); err != nil {
			return results, err
		}
		if results = append(results, result); exitOf(result.Outcome) != exitDecided {
			break
		}
	}
	return results, nil
}

// outcome says what the results mean to the step: that there was nothing to do, or
// that it is not the time, is no failure.
func (b *runbookAction) outcome(step *pipeline.Step, results []engine.Result) rollout.Outcome {
	last := results[len(results)-1]
	outcome := rollout.Outcome{
		Result: journal.Failure, Reason: fmt.Sprintf("%s: %s", last.Outcome, last.Reason),
		Outputs: map[string]rollout.Output{"outcome": {Value: string(last.Outcome)}, "run": {Value: last.Run}},
	}
	if last.Run != "" {
		outcome.Reason += fmt.Sprintf(" (run %s)", last.Run)
	}
	if last.Question != "" {
		outcome.Reason += ". Question: " + last.Question
	}
	goesOn := last.Outcome == runbook.Undecided && step.Runbook.OnUndecided.Value == "continue"
	if exitOf(last.Outcome) == exitDecided || goesOn {
		outcome.Result = journal.Done
	}
	return outcome
}

// Preview asks the runbook's guards and tells what it would do.
func (b *runbookAction) Preview(ctx context.Context, attempt *rollout.Attempt) (string, error) {
	e, err := b.invocation(attempt, plan)
	if err != nil {
		return "", err
	}
	books, ending, err := e.factory.books(ctx, e.journal)
	if err != nil {
		return "", err
	}
	if ending != nil {
		return fmt.Sprintf("%s: %s", ending[0].Outcome, ending[0].Reason), nil
	}
	said := ""
	for _, book := range books {
		machine := b.app.engine(b.kept, e.clock, nil)
		result, err := machine.Plan(ctx, book, engine.Options{})
		switch {
		case err != nil:
			return said, err
		case result.Plan != nil:
			said += fmt.Sprintf("would act on %s, in %d steps; ", book.Target.Name, len(result.Plan.Steps))
		default:
			said += fmt.Sprintf("%s, %s: %s; ", book.Target.Name, result.Outcome, result.Reason)
		}
	}
	return said[:max(0, len(said)-2)], nil
}
