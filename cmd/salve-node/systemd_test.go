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
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix/hotfixtest"
)

// systemd is one that runs as the first process of a namespace of its own, with nothing but this unit to start.
type systemd struct {
	*machine
	process int // as this side sees it
}

// enter makes the root that it sees: nothing of this system but its programs, and those to read only.
const enter = "testdata/systemd/enter.sh"

// startSystemd starts it, or skips the test where that can't be done.
func startSystemd(t *testing.T) *systemd {
	t.Helper()
	program := "/lib/systemd/systemd"
	groups := cgroupMount()
	switch _, err := os.Stat(program); {
	case os.Geteuid() != 0:
		t.Skip("it takes root")
	case err != nil:
		t.Skip("systemd is not installed")
	case groups == "":
		t.Skip("no control groups of version 2 are mounted")
	}
	m := newMachine(t)
	s := &systemd{machine: m}
	settings := "[Service]\nStandardOutput=append:" + containers + "ran\nStandardError=append:" + containers + "said\n"
	for flag, value := range m.flags {
		settings += fmt.Sprintf("Environment=%s=%s\n", variable(flag), strings.ReplaceAll(value, m.folder+"/", containers))
	}
	m.write("test.conf", settings)
	unit, err := filepath.Abs(unitPath)
	check(t, err)
	group := filepath.Join(groups, "salve-test-"+fmt.Sprint(os.Getpid()))
	check(t, os.Mkdir(group, 0o755))
	t.Cleanup(func() { m.eventually("its groups are gone", func() bool { return removeGroups(group) }) })
	folder, err := os.Open(group)
	check(t, err)
	defer folder.Close()
	command := exec.Command("unshare", "--pid", "--fork", "--kill-child", "--mount", "--cgroup", "--ipc", "--uts", "--net",
		"/bin/sh", enter, m.folder, unit, program, "--system", "--log-target=console", "--log-level=warning",
		"--show-status=no")
	command.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(folder.Fd())}
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	check(t, command.Start())
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // it is killed
		close(ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
	})
	overdue := time.After(time.Minute)
	for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
		select {
		case <-ended:
			t.Skipf("systemd can't be started here: %s", said.String())
		case <-overdue:
			t.Skipf("systemd does not come up here: %s", s.control("is-system-running"))
		default:
		}
		if s.process = childOf(command.Process.Pid); s.process != 0 {
			if state := s.control("is-system-running"); slices.Contains([]string{"running", "degraded"}, state) {
				return s
			}
		}
	}
}

func cgroupMount() string {
	for _, path := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(path + "/cgroup.controllers"); err == nil {
			return path
		}
	}
	return ""
}

// removeGroups removes a group and those below it, if nobody is in them.
func removeGroups(group string) bool {
	var groups []string
	_ = filepath.WalkDir(group, func(path string, entry os.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			groups = append(groups, path)
		}
		return nil
	})
	for _, one := range slices.Backward(groups) {
		_ = syscall.Rmdir(one) // the last one tells
	}
	_, err := os.Stat(group)
	return os.IsNotExist(err)
}

// inside runs a command in the namespaces.
func (s *systemd) inside(words ...string) string {
	words = append([]string{"--all", "--target", fmt.Sprint(s.process), "--"}, words...)
	out, _ := exec.Command("nsenter", words...).CombinedOutput() // what it prints tells
	return strings.TrimSpace(string(out))
}

func (s *systemd) control(words ...string) string {
	return s.inside(append([]string{"systemctl", "--no-pager"}, words...)...)
}

func (s *systemd) show(property string) string {
	return s.control("show", "--value", "--property", property, "salve-node.service")
}

// again makes the machine what it was before its first boot.
func (s *systemd) again(does hotfixtest.Behaviour) {
	s.t.Helper()
	s.control("stop", "salve-node.service")
	s.control("reset-failed", "salve-node.service")
	check(s.t, os.Truncate(s.ran.Name(), 0))
	_ = os.Remove(s.staged + ".trial")
	_ = os.Remove(filepath.Join(s.folder, "ready"))
	s.stage(does)
}

func (s *systemd) programs() []string {
	var ran []string
	for _, line := range s.lines() {
		line = strings.ReplaceAll(line, containers, s.folder+"/")
		ran = append(ran, programsOf(s.machine, line)...)
	}
	return ran
}

