//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix/hotfixtest"
)

// TestKilledAtAnyMoment kills salve-node, its prepare process or the program at a random moment of a boot. Each of the
// two programs runs once at most, one of them to its end, and nobody is left.
func TestKilledAtAnyMoment(t *testing.T) {
	const boots, atOnce, longest = 300, 12, 30 * time.Millisecond
	first := newMachine(t)
	first.stage(hotfixtest.Behaviour{For: 10 * time.Millisecond})
	kinds := [][]string{shells(t)["dash"], shells(t)["bash"]}
	var all sync.WaitGroup
	var mutex sync.Mutex
	hit, ends, machines := map[string]int{}, map[string]int{}, map[string]bool{}
	free := make(chan struct{}, atOnce)
	for seed := range uint64(boots) {
		random := rand.New(rand.NewPCG(seed, 15)) // the same each time
		m := newMachine(t)
		machines[m.folder] = true
		if m.shell = kinds[seed%2]; m.shell == nil {
			m.shell = []string{"/bin/sh"}
		}
		m.stageSame(first)
		if random.IntN(2) == 0 {
			m.confirmed()
		}
		moment, generation := time.Duration(random.Int64N(int64(longest))), 1+min(1, random.IntN(3))
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			boot := m.start()
			m.eventually("it has begun", func() bool { return childOf(boot.Process.Pid) != 0 || len(m.programs()) > 0 })
			timer := time.NewTimer(moment)
			<-timer.C
			killed := killDescendant(boot.Process.Pid, generation)
			code := m.end(boot)
			ran := m.programs()
			// 137: it was killed after it had said that all is over.
			good := slices.Equal(ran, staged) && (code == 0 || code == 137 && killed == "launch") ||
				(slices.Equal(ran, baked) || slices.Equal(ran, both)) && code == bakedCode
			mutex.Lock()
			defer mutex.Unlock()
			hit[killed]++
			ends[fmt.Sprint(ran, code)]++
			if !good {
				t.Errorf("seed %d: %q killed after %s, ran %q with exit code %d\n%s", seed, killed, moment, ran, code, m.log())
			}
		})
	}
	all.Wait()
	if hit["launch"] < boots/20 || hit["prepare"] < boots/50 || hit["the program"] < boots/50 {
		t.Errorf("the kills were not all over the place: %v", hit)
	}
	t.Log(hit, ends)
	var none sync.Map
	for folder := range machines {
		none.Store(folder, false)
	}
	expectNobodyLeft(t, &none)
}

// stageSame stages what another machine has.
func (m *machine) stageSame(other *machine) {
	m.t.Helper()
	for _, suffix := range []string{"", ".manifest"} {
		check(m.t, os.Link(other.staged+suffix, m.staged+suffix))
	}
	check(m.t, os.Link(other.flags["pointer"], m.flags["pointer"]))
}

// childOf is a child of a process, whichever of its threads has started it; 0 if it has none.
func childOf(pid int) (child int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is good
	for _, thread := range threads {
		raw, _ := os.ReadFile(thread) // it may be gone
		if _, err := fmt.Sscan(string(raw), &child); err == nil {
			return child
		}
	}
	return 0
}

// killDescendant kills the child of a shell, or that one's child where there is one, and says who it was.
func killDescendant(pid, generation int) (who string) {
	if pid = childOf(pid); pid == 0 {
		return "nobody" // any more
	}
	if below := childOf(pid); generation > 1 && below != 0 {
		pid = below
	}
	words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if syscall.Kill(pid, syscall.SIGKILL) != nil {
		return "nobody"
	}
	for _, name := range []string{"launch", "prepare"} {
		if strings.Contains(string(words), "salve-node\x00"+name) {
			return name
		}
	}
	return "the program"
}
