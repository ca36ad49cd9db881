//go:build unix

package endtoend_test

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"salve/runbook"
)

// TestTwoRunsAtOnce: one works; of the others, one refuses and names it, and one
// waits and then finds nothing to do.
func TestTwoRunsAtOnce(t *testing.T) {
	s := serve(t, "")
	rivals := []*process{s.run(), s.run()}
	waits := s.run("--wait-for-lease", "2m")
	var worked, refused int
	for _, rival := range rivals {
		<-rival.ended
		said := rival.out.String() + rival.log.String()
		switch rival.ProcessState.ExitCode() {
		case 0:
			worked++
		case 1:
			refused++
			if !strings.Contains(said, "is held by run") || !strings.Contains(said, "--wait-for-lease") {
				t.Errorf("it refused and said %s", tail(said))
			}
		default:
			t.Errorf("exit code %d: %s", rival.ProcessState.ExitCode(), tail(said))
		}
	}
	s.exits(waits, 0)
	if refused == 0 || worked > 1 {
		t.Errorf("%d worked and %d refused", worked, refused)
	}
	s.recovered()
	if outcomes := s.outcomes(); !slices.Contains(outcomes, runbook.Remediated) {
		t.Errorf("the runs ended %v", outcomes)
	}
}

// TestAPausedRunnerIsSuperseded: a runner that was stopped past its lease and
// wakes up again changes nothing; who took over finishes.
func TestAPausedRunnerIsSuperseded(t *testing.T) {
	for _, step := range []string{"add-stand-in", "drain", "delete-pool"} {
		t.Run("in "+step, func(t *testing.T) {
			s := serve(t, "")
			user := "paused-in-" + step
			s.allow(user)
			paused := s.run("--kubeconfig", s.plane.KubeconfigOf(t, user))
			s.untilStep(step)
			if err := paused.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			s.exits(s.run("--wait-for-lease", "1m"), 0)
			before, written := len(s.changes()), s.plane.Accepted(t, user)
			if err := paused.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			said := s.exits(paused, 4)
			if after := len(s.changes()); after != before {
				t.Errorf("it woke up and asked Azure for %d changes", after-before)
			}
			if now := s.plane.Accepted(t, user); now != written || written == 0 {
				t.Errorf("it woke up and changed %d objects in the cluster, after %d", now-written, written)
			}
			if !strings.Contains(said, "lease") {
				t.Errorf("it does not say why it stopped: %s", tail(said))
			}
			s.recovered()
		})
	}
}

// TestTheAPIServerDiesInTheMiddle: the run waits for it and goes on.
func TestTheAPIServerDiesInTheMiddle(t *testing.T) {
	for _, step := range []string{"add-stand-in", "drain", "recreate"} {
		t.Run("in "+step, func(t *testing.T) {
			s := serve(t, "")
			run := s.run()
			s.untilStep(step)
			s.plane.StopAPIServer(t)
			time.Sleep(time.Second) // calls fail meanwhile
			s.plane.StartAPIServer(t)
			s.exits(run, 0)
			s.recovered()
		})
	}
}

// TestEtcdDiesOnAnAppend: writes that etcd was given are never answered, because
// the API server dies while etcd stands still. Each of them is there once in the
// end, and the run goes on.
func TestEtcdDiesOnAnAppend(t *testing.T) {
	s := serve(t, "")
	run := s.run()
	s.untilStep("add-stand-in")
	resume := s.plane.PauseEtcd(t)
	time.Sleep(2 * time.Second) // renewals and appends hang
	s.plane.StopAPIServer(t)
	resume()
	s.plane.StartAPIServer(t)
	s.exits(run, 0)
	s.recovered()
}

// TestTheAPIServerCannotBeReached: nothing is done, and it is said that nothing
// could be seen.
func TestTheAPIServerCannotBeReached(t *testing.T) {
	s := serve(t, "")
	s.plane.StopAPIServer(t)
	run := s.run()
	said := s.exits(run, 3)
	s.plane.StartAPIServer(t)
	if !strings.Contains(said, "Undecided") ||
		!strings.Contains(said, "the journal can't be reached, so no run was begun") {
		t.Errorf("it says %s", tail(said))
	}
	if changes := s.changes(); len(changes) > 0 {
		t.Errorf("it changed something: %v", changes)
	}
}

// TestResumedOnAnotherMachine: the command that a killed run's successor would use
// goes on from the cluster's journal, which another machine lists.
func TestResumedOnAnotherMachine(t *testing.T) {
	s := serve(t, "")
	first := s.run()
	s.untilStep("recreate")
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-first.ended
	name := s.records()[0].Run
	listed := s.exits(s.salve("runs", "list", "--kubeconfig", s.plane.Kubeconfig(), "--journal-namespace", s.namespace), 0)
	if !strings.Contains(listed, name) || !strings.Contains(listed, "1 open") {
		t.Errorf("the list: %s", listed)
	}
	arguments := append([]string{
		"resume", name, "--journal-namespace", s.namespace, "--lease-duration", lease.String(), "--wait-for-lease", "1m",
	}, s.Arguments[2:]...) // without: run aks-recreate-pool
	arguments = slices.DeleteFunc(arguments, func(word string) bool { return word == "--pool" || word == "system" })
	said := s.exits(s.salve(arguments...), 0)
	if !strings.Contains(said, "Remediated") || !strings.Contains(said, "resumed") {
		t.Errorf("the resumed run: %s", tail(said))
	}
	s.recovered()
}

// TestAMovedRunIsGuarded: while an open run is in a folder, nobody begins another
// one in the cluster; when it is finished there, its record comes home.
func TestAMovedRunIsGuarded(t *testing.T) {
	s := serve(t, "")
	s.Environment["SALVE_JOURNAL_KEY_FILE"] = filepath.Join(t.TempDir(), "key") // one machine keeps the folder
	first := s.run()
	s.untilStep("drain")
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-first.ended
	name, folder := s.records()[0].Run, t.TempDir()
	inCluster := []string{
		"--kubeconfig", s.plane.Kubeconfig(), "--journal-namespace", s.namespace, "--lease-duration", lease.String(),
	}
	s.exits(s.salve(append([]string{"runs", "export", name, folder}, inCluster...)...), 0)
	if said := s.exits(s.run(), 4); !strings.Contains(said, "recorded in folder "+folder) {
		t.Errorf("a run in the cluster: %s", tail(said))
	}
	cloud := s.Arguments[len(s.Arguments)-6:]
	resume := []string{
		"resume", name, "--journal", folder, "--journal-namespace", s.namespace, "--lease-duration", lease.String(),
	}
	s.exits(s.salve(append(resume, cloud...)...), 0)
	s.exits(s.salve(append([]string{"runs", "import", name, folder}, inCluster...)...), 0)
	s.exits(s.run(), 0)
	s.recovered()
}
