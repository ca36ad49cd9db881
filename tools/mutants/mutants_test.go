package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSurvivors tries every mutant of a small module. What lives is known: nobody looks at what Close does
// with its pressure and its error.
func TestSurvivors(t *testing.T) {
	t.Chdir("testdata/module")
	listed := list(t, "| valve/valve.go | Valve.Never | `call: v.record(\"never\")` | nobody calls it |")
	got, score := run(t, listed, nil)
	want := []string{
		"valve/valve.go:44: survived: Valve.Close: `early return: case pressure > 10`",
		"valve/valve.go:46: not reached: Valve.Close: `early return: case err != nil`",
		"valve/valve.go:57: not reached: Valve.record: `early return: if what == \"\"`",
	}
	for _, line := range want {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("not in the report: %s", line)
		}
	}
	if strings.Count(got, "valve.go:") != len(want) {
		t.Errorf("another survivor:\n%s", got)
	}
	const summary = "score valve 80.0% 12 of 15 killed, 1 of them timed out, 0 not tried, 1 equivalent\n"
	if !strings.Contains(got, summary) || score != 80 {
		t.Errorf("score %v of:\n%s", score, got)
	}
}

func TestWorkTreeIsNotWritten(t *testing.T) {
	t.Chdir("testdata/module")
	before := files(t)
	run(t, list(t), nil)
	if after := files(t); after != before {
		t.Errorf("the files were %s, are %s", before, after)
	}
}

func TestSampleIsTheSameForASeed(t *testing.T) {
	t.Chdir("testdata/module")
	first, _ := run(t, list(t), func(s *survey) error { return s.tryAll(t.Context(), 7, 5, 2) })
	again, _ := run(t, list(t), func(s *survey) error { return s.tryAll(t.Context(), 7, 5, 1) })
	if first != again {
		t.Errorf("with the same seed:\n%s\nand:\n%s", first, again)
	}
	if !strings.Contains(first, "of 5 killed") {
		t.Errorf("not five tried:\n%s", first)
	}
}

func TestStaleEntryIsRefused(t *testing.T) {
	t.Chdir("testdata/module")
	s := &survey{equivalent: map[string]bool{}, verdicts: map[string]string{}}
	err := s.read("packages.txt", list(t, "| valve/valve.go | Valve.Open | `call: gone()` | was never here |"), "", nil)
	if err == nil || !strings.Contains(err.Error(), "stale entry") || !strings.Contains(err.Error(), "gone()") {
		t.Errorf("a stale entry gave %v", err)
	}
}

func run(t *testing.T, listed string, try func(*survey) error) (string, float64) {
	t.Helper()
	s := &survey{equivalent: map[string]bool{}, verdicts: map[string]string{}}
	if err := s.read("packages.txt", listed, "", nil); err != nil {
		t.Fatal(err)
	}
	if try == nil {
		try = func(s *survey) error { return s.tryAll(t.Context(), 1, 0, 2) }
	}
	if err := try(s); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	score := s.print(&out)
	return out.String(), score
}

func list(t *testing.T, rows ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mutants.md")
	text := "| file | function | deleted | why |\n| --- | --- | --- | --- |\n" + strings.Join(rows, "\n") + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// files gives the names and contents of a module's files.
func files(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		all.WriteString(path + "\n" + string(raw))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
