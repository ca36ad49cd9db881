//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix/event"
	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// machine is a node's folder, on which the unit's very command is run.
type machine struct {
	t      testing.TB
	folder string // instead of /opt/azure/containers
	baked  string
	staged string
	shell  []string // instead of the unit's /bin/sh
	around []string // a command before it, as unshare
	before string   // a line of sh before the command: limits, signals that are ignored
	flags  map[string]string
	words  []string // on top of the unit's
	stdin  *os.File
	stdout *os.File // nil for one that is read afterwards
	stderr *os.File
	said   *os.File
	pid    int // of the last boot
	ran    *os.File
}

const (
	bakedVersion  = "202604.01.0"
	stagedVersion = "202604.01.2"
)

// newMachine has a baked program that prints its words, and nothing staged.
func newMachine(t testing.TB) *machine {
	t.Helper()
	// The folders on the way are nobody else's.
	folder := t.TempDir()
	m := &machine{
		t: t, folder: folder, baked: filepath.Join(folder, "aks-node-controller"),
		staged: filepath.Join(folder, "aks-node-controller-hotfix"), shell: []string{"/bin/sh"},
		flags: map[string]string{
			"state": filepath.Join(folder, "state"), "pointer": filepath.Join(folder, "pointer.json"),
			"current": bakedVersion, "budget": "30s", "deadline": "2m", "root": filepath.Join(folder, "root"),
			"os-release": "/dev/null", // no package manager that is known
		},
	}
	m.flags["staged"] = m.staged
	check(t, os.Link(releasedNode(t), filepath.Join(folder, "salve-node")))
	m.write("aks-node-controller-config.json", "{}")
	m.bake(7)
	m.said, m.ran = m.scrap("said"), m.scrap("ran")
	return m
}

func (m *machine) write(name, content string) {
	m.t.Helper()
	check(m.t, os.WriteFile(filepath.Join(m.folder, name), []byte(content), 0o644))
}

func (m *machine) scrap(name string) *os.File {
	m.t.Helper()
	file, err := os.OpenFile(filepath.Join(m.folder, name), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	check(m.t, err)
	m.t.Cleanup(func() { _ = file.Close() })
	return file
}

// bake puts the baked program in place.
func (m *machine) bake(exit byte) {
	m.t.Helper()
	image, made := hotfixtest.Tiny(exit)
	if !made {
		image = hotfixtest.Image(m.t, hotfixtest.Behaviour{Version: bakedVersion, Exit: int(exit)})
	}
	hotfixtest.Write(m.t, m.baked, image)
}

// stage puts a program in place of which everything is right, and a pointer that names it.
func (m *machine) stage(does hotfixtest.Behaviour) {
	m.t.Helper()
	does.Version = stagedVersion
	m.stageImage(hotfixtest.Image(m.t, does))
}

func (m *machine) stageImage(image []byte) {
	m.t.Helper()
	hotfixtest.Write(m.t, m.staged, image)
	manifest, err := json.Marshal(slot.Manifest{SchemaVersion: 1, Target: stagedVersion,
		SHA256: fmt.Sprintf("%x", sha256.Sum256(image)), Staged: time.Now(), Source: "the test"})
	check(m.t, err)
	check(m.t, os.WriteFile(m.staged+".manifest", manifest, 0o644))
	check(m.t, os.WriteFile(m.flags["pointer"], []byte(`{"version":"`+stagedVersion+`"}`), 0o600))
}

// confirmed makes the staged program one that an earlier boot has confirmed.
func (m *machine) confirmed() {
	m.t.Helper()
	manifest, err := os.ReadFile(m.staged + ".manifest")
	check(m.t, err)
	var staged slot.Manifest
	check(m.t, json.Unmarshal(manifest, &staged))
	trial, err := json.Marshal(slot.Trial{SchemaVersion: 1, SHA256: staged.SHA256, Target: staged.Target, Confirmed: true})
	check(m.t, err)
	check(m.t, os.WriteFile(m.staged+".trial", trial, 0o644))
}

// command is the unit's, on this machine.
func (m *machine) command() *exec.Cmd {
	words := wrapper(m.t)
	words = append(append(append([]string{}, m.shell...), words[1:4]...), m.folder)
	words = append(words, m.words...)
	words = append(append(append([]string{}, m.around...), "/bin/sh", "-c", m.before+"\nexec \"$@\"", "before"), words...)
	command := exec.Command(words[0], words[1:]...)
	command.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "GORACE=atexit_sleep_ms=0", "FOLDER=" + m.folder}
	for flag, value := range m.flags {
		command.Env = append(command.Env, variable(flag)+"="+value)
	}
	command.Stdout, command.Stderr = m.ran, m.said // and /dev/null as standard input
	if m.stdin != nil {
		command.Stdin = m.stdin
	}
	if m.stdout != nil {
		command.Stdout = m.stdout
	}
	if m.stderr != nil {
		command.Stderr = m.stderr
	}
	command.Dir = "/"
	return command
}

