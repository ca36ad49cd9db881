//go:build linux

package hotfixtest

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Behaviour is what a program does.
type Behaviour struct {
	Version      string
	AnswersAfter time.Duration // how long its version command lingers
	AnswerExit   int           // the exit code of its version command
	For          time.Duration // how long it runs
	Exit         int
	DiesFrom     syscall.Signal // the signal that it ends itself with
	Signals      bool           // it prints the signals that it gets, and ends at SIGTERM
	Becomes      string         // a shell script that it becomes, with its own path as $0 and its arguments
	Panics       bool           // it ends as a mistake in Go does
}

// Trailer stands before the behaviour at the program's end. The program itself
// does not hold it in one piece.
func Trailer() string { return strings.Join([]string{"\n#", "behaviour", "# "}, "-") }

var built = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "hotfixtest-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "program")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "salve/internal/hotfix/hotfixtest/node")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Image is the bytes of a program that behaves so.
func Image(t testing.TB, b Behaviour) []byte {
	t.Helper()
	image, err := Build(b)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// Build is Image for those who have no test at hand.
func Build(b Behaviour) ([]byte, error) {
	image, err := built()
	if err != nil {
		return nil, err
	}
	behaviour, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	return append(append(append([]byte{}, image...), Trailer()...), behaviour...), nil
}

// Write makes a program at path.
func Write(t testing.TB, path string, image []byte) string {
	t.Helper()
	if err := Put(path, image); err != nil {
		t.Fatal(err)
	}
	return path
}

// Put is Write for those who have no test at hand.
func Put(path string, image []byte) error {
	// Another name first: the place may be that of a program that runs.
	if err := os.WriteFile(path+".new", image, 0o755); err != nil { //nolint:gosec // G306: it is a program
		return err
	}
	return os.Rename(path+".new", path)
}

// OtherArchitecture is an image for a machine that this one is not.
func OtherArchitecture(image []byte) []byte {
	const machine, s390x = 18, 22
	other := append([]byte{}, image...)
	binary.LittleEndian.PutUint16(other[machine:], s390x)
	return other
}

// Unfit are the images that no node may ever run, by what they are.
func Unfit(t testing.TB, version string) map[string][]byte {
	t.Helper()
	return Spoilt(Image(t, Behaviour{Version: version}))
}

// Spoilt is what can become of a good image.
func Spoilt(good []byte) map[string][]byte {
	return map[string][]byte{
		"empty":              {},
		"one byte":           {0x7f},
		"truncated":          good[:len(good)/2],
		"a header alone":     good[:64],
		"wrong architecture": OtherArchitecture(good),
		"a script":           []byte("#!/bin/sh\necho 202604.01.2\n"),
		"a Debian package": append([]byte("!<arch>\ndebian-binary   1342943816  0     0     100644  4         `\n2.0\n"),
			good...),
		"an RPM package": append([]byte{0xed, 0xab, 0xee, 0xdb, 3, 0, 0, 0}, good...),
		"an HTML page":   []byte("<html><body>503 Service Unavailable</body></html>"),
		"zeros":          make([]byte, 1<<20),
	}
}
