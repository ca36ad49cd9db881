package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSurvivors tries every mutant of a small module. What lives is known: nobody looks at what Close does
// with its pressure and its error.
func TestSurvivors(t *testing.T) {
	module(t, "| valve/valve.go | Valve.Never | `call: v.record(\"never\")` | nobody calls it |")
	got, score := survey(t, t.Context(), 1, 100)
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
	if !strings.Contains(got, "score valve 80.0% 12 of 15 killed, 0 not tried, 1 equivalent\n") || score != 80 {
		t.Errorf("score %v of:\n%s", score, got)
	}
}

func TestWorkTreeIsNotWritten(t *testing.T) {
	module(t)
	before := files(t)
	survey(t, t.Context(), 1, 3)
	if after := files(t); after != before {
		t.Errorf("the files were %s, are %s", before, after)
	}
}

func TestSampleIsTheSameForASeed(t *testing.T) {
	module(t)
	first, _ := survey(t, t.Context(), 7, 5)
	again, _ := survey(t, t.Context(), 7, 5)
	if first != again {
		t.Errorf("with the same seed:\n%s\nand:\n%s", first, again)
	}
	if !strings.Contains(first, "of 5 killed, 11 not tried") {
		t.Errorf("not five tried:\n%s", first)
	}
}

// TestSpentBudgetIsNoFailure: what was not tried by then is told.
func TestSpentBudgetIsNoFailure(t *testing.T) {
	module(t)
	spent, cancel := context.WithCancel(t.Context())
	cancel()
	if got, _ := survey(t, spent, 1, 100); !strings.Contains(got, "0 of 0 killed, 16 not tried") {
		t.Errorf("the report is\n%s", got)
	}
}

func TestTestsThatFailWithoutAMutantAreAnError(t *testing.T) {
	module(t)
	text := "package check\nimport \"testing\"\nfunc TestBroken(t *testing.T) { t.Fatal(\"broken\") }\n"
	if err := os.WriteFile("check/broken_test.go", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := read("", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := tryAll(t.Context(), all, 1, 1, 1); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("broken tests gave %v", err)
	}
}

func TestStaleEntryIsRefused(t *testing.T) {
	module(t, "| valve/valve.go | Valve.Open | `call: gone()` | was never here |")
	if _, err := read("", nil); err == nil || !strings.Contains(err.Error(), "stale entry") ||
		!strings.Contains(err.Error(), "gone()") {
		t.Errorf("a stale entry gave %v", err)
	}
}

func TestOnlyWhatIsAskedForIsTried(t *testing.T) {
	module(t)
	for name, want := range map[string]int{"valve": 1, "pump": 0} {
		if all, err := read("", []string{name}); err != nil || len(all) != want {
			t.Errorf("%s: %d packages, %v", name, len(all), err)
		}
	}
}

func TestOnlyWhatChangedIsTried(t *testing.T) {
	module(t)
	git := func(args ...string) {
		t.Helper()
		if said, err := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...).
			CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, said)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "first")
	for change, want := range map[string]int{"": 0, "valve/valve_test.go": 1} {
		git("checkout", "-q", ".")
		if change != "" {
			_ = os.WriteFile(change, []byte("package valve\n"), 0o600)
		}
		if all, err := read("HEAD", nil); err != nil || len(all) != want {
			t.Errorf("changed %q: %d packages, %v", change, len(all), err)
		}
	}
}

func survey(t *testing.T, ctx context.Context, seed uint64, sample int) (string, float64) {
	t.Helper()
	all, err := read("", nil)
	if err == nil {
		err = tryAll(ctx, all, seed, sample, 2)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	score, _ := report(&out, all)
	return out.String(), score
}

// module makes a copy of the small module, with a list of equivalent mutants, the working folder.
func module(t *testing.T, rows ...string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/module")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	text := "| file | function | deleted | why |\n| --- | --- | --- | --- |\n" + strings.Join(rows, "\n") + "\n"
	if err := os.Mkdir("docs", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
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
