package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"salve/internal/kubetest"
)

// approveHint is the command that a list of runs has for one that waits.
var approveHint = regexp.MustCompile(`hint: salve (approve .*)`)

// TestKilledWhileItWaitsForApproval: whoever goes on asks anew, and what was said before counts for nothing.
func TestKilledWhileItWaitsForApproval(t *testing.T) {
	s := newSite(t, siteHead+shellStep("grow", ""))
	approve := func(arguments ...string) {
		out, err := s.salve(t.Context(), arguments...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", arguments, err, out)
		}
	}
	keys := s.salve(t.Context(), "hotfix", "keys", "generate", "alice.pem")
	keys.Args = keys.Args[:len(keys.Args)-2] // it has no journal
	if out, err := keys.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	waiting := func() []string {
		var hint string
		s.until(func() bool {
			out, _ := s.salve(t.Context(), "runs", "list").CombinedOutput() // it may not be there yet
			if found := approveHint.FindStringSubmatch(string(out)); found != nil {
				hint = strings.ReplaceAll(found[1], " --journal j", "")
			}
			return hint != ""
		})
		return strings.Fields(strings.Replace(hint, "KEY", "alice.pem", 1))
	}
	killed := s.salve(t.Context(), "pipeline", "run", "pipeline.yaml", "--pass", "LEDGER", "--approve-by", "alice.pem.pub")
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	before := waiting()
	_ = killed.Process.Kill()
	_ = killed.Wait()
	approve(before...) // the question of a process that is dead
	resumed := s.salve(t.Context(), "resume", before[1])
	if err := resumed.Start(); err != nil {
		t.Fatal(err)
	}
	journalOf := func() string { return s.read(filepath.Join("j", "runs", before[1], "journal.jsonl")) }
	s.until(func() bool { return strings.Count(journalOf(), `"kind":"asked"`) == 2 })
	if ledger := s.read("ledger"); ledger != "" {
		t.Errorf("it did something before it was approved: %s", ledger)
	}
	approve(waiting()...)
	if err := resumed.Wait(); err != nil {
		t.Error(err)
	}
	contains(t, s.read("ledger"), "end grow")
	if strings.Count(journalOf(), `"kind":"approved"`) != 1 {
		t.Error(journalOf())
	}
}

// TestPipelineIsApprovedInACluster: the API server tells who approves, and the hint does it when it is pasted.
func TestPipelineIsApprovedInACluster(t *testing.T) {
	plane := kubetest.Start(t)
	r, kubeconfig := newRollouts(t), plane.Kubeconfig()
	if err := os.WriteFile(r.in("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	type end struct {
		code int
		said string
	}
	ended := make(chan end, 1)
	go func() {
		code, said := r.runs("state", "", r.run("--kubeconfig", kubeconfig, "--approve-by", "anyone")...)
		ended <- end{code, said}
	}()
	var hint []string
	s := &site{T: t}
	s.until(func() bool {
		_, said := r.runs("other", "", "runs", "list", "--kubeconfig", kubeconfig)
		hint = approveHint.FindStringSubmatch(said)
		return hint != nil
	})
	if exists(r.in("began")) {
		t.Error("a step began before the plan was approved")
	}
	code, said := r.runs("other", "", strings.Fields(hint[1])...)
	if code != 0 || !strings.Contains(said, "Approved plan") {
		t.Fatalf("exit code %d: %s", code, said)
	}
	if end := <-ended; end.code != 0 || !strings.Contains(end.said, "plan approved: by ") {
		t.Errorf("exit code %d: %s", end.code, end.said)
	}
	if !exists(r.in("began")) {
		t.Error("the step did not run")
	}
}