// TestSystemdBoots runs the very unit under a real systemd.
func TestSystemdBoots(t *testing.T) {
	s := startSystemd(t)
	t.Run("the command is what this package's tests run", func(t *testing.T) {
		s.t = t
		s.again(becomes("echo >/opt/azure/containers/ready; exec sleep 3600"))
		s.control("start", "--no-block", "salve-node.service")
		s.waits()
		words := s.inside("cat", "/proc/"+s.show("MainPID")+"/cmdline")
		if want := strings.Join(wrapper(t), "\x00"); strings.TrimRight(words, "\x00") != want {
			t.Errorf("systemd runs\n%q, want\n%q", words, want)
		}
		// A stop reaches the program, and nobody is left.
		s.control("stop", "salve-node.service")
		if ran := s.programs(); !slices.Equal(ran, staged) {
			t.Errorf("ran %q", ran)
		}
		s.expectEmpty(t)
	})
	t.Run("the program succeeds in a group of its own", func(t *testing.T) {
		s.t = t
		s.again(becomes("cat /proc/self/cgroup"))
		s.control("start", "salve-node.service")
		if state := s.show("ActiveState"); state != "active" || !slices.Equal(s.programs(), staged) {
			t.Errorf("the unit is %s, ran %q", state, s.programs())
		}
		if out := strings.Join(s.lines(), "\n"); !strings.Contains(out, "0::/system.slice/salve-node.service/salve-node-") {
			t.Errorf("it was in %s", out)
		}
	})
	t.Run("the baked program takes the shell's place", func(t *testing.T) {
		s.t = t
		s.again(hotfixtest.Behaviour{Exit: 3})
		s.control("start", "salve-node.service")
		if status := s.show("ExecMainStatus"); status != fmt.Sprint(bakedCode) || !slices.Equal(s.programs(), both) {
			t.Errorf("the unit ended with %s, ran %q", status, s.programs())
		}
	})
	daemon := "setsid sh -c 'echo >/opt/azure/containers/ready; sleep 3600; sleep 3600' >/dev/null 2>&1 & " +
		"until [ -e /opt/azure/containers/ready ]; do :; done; "
	t.Run("a daemon goes with the program", func(t *testing.T) {
		s.t = t
		s.bake(0)
		s.again(becomes(daemon + "exit 3"))
		s.control("start", "salve-node.service")
		if state := s.show("ActiveState"); state != "active" || !slices.Equal(s.programs(), both) {
			t.Errorf("the unit is %s, ran %q", state, s.programs())
		}
		s.expectEmpty(t)
	})
	t.Run("a daemon goes with a salve-node that is killed", func(t *testing.T) {
		s.t = t
		s.bake(0)
		s.again(becomes(daemon + "kill -9 $PPID; sleep 3600"))
		s.control("start", "salve-node.service")
		if state := s.show("ActiveState"); state != "active" || !slices.Equal(s.programs(), both) {
			t.Errorf("the unit is %s, ran %q\n%s", state, s.programs(), s.log())
		}
		s.expectEmpty(t)
	})
	t.Run("it starts where either configuration is", func(t *testing.T) {
		s.t = t
		s.again(hotfixtest.Behaviour{})
		check(t, os.Remove(filepath.Join(s.folder, "aks-node-controller-config.json")))
		s.control("start", "salve-node.service")
		if ran := s.programs(); len(ran) > 0 || s.show("ConditionResult") != "no" {
			t.Errorf("it started without one: %q", ran)
		}
		s.write("aks-node-controller-nbc-cmd.sh", "")
		s.control("start", "salve-node.service")
		if ran := s.programs(); !slices.Equal(ran, []string{"staged provision --nbc-cmd=nbc-cmd.sh"}) {
			t.Errorf("ran %q", ran)
		}
	})
	if policy := s.show("OOMPolicy"); policy != "continue" {
		t.Errorf("OOMPolicy=%s", policy)
	}
}

// expectEmpty: no process is left in the unit.
func (s *systemd) expectEmpty(t *testing.T) {
	t.Helper()
	s.eventually("the unit is empty", func() bool {
		tasks := s.inside("sh", "-c", "cat /sys/fs/cgroup/system.slice/salve-node.service/cgroup.procs "+
			"/sys/fs/cgroup/system.slice/salve-node.service/*/cgroup.procs 2>/dev/null")
		return tasks == ""
	})
}
