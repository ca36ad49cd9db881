package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Machine is what executes programs. Its methods of looking may be nil when it
// is not this machine: then loaders and interpreters are not looked for.
type Machine struct {
	Platform Platform
	// Exists tells whether there is a file.
	Exists func(path string) bool
	// Find looks for a command on the PATH that steps will have.
	Find func(command string) (path string, err error)
	// Emulates tells whether the kernel hands a file that begins so to an emulator.
	Emulates func(head []byte) bool
}

// Here is this machine.
func Here() Machine {
	return Machine{Platform: Host(), Exists: exists, Find: exec.LookPath, Emulates: emulated}
}

// There is a machine that can't be looked at.
func There(platform Platform) Machine { return Machine{Platform: platform} }

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// UnfitError says that a machine can't execute a program, and what mends that.
type UnfitError struct {
	Path string
	// Reason is what stands in the way, naming what the program is for and what the
	// machine is.
	Reason, Mend string
}

func (e *UnfitError) Error() string {
	return fmt.Sprintf("%s %s. hint: %s", e.Path, e.Reason, e.Mend)
}

// nesting is how many scripts may interpret each other; Linux allows five.
const nesting = 4

// Fit says whether the machine can execute the program: nil, or *UnfitError, or
// what Examine says of its interpreter. rebuild is the command that builds the
// program for that machine.
func (m Machine) Fit(p Program, rebuild string) error { return m.fit(p, rebuild, nesting) }

func (m Machine) fit(p Program, rebuild string, depth int) error {
	switch {
	case p.Format == Script && m.Find == nil:
		return nil
	case p.Format == Script:
		return m.fitScript(p, depth)
	case !m.runs(p):
		return &UnfitError{p.Path, fmt.Sprintf("is %s, which this machine, %s, cannot execute", p.describe(), m.Platform),
			m.mending(p, rebuild)}
	case p.Loader != "" && m.Exists != nil && !m.Exists(p.Loader):
		return &UnfitError{p.Path,
			fmt.Sprintf("is for %s as this machine is, but it is linked dynamically and its loader %s is not here",
				p.Platforms[0], p.Loader), loading(p)}
	}
	return nil
}

// runs tells whether the machine runs one of the program's platforms, by itself
// or by an emulator.
func (m Machine) runs(p Program) bool {
	for _, platform := range p.Platforms {
		if m.Platform.executes(platform) || m.rosetta(platform) {
			return true
		}
	}
	return m.Emulates != nil && m.Emulates(p.head)
}

// rosetta is Apple's emulator on its ARM machines, where it is installed.
func (m Machine) rosetta(wanted Platform) bool {
	return m.Platform.OS == "darwin" && m.Platform.Arch == "arm64" && wanted.OS == "darwin" && wanted.Arch == "amd64" &&
		m.Exists != nil && m.Exists("/Library/Apple/usr/libexec/oah/libRosettaRuntime")
}

// mending is the command that makes a program fit. A Go program tells its main
// package: that is built directly when the pipeline has no command for it.
func (m Machine) mending(p Program, rebuild string) string {
	if rebuild == "" && p.Go != nil && p.Go.Main != "" {
		return fmt.Sprintf("GOOS=%s GOARCH=%s go build -o %s %s", m.Platform.OS, m.Platform.Arch, p.Path, p.Go.Main)
	}
	if rebuild == "" {
		return "build it for " + m.Platform.String()
	}
	return rebuild
}

// loading says how to get rid of the need of a loader, or to fill it.
func loading(p Program) string {
	if p.Go != nil {
		return fmt.Sprintf("CGO_ENABLED=0 go build -o %s %s", p.Path, p.Go.Main)
	}
	if strings.Contains(p.Loader, "musl") {
		return "link it statically, or install the musl C library here"
	}
	return "link it statically, or install the C library that it was linked against"
}

func (m Machine) fitScript(p Program, depth int) error {
	interpreter, err := m.interpreter(p)
	if err != nil {
		return err
	}
	if depth == 0 {
		return &UnfitError{p.Path, "is interpreted by a script that is interpreted by a script, and so on",
			"name a program in its first line"}
	}
	found, err := Examine(interpreter)
	if err != nil {
		return fmt.Errorf("interpreter of %s: %w", p.Path, err)
	}
	if err := m.fit(found, "", depth-1); err != nil {
		return fmt.Errorf("interpreter of %s: %w", p.Path, err)
	}
	return nil
}

// interpreter finds what the script's first line names, through env where it
// says so.
func (m Machine) interpreter(p Program) (string, error) {
	path := p.Interpreter[0]
	if !filepath.IsAbs(path) {
		return "", &UnfitError{p.Path, fmt.Sprintf("names the interpreter %q relative to wherever it is started", path),
			"write #!/usr/bin/env " + filepath.Base(path)}
	}
	if !m.Exists(path) {
		return "", &UnfitError{p.Path, fmt.Sprintf("needs the interpreter %s, which is not on this machine", path),
			"install it, or write #!/usr/bin/env " + filepath.Base(path) + " in the first line"}
	}
	if filepath.Base(path) != "env" {
		return path, nil
	}
	command, err := throughEnv(p)
	if err != nil {
		return "", err
	}
	found, err := m.Find(command)
	if err != nil {
		return "", &UnfitError{p.Path, fmt.Sprintf("needs the interpreter %q, which is not on the PATH", command),
			"install " + command}
	}
	return found, nil
}

// throughEnv is the command that env is to find. Kernels hand all that follows
// the interpreter over as one word, which env takes apart after -S only.
func throughEnv(p Program) (string, error) {
	words := p.Interpreter[1:]
	split := len(words) > 0 && strings.HasPrefix(words[0], "-S")
	if split {
		if words[0] = strings.TrimPrefix(words[0], "-S"); words[0] == "" {
			words = words[1:]
		}
	} else if len(words) > 1 {
		return "", &UnfitError{p.Path,
			fmt.Sprintf("asks env for the one word %q, because kernels do not take a #! line apart", strings.Join(words, " ")),
			"write #!/usr/bin/env -S " + strings.Join(words, " ")}
	}
	for _, word := range words {
		if !strings.Contains(word, "=") && !strings.HasPrefix(word, "-") {
			return word, nil
		}
	}
	return "", &UnfitError{p.Path, "asks env for no command", "write #!/usr/bin/env bash"}
}
