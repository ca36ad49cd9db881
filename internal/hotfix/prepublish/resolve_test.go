package prepublish_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/hotfix"
	"salve/internal/hotfix/prepublish"
)

func pointerFile(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pointer.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func fleet(t testing.TB, versions string) prepublish.Fleet {
	t.Helper()
	read, err := prepublish.ReadFleet(strings.NewReader(versions))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

const versions = "202604.01.0\n202604.01.0\n 202604.01.1 \n\n202604.01.7\n202603.01.0\ndev\n202604.01.0-ubuntu24.04u1\n"

func TestResolve(t *testing.T) {
	rule := prepublish.RuleOf(pointerFile(t, `{"hotfixes":{"202604.01":"202604.01.7"},"scripts_version":"202604.01.1"}`))
	want := []prepublish.Group{
		{"", 1, 1, "dev", prepublish.Effect{Reason: hotfix.ReasonCurrentMalformed}},
		{"202603.01", 1, 1, "202603.01.0", prepublish.Effect{Reason: hotfix.ReasonBaseNotListed}},
		{"202604.01", 1, 1, "202604.01.7", prepublish.Effect{Reason: hotfix.ReasonNotHigher}},
		{"202604.01", 1, 1, "202604.01.1", prepublish.Effect{Target: "202604.01.7", Reason: hotfix.ReasonInstall}},
		{"202604.01", 3, 2, "202604.01.0", prepublish.Effect{Target: "202604.01.7", Scripts: "202604.01.1",
			Reason: hotfix.ReasonInstall}},
	}
	if diff := cmp.Diff(want, prepublish.Resolve(fleet(t, versions), rule)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDiffer(t *testing.T) {
	before := prepublish.RuleOf(pointerFile(t, `{"version":"202603.01.2"}`))
	after := prepublish.RuleOf(pointerFile(t, `{"version":"202603.01.2","hotfixes":{"202604.01":"202604.01.1"}}`))
	noVersion := prepublish.Effect{Reason: hotfix.ReasonBaseMismatch}
	want := []prepublish.Change{
		{"202603.01", 1, 1, "202603.01.0", prepublish.Effect{Target: "202603.01.2", Reason: hotfix.ReasonInstall},
			prepublish.Effect{Reason: hotfix.ReasonBaseNotListed}},
		{"202604.01", 3, 2, "202604.01.0", noVersion, prepublish.Effect{Target: "202604.01.1", Reason: hotfix.ReasonInstall}},
		{"202604.01", 2, 2, "202604.01.1", noVersion, prepublish.Effect{Reason: hotfix.ReasonNotHigher}},
	}
	if diff := cmp.Diff(want, prepublish.Differ(fleet(t, versions), before, after)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := prepublish.Differ(fleet(t, versions), after, after); len(got) > 0 {
		t.Errorf("nothing changes, and yet %v", got)
	}
}

// A fleet decides by a broken pointer too: none of it gets anything.
func TestResolveABrokenPointer(t *testing.T) {
	got := prepublish.Resolve(fleet(t, "202604.01.0\n"), prepublish.RuleOf(pointerFile(t, `{`)))
	want := []prepublish.Group{{"202604.01", 1, 1, "202604.01.0",
		prepublish.Effect{Reason: hotfix.ReasonMalformedPointer}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// million is a fleet of which no two nodes have the same version: the hardest.
func million() string {
	var lines strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&lines, "2026%02d.%02d.%d\n", 1+i%12, i%28, i)
	}
	return lines.String()
}

func BenchmarkResolve(b *testing.B) {
	lines := million()
	rule := prepublish.RuleOf(pointerFile(b,
		`{"hotfixes":{"202604.01":"202604.01.2000","202605.02":"202605.02.9"},"scripts_version":"202604.01.1"}`))
	for b.Loop() {
		began := time.Now()
		groups := prepublish.Resolve(fleet(b, lines), rule)
		if len(groups) == 0 {
			b.Fatal("nobody is left")
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/million")
	}
}
