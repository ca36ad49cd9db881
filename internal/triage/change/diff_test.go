package change_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/change"
)

func TestDiffsGiveTheirFiles(t *testing.T) {
	for _, test := range []struct {
		name string
		diff string
		want []change.File
	}{
		{"a file that changed", `diff --git a/pkg/node.go b/pkg/node.go
index 1234567..89abcde 100644
--- a/pkg/node.go
+++ b/pkg/node.go
@@ -1,3 +1,4 @@ package node
 package node
-var a = 1
+var a = 2
+var b = 3
 
`, []change.File{{Path: "pkg/node.go", Status: change.Modified, Added: 2, Removed: 1}}},
		{"what is in a hunk is no header", `diff --git a/notes.md b/notes.md
--- a/notes.md
+++ b/notes.md
@@ -1,2 +1,2 @@
--- a/other.go
+++ b/other.go
 diff --git a/x b/x
`, []change.File{{Path: "notes.md", Status: change.Modified, Added: 1, Removed: 1}}},
		{"added, deleted, empty, mode", `diff --git a/new.go b/new.go
new file mode 100644
index 0000000..1234567
--- /dev/null
+++ b/new.go
@@ -0,0 +1 @@
+package a
diff --git a/old.go b/old.go
deleted file mode 100644
index 1234567..0000000
--- a/old.go
+++ /dev/null
@@ -1 +0,0 @@
-package a
\ No newline at end of file
diff --git a/a b.txt b/a b.txt
new file mode 100644
index 0000000..e69de29
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
`, []change.File{
			{Path: "a b.txt", Status: change.Added}, {Path: "new.go", Status: change.Added, Added: 1},
			{Path: "old.go", Status: change.Deleted, Removed: 1}, {Path: "run.sh", Status: change.Modified},
		}},
		{"renamed and copied", `diff --git a/a/x.go b/b/y.go
similarity index 90%
rename from a/x.go
rename to b/y.go
index 1234567..89abcde 100644
--- a/a/x.go
+++ b/b/y.go
@@ -5 +5 @@ func x() {
-	one
+	two
diff --git a/a/x.go b/c.go
similarity index 100%
copy from a/x.go
copy to c.go
`, []change.File{
			{Path: "b/y.go", OldPath: "a/x.go", Status: change.Renamed, Added: 1, Removed: 1},
			{Path: "c.go", OldPath: "a/x.go", Status: change.Copied},
		}},
		{"quoted names", `diff --git "a/n\303\244me\t\"1\".go" "b/n\303\244me\t\"1\".go"
--- "a/n\303\244me\t\"1\".go"
+++ "b/n\303\244me\t\"1\".go"
@@ -1 +1 @@
-a
+b
diff --git a/plain "b/\303\244"
similarity index 100%
rename from plain
rename to "\303\244"
`, []change.File{
			{Path: "näme\uFFFD\"1\".go", Status: change.Modified, Added: 1, Removed: 1},
			{Path: "ä", OldPath: "plain", Status: change.Renamed},
		}},
		{"binary, said and patched", `diff --git a/logo.png b/logo.png
index 1234567..89abcde 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/icon.png b/icon.png
index 1234567..89abcde 100644
GIT binary patch
literal 3
Kcmb=p&&

literal 4
Lcmb=p&&x

diff --git a/z.go b/z.go
new file mode 100644
`, []change.File{
			{Path: "icon.png", Status: change.Modified, Binary: true},
			{Path: "logo.png", Status: change.Modified, Binary: true}, {Path: "z.go", Status: change.Added},
		}},
		{"without prefixes", `diff --git a/x.go a/x.go
new file mode 100644
--- /dev/null
+++ a/x.go
@@ -0,0 +1 @@
+package a
`, []change.File{{Path: "a/x.go", Status: change.Added, Added: 1}}},
		{"other prefixes", `diff --git i/x.go w/x.go
--- i/x.go
+++ w/x.go
@@ -1 +1 @@
-a
+b
`, []change.File{{Path: "x.go", Status: change.Modified, Added: 1, Removed: 1}}},
		{"a merge", `commit 1234567
Merge: 1234567 89abcde

    Merge branch 'b'

diff --cc pkg/node.go
index 1234567,89abcde..1111111
--- a/pkg/node.go
+++ b/pkg/node.go
@@@ -1,2 -1,3 +1,3 @@@
  package node
 -var a = 1
- var a = 2
++var a = 3
+ var b = 1
`, []change.File{{Path: "pkg/node.go", Status: change.Modified, Added: 2, Removed: 2}}},
		{"mails with a stat before and a version after", `From 1234567 Mon Sep 17 00:00:00 2001
From: A <a@example.com>
Subject: [PATCH 1/2] one

---
 a.go | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)

diff --git a/a.go b/a.go
index 1234567..89abcde 100644
--- a/a.go
+++ b/a.go
@@ -1 +1 @@
-a
+b
-- 
2.39.5

From 89abcde Mon Sep 17 00:00:00 2001
Subject: [PATCH 2/2] two

---
diff --git a/a.go b/a.go
deleted file mode 100644
index 1234567..0000000
--- a/a.go
+++ /dev/null
@@ -1 +0,0 @@
-b
-- 
2.39.5
`, []change.File{{Path: "a.go", Status: change.Deleted, Added: 1, Removed: 2}}},
		{"of diff -u", `--- old/a.go	2026-01-01 00:00:00.000000000 +0000
+++ old/a.go	2026-01-02 00:00:00.000000000 +0000
@@ -1 +1 @@
-a
+b
`, []change.File{{Path: "old/a.go", Status: change.Modified, Added: 1, Removed: 1}}},
		{"a submodule in words", "Submodule lib/x 1234567..89abcde:\n  > one\n",
			[]change.File{{Path: "lib/x", Status: change.Modified}}},
		{"with a mark at its beginning", "\ufeffdiff --git a/x b/x\nnew file mode 100644\n",
			[]change.File{{Path: "x", Status: change.Added}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			crlf := strings.ReplaceAll(test.diff, "\n", "\r\n")
			for ending, diff := range map[string]string{"LF": test.diff, "CRLF": crlf} {
				got, err := change.ReadDiff(iotest.OneByteReader(strings.NewReader(diff)))
				if err != nil {
					t.Fatalf("%s: %v", ending, err)
				}
				if different := cmp.Diff(test.want, got.Files); different != "" {
					t.Errorf("%s: %s", ending, different)
				}
			}
		})
	}
}

