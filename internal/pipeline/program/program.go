package program

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Format is what a file is.
type Format string

// The formats that are told apart.
const (
	ELF    Format = "ELF"
	MachO  Format = "Mach-O"
	PE     Format = "PE"
	Script Format = "script"
)

// Program is what was found out about an executable file.
type Program struct {
	Path   string
	Format Format
	// Platforms are those that it is for: none for a script, several for a fat
	// Mach-O file.
	Platforms []Platform
	// Loader is the dynamic loader that an ELF program asks for; empty when it is
	// statically linked.
	Loader string
	// Interpreter is what a script's first line names, with its arguments.
	Interpreter []string
	// Go tells how a Go program was built; nil for any other.
	Go *GoBuild
	// head is the beginning of the file, by which a kernel knows its emulators.
	head []byte
}

// GoBuild is a Go program's build information.
type GoBuild struct {
	// Version is that of the toolchain, Main the path of the main package.
	Version, Main string
}

// DefectError says that a file can't be executed on any machine as it is, and
// how that is mended.
type DefectError struct {
	Path, Problem string
	// Mend is a command to type, or a sentence where no command is enough.
	Mend string
}

func (e *DefectError) Error() string {
	return fmt.Sprintf("%s %s. hint: %s", e.Path, e.Problem, e.Mend)
}

// headSize is how much of a file decides about it: Linux reads this much.
const headSize = 256

// Examine reads what a file is. It fails with *DefectError when no machine
// could execute it.
func Examine(path string) (Program, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Program{}, fmt.Errorf("examining a program: %w", err)
	}
	defect := func(problem, mend string, args ...any) error {
		return &DefectError{Path: path, Problem: problem, Mend: fmt.Sprintf(mend, args...)}
	}
	switch {
	case info.IsDir():
		return Program{}, defect("is a folder, not a program", "name a file in it")
	case !info.Mode().IsRegular():
		return Program{}, defect("is not a regular file", "build the program there instead")
	case info.Size() == 0:
		return Program{}, defect("is empty, so that executing it would do nothing and succeed", "build it again")
	case info.Mode()&0o111 == 0:
		return Program{}, defect("is not executable", "chmod +x %s", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return Program{}, fmt.Errorf("examining a program: %w", err)
	}
	defer file.Close()
	head := make([]byte, headSize)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Program{}, fmt.Errorf("reading program %s: %w", path, err)
	}
	found := Program{Path: path, head: head[:n]}
	if err := found.read(file); err != nil {
		return Program{}, err
	}
	found.readGo(file)
	return found, nil
}

// read takes the file by its first bytes.
func (p *Program) read(file io.ReaderAt) error {
	switch head := p.head; {
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return p.readELF(file)
	case bytes.HasPrefix(head, []byte("MZ")):
		return p.readPE(file)
	case isMachO(head):
		return p.readMachO(file)
	case bytes.HasPrefix(head, []byte("#!")):
		return p.readScript()
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf#!")):
		return p.defect("begins with a byte order mark before its #! line, so that no kernel sees the line",
			"sed -i '1s/^\\xEF\\xBB\\xBF//' "+p.Path)
	case isText(head):
		return p.defect("is text without a #! line: what interprets it is left to whoever starts it",
			"write its interpreter in the first line, such as #!/usr/bin/env bash")
	}
	return p.defect("is neither a program of a known format (ELF, Mach-O, PE) nor a script", "build it again")
}

func (p *Program) defect(problem, mend string) error {
	return &DefectError{Path: p.Path, Problem: problem, Mend: mend}
}

func isText(head []byte) bool {
	for _, b := range head {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' && b != '\f' && b != 0x1b {
			return false
		}
	}
	return true
}

// readGo reads Go's build information, where there is some. It names the
// platform more exactly than the format does.
func (p *Program) readGo(file io.ReaderAt) {
	if p.Format == Script {
		return
	}
	info, err := buildinfo.Read(file)
	if err != nil {
		return // not built by Go, or stripped of it
	}
	p.Go = &GoBuild{Version: info.GoVersion, Main: info.Path}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	if len(p.Platforms) != 1 || settings["GOOS"] == "" {
		return
	}
	told := &p.Platforms[0]
	told.OS = settings["GOOS"]
	if version, _, _ := strings.Cut(settings["GOARM"], ","); version != "" {
		told.Variant = "v" + version
	}
}

// describe says what the file is, for messages.
func (p Program) describe() string {
	var names []string
	for _, platform := range p.Platforms {
		names = append(names, platform.String())
	}
	about := string(p.Format)
	if p.Format == ELF && p.Loader == "" {
		about += ", statically linked"
	}
	if p.Go != nil {
		about += ", built by " + p.Go.Version
	}
	return fmt.Sprintf("a program for %s (%s)", strings.Join(names, " and "), about)
}