// start begins a boot.
func (m *machine) start() *exec.Cmd {
	m.t.Helper()
	command := m.command()
	check(m.t, command.Start())
	m.t.Cleanup(func() { _ = command.Process.Kill() })
	m.pid = command.Process.Pid
	return command
}

// boot runs one to its end.
func (m *machine) boot() (code int) {
	m.t.Helper()
	return m.end(m.start())
}

// end waits for a boot. A signal is as shells show it.
func (m *machine) end(command *exec.Cmd) (code int) {
	m.t.Helper()
	hang := time.AfterFunc(2*time.Minute, func() { _ = command.Process.Kill() })
	_ = command.Wait() // how it ended is looked at
	if !hang.Stop() {
		m.t.Errorf("the boot hung\n%s", m.log())
	}
	status := command.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// programs are those that have run, by their order, with their words: "baked …" and
// "staged …".
func (m *machine) programs() (ran []string) {
	m.t.Helper()
	for _, line := range m.lines() {
		ran = append(ran, programsOf(m, line)...)
	}
	return ran
}

func programsOf(m *machine, line string) (ran []string) {
	for prefix, name := range map[string]string{m.baked + " ": "baked ", "ran " + bakedVersion + " ": "baked ",
		m.staged + " ": "staged ", "ran " + stagedVersion + " ": "staged "} {
		if words, is := strings.CutPrefix(line, prefix); is {
			ran = append(ran, name+strings.ReplaceAll(words, m.folder+"/aks-node-controller-", ""))
		}
	}
	return ran
}

// lines are what the programs have printed.
func (m *machine) lines() (lines []string) {
	m.t.Helper()
	raw, err := os.ReadFile(m.ran.Name())
	check(m.t, err)
	for line := range strings.Lines(string(raw)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func (m *machine) log() string {
	raw, _ := os.ReadFile(m.said.Name()) // it is for a person
	return string(raw)
}

// launched is the last event of launch.
func (m *machine) launched() event.Event {
	m.t.Helper()
	events, _, err := event.Folder{Path: m.flags["state"] + "/events"}.Last(20)
	check(m.t, err)
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Command == "launch" {
			return events[i]
		}
	}
	return event.Event{}
}

// left are the processes of machines below a folder: all have its name in their environment.
func left(t testing.TB, folder string) (found map[string][]int) {
	t.Helper()
	found = map[string][]int{}
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	check(t, err)
	for _, path := range paths {
		raw, _ := os.ReadFile(path) // it may be gone
		for variable := range bytes.SplitSeq(raw, []byte{0}) {
			if machine, is := bytes.CutPrefix(variable, []byte("FOLDER=")); is && bytes.HasPrefix(machine, []byte(folder)) {
				var pid int
				if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err == nil {
					found[string(machine)] = append(found[string(machine)], pid)
				}
			}
		}
	}
	return found
}

func signalAll(processes []int, signal syscall.Signal) {
	for _, pid := range processes {
		_ = syscall.Kill(pid, signal) // it may be gone
	}
}

const (
	bakedRuns  = "baked provision --provision-config=config.json"
	stagedRuns = "staged provision --provision-config=config.json"
)

// shells are those that may be a node's /bin/sh: dash on Ubuntu, bash on Azure Linux.
func shells(t testing.TB) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for name, words := range map[string][]string{
		"dash": {"dash"}, "bash": {"bash", "--posix"}, "busybox": {"busybox", "sh"}, // as /bin/sh bash is POSIX's
	} {
		if path, err := exec.LookPath(words[0]); err == nil {
			found[name] = append([]string{path}, words[1:]...)
		}
	}
	if len(found) == 0 {
		t.Fatal("there is no shell")
	}
	return found
}
