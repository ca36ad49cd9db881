package endtoend_test

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"salve/journal"
	"salve/runbook"
)

// kills is a sample; make sweep asks for fifty, which take two minutes.
var kills = flag.Int("kills", 6, "how often salve run is killed")

// longestLife bounds the lives of killed processes: some die before their lease is
// theirs, some after several steps.
const longestLife = 4 * time.Second

// TestKilledAtAnyMoment kills salve run again and again, on as many wedged clusters
// as it takes, and starts it again each time: the journal in the cluster is all
// that the next process has.
func TestKilledAtAnyMoment(t *testing.T) {
	chance := rand.New(rand.NewPCG(2026, 3))
	for killed, cluster := 0, 1; killed < *kills; cluster++ {
		s := serve(t, "")
		processes := 1
		for !s.lives(chance, killed < *kills) {
			killed, processes = killed+1, processes+1
		}
		s.recovered()
		if outcomes := s.outcomes(); !slices.Contains(outcomes, runbook.Remediated) {
			t.Errorf("cluster %d: the runs ended %v", cluster, outcomes)
		}
		t.Logf("cluster %d was mended by %d processes; %d killed so far", cluster, processes, killed)
		s.leave()
		if t.Failed() {
			return
		}
	}
}

// lives tells whether a process came to its end before it was killed.
func (s *stage) lives(chance *rand.Rand, mortal bool) bool {
	s.Helper()
	p := s.run("--wait-for-lease", "1m")
	if mortal {
		select {
		case <-time.After(time.Duration(chance.Int64N(int64(longestLife)))):
			if err := p.Process.Kill(); err == nil {
				<-p.ended
				return p.ProcessState.ExitCode() == 0 // it may have ended just before
			}
		case <-p.ended:
		}
	}
	s.exits(p, 0)
	return true
}

func entryOf[T any](entry journal.Entry) (data T, err error) {
	err = json.Unmarshal(entry.Data, &data)
	return data, err
}
