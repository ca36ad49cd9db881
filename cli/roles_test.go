package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/clock"
	"salve/internal/kubetest"
	"salve/journal"
	"salve/journal/configmap"
	"salve/runbook"
)

// waits leaves a run that waits for an approval of its plan.
func waits(t *testing.T, store journal.Store, run string) {
	t.Helper()
	plan := runbook.Plan{Runbook: "lamp-off", Target: runbook.Target{ID: "lamp/" + run},
		Steps: []runbook.PlannedStep{{Name: "switch-off", Changes: "switches the lamp off"}}}
	plan.Digest = strings.Repeat("1", 64)
	lease, err := store.Lock(t.Context(), journal.Claim{Target: "lamp/" + run, Holder: journal.Holder{Run: run}})
	if err != nil {
		t.Fatal(err)
	}
	record, err := journal.Create(t.Context(), store, lease, metav1.Now().UTC,
		journal.Header{Run: run, Runbook: "lamp-off", Target: plan.Target})
	if err == nil {
		err = record.AppendAll(t.Context(), journal.Pending{Kind: journal.Planned, Data: plan},
			journal.Pending{Kind: journal.Asked, Data: journal.Question{ID: "q1", Digest: plan.Digest}})
	}
	if err == nil {
		err = lease.Release(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestEachIsToldOfTheirOwnRole: who approves or reads needs other rights than a runner, and who isn't known needs none.
func TestEachIsToldOfTheirOwnRole(t *testing.T) {
	t.Parallel()
	plane := kubetest.Start(t)
	namespace := plane.Namespace(t)
	store, err := configmap.New(configmap.Options{
		Client: plane.Client(), Clock: clock.Real{}, Namespace: namespace, Lease: configmap.DefaultLease,
	})
	if err != nil {
		t.Fatal(err)
	}
	waits(t, store, "run-1")
	types := func(want int, kubeconfig string, arguments ...string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := runProgram(BuiltIn(), noVariables,
			append(arguments, "--kubeconfig", kubeconfig, "--journal-namespace", namespace)...)
		if code != want {
			t.Errorf("%q: exit code %d, want %d: %s%s", arguments, code, want, stdout, stderr)
		}
		return stdout, stderr
	}
	stranger := plane.KubeconfigOf(t, "Ana@example.com")
	approver := []string{"forbidden: Ana@example.com cannot", "deploy/approver-role.yaml", "kubectl -n " + namespace +
		" create rolebinding salve-approver-ana-example-com --clusterrole=salve-approver --user Ana@example.com",
		"--clusterrole=salve-approver-requests --user Ana@example.com"}
	reader := []string{"forbidden: Ana@example.com cannot", "deploy/reader-role.yaml", "kubectl -n " + namespace +
		" create rolebinding salve-reader-ana-example-com --clusterrole=salve-reader --user Ana@example.com"}
	for role, commands := range map[*[]string][][]string{
		&approver: {{"approve", "run-1"}, {"deny", "run-1", "--reason", "no"}},
		&reader:   {{"runs", "list"}, {"runs", "show", "run-1"}, {"explain", "run-1"}, {"report", "run-1"}},
	} {
		for _, command := range commands {
			_, stderr := types(exitFailed, stranger, command...)
			if contains(t, stderr, *role...); strings.Contains(stderr, "cluster-role.yaml") {
				t.Errorf("%q names the role of a runner: %s", command, stderr)
			}
		}
	}
	_, stderr := types(exitFailed, stranger, "resume", "run-1")
	contains(t, stderr, "deploy/cluster-role.yaml")

	code, stdout, stderr := runProgram(BuiltIn(), noVariables, "runs", "list", "-n", "nope", "--kubeconfig",
		plane.Kubeconfig())
	if code != exitUsage || stdout != "" || !strings.Contains(stderr, "journal not found: namespace nope") {
		t.Errorf("what does not exist is not empty: exit code %d: %s%s", code, stdout, stderr)
	}
	t.Run("nobody", func(t *testing.T) {
		_, stderr := types(exitFailed, nobody(t, plane), "runs", "list")
		contains(t, stderr, "unauthorized: ", "hint: log in again")
		if strings.Contains(stderr, "forbidden") || strings.Contains(stderr, "-role.yaml") {
			t.Errorf("no role helps who isn't known: %s", stderr)
		}
	})
	t.Run("reader", func(t *testing.T) { testReader(t, plane, namespace, types) })
}

// testReader reads with the role of deploy/reader-role.yaml and nothing else, which does not give the sealing key.
func testReader(
	t *testing.T, plane *kubetest.ControlPlane, namespace string,
	types func(want int, kubeconfig string, arguments ...string) (string, string),
) {
	for _, arguments := range [][]string{
		{"apply", "-f", "../deploy/reader-role.yaml"},
		{"-n", namespace, "create", "rolebinding", "reader", "--clusterrole=salve-reader", "--user=reader"},
	} {
		command := exec.CommandContext(t.Context(), plane.Program("kubectl"),
			append([]string{"--kubeconfig", plane.Kubeconfig()}, arguments...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("kubectl %v: %v: %s", arguments, err, out)
		}
	}
	reader := plane.KubeconfigOf(t, "reader")
	deadline := time.Now().Add(30 * time.Second) // a right counts a moment after it was given
	for code := exitFailed; code == exitFailed && time.Now().Before(deadline); {
		code, _, _ = runProgram(BuiltIn(), noVariables, "runs", "list", "--kubeconfig", reader, "-n", namespace)
	}
	stdout, _ := types(exitUndecided, reader, "runs", "list")
	contains(t, stdout, "unverified", "the record says: open: waiting for approval",
		"approve run-1 --journal-namespace "+namespace+" --kubeconfig "+reader+" --plan 1111",
		"its seal can't be verified without the key", "journal-key-lamp-off", "0 open, 0 broken, 1 unverified")
	for _, command := range [][]string{{"explain", "run-1"}, {"runs", "show", "run-1"}, {"report", "run-1"}} {
		_, stderr := types(exitUndecided, reader, command...)
		if contains(t, stderr, "Unverified: ", "can't be verified without the key"); strings.Contains(stderr, "broken") {
			t.Errorf("%q: nothing is wrong with the record: %s", command, stderr)
		}
	}
	_, stderr := types(exitFailed, reader, "resume", "run-1")
	contains(t, stderr, "unverified record: run \"run-1\"")
}

// nobody is a kubeconfig whose credential the API server does not know.
func nobody(t *testing.T, plane *kubetest.ControlPlane) string {
	t.Helper()
	raw, err := os.ReadFile(plane.KubeconfigOfRunner(t))
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(raw), "token: ")
	if !found {
		t.Fatal("the runner's kubeconfig has no token")
	}
	_, after, _ = strings.Cut(after, "\n")
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(before+"token: expired\n"+after), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
