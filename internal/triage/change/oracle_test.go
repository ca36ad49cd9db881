package change_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/change"
)

// odd has two commits between which files with hard names and contents change in every way.
func odd(t *testing.T) *repository {
	t.Helper()
	r := newRepository(t)
	text := strings.Repeat("a line\n", 30)
	names := []string{
		"plain.go", "with blank.go", "a/x b/x", "b/a/c.go", "tab\there", `quo"te\.go`, "näme.go", "a b/a b", "new\nline",
		"-dash", "/dev/null", "trailing ", " b/leading",
	}
	for i, name := range names {
		r.commit(name, fmt.Sprint(text, i, "\n"))
	}
	r.commit("binary", "\x00\x01\x02")
	r.commit("goes away", text)
	r.commit("moves from.go", text+"moved\n")
	r.commit("run.sh", "#!/bin/sh\n")
	r.git("tag", "before")
	for i, name := range names {
		r.commit(name, fmt.Sprint("--- a/no.go\n+++ b/no.go\n@@ -1 +1 @@\n", text, "diff --git a/no b/no", i))
	}
	r.commit("binary", "\x00\x02\x03")
	r.commit("added empty", "")
	r.git("rm", "-q", "goes away")
	r.git("mv", "moves from.go", "moves tö.go")
	r.git("update-index", "--chmod=+x", "run.sh")
	r.git("commit", "-q", "-m", "--- a/no.go\n\ndiff of words\n\n@ no hunk")
	r.git("tag", "after")
	return r
}

// numstat is what git counts: added and removed lines, and the path.
func (r *repository) numstat(arguments ...string) (lines []string) {
	r.Helper()
	out := r.output(append([]string{"diff", "--numstat", "-z"}, arguments...)...)
	records := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i < len(records); i++ {
		counts := strings.SplitN(records[i], "\t", 3)
		if counts[2] == "" { // a rename: the two names follow
			counts[2] = records[i+2]
			i += 2
		}
		if counts[0] == "-" {
			counts[0], counts[1] = "0", "0"
		}
		path := strings.NewReplacer("\t", "\uFFFD", "\n", "\uFFFD").Replace(counts[2])
		lines = append(lines, fmt.Sprintf("+%s -%s %q", counts[0], counts[1], path))
	}
	slices.Sort(lines)
	return lines
}

func (r *repository) output(arguments ...string) string {
	r.Helper()
	out, err := exec.Command("git", append([]string{"-C", r.folder}, arguments...)...).Output()
	if err != nil {
		r.Fatalf("git %v: %v", arguments, err)
	}
	return string(out)
}

func TestWhatGitCountsInEveryWayOfShowingIt(t *testing.T) {
	r := odd(t)
	want := r.numstat("-M", "before", "after")
	if len(want) < 15 {
		t.Fatalf("git counts %q", want)
	}
	for _, way := range [][]string{
		{"diff"}, {"diff", "--no-prefix"}, {"-c", "diff.mnemonicPrefix=true", "diff"}, {"diff", "-U0"},
		{"diff", "--binary"},
		{"-c", "core.quotePath=false", "diff"}, {"diff", "--patience", "--full-index"}, {"diff", "--stat", "--patch"},
	} {
		t.Run(strings.Join(way, " "), func(t *testing.T) {
			c, err := change.ReadDiff(strings.NewReader(r.output(append(way, "-M", "before", "after")...)))
			if err != nil {
				t.Fatal(err)
			}
			if different := cmp.Diff(want, counted(c)); different != "" {
				t.Error(different)
			}
		})
	}
}

func counted(c *change.Change) (lines []string) {
	for _, f := range c.Files {
		lines = append(lines, fmt.Sprintf("+%d -%d %q", f.Added, f.Removed, f.Path))
	}
	slices.Sort(lines)
	return lines
}

func TestPatchesOfManyCommitsAreReadToTheirEnd(t *testing.T) {
	r := odd(t)
	paths := func(c *change.Change) (all []string) {
		for _, f := range c.Files {
			all = append(all, f.Path)
		}
		return all
	}
	whole, err := change.ReadDiff(strings.NewReader(r.output("diff", "-M", "before", "after")))
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range [][]string{
		{"format-patch", "--stdout", "-M", "before..after"}, {"log", "-p", "-M", "before..after"},
	} {
		c, err := change.ReadDiff(strings.NewReader(r.output(way...)))
		if err != nil {
			t.Fatalf("%v: %v", way, err)
		}
		if different := cmp.Diff(paths(whole), paths(c)); different != "" {
			t.Errorf("%v: %s", way, different)
		}
	}
}
