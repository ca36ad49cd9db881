package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"salve/engine"
	"salve/internal/kubetest"
	"salve/runbook"
)

type lampInputs struct {
	Lamp string `json:"lamp"`
}

// lamp is a site's own runbook: a lamp that is to be off. What the cluster is for is its ID.
func lamp(on *bool, change func(*Definition[Cluster, lampInputs])) Provider {
	is := func(off bool) runbook.Finding {
		if *on == off {
			return runbook.No("it is not")
		}
		return runbook.Yes("it is")
	}
	definition := Definition[Cluster, lampInputs]{
		Name: "lamp-off", Short: "Switch a lamp off", Long: "Switch a lamp off that burns at night.",
		Defaults: lampInputs{Lamp: "1"},
		Flags: func(in *lampInputs, flags *pflag.FlagSet) {
			flags.StringVar(&in.Lamp, "lamp", in.Lamp, "which `lamp`")
		},
		New: func(cluster Cluster, in lampInputs) (runbook.Runbook, error) {
			return runbook.Runbook{
				Name: "lamp-off", Version: "1", Budget: time.Minute, Inputs: in,
				Target: runbook.Target{Kind: "lamp", ID: cluster.ID + "/" + in.Lamp, Name: "lamp " + in.Lamp},
				Guards: []runbook.Guard{{
					Name: "is-on", Evaluate: func(context.Context, runbook.Run) runbook.Finding { return is(false) },
				}},
				Steps: []runbook.Step{{
					Name: "switch", Guards: []string{"is-on"},
					Observe: func(context.Context, runbook.Run) runbook.Observation {
						if *on {
							return runbook.NotStarted("it burns")
						}
						return runbook.Done("it is dark")
					},
					Apply: func(context.Context, runbook.Run) error { *on = false; return nil },
				}},
				Checks: []runbook.Guard{{
					Name: "is-off", Evaluate: func(context.Context, runbook.Run) runbook.Finding { return is(true) },
				}},
			}, nil
		},
	}
	if change != nil {
		change(&definition)
	}
	return OnCluster(definition)
}

// runProgram runs a command of a program with these runbooks.
func runProgram(
	runbooks []Provider, lookup func(string) string, arguments ...string,
) (code int, stdout, stderr string) {
	var out, log bytes.Buffer
	a := &app{
		stdout: &out, stderr: &log, arguments: arguments, lookup: lookup, connect: connect,
		program: Options{Name: "site", About: "Runbooks of a site", Runbooks: runbooks},
	}
	return execute(a), out.String(), log.String()
}

func noVariables(string) string { return "" }

// TestSitesRunbookHasEveryCommand: run, plan, check, resume, runs, explain, and as a step of a pipeline.
func TestSitesRunbookHasEveryCommand(t *testing.T) {
	plane, on := kubetest.Start(t), true
	folder := t.TempDir()
	lookup := func(name string) string {
		return map[string]string{keyFileVariable: filepath.Join(folder, "key"), "KUBECONFIG": plane.Kubeconfig()}[name]
	}
	runbooks := append(BuiltIn(), lamp(&on, nil))
	types := func(want int, says string, arguments ...string) string {
		t.Helper()
		code, stdout, stderr := runProgram(runbooks, lookup,
			append(arguments, "--journal", filepath.Join(folder, "journal"))...)
		if code != want || !strings.Contains(stdout+stderr, says) {
			t.Fatalf("%s: exit code %d\n%s\n%s", strings.Join(arguments, " "), code, stdout, stderr)
		}
		return stdout
	}
	types(0, "is-on", "check", "lamp-off", "--lamp", "7")
	types(0, "switch", "plan", "lamp-off")
	if !on {
		t.Fatal("looking switched the lamp off")
	}
	types(0, "remediated", "run", "lamp-off", "--lamp", "7")
	if on {
		t.Fatal("the lamp burns")
	}
	run := strings.Fields(strings.Split(types(0, "lamp 7", "runs", "list"), "\n")[1])[0]
	types(0, "is-on", "explain", run, "--all")
	types(2, "closed", "resume", run)
	types(2, "hint: site runs list", "resume", "20260101-000000-abcdef")
	code, stdout, _ := runProgram(runbooks, lookup, "--help")
	if code != 0 || !strings.HasPrefix(stdout, "Runbooks of a site") ||
		!strings.Contains(stdout, "Exit codes: ") || strings.Contains(stdout, "  salve ") {
		t.Errorf("help: %d, %s", code, stdout)
	}
	a := &app{program: Options{Runbooks: runbooks}}
	known, found := a.pipelineRunbooks()["lamp-off"]
	if !found || !strings.Contains(strings.Join(known.Inputs, " "), "lamp") {
		t.Errorf("pipelines know %v", a.pipelineRunbooks())
	}
}

