//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// situation is a state of the staged program and the machine, and what a boot makes of it.
type situation struct {
	set  func(m *machine)
	does hotfixtest.Behaviour // the staged program
	with []preparing
	// during is what happens while it boots.
	during func(m *machine, boot *exec.Cmd)

	ran     []string // the programs, with their words
	either  bool     // exactly one of the two is as good: the machine has just enough for one of them, or not
	code    int
	reason  slot.Reason // launch's event; empty where nobody asks
	problem string
	bad     bool // the staged program is marked bad afterwards
	root    bool // it takes root
	busybox bool // under its shell too
	leaves  bool // processes may be left: the program has succeeded, or it is somebody else's
}

// preparing changes a machine on which a good program is staged.
type preparing func(m *machine)

var (
	both   = []string{stagedRuns, bakedRuns}
	staged = []string{stagedRuns}
	baked  = []string{bakedRuns}
)

// bakedCode is what the baked program ends with.
const bakedCode = 7

// soon is a deadline for programs that would never end. A slow machine makes it come no sooner.
func soon(m *machine) { m.flags["deadline"] = "1500ms" }

func isConfirmed(m *machine) { m.confirmed() }

func becomes(script string) hotfixtest.Behaviour { return hotfixtest.Behaviour{Becomes: script} }

// confirms is the program's own word, in a shell.
const confirms = `"$FOLDER/salve-node" confirm >&2; `

// runSituations runs them all at once, under each shell that a node may have.
func runSituations(t *testing.T, all map[string]situation) {
	t.Helper()
	var leaves sync.Map // the folders of machines on which processes may be left
	t.Cleanup(func() { expectNobodyLeft(t, &leaves) })
	for name, one := range all {
		for shell, words := range shells(t) {
			if shell == "busybox" && !one.busybox {
				continue // no node has it as /bin/sh: some for good measure
			}
			t.Run(name+"/"+shell, func(t *testing.T) {
				t.Parallel()
				if one.root && os.Geteuid() != 0 {
					t.Skip("it takes root")
				}
				m := newMachine(t)
				m.shell = words
				leaves.Store(m.folder, one.leaves)
				one.run(t, m)
			})
		}
	}
}

// expectNobodyLeft looks once for all machines: it takes a look at each process there is. Who was just killed may take
// a moment to go.
func expectNobodyLeft(t *testing.T, leaves *sync.Map) {
	t.Helper()
	for tries := 100; ; tries-- {
		bad := 0
		for folder, processes := range left(t, filepath.Join(os.TempDir(), "Test")) {
			may, ours := leaves.Load(folder)
			switch {
			case ours && may == true:
				signalAll(processes, syscall.SIGKILL)
			case ours && tries == 0:
				t.Errorf("left on %s: %v", folder, processes)
				signalAll(processes, syscall.SIGKILL)
			case ours:
				bad++
			}
		}
		if bad == 0 {
			return
		}
		<-time.After(20 * time.Millisecond)
	}
}

func (s situation) run(t *testing.T, m *machine) {
	if s.set != nil {
		s.set(m)
	} else {
		m.stage(s.does)
	}
	for _, more := range s.with {
		more(m)
	}
	boot := m.start()
	if s.during != nil {
		s.during(m, boot)
	}
	code := m.end(boot)
	ran := m.programs()
	right := slices.Equal(ran, s.ran) || s.either && (slices.Equal(ran, baked) || slices.Equal(ran, staged))
	if !right || code != s.code {
		t.Errorf("ran %q with exit code %d, want %q with %d\n%s", ran, code, s.ran, s.code, m.log())
	}
	s.expectEvent(t, m)
	if marks, _ := filepath.Glob(m.staged + ".bad/*"); (len(marks) > 0) != s.bad { // no folder, no marks
		t.Errorf("marked bad: %v, want %t", marks, s.bad)
	}
}

func (s situation) expectEvent(t *testing.T, m *machine) {
	t.Helper()
	if s.reason == "" && s.problem == "" {
		return
	}
	e := m.launched()
	if s.reason != "" && e.Reason != string(s.reason) {
		t.Errorf("the reason is %q, want %q\n%s", e.Reason, s.reason, m.log())
	}
	if !strings.Contains(e.Problem, s.problem) {
		t.Errorf("the problem is %q, want %q", e.Problem, s.problem)
	}
}

