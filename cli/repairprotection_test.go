package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"salve/internal/kubetest"
	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
)

const protectionConfig = `
prowjob_namespace: prow
pod_namespace: test-pods
branch-protection: {orgs: {kube: {repos: {widgets: {protect: true}}}}}
presubmits:
  kube/widgets:
  - {name: unit, always_run: true, spec: {containers: [{image: golang}]}}
  - {name: docs, run_if_changed: ^docs/, spec: {containers: [{image: golang}]}}
`

// TestRepairBranchProtection types the runbook's commands: check, plan, run, explain, and again when nothing differs.
func TestRepairBranchProtection(t *testing.T) {
	plane, folder := kubetest.Start(t), t.TempDir()
	admin, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	if err := prowtest.Define(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	records := plane.Namespace(t)
	sim := githubsim.New(githubsim.Options{})
	sim.Update(func(github *githubsim.World) {
		github.Token("ghp_fortests", "root")
		repo := github.Repo("kube/widgets")
		repo.Collaborators = map[string]string{"root": "admin"}
		repo.Branch("main").Protection = githubsim.Require("docs", "unit")
	})
	address, stop, err := sim.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	write(t, folder, map[string]string{"config.yaml": protectionConfig, "manifests/empty.yaml": "kind: Namespace\n"})
	variables := map[string]string{
		keyFileVariable: filepath.Join(folder, "key"), "KUBECONFIG": plane.Kubeconfig(),
		"GITHUB_TOKEN": "ghp_fortests", "GITHUB_API_URL": address,
	}
	types := func(want int, says string, arguments ...string) string {
		t.Helper()
		code, stdout, stderr := runProgram(BuiltIn(), func(name string) string { return variables[name] },
			append(arguments, "--journal", filepath.Join(folder, "journal"))...)
		if code != want || !strings.Contains(stdout+stderr, says) {
			t.Fatalf("%s: exit code %d\n%s\n%s", strings.Join(arguments, " "), code, stdout, stderr)
		}
		return stdout
	}
	flags := []string{"repair-branch-protection", "--config", filepath.Join(folder, "config.yaml"),
		"--manifests", filepath.Join(folder, "manifests"), "--record-namespace", records}
	with := func(verb string, more ...string) []string { return append(append([]string{verb}, flags...), more...) }
	types(exitUndecided, "hint: --revision", with("check")...)
	types(exitDecided, "Fingerprint", with("check", "--revision", "2")...)
	types(exitDecided, "no longer required: docs", with("plan", "--revision", "2")...)
	types(exitUsage, "OWNER/NAME=BRANCH=REASON", with("run", "--revision", "2", "--allow-unprotect",
		"kube/widgets=main")...)
	types(exitUsage, "does not unprotect",
		with("run", "--revision", "2", "--allow-unprotect", "kube/widgets=main=because")...)
	if changes := sim.Changes(); len(changes) > 0 {
		t.Fatalf("looking changed %v", changes)
	}
	types(exitDecided, "remediated", with("run", "--revision", "2")...)
	if changes := sim.Changes(); len(changes) != 1 {
		t.Errorf("GitHub was asked for %+v", changes)
	}
	run := strings.Fields(strings.Split(types(exitDecided, "branch protection", "runs", "list"), "\n")[1])[0]
	types(exitDecided, "protect kube/widgets=main", "explain", run, "--all")
	types(exitDecided, "nothing differs", with("run", "--revision", "2")...)
	applied, err := plane.Client().CoreV1().ConfigMaps(records).Get(t.Context(), "salve-branch-protection",
		metav1.GetOptions{})
	if err != nil || applied.Data["run"] != run {
		t.Errorf("recorded is %+v (%v), want run %s", applied.Data, err, run)
	}
	types(exitDecided, "put the protection back", "undo", run, "--dry-run")
	if changes := sim.Changes(); len(changes) != 1 {
		t.Errorf("looking changed %+v", changes)
	}
	types(exitDecided, "remediated", "undo", run)
	sim.Update(func(github *githubsim.World) {
		live := github.Repo("kube/widgets").Branch("main").Protection
		if len(live.RequiredStatusChecks.Checks) != 2 {
			t.Errorf("it requires %+v", live.RequiredStatusChecks)
		}
	})
	types(exitDecided, "nothing of run", "undo", run)
	types(exitUsage, "requires", "undo")
	delete(variables, "GITHUB_TOKEN")
	types(exitUndecided, "hint: export GITHUB_TOKEN", with("run", "--revision", "2")...)
}

// TestResumeOfRepairAsksForTheSameConfiguration: a run is resumed with the files that it was planned with, at the
// GitHub
// that it is about, or not at all.
func TestResumeOfRepairAsksForTheSameConfiguration(t *testing.T) {
	plane, folder := kubetest.Start(t), t.TempDir()
	admin, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	if err := prowtest.Define(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	records := plane.Namespace(t)
	sim := githubsim.New(githubsim.Options{})
	sim.Update(func(github *githubsim.World) {
		github.Token("ghp_fortests", "root")
		repo := github.Repo("kube/widgets")
		repo.Collaborators = map[string]string{"root": "admin"}
		repo.Branch("main").Protection = githubsim.Require("docs", "unit")
		repo.Branch("main").Protection.Extra = map[string]any{"robots": map[string]any{"enabled": true}}
	})
	address, stop, err := sim.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	write(t, folder, map[string]string{"config.yaml": protectionConfig, "manifests/empty.yaml": "kind: Namespace\n"})
	git := func(arguments ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@t"},
			arguments...)...)
		command.Dir = folder
		if said, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	git("init", "-q")
	git("add", "config.yaml")
	git("commit", "-qm", "one")
	variables := map[string]string{
		keyFileVariable: filepath.Join(folder, "key"), "KUBECONFIG": plane.Kubeconfig(), "GITHUB_TOKEN": "ghp_fortests",
	}
	types := func(want int, says string, arguments ...string) string {
		t.Helper()
		code, stdout, stderr := runProgram(BuiltIn(), func(name string) string { return variables[name] },
			append(arguments, "--journal", filepath.Join(folder, "journal"))...)
		if code != want || !strings.Contains(stdout+stderr, says) {
			t.Fatalf("%s: exit code %d\n%s\n%s", strings.Join(arguments, " "), code, stdout, stderr)
		}
		return stdout
	}
	types(exitNeedsAttention, "robots", "run", "repair-branch-protection", "--config", filepath.Join(folder,
		"config.yaml"),
		"--manifests", filepath.Join(folder, "manifests"), "--record-namespace", records, "--github-endpoint", address)
	run := strings.Fields(strings.Split(types(exitDecided, "branch protection", "runs", "list"), "\n")[1])[0]
	types(exitNeedsAttention, "GITHUB_API_URL", "resume", run)
	variables["GITHUB_API_URL"] = address
	types(exitNeedsAttention, "robots", "resume", run)
	write(t, folder, map[string]string{"config.yaml": protectionConfig + "\n"})
	types(exitNeedsAttention, "configuration changed", "resume", run)
	write(t, folder, map[string]string{"config.yaml": protectionConfig})
	sim.Update(func(github *githubsim.World) { github.Repo("kube/widgets").Branch("main").Protection.Extra = nil })
	types(exitDecided, "remediated", "resume", run)
}

func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