// TestInvalidProgramsAreRefused before anything else.
func TestInvalidProgramsAreRefused(t *testing.T) {
	on := true
	named := func(name string) Provider {
		return lamp(&on, func(d *Definition[Cluster, lampInputs]) { d.Name = name })
	}
	flag := func(name string) Provider {
		return lamp(&on, func(d *Definition[Cluster, lampInputs]) {
			d.Flags = func(in *lampInputs, flags *pflag.FlagSet) { flags.StringVar(&in.Lamp, name, "", "") }
		})
	}
	for _, row := range []struct {
		says     string
		runbooks []Provider
	}{
		{`duplicate runbook "lamp-off"`, []Provider{named("lamp-off"), named("lamp-off")}},
		{`duplicate runbook "remove-operator"`, append(BuiltIn(), named("remove-operator"))},
		{`duplicate runbook "arm-deployment"`, []Provider{named("arm-deployment")}},
		{`runbook name ""`, []Provider{named("")}},
		{`runbook name "Lamp"`, []Provider{named("Lamp")}},
		{`runbook name "lamp off"`, []Provider{named("lamp off")}},
		{`runbook name "--lamp"`, []Provider{named("--lamp")}},
		{"runbook 1 is nil", []Provider{nil}},
		{"New is missing", []Provider{lamp(&on, func(d *Definition[Cluster, lampInputs]) { d.New = nil })}},
		{"Cluster is missing", []Provider{OnAKS(AKSDefinition[lampInputs]{Definition: Definition[AKS, lampInputs]{
			Name: "aks", New: func(AKS, lampInputs) (runbook.Runbook, error) { return runbook.Runbook{}, nil }}})}},
		{"flag redefined: kubeconfig", []Provider{flag("kubeconfig")}},
		{"flag redefined: dry-run", []Provider{flag("dry-run")}},
		{"flag redefined", []Provider{flag("output")}},
	} {
		code, _, stderr := runProgram(row.runbooks, noVariables, "version")
		if code != exitUsage || !strings.Contains(stderr, row.says) {
			t.Errorf("%s: exit code %d, %s", row.says, code, stderr)
		}
	}
	if code, _, stderr := runProgram(append(BuiltIn(), named("lamp-off")), noVariables, "version"); code != 0 {
		t.Errorf("a valid one: %d, %s", code, stderr)
	}
}

// TestRunbookOfAnotherNameIsRefused: its runs could not be resumed.
func TestRunbookOfAnotherNameIsRefused(t *testing.T) {
	on := true
	renamed := lamp(&on, func(d *Definition[Cluster, lampInputs]) { d.Name = "lamp" })
	plane := kubetest.Start(t)
	code, _, stderr := runProgram([]Provider{renamed}, noVariables, "run", "lamp", "--kubeconfig", plane.Kubeconfig())
	if code != exitUsage || !on || !strings.Contains(stderr, `invalid runbook "lamp-off": it is provided under the name "lamp"`) {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

// TestNewThatPanicsIsAnOrdinaryError: it is the provider's mistake, and no wrong usage.
func TestNewThatPanicsIsAnOrdinaryError(t *testing.T) {
	on := true
	panics := lamp(&on, func(d *Definition[Cluster, lampInputs]) {
		d.New = func(Cluster, lampInputs) (runbook.Runbook, error) { panic("no lamps") }
	})
	plane := kubetest.Start(t)
	for _, verb := range []string{"run", "plan", "check"} {
		code, _, stderr := runProgram([]Provider{panics}, noVariables, verb, "lamp-off", "--kubeconfig", plane.Kubeconfig())
		if code != exitFailed || !strings.Contains(stderr, `making runbook "lamp-off": panic: no lamps, at `) ||
			!strings.Contains(stderr, "provider_test.go:") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s", verb, code, stderr)
		}
	}
}

// TestPanicIsNeverExitCodeTwo, which Go gives it and which says that nothing was changed: whichever of a provider's
// functions it comes from.
func TestPanicIsNeverExitCodeTwo(t *testing.T) {
	on := true
	watches := lamp(&on, func(d *Definition[Cluster, lampInputs]) {
		d.Watch = func(context.Context, Cluster, lampInputs, func(string)) runbook.Finding { panic("no lamps") }
	})
	completes := OnAKS(AKSDefinition[lampInputs]{
		Definition: Definition[AKS, lampInputs]{
			Name: "lamp-off", New: func(AKS, lampInputs) (runbook.Runbook, error) { return runbook.Runbook{}, nil },
		},
		Cluster:  func(lampInputs) AKSName { return AKSName{} },
		Complete: func(*lampInputs, *pflag.FlagSet, func(string) string) error { panic("no lamps") },
	})
	plane := kubetest.Start(t)
	for name, row := range map[string]struct {
		provider  Provider
		arguments []string
	}{
		"Watch":    {watches, []string{"check", "lamp-off", "--watch", "--kubeconfig", plane.Kubeconfig()}},
		"Complete": {completes, []string{"run", "lamp-off"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := runProgram([]Provider{row.provider}, noVariables, row.arguments...)
			lines := strings.Split(strings.TrimSpace(stderr), "\n")
			last := lines[len(lines)-1]
			if code != exitNeedsAttention || !strings.Contains(last, "site: running the command: panic: no lamps, at ") ||
				!strings.Contains(last, "provider_test.go:") || len(lines) < 3 {
				t.Errorf("exit code %d: %s", code, stderr)
			}
		})
	}
}

// TestHintsOfResultsNameTheProgram that prints them: a site's own has another name than salve.
func TestHintsOfResultsNameTheProgram(t *testing.T) {
	a := &app{program: Options{Name: "site"}}
	recorded := []engine.Result{{
		Reason: "an open run. hint: salve resume 1", Question: "Who? (salve runs show 1)",
		Warnings: []string{"lost. hint: salve runs show 1, then salve runs abandon 1"},
		Findings: []runbook.Finding{{Reason: "older. hint: salve resume 1"}},
	}}
	own := a.ownHints(recorded)[0]
	for want, got := range map[string]string{
		"an open run. hint: site resume 1": own.Reason, "Who? (site runs show 1)": own.Question,
		"lost. hint: site runs show 1, then site runs abandon 1": own.Warnings[0],
		"older. hint: site resume 1":                             own.Findings[0].Reason,
	} {
		if got != want {
			t.Errorf("it says %q instead of %q", got, want)
		}
	}
	if !strings.Contains(recorded[0].Warnings[0], "salve") || !strings.Contains(recorded[0].Findings[0].Reason, "salve") {
		t.Error("the result itself was changed")
	}
}