func TestWhatIsNoWholeDiffIsRefusedWithItsLine(t *testing.T) {
	const header = "diff --git a/x b/x\n--- a/x\n+++ b/x\n"
	for _, test := range []struct {
		name, diff, reason string
		line               int
	}{
		{"nothing", "", "empty", 1},
		{"text", "hello\nworld\n", "no diff", 1},
		{"UTF-16", "\xff\xfed\x00i\x00", "UTF-16", 1},
		{"cut within a hunk", header + "@@ -1,2 +1,2 @@\n a\n", "ends within the hunk that begins in line 4", 5},
		{"a hunk that is shorter than it says", header + "@@ -1,2 +1,2 @@\n a\ndiff --git a/y b/y\n", "not a line", 6},
		{"a hunk with too many lines of one side", header + "@@ -1,2 +1 @@\n+a\n+b\n", "not a line", 6},
		{"a hunk's header that is none", header + "@@ what @@\n", "can't be read", 4},
		{"as many ranges as there are files", header + "@@@ -1 +1 @@@\n", "can't be read", 4},
		{"a line that is added and removed", header + "@@@ -0,0 -1 +0,0 @@@\n+-a\n", "not a line", 5},
		{"a hunk of no file", "@@ -1 +1 @@\n-a\n+b\n", "no file", 1},
		{"a quote that doesn't end", "\n" + `diff --git "a/x b/x` + "\nnew file mode 100644\n", "without a name", 2},
		{"an escape that isn't git's", `diff --git "a/\x41" "b/\x41"` + "\n", "can't be read", 1},
		{"half a rename", "diff --git a/x b/y\nrename from x\n", "one name", 1},
		{"two names and no reason", "diff --git a/x b/y\nindex 1..2\n", "two names", 1},
		{"a header without end", "diff --git a/" + strings.Repeat("x", 70_000) + " b/x\n", "more than", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := change.ReadDiff(strings.NewReader(test.diff))
			var wrong *change.DiffError
			if got != nil || !errors.As(err, &wrong) || wrong.Line != test.line ||
				!strings.Contains(wrong.Reason, test.reason) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestLongLinesAndReadersThatFail(t *testing.T) {
	const header = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n"
	got, err := change.ReadDiff(strings.NewReader(header + "+" + strings.Repeat("@@ x", 100_000) + "\n+b\n"))
	if err != nil || got.Files[0].Added != 2 {
		t.Errorf("a line of 400 kB: %v, %v", got, err)
	}
	broken := errors.New("broken pipe")
	reader := io.MultiReader(strings.NewReader(header+"+a\n+b\n"), iotest.ErrReader(broken))
	if got, err := change.ReadDiff(reader); !errors.Is(err, broken) || got != nil {
		t.Errorf("a reader that fails: %v, %v", got, err)
	}
}

// FuzzReadDiff: whatever comes, it ends, with an error or with files that have names fit to be shown.
func FuzzReadDiff(f *testing.F) {
	f.Add("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
	f.Add("diff --cc x\n@@@ -1 -1 +1 @@@\n++a\n- b\n -c\n")
	f.Add(`diff --git "a/\303" "b/\303"` + "\nGIT binary patch\n")
	f.Add("--- a\n+++ b\n@@ -1 +1 @@\n")
	f.Fuzz(func(t *testing.T, diff string) {
		got, err := change.ReadDiff(strings.NewReader(diff))
		if (got == nil) == (err == nil) {
			t.Fatalf("%v beside %v", got, err)
		}
		if err != nil {
			return
		}
		for _, file := range got.Files {
			if file.Path == "" || strings.ContainsFunc(file.Path+file.OldPath, func(r rune) bool { return r < ' ' }) ||
				file.Added < 0 || file.Removed < 0 {
				t.Errorf("%+v", file)
			}
		}
	})
}

func TestPlacesInChangedFiles(t *testing.T) {
	c := &change.Change{Files: []change.File{
		{Path: "pkg/node/node.go"}, {Path: "main.go"}, {Path: "b/new.go", OldPath: "a/old.go", Status: change.Renamed},
	}}
	for place, want := range map[string]bool{
		"pkg/node/node.go": true, "./pkg/node/node.go": true, "node/node.go": true, "node.go": true,
		"/go/src/example.com/x/pkg/node/node.go": true, `C:\src\pkg\node\node.go`: true,
		"main.go": true, "./main.go": true, "a/old.go": true, "b/new.go": true,
		"othernode.go": false, "cmd/main.go": false, "pkg/other/node.go": false, "ode/node.go": false,
		"": false, "/": false, "pkg/node": false,
	} {
		if got := c.Touches(place); got != want {
			t.Errorf("%q: %t", place, got)
		}
	}
	if (&change.Change{}).Touches("main.go") {
		t.Error("a change without files touches one")
	}
}
