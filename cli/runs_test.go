package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/clock"
	"salve/internal/kubetest"
	"salve/journal"
	"salve/journal/configmap"
	"salve/runbook"
)

// leave leaves an open run on a target of its own name.
func leave(t *testing.T, store journal.Store, run string) {
	t.Helper()
	lease, err := store.Lock(t.Context(), journal.Claim{Target: "lamp/" + run, Holder: journal.Holder{Run: run}})
	if err != nil {
		t.Fatal(err)
	}
	header := journal.Header{Run: run, Runbook: "lamp-off", Target: runbook.Target{ID: "lamp/" + run}}
	if _, err := journal.Create(t.Context(), store, lease, metav1.Now().UTC, header); err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestOpenRunWhoseRecordIsLostIsListed: its lease names it, in a folder as in a cluster.
func TestOpenRunWhoseRecordIsLostIsListed(t *testing.T) {
	folder := t.TempDir()
	lookup := func(name string) string {
		return map[string]string{keyFileVariable: filepath.Join(folder, "key")}[name]
	}
	lists := func(want int, says []string, flags ...string) {
		t.Helper()
		code, stdout, stderr := runProgram(BuiltIn(), lookup, append([]string{"runs", "list"}, flags...)...)
		if code != want {
			t.Errorf("exit code %d, want %d: %s", code, want, stderr)
		}
		contains(t, stdout, says...)
	}
	t.Run("folder", func(t *testing.T) {
		store := journal.NewFileWithKey(folder, filepath.Join(folder, "key"))
		leave(t, store, "run-1")
		leave(t, store, "run-2")
		lists(exitDecided, []string{"2 runs", "2 open, 0 broken"}, "--journal", folder)
		if err := os.RemoveAll(filepath.Join(folder, "runs", "run-1")); err != nil {
			t.Fatal(err)
		}
		lists(exitNeedsAttention, []string{"run-1", stateLost, "record lost: ", "2 runs", "2 open, 0 broken"},
			"--journal", folder)
		lists(exitNeedsAttention, []string{"open lost"}, "--journal", folder,
			"-o", `jsonpath={.runs[?(@.run=="run-1")].phase} {.runs[?(@.run=="run-1")].record}`)
		for _, command := range [][]string{{"resume", "run-1"}, {"runs", "show", "run-1"}, {"explain", "run-1"}} {
			code, _, stderr := runProgram(BuiltIn(), lookup, append(command, "--journal", folder)...)
			if code != exitNeedsAttention || !strings.Contains(stderr, "record lost: ") {
				t.Errorf("%s: exit code %d, %s", command, code, stderr)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, "leases", "planted.json"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		lists(exitUndecided, []string{"1 run ", "1 open"}, "--journal", folder)
	})
	t.Run("cluster", func(t *testing.T) {
		plane := kubetest.Start(t)
		store, err := configmap.New(configmap.Options{
			Client: plane.Client(), Clock: clock.Real{}, Namespace: configmap.DefaultNamespace, Lease: configmap.DefaultLease,
		})
		if err != nil {
			t.Fatal(err)
		}
		leave(t, store, "run-1")
		flags := []string{"--kubeconfig", plane.Kubeconfig()}
		lists(exitDecided, []string{"1 open, 0 broken"}, flags...)
		maps := plane.Client().CoreV1().ConfigMaps(configmap.DefaultNamespace)
		all, err := maps.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all.Items {
			if strings.Contains(one.Name, "run-1") {
				one.Labels = nil
				if _, err := maps.Update(t.Context(), &one, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		lists(exitNeedsAttention, []string{"run-1", stateLost, "1 open, 0 broken"}, flags...)
	})
}

// TestRunWhoseLeaseWasRemovedCanBeAbandoned: the lease that is made then begins to count anew.
func TestRunWhoseLeaseWasRemovedCanBeAbandoned(t *testing.T) {
	folder := t.TempDir()
	lookup := func(name string) string {
		return map[string]string{keyFileVariable: filepath.Join(folder, "key")}[name]
	}
	leave(t, journal.NewFileWithKey(folder, filepath.Join(folder, "key")), "run-1")
	if err := os.RemoveAll(filepath.Join(folder, "leases")); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := runProgram(BuiltIn(), lookup,
		"runs", "abandon", "run-1", "--reason", "gone", "--journal", folder)
	if code != exitDecided || !strings.Contains(stdout, "abandoned by") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

// TestInvalidRunNamesAreShownBounded: by every command that takes one, and with nothing opened.
func TestInvalidRunNamesAreShownBounded(t *testing.T) {
	name := strings.Repeat("x", 100_000)
	for _, command := range [][]string{{"resume", name}, {"runs", "show", name}, {"explain", name},
		{"runs", "abandon", name},
		{"runs", "export", name, "f"}, {"runs", "import", name, "f"}, {"runs", "show", "../x"}, {"runs", "show", ""}} {
		code, stdout, stderr := runProgram(BuiltIn(), noVariables, command...)
		if code != exitUsage || !strings.Contains(stderr, "invalid run name") || len(stdout)+len(stderr) > 400 {
			t.Errorf("%.40q: exit code %d, %d bytes: %.400s", command, code, len(stdout)+len(stderr), stderr)
		}
	}
}

// TestEmptyFlagsAreRefused: a variable that is not set must not mean the default.
func TestEmptyFlagsAreRefused(t *testing.T) {
	for _, command := range [][]string{
		{"runs", "list", "--journal", ""}, {"runs", "list", "--kubeconfig", ""},
		{"runs", "list", "--kubeconfig", "k", "--context", ""},
		{"pipeline", "run", "p.yaml", "--journal", ""}, {"pipeline", "run", "p.yaml", "--config", ""},
		{"pipeline", "run", "p.yaml", "--logs", ""},
		{"pipeline", "run", "p.yaml", "--junit", ""}, {"pipeline", "run", "p.yaml", "--timeline", ""},
		{"resume", "run-1", "--pipeline", ""},
		{"run", "aks-recreate-pool", "--journal", ""}, {"run", "aks-recreate-pool", "--role", ""},
		{"run", "remove-operator", "--bundle", ""}, {"run", "rescue-stranded-pods", "--prowjob-namespace", ""},
	} {
		code, _, stderr := runProgram(BuiltIn(), noVariables, command...)
		if want := command[len(command)-2] + " is empty"; code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d: %s", command, code, stderr)
		}
	}
}

// TestConflictingAnswersAreRefused: the same one twice is one.
func TestConflictingAnswersAreRefused(t *testing.T) {
	code, _, stderr := runProgram(BuiltIn(), noVariables,
		"resume", "run-1", "--answer", "g/a=done", "--answer", "g/a=again")
	if code != exitUsage || !strings.Contains(stderr, "conflicting --answer for g/a: done and again") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if read, err := (answers{"g/a=done", "g/a=done", "g/b=again"}).read(); err != nil || len(read) != 2 {
		t.Errorf("%v, %v", read, err)
	}
}
