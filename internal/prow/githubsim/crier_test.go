package githubsim_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"salve/internal/kubetest"
	"salve/internal/prow/githubsim"
)

// prowJobs is as much of Prow's resource as crier needs.
const prowJobs = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: prowjobs.prow.k8s.io
  annotations: {api-approved.kubernetes.io: "unapproved, a part of Prow's own"}
spec:
  group: prow.k8s.io
  names: {kind: ProwJob, plural: prowjobs, singular: prowjob, listKind: ProwJobList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const reportedJob = `
apiVersion: prow.k8s.io/v1
kind: ProwJob
metadata:
  name: %[1]s
  namespace: %[2]s
  labels: {prow.k8s.io/refs.org: kube, prow.k8s.io/refs.repo: widgets, prow.k8s.io/refs.pull: "7"}
spec:
  type: presubmit
  agent: kubernetes
  job: %[1]s
  context: %[1]s
  report: true
  rerun_command: /test %[1]s
  refs: {org: kube, repo: widgets, base_ref: main, base_sha: %[3]s, pulls: [{number: 7, author: jo, sha: %[3]s}]}
status: {state: %[4]s, description: it is so, url: "https://prow/1", startTime: "2026-11-22T12:00:00Z"%[5]s}
---
`

// TestCrierReports: Prow's own crier posts statuses and a comment, and takes the refusal of a status that is one too
// many for the end of it, as it does with GitHub's.
func TestCrierReports(t *testing.T) {
	path, folder := program(t, "crier"), t.TempDir()
	plane := kubetest.Start(t)
	namespace := plane.Namespace(t)
	kubectl := func(stdin string, arguments ...string) (string, error) {
		command := exec.CommandContext(t.Context(), plane.Program("kubectl"),
			append([]string{"--kubeconfig", plane.Kubeconfig(), "--namespace", namespace}, arguments...)...)
		command.Stdin = strings.NewReader(stdin)
		output, err := command.CombinedOutput()
		return string(output), err
	}
	output := &lockedBuffer{}
	if said, err := kubectl(prowJobs, "apply", "-f", "-"); err != nil {
		t.Fatal(said)
	}
	await(t, output, "ProwJobs are known", func() bool {
		_, err := kubectl("", "get", "prowjobs")
		return err == nil
	})
	w := world()
	pull := w.Repo("kube/widgets").Pull(7)
	pull.Head = githubsim.SHA("seven")
	for range 1000 {
		commit := w.Repo("kube/widgets").Commit(pull.Head)
		commit.Statuses = append(commit.Statuses, githubsim.Status{Context: "flaky", State: "pending"})
	}
	sim := githubsim.New(githubsim.Options{World: w})
	address, stop, err := sim.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	at := func(name string) string { return filepath.Join(folder, name) }
	for name, content := range map[string]string{
		"config.yaml": "prowjob_namespace: " + namespace + "\npod_namespace: test-pods\n", "token": "robot-token",
	} {
		if err := os.WriteFile(at(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var jobs strings.Builder
	for name, state := range map[string]string{"unit": "failure", "e2e": "pending", "flaky": "success"} {
		completed := `, completionTime: "2026-11-22T12:05:00Z"`
		if state == "pending" {
			completed = ""
		}
		fmt.Fprintf(&jobs, reportedJob, name, namespace, githubsim.SHA("seven"), state, completed)
	}
	if said, err := kubectl(jobs.String(), "create", "-f", "-"); err != nil {
		t.Fatal(said)
	}
	command := exec.CommandContext(t.Context(), path, "--config-path="+at("config.yaml"),
		"--kubeconfig="+plane.Kubeconfig(), "--github-token-path="+at("token"), "--github-endpoint="+address,
		"--github-graphql-endpoint="+address+"/graphql", "--github-workers=1", "--dry-run=false",
		"--metrics-port="+freePort(t), "--pprof-port="+freePort(t), "--health-port="+freePort(t))
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = command.Process.Signal(syscall.SIGKILL) // it may have ended
		_ = command.Wait()
	}()
	await(t, output, "all three are marked as reported", func() bool {
		said, err := kubectl("", "get", "prowjobs", "-o", "jsonpath={.items[*].status.prev_report_states.github-reporter}")
		return err == nil && len(strings.Fields(said)) == 3
	})
	sim.Update(func(w *githubsim.World) {
		last := map[string]string{}
		for _, status := range w.Repo("kube/widgets").Commit(githubsim.SHA("seven")).Statuses {
			last[status.Context] = status.State
		}
		if last["unit"] != "failure" || last["e2e"] != "pending" || last["flaky"] != "pending" {
			t.Errorf("statuses: %v", last)
		}
		comments := w.Repo("kube/widgets").Pull(7).Comments
		if len(comments) != 1 || comments[0].Author != "robot" || !strings.Contains(comments[0].Body, "/test unit") {
			t.Errorf("comments: %+v", comments)
		}
	})
}
