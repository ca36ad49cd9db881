//go:build linux

package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// sends sends signals to the unit's process at a stage of the boot, one after the other.
func sends(stage func(m *machine), signals ...syscall.Signal) func(*machine, *exec.Cmd) {
	return func(m *machine, boot *exec.Cmd) {
		stage(m)
		for _, one := range signals {
			check(m.t, boot.Process.Signal(one))
		}
	}
}

// The stages of a boot.
func preparesFirst(m *machine) { m.find("prepare") }
func stagedFirst(m *machine)   { m.runs(stagedRuns); m.waits() }
func bakedFirst(m *machine)    { m.runs(bakedRuns); m.waits() }

// waits waits until the program has set up its shell.
func (m *machine) waits() {
	m.eventually("it is ready", func() bool {
		found, _ := filepath.Glob(filepath.Join(m.folder, "ready")) // the pattern is good
		return len(found) > 0
	})
}

// untilSignals is a program that says when it is ready, and which signal it got.
const untilSignals = `for s in HUP INT QUIT USR1 USR2 ALRM WINCH; do trap "echo got $s" $s; done; trap "echo got TERM; exit 5" TERM
	echo >$FOLDER/ready; while :; do sleep 3600 & wait; kill $!; done`

// TestSignalsAtEachStage: whoever stops the unit stops what runs, and nothing runs after that. A hang-up is not a stop.
func TestSignalsAtEachStage(t *testing.T) {
	sleeps := becomes("echo >$FOLDER/ready; exec sleep 3600")
	bakedSleeps := func(m *machine) {
		check(m.t, syscall.Unlink(m.staged+".manifest"))
		hotfixtest.Write(m.t, m.baked, hotfixtest.Image(m.t, hotfixtest.Behaviour{Version: bakedVersion,
			Becomes: "echo >$FOLDER/ready; exec sleep 3600"}))
	}
	all := map[string]situation{}
	for name, one := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT,
		"SIGQUIT": syscall.SIGQUIT} {
		code := 128 + int(one)
		all[name+" while it prepares"] = situation{with: []preparing{isLocked}, during: sends(preparesFirst, one), code: code}
		all[name+" while the staged program runs"] = situation{does: sleeps, during: sends(stagedFirst, one), ran: staged, code: code}
		all[name+" while a confirmed one runs"] = situation{does: sleeps, with: []preparing{isConfirmed}, during: sends(stagedFirst, one),
			ran: staged, code: code}
		all[name+" while the baked program runs"] = situation{with: []preparing{bakedSleeps}, during: sends(bakedFirst, one), ran: baked, code: code}
		all[name+", and the staged program does not end"] = situation{does: becomes(`trap "" TERM INT QUIT; echo >$FOLDER/ready; sleep 3600`),
			with: []preparing{soon}, during: sends(stagedFirst, one), ran: staged, code: code}
	}
	for name, one := range map[string]situation{
		"SIGHUP while it prepares":             {with: []preparing{isLocked, func(m *machine) { m.flags["budget"] = "4s" }}, during: sends(preparesFirst, syscall.SIGHUP), ran: baked, code: bakedCode},
		"SIGHUP while the staged program runs": {does: sleeps, during: sends(stagedFirst, syscall.SIGHUP), ran: staged, code: 129},
		"SIGTERM and SIGCONT, as systemd sends them": {does: sleeps, during: sends(stagedFirst, syscall.SIGTERM, syscall.SIGCONT),
			ran: staged, code: 143},
		"SIGTERM, and salve-node is killed": {does: becomes(`trap "" TERM; echo >$FOLDER/ready; sleep 3600`), during: func(m *machine, boot *exec.Cmd) {
			sends(stagedFirst, syscall.SIGTERM)(m, boot)
			check(m.t, syscall.Kill(m.find("launch"), syscall.SIGKILL))
		}, ran: staged, code: 143},
		"salve-node is killed while the staged program runs": {does: becomes(`echo >$FOLDER/ready; sleep 3600; sleep 3600`),
			during: kills("launch", stagedFirst), ran: both, code: bakedCode},
		"salve-node is killed while it prepares": {with: []preparing{isLocked}, during: kills("launch", preparesFirst), ran: baked, code: bakedCode},
		"salve-node stops and is killed": {does: sleeps, during: func(m *machine, _ *exec.Cmd) {
			stagedFirst(m)
			check(m.t, syscall.Kill(m.find("launch"), syscall.SIGSTOP))
			check(m.t, syscall.Kill(m.find("launch"), syscall.SIGKILL))
		}, ran: both, code: bakedCode},
	} {
		all[name] = one
	}
	runSituations(t, all)
}

func kills(command string, stage func(*machine)) func(*machine, *exec.Cmd) {
	return func(m *machine, _ *exec.Cmd) {
		stage(m)
		check(m.t, syscall.Kill(m.find(command), syscall.SIGKILL))
	}
}

// TestAllSignalsAreHeard: they reach the program, each by itself.
func TestAllSignalsAreHeard(t *testing.T) {
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.shell = shell
			m.stage(becomes(untilSignals))
			boot := m.start()
			stagedFirst(m)
			for _, one := range []struct {
				signal syscall.Signal
				name   string
			}{{syscall.SIGHUP, "HUP"}, {syscall.SIGUSR1, "USR1"}, {syscall.SIGUSR2, "USR2"}, {syscall.SIGALRM, "ALRM"},
				{syscall.SIGWINCH, "WINCH"}, {syscall.SIGTERM, "TERM"}} {
				check(t, boot.Process.Signal(one.signal))
				m.eventually("it heard "+one.name, func() bool { return slices.Contains(m.lines(), "got "+one.name) })
			}
			if code := m.end(boot); code != 5 {
				t.Errorf("exit code %d\n%s", code, m.log())
			}
		})
	}
}

// TestARebootLoopEndsByItself: a program that takes the machine down with it is started as often as it may be.
func TestARebootLoopEndsByItself(t *testing.T) {
	for name, row := range map[string]struct {
		reboot func(m *machine, boot *exec.Cmd)
		starts int
	}{
		"the machine crashes": {func(m *machine, _ *exec.Cmd) {
			for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} { // at once: nobody sees another die
				signalAll(left(m.t, m.folder)[m.folder], signal)
			}
		}, 1},
		// It is given back three times, and counts then.
		"the machine goes down in order": {func(m *machine, boot *exec.Cmd) { check(m.t, boot.Process.Signal(syscall.SIGTERM)) }, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.stage(becomes("echo >$FOLDER/ready; exec sleep 3600"))
			for range row.starts {
				boot := m.start()
				m.waits()
				row.reboot(m, boot)
				m.end(boot)
				check(t, syscall.Unlink(filepath.Join(m.folder, "ready")))
			}
			if code := m.boot(); code != bakedCode {
				t.Errorf("exit code %d\n%s", code, m.log())
			}
			want := slices.Concat(slices.Repeat(staged, row.starts), baked)
			if ran := m.programs(); !slices.Equal(ran, want) {
				t.Errorf("ran %q, want %q", ran, want)
			}
			if reason := m.launched().Reason; reason != string(slot.TrialsUsed) {
				t.Errorf("the reason is %q", reason)
			}
		})
	}
}
