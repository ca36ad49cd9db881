package rollout_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"salve/engine"
	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

// builds has the runner build, and then ask whether what was built fits.
func (b *bench) builds(runner *rollout.Runner, built *bool) {
	runner.Prepare = func(context.Context) (string, error) {
		*built = true
		b.calls = append(b.calls, "build")
		return "built", nil
	}
	fit := func(fits bool) runbook.Finding {
		if !fits {
			return runbook.No("it is not built").WithOutcome(runbook.Failed)
		}
		return runbook.Yes("they fit")
	}
	b.guards = []runbook.Guard{runbook.Ask("programs-fit", "Do they fit?",
		func(context.Context, runbook.Run) (bool, error) { return *built, nil }, fit)}
	runner.Guards = b.guards
}

// TestGuardsOfWhatIsBuiltAreAskedAfterTheApproval, of a run that is resumed too: what it executes is built, and looked
// at, by the process that executes it.
func TestGuardsOfWhatIsBuiltAreAskedAfterTheApproval(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"] = fails("no")
		plan := b.plan("", "a")
		for _, run := range []string{"", "run-1"} {
			built, people := false, &approver{}
			people.before = func() {
				if built {
					t.Error("built before it was approved")
				}
			}
			runner := b.approvedBy(people)
			b.builds(runner, &built)
			var err error
			var result engine.Result
			want := runbook.Failed
			if b.calls = nil; run == "" {
				result, err = runner.Run(t.Context(), plan, fourEyes)
			} else {
				b.does["a"], want = nil, runbook.RolledOut
				result, err = runner.Resume(t.Context(), plan, run, rollout.Options{})
			}
			if err != nil || result.Outcome != want || !slices.Equal(b.calls, []string{"build", "a"}) {
				t.Errorf("%s: %s, %v, did %v", result.Outcome, result.Reason, err, b.calls)
			}
		}
	})
}

// TestResumedRunExecutesTheContentOfItsPlan, or nothing: its files are read again after the approval as well.
func TestResumedRunExecutesTheContentOfItsPlan(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"] = fails("no")
		plan := b.plan("", "a")
		plan.Content = "as planned"
		content := plan.Content
		people := &approver{}
		runner := b.approvedBy(people)
		runner.Content = func(context.Context) (string, error) { return content, nil }
		result, err := runner.Run(t.Context(), plan, fourEyes)
		if err != nil {
			t.Fatal(err)
		}
		people.before, b.calls = func() { content = "another" }, nil
		if result, err = runner.Resume(t.Context(), plan, result.Run, rollout.Options{}); err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.Failed, "content-unmoved does not hold")
		if len(b.calls) > 0 || !result.Open || !result.Findings[0].Locked {
			t.Errorf("ran %v, open %v, %+v", b.calls, result.Open, result.Findings)
		}
	})
}

// TestRecordThatSaysItIsPartOfAnotherRun is no approval: only who runs the other one may say that it covers this.
func TestRecordThatSaysItIsPartOfAnotherRun(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		plan, silent := b.plan("", "a"), &approver{silent: true}
		plan.Inputs.PartOf = "run-whole"
		result, err := b.approvedBy(silent).Run(t.Context(), plan, fourEyes)
		if err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.Failed, "was not approved")
		if len(b.calls) > 0 {
			t.Errorf("ran %v", b.calls)
		}
	})
}

// secretPlan is a plan of a pipeline whose configuration holds a password.
func (b *bench) secretPlan(steps string) *rollout.Plan {
	b.Helper()
	file, found := pipeline.Parse("pipeline.yaml", []byte("$schema: pipeline.schema.v1\nserviceGroup: Example.Service\n"+
		"rolloutName: Example\nresourceGroups:\n- name: g\n  resourceGroup: rg\n  subscription: sub\n  steps:\n"+steps))
	config, wrong := pipeline.ParseConfig("config.yaml", []byte("fleet: {password: h1dden-word}\n"))
	if len(found) > 0 || len(wrong) > 0 {
		b.Fatal(found, wrong)
	}
	if file, found = file.Resolve(config); len(found) > 0 {
		b.Fatal(found)
	}
	plan, err := rollout.NewPlan(file, rollout.Inputs{Pipeline: "/p/pipeline.yaml", Digest: "1", Concurrency: 1})
	if err != nil {
		b.Fatal(err)
	}
	return plan
}

// TestOutlineShowsWhatIsKnownAndNoSecret: neither in what a step changes nor in its inputs.
func TestOutlineShowsWhatIsKnownAndNoSecret(t *testing.T) {
	b := newBench(t)
	plan := b.secretPlan(`  - {name: net, action: ARM, template: "{{ .fleet.password }}.json", parameters: p.json, deploymentLevel: ResourceGroup}
  - name: grow
    action: Shell
    command: x
    shellIdentity: {value: none}
    variables:
    - {name: SIZE, value: big}
    - {name: DB_PASSWORD, configRef: fleet.password}
    - {name: URL, value: "db:{{ .fleet.password }}"}
`)
	said, err := json.Marshal(b.runner().Outline(plan))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ARM: ***", ".json with p.json", `"SIZE":"big"`, `"URL":"***"`} {
		if !strings.Contains(string(said), want) {
			t.Errorf("%s is not in %s", want, said)
		}
	}
	if strings.Contains(string(said), "h1dden") {
		t.Error(string(said))
	}
}

// TestOutlineOfWhatMayBeASecret: an action that has not been asked yet, because that is built first, may call any
// variable one; where nothing is built the others are shown.
func TestOutlineOfWhatMayBeASecret(t *testing.T) {
	for name, built := range map[string]bool{"not asked yet": false, "asked": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			runner := b.runner()
			runner.Actions["Shell"] = discreet{scripted{b}, &built}
			plan := b.plan("", "a; variables: [{name: KEY, value: h1dden}, {name: OTHER, value: seen}]")
			if built {
				if err := runner.Check(t.Context(), plan); err != nil {
					t.Fatal(err)
				}
			}
			with := runner.Outline(plan)["g/a"].With
			if with["KEY"] == "h1dden" || (with["OTHER"] == "seen") != built {
				t.Errorf("it shows %v", with)
			}
		})
	}
}

// TestSecretBesideAnInputThatIsNotKnownYet is masked in the plan.
func TestSecretBesideAnInputThatIsNotKnownYet(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"] = hands(rollout.Output{Value: "3"})
		plan := b.plan("", "a", "b < a; variables: [{name: KEY, value: h1dden}, {name: SIZE, input: "+
			"{resourceGroup: g, step: a, name: size}}]")
		plan.Inputs.Digest = "1"
		built := true
		runner := b.approvedBy(&approver{})
		runner.Actions["Shell"] = discreet{scripted{b}, &built}
		result, err := runner.Run(t.Context(), plan, fourEyes)
		if err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.RolledOut, "all 2 steps")
		var asked []journal.Kind
		for _, entry := range b.record(result.Run).Entries {
			if asked = append(asked, entry.Kind); strings.Contains(string(entry.Data), "h1dden") {
				t.Errorf("%s: %s", entry.Kind, entry.Data)
			}
		}
		if !slices.Contains(asked, journal.Approved) {
			t.Error(asked)
		}
	})
}
