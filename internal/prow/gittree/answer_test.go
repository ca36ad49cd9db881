package gittree

import (
	"bufio"
	"strings"
	"testing"
)

// TestAnAnswerOfGitThatNobodyKnowsIsAnError, and neither a file nor one that is left out without a reason.
func TestAnAnswerOfGitThatNobodyKnowsIsAnError(t *testing.T) {
	for _, answer := range []string{
		"submodule 6\ncommit\n", "ambiguous 4\nlink\n", "symlink\n", "symlink 4 more\nlink\n", "1234 commit 5\n", "\n",
		"symlink four\nlink\n", "symlink -1\nlink\n", "symlink 40\nlink\n", "symlink 4", "",
	} {
		found, lost, err := answerOf(bufio.NewReader(strings.NewReader(answer)), "link.yaml")
		if err == nil || found != (blob{}) || lost != "" {
			t.Errorf("%q: %+v, %q, %v", answer, found, lost, err)
		}
	}
	for answer, want := range map[string]string{
		"symlink 4\nlink\n": "out of the repository", "dangling 4\nlink\n": "nowhere", "loop 4\nlink\n": "in a circle",
		"notdir 4\nlink\n": "no folder", "main:link.yaml missing\n": "nowhere", "1234 tree 5\n": "a folder",
	} {
		rest := bufio.NewReader(strings.NewReader(answer + "1234 blob 2\n"))
		if found, lost, err := answerOf(rest, "link.yaml"); err != nil || found != (blob{}) || !strings.Contains(lost, want) {
			t.Errorf("%q: %+v, %q, %v", answer, found, lost, err)
		}
		if next, _, err := answerOf(rest, "next.yaml"); err != nil || next != (blob{"next.yaml", "1234"}) {
			t.Errorf("the one after %q: %+v, %v", answer, next, err)
		}
	}
}
