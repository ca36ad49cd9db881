package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// deaf is a pipe whose reader has gone away.
type deaf struct{ writes int }

func (d *deaf) Write([]byte) (int, error) {
	d.writes++
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestStreamMakesVisibleWhatATerminalObeys(t *testing.T) {
	var out bytes.Buffer
	s := &stream{out: &out}
	for _, part := range []string{"a\x1b", "]0;owned\x07", "größ\xc3", "\xb6e\n"} {
		if n, err := s.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if want := "a\\u001b]0;owned\\u0007größöe\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestStreamDropsWhatNobodyReads(t *testing.T) {
	gone := &deaf{}
	s := &stream{out: gone}
	for range 3 {
		if n, err := s.Write([]byte("line\n")); n != 5 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if gone.writes != 1 {
		t.Errorf("%d writes to a reader that has gone away", gone.writes)
	}
	disk := &stream{out: full{}}
	if _, err := disk.Write([]byte("line\n")); err != nil || !errors.Is(disk.failed, syscall.ENOSPC) {
		t.Errorf("a full disk is told as %v, and kept as %v for the end", err, disk.failed)
	}
}

// TestRunGoesOnWithoutReaders: salve run … | head, and its standard error in the same pipe, is remediated all the same.
func TestRunGoesOnWithoutReaders(t *testing.T) {
	b := newBench(t, "wedged")
	a := &app{stdout: &deaf{}, stderr: &deaf{}, lookup: b.lookup, connect: b.connect,
		program:   Options{Runbooks: BuiltIn()},
		arguments: b.onCluster("run", "aks-recreate-pool", "--pool", "system")}
	if got := execute(a); got != exitDecided {
		t.Fatalf("exit code %d", got)
	}
	out, _ := b.types(exitDecided, "runs", "list", "--journal", b.journal)
	contains(t, out, "remediated", "0 open")
}

// TestForgedTextsAreNotObeyed: what others wrote into a lease is shown as text, in the answer and in the error.
func TestForgedTextsAreNotObeyed(t *testing.T) {
	b := newBench(t, "healthy")
	b.byHand = true
	b.types(exitDecided, b.onCluster("run", "aks-recreate-pool", "--pool", "system")...)
	run := b.runs()[0]
	path := filepath.Join(b.journal, "runs", run, "journal.jsonl")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(string(raw), `"target":{`, `"target":{"x":"\u001b]8;;https://evil.example\u0007","id":"\u001b[2J\u202eforged",`, 1)
	if err := os.WriteFile(path, []byte(forged), 0o600); err != nil {
		t.Fatal(err)
	}
	evil := "\x1b[2J\u202e\u009b31m"
	for _, arguments := range [][]string{
		{"runs", "list"}, {"runs", "list", "--output", "json"}, {"runs", "show", run}, {"explain", run}, {"resume", run},
		{"runs", "abandon", run, "--reason", evil}, {"runs", "show", evil}, {evil},
	} {
		if len(arguments) > 1 {
			arguments = append(arguments, "--journal", b.journal)
		}
		var out, log bytes.Buffer
		execute(&app{
			stdout: &out, stderr: &log, arguments: arguments, lookup: b.lookup, connect: b.connect,
			program: Options{Runbooks: BuiltIn()},
		})
		if said := out.String() + log.String(); strings.ContainsAny(said, "\x1b\u202e\u009b\a") {
			t.Errorf("%q is obeyed: %q", arguments, said)
		}
	}
}
