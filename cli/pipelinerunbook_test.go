package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"salve/journal"
	"salve/runbooks/recreatepool"
)

// managementPipeline has 28 steps in the shape of a management cluster's rollout:
// lookups and permissions, the runbook that mends the system pool, the cluster
// that would get stuck behind a broken one, and what comes after it.
func managementPipeline(b *bench) string {
	text := "$schema: pipeline.schema.v1\nserviceGroup: Example.Management\nrolloutName: Management\nrevision: '1'\n" +
		"resourceGroups:\n"
	step := func(name string, waits ...string) {
		text += fmt.Sprintf("  - name: %s\n    action: Shell\n    shellIdentity: {value: none}\n"+
			"    command: echo id=%s >>$SALVE_OUTPUT\n    outputs: [id]\n", name, name)
		if len(waits) > 0 {
			text += "    dependsOn:\n"
		}
		for _, wait := range waits {
			group, name, _ := strings.Cut(wait, "/")
			text += fmt.Sprintf("    - {resourceGroup: %s, step: %s}\n", group, name)
		}
	}
	for _, group := range []string{"global", "service", "regional", "audit", "kusto"} {
		text += fmt.Sprintf("- name: %s\n  resourceGroup: rg-%s\n  subscription: sub\n  steps:\n", group, group)
		step("output")
	}
	text += "- name: management\n  resourceGroup: rg-management\n  subscription: sub\n  steps:\n"
	for i := range 9 {
		step(fmt.Sprintf("permission-%d", i), "global/output")
	}
	text += fmt.Sprintf("  - name: mend-system-pool\n    action: Runbook\n    runbook: %s\n"+
		"    with: {subscription: %q, resource-group: %q, cluster: %q, pool: system, budget: 4h}\n    dependsOn:\n",
		recreatepool.Name, b.scenario.Subscription, b.scenario.ResourceGroup, b.scenario.Cluster)
	for i := range 9 {
		text += fmt.Sprintf("    - {resourceGroup: management, step: permission-%d}\n", i)
	}
	step("cluster", "management/mend-system-pool", "audit/output", "regional/output", "service/output")
	for i := range 12 {
		step(fmt.Sprintf("after-%d", i), "management/cluster", "kusto/output")
	}
	return text
}

// rolls runs a pipeline on the bench's world, and gives what was said.
func (b *bench) rolls(want int, text string, more ...string) string {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "pipeline.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return b.pipeline(want, append([]string{"run", path, "--journal", b.journal}, more...)...)
}

// pipeline runs a command of pipelines, whose steps have an environment.
func (b *bench) pipeline(want int, arguments ...string) string {
	b.t.Helper()
	var out, log bytes.Buffer
	a := &app{
		stdout: &out, stderr: &log, environment: os.Environ(), lookup: b.lookup, connect: b.connect,
		arguments: append([]string{"pipeline"}, arguments...), program: Options{Runbooks: BuiltIn()},
	}
	if got := execute(a); got != want {
		b.t.Fatalf("exit code %d, want %d\n%s\n%s", got, want, out.String(), log.String())
	}
	return out.String()
}

// TestManagementRollout: the rollout passes where the pool is healthy and where it
// is wedged; there the runbook mends it before the step that would get stuck.
func TestManagementRollout(t *testing.T) {
	for scenario, outcome := range map[string]string{
		"healthy": "nothing-to-do", "wedged": "remediated", "young-operation": "deferred",
	} {
		t.Run(scenario, func(t *testing.T) {
			b := newBench(t, scenario)
			said := b.rolls(exitDecided, managementPipeline(b))
			contains(t, said, "Rolled out Example.Management in ", "all 28 steps are done.", "✓ management/mend-system-pool",
				"; "+outcome+": ", "(run ")
			mended, cluster := strings.Index(said, "✓ management/mend-system-pool"), strings.Index(said, "✓ management/cluster")
			if mended > cluster {
				t.Errorf("the cluster came first:\n%s", said)
			}
			b.linked()
		})
	}
}

// linked checks that the runbook's run has a record of its own, which that of the
// pipeline names.
func (b *bench) linked() {
	b.t.Helper()
	store := journal.NewFile(b.journal)
	books := map[string]bool{}
	var named string
	for _, run := range b.runs() {
		record, err := journal.Load(b.t.Context(), store, run)
		if err != nil {
			b.t.Fatal(err)
		}
		if record.Header.Runbook == recreatepool.Name {
			books[run] = true
			continue
		}
		if found, err := record.Recall("runbook of management/mend-system-pool", &named); !found || err != nil {
			b.t.Errorf("the run is not noted: %v", err)
		}
	}
	if len(books) != 1 || !books[named] {
		b.t.Errorf("runs of the runbook %v, noted %q", books, named)
	}
}

// TestUndecidedRunbook fails its step, unless the pipeline says that it may go on.
func TestUndecidedRunbook(t *testing.T) {
	b := newBench(t, "rbac-denied")
	text := managementPipeline(b)
	said := b.rolls(exitFailed, text)
	contains(t, said, "step management/mend-system-pool: undecided: ", "14 of 28 steps are done")
	said = b.rolls(exitDecided, strings.Replace(text, "    runbook: ", "    onUndecided: continue\n    runbook: ", 1))
	contains(t, said, "Rolled out Example.Management")
}

// TestRunbookInputs are validated before anything begins.
func TestRunbookInputs(t *testing.T) {
	b := newBench(t, "healthy")
	text := managementPipeline(b)
	for change, says := range map[string]string{
		"pool: system, colour: blue":  `has no input "colour"`,
		"pool: system, window: short": `"short" is not a duration`,
	} {
		path := filepath.Join(t.TempDir(), "pipeline.yaml")
		if err := os.WriteFile(path, []byte(strings.Replace(text, "pool: system", change, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, log := b.types(exitFailed, "pipeline", "run", path, "--journal", b.journal)
		contains(t, log, "step management/mend-system-pool: ", says)
	}
	if len(b.runs()) > 0 {
		t.Errorf("runs %v", b.runs())
	}
}

// TestListsAsInputs: each value of a list is given by itself.
func TestListsAsInputs(t *testing.T) {
	_, flags := inputFlags(removeOperator().entry())
	if err := give(flags, "selector", []any{"app=old", "app in (a, b)"}); err != nil {
		t.Fatal(err)
	}
	given, err := flags.GetStringArray("selector")
	if err != nil || !slices.Equal(given, []string{"app=old", "app in (a, b)"}) {
		t.Errorf("selector %q, %v", given, err)
	}
	if err := give(flags, "namespace", []any{"a", "b"}); err == nil {
		t.Error("a namespace takes no list")
	}
}
