package revision_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"salve/internal/pipeline/revision"
)

// repository makes two commits on one line and a third beside the second.
func repository(t *testing.T) (folder, first, second, beside string) {
	t.Helper()
	folder = t.TempDir()
	git := func(arguments ...string) string {
		command := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"},
			arguments...)...)
		command.Dir = folder
		out, err := command.CombinedOutput()
		if err != nil {
			t.Skipf("git %v: %v: %s", arguments, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	commit := func(message string) string {
		git("commit", "-q", "--allow-empty", "-m", message)
		return git("rev-parse", "HEAD")
	}
	git("init", "-q")
	first, second = commit("first"), commit("second")
	git("checkout", "-q", "-b", "beside", first)
	return folder, first, second, commit("third")
}

func TestOrder(t *testing.T) {
	folder, first, second, beside := repository(t)
	for _, test := range []struct {
		name, one, other string
		want             revision.Order
		unordered        string
	}{
		{"smaller", "9", "10", revision.Older, ""},
		{"larger than any machine's word", "100000000000000000000000000001", "100000000000000000000000000000",
			revision.Newer, ""},
		{"the same number, written otherwise", "010", "10", revision.Same, ""},
		{"earlier", "2026-03-01T12:00:00Z", "2026-03-01T12:00:01Z", revision.Older, ""},
		{"the same moment in two zones", "2026-03-01T12:00:00Z", "2026-03-01T13:00:00+01:00", revision.Same, ""},
		{"an ancestor", first, second, revision.Older, ""},
		{"a descendant", second, first, revision.Newer, ""},
		{"the same commit, shortened", second[:10], second, revision.Same, ""},
		{"diverged", second, beside, revision.Unordered, "neither is an ancestor of the other"},
		{"a commit that is not here", "0123456789abcdef", second, revision.Unordered,
			"commit 0123456789abcdef is not known in the repository"},
		{"a number and a time", "7", "2026-03-01T12:00:00Z", revision.Unordered, "both must be of one kind"},
		{"nothing known", "v1.2", "v1.3", revision.Unordered, "both must be of one kind"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := revision.Compare(t.Context(), folder, test.one, test.other)
			var unordered *revision.UnorderedError
			if errors.As(err, &unordered) != (test.unordered != "") || err != nil && !strings.Contains(err.Error(),
				test.unordered) {
				t.Fatalf("got %v", err)
			}
			if got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
			if unordered != nil && unordered.Diverged != (test.name == "diverged") {
				t.Errorf("diverged: %v", unordered.Diverged)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	for text, right := range map[string]bool{"7": true, "2026-03-01T12:00:00Z": true, "0123abc": true, "v1": false,
		"": false, "2026-03-01": false} {
		if err := revision.Check(text); (err == nil) != right {
			t.Errorf("%q: %v", text, err)
		}
	}
}
