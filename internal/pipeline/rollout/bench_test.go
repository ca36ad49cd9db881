package rollout_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
	"salve/runbook/runbooktest"
)

// bench is a journal on which pipelines of scripted steps are run.
type bench struct {
	*testing.T
	journal  journal.Store
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
	// guards are those of the runner, for who replays its runs.
	guards []runbook.Guard
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, journal: journal.NewMemory(),
		does: map[string]func(context.Context, *rollout.Attempt) rollout.Outcome{}}
	t.Cleanup(func() {
		store, isBackend := b.journal.(journal.Backend)
		if !isBackend {
			return
		}
		runbooktest.Replayed(t, store, rollout.Name, func(history *journal.History) (runbook.Runbook, error) {
			return rollout.Replayed(history, history.Header.Inputs, b.guards...)
		})
	})
	return b
}

// scripted is the action of the bench's steps.
type scripted struct{ bench *bench }

func (scripted) Capabilities() rollout.Capabilities          { return rollout.Capabilities{} }
func (scripted) Check(context.Context, *pipeline.Step) error { return nil }
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
		return rollout.Outcome{Result: journal.Unknown, Reason: "cut off"}
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