// eventually waits for something that will be.
func (m *machine) eventually(what string, is func() bool) {
	m.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	overdue := time.After(time.Minute)
	for !is() {
		select {
		case <-tick.C:
		case <-overdue:
			m.t.Errorf("it never happened: %s\n%s", what, m.log())
			return
		}
	}
}

// runs waits until a program has said so.
func (m *machine) runs(program string) {
	m.t.Helper()
	m.eventually(program, func() bool { return slices.Contains(m.programs(), program) })
}

// find gives the process of salve-node that runs a command of the last boot.
func (m *machine) find(command string) (pid int) {
	m.t.Helper()
	m.eventually("salve-node "+command, func() bool {
		for pid = childOf(m.pid); pid != 0; pid = childOf(pid) {
			words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may be gone
			if bytes.Contains(words, []byte("salve-node\x00"+command+"\x00")) {
				return true
			}
		}
		return false
	})
	return pid
}

// TestWhateverTheStagedProgramDoes: see the table of docs/node-hotfix.md, Which program runs.
func TestWhateverTheStagedProgramDoes(t *testing.T) {
	died := hotfixtest.Behaviour{DiesFrom: syscall.SIGSEGV}
	runSituations(t, map[string]situation{
		"it does what it has to":                      {busybox: true, ran: staged, reason: slot.Staged},
		"it fails":                                    {busybox: true, does: hotfixtest.Behaviour{Exit: 1}, ran: both, code: bakedCode, problem: "exit code 1 before"},
		"it panics":                                   {does: hotfixtest.Behaviour{Panics: true}, ran: both, code: bakedCode, problem: "exit code 2 before"},
		"it crashes":                                  {busybox: true, does: died, ran: both, code: bakedCode, problem: "segmentation fault"},
		"it aborts":                                   {does: hotfixtest.Behaviour{DiesFrom: syscall.SIGABRT}, ran: both, code: bakedCode, problem: "abort"},
		"memory is short, and it is killed":           {does: hotfixtest.Behaviour{DiesFrom: syscall.SIGKILL}, ran: both, code: bakedCode, problem: "killed"},
		"confirmed, it fails":                         {busybox: true, does: hotfixtest.Behaviour{Exit: 3}, with: []preparing{isConfirmed}, ran: staged, code: 3},
		"confirmed, it panics":                        {does: hotfixtest.Behaviour{Panics: true}, with: []preparing{isConfirmed}, ran: staged, code: 2},
		"confirmed, it ends with 126":                 {does: hotfixtest.Behaviour{Exit: 126}, with: []preparing{isConfirmed}, ran: staged, code: 126},
		"confirmed, it ends with 127":                 {does: hotfixtest.Behaviour{Exit: 127}, with: []preparing{isConfirmed}, ran: staged, code: 127},
		"confirmed, it ends with 151":                 {does: hotfixtest.Behaviour{Exit: 151}, with: []preparing{isConfirmed}, ran: staged, code: 151},
		"confirmed, it ends with 255":                 {does: hotfixtest.Behaviour{Exit: 255}, with: []preparing{isConfirmed}, ran: staged, code: 255},
		"confirmed, it crashes":                       {does: died, with: []preparing{isConfirmed}, ran: both, code: bakedCode, bad: true},
		"it hangs":                                    {busybox: true, does: becomes("sleep 3600"), with: []preparing{soon}, ran: both, code: bakedCode, problem: "did not end within 1.5s"},
		"it hangs and ignores SIGTERM":                {does: becomes(`trap "" TERM; sleep 3600; sleep 3600`), with: []preparing{soon}, ran: both, code: bakedCode, problem: "did not end within"},
		"it hangs, and ends well when it is asked to": {does: becomes(`trap "exit 0" TERM; sleep 3600 & wait`), with: []preparing{soon}, ran: both, code: bakedCode, problem: "did not end within"},
		"it stops itself":                             {does: becomes("kill -STOP $$"), with: []preparing{soon}, ran: both, code: bakedCode, problem: "did not end within"},
		"confirmed, it hangs":                         {does: becomes("sleep 3600"), with: []preparing{soon, isConfirmed}, ran: both, code: bakedCode, bad: true},
		"it confirms and goes on":                     {does: becomes(confirms), ran: staged},
		"it confirms twice":                           {does: becomes(confirms + confirms), ran: staged},
		"it confirms and fails":                       {does: becomes(confirms + "exit 3"), ran: staged, code: 3},
		"it confirms and dies":                        {does: becomes(confirms + "kill -9 $$"), ran: both, code: bakedCode, bad: true},
		"it confirms and hangs":                       {does: becomes(confirms + "sleep 3600"), with: []preparing{soon}, ran: both, code: bakedCode, bad: true},
		"somebody confirms too late":                  {does: becomes("exit 3"), with: []preparing{confirmsAsBaked}, ran: both, code: 1},
		"it leaves a child":                           {does: becomes("sleep 3600 & exit 1"), ran: both, code: bakedCode},
		"it leaves a daemon":                          {does: becomes("setsid sh -c 'setsid sleep 3600 & echo >$FOLDER/begun; sleep 3600' & until [ -e $FOLDER/begun ]; do :; done; exit 1"), ran: both, code: bakedCode},
		"it leaves a daemon, and succeeds":            {does: becomes("setsid sleep 3600 >/dev/null 2>&1 &"), ran: staged, leaves: true},
		"its daemon holds everything open":            {does: becomes("setsid sleep 3600 &"), ran: staged, leaves: true},
		"it forks and forks": {does: becomes(`f() { for i in 1 2 3 4 5 6; do (setsid sh -c "sleep 3600; :" &); done; }; f & f & f & wait; exit 1`),
			ran: both, code: bakedCode},
		"it forks and hangs":    {does: becomes(`n=0; while [ $n -lt 400 ] && sleep 0.05; do n=$((n+1)); setsid sleep 60 & done; sleep 3600`), with: []preparing{soon}, ran: both, code: bakedCode},
		"it kills salve-node":   {busybox: true, does: becomes(`setsid sleep 3600 >/dev/null 2>&1 & kill -9 $PPID; sleep 3600`), ran: both, code: bakedCode, leaves: true},
		"it closes everything":  {does: becomes("exec <&- >&- 2>&-; exit 0"), ran: staged},
		"it prints without end": {does: becomes("exec yes >/dev/null"), with: []preparing{soon}, ran: both, code: bakedCode},
		"it becomes nobody":     {does: becomes("exec setpriv --reuid 65534 --clear-groups sh -c 'exit 0'"), root: true, ran: staged},
		"it becomes nobody and hangs": {does: becomes("exec setpriv --reuid 65534 --clear-groups sleep 3600"), with: []preparing{soon}, root: true,
			ran: both, code: bakedCode},
		"it removes itself":                  {does: becomes(`rm -f "$0" "$0.manifest"; exit 1`), ran: both, code: bakedCode},
		"it removes the record of its trial": {does: becomes(`rm -f "$0.trial"; exit 1`), ran: both, code: bakedCode},
		"it may be tried twice": {does: hotfixtest.Behaviour{Exit: 1}, with: []preparing{func(m *machine) { m.flags["trials"] = "2" }, bootedBefore},
			ran: append(slices.Clone(both), both...), code: bakedCode},
		"it was tried": {does: hotfixtest.Behaviour{Exit: 1}, with: []preparing{bootedBefore}, ran: append(slices.Clone(both), baked...), code: bakedCode,
			reason: slot.TrialsUsed},
		"it is marked bad":   {with: []preparing{markedBad}, ran: baked, code: bakedCode, reason: slot.MarkedBad, bad: true},
		"it needs its words": {busybox: true, with: []preparing{moreWords}, ran: []string{stagedRuns + " a  b --c=d *"}},
	})
}

// confirmsAsBaked bakes a program that confirms, as provisioning scripts may: that is not the staged one's merit.
func confirmsAsBaked(m *machine) {
	script := "#!/bin/sh\necho \"$0 $*\"\nexec \"$FOLDER/salve-node\" confirm\n"
	check(m.t, os.WriteFile(m.baked, []byte(script), 0o755))
}

// bootedBefore is one boot before.
func bootedBefore(m *machine) { m.boot() }

func markedBad(m *machine) {
	digest := strings.TrimSpace(string(must(exec.Command("sh", "-c", `sha256sum <"$0" | cut -d' ' -f1`, m.staged).Output())))
	check(m.t, slot.Slot{Baked: m.baked, Staged: m.staged}.MarkBad(digest))
}

func moreWords(m *machine) { m.words = []string{"a  b", "--c=d", "*"} }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
