package command_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"salve/internal/pipeline"
	"salve/internal/pipeline/command"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

// together is how many steps run at once in the benchmarks.
const together = 10

// nothing is an action that takes no time: what is left is the scheduler's.
type nothing struct{ *command.Action }

func (nothing) Check(context.Context, *pipeline.Step) error { return nil }
func (nothing) Run(context.Context, *rollout.Attempt) rollout.Outcome {
	return rollout.Outcome{Result: journal.Done}
}

// manySteps is a pipeline of steps that run true, each waiting for the one that
// is together places before it.
func manySteps(b *testing.B, count int) *rollout.Plan {
	b.Helper()
	var text strings.Builder
	text.WriteString("$schema: pipeline.schema.v1\nserviceGroup: Example.Bench\nrolloutName: Bench\nresourceGroups:\n- " +
		"name: g\n  resourceGroup: r\n  subscription: s\n  steps:\n")
	for i := range count {
		fmt.Fprintf(&text, "  - name: s%d\n    action: Shell\n    shellIdentity: {value: none}\n    command: 'true'\n", i)
		if i >= together {
			fmt.Fprintf(&text, "    dependsOn: [{resourceGroup: g, step: s%d}]\n", i-together)
		}
	}
	file, found := pipeline.Parse(filepath.Join(b.TempDir(), "pipeline.yaml"), []byte(text.String()))
	if len(found) > 0 {
		b.Fatal(found)
	}
	plan, err := rollout.NewPlan(file, rollout.Inputs{Digest: "1", Concurrency: together})
	if err != nil {
		b.Fatal(err)
	}
	return plan
}

// BenchmarkScheduler runs 10,000 steps, with a journal on the disk: what a step
// costs besides its work; and 1,000 that run true, beside make and GNU parallel.
func BenchmarkScheduler(b *testing.B) {
	b.Run("nothing/salve", func(b *testing.B) {
		benchmark(b, 10_000, func(shell *command.Action) rollout.Action { return nothing{shell} })
	})
	b.Run("true/salve", func(b *testing.B) {
		benchmark(b, 1_000, func(shell *command.Action) rollout.Action { return shell })
	})
	b.Run("true/make", func(b *testing.B) { beside(b, 1_000, "make", makefile(b, 1_000)...) })
	b.Run("true/parallel", func(b *testing.B) {
		beside(b, 1_000, "parallel", "-j", fmt.Sprint(together), "bash", "-c", "true", "#")
	})
}

func benchmark(b *testing.B, count int, action func(*command.Action) rollout.Action) {
	plan := manySteps(b, count)
	shell := &command.Action{Folder: plan.File.Folder(), Environment: os.Environ(), Grace: time.Second,
		Clock: clock.RealClock{}}
	for b.Loop() {
		runner := &rollout.Runner{
			Journal: journal.NewFile(b.TempDir()), Clock: clock.RealClock{}, OpenLog: rollout.LogFolder(b.TempDir()).Open,
			Actions: map[string]rollout.Action{pipeline.ActionShell: action(shell)},
		}
		result, err := runner.Run(b.Context(), plan, rollout.Options{})
		if err != nil || result.Outcome != runbook.RolledOut {
			b.Fatal(result, err)
		}
	}
	perStep(b, count)
}

// BenchmarkResume goes on with a run of 10,000 steps of which the last has failed.
func BenchmarkResume(b *testing.B) {
	const count = 10_000
	plan := manySteps(b, count)
	for b.Loop() {
		b.StopTimer()
		action := &failing{step: fmt.Sprintf("s%d", count-1)}
		runner := &rollout.Runner{
			Journal: journal.NewFile(b.TempDir()), Clock: clock.RealClock{}, OpenLog: rollout.LogFolder(b.TempDir()).Open,
			Actions: map[string]rollout.Action{pipeline.ActionShell: action},
		}
		first, err := runner.Run(b.Context(), plan, rollout.Options{})
		if err != nil || first.Outcome != runbook.Failed {
			b.Fatal(first, err)
		}
		action.step = ""
		b.StartTimer()
		result, err := runner.Resume(b.Context(), plan, first.Run, rollout.Options{})
		if err != nil || result.Outcome != runbook.RolledOut {
			b.Fatal(result, err)
		}
	}
	perStep(b, count)
}

// failing is an action that takes no time, and fails for one step.
type failing struct {
	nothing
	step string
}

func (failing) Capabilities() rollout.Capabilities { return rollout.Capabilities{} }

func (f *failing) Run(_ context.Context, attempt *rollout.Attempt) rollout.Outcome {
	if attempt.Step.Name.Value == f.step {
		return rollout.Outcome{Result: journal.Failure, Reason: "no"}
	}
	return rollout.Outcome{Result: journal.Done}
}

func (failing) Clear(context.Context, string, pipeline.StepID) (string, error) { return "", nil }

func (failing) Preview(context.Context, *rollout.Attempt) (string, error) { return "", nil }

// makefile has the same graph, each recipe run by bash.
func makefile(b *testing.B, count int) []string {
	var text strings.Builder
	text.WriteString("SHELL := bash\nall:")
	for i := range count {
		fmt.Fprintf(&text, " s%d", i)
	}
	for i := range count {
		fmt.Fprintf(&text, "\ns%d:", i)
		if i >= together {
			fmt.Fprintf(&text, " s%d", i-together)
		}
		text.WriteString("\n\t@true;")
	}
	path := filepath.Join(b.TempDir(), "Makefile")
	if err := os.WriteFile(path, []byte(text.String()+"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	return []string{"-s", "-f", path, "-j", fmt.Sprint(together), "all"}
}

func beside(b *testing.B, count int, program string, arguments ...string) {
	path, err := exec.LookPath(program)
	if err != nil {
		b.Skipf("%s is not here", program)
	}
	for b.Loop() {
		run := exec.CommandContext(b.Context(), path, arguments...)
		if program == "parallel" {
			var input strings.Builder
			for i := range count {
				fmt.Fprintln(&input, i)
			}
			run.Stdin = strings.NewReader(input.String())
		}
		if out, err := run.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	perStep(b, count)
}

func perStep(b *testing.B, count int) {
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*count)/1000, "ms/step")
}
