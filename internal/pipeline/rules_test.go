package pipeline_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"salve/internal/pipeline"
)

// TestEveryRuleIsShown: each rule stands on the page for users, and a script of the
// command line shows its message; and no message has a rule that isn't listed.
func TestEveryRuleIsShown(t *testing.T) {
	page, err := os.ReadFile("../../docs/pipelines.md")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob("../../cli/testdata/script/pipeline-*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal("no scripts of the command line", err)
	}
	shown := map[string]bool{}
	for _, script := range scripts {
		raw, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`(?m)\\?\[([a-z]+(?:-[a-z]+)*)\\?\]\$?'?$`).FindAllStringSubmatch(
			string(raw), -1) {
			shown[match[1]] = true
		}
	}
	for _, rule := range pipeline.Rules {
		if !shown[rule.ID] {
			t.Errorf("no script shows a message of %s", rule.ID)
		}
		if !strings.Contains(string(page), "| `"+rule.ID+"` |") {
			t.Errorf("docs/pipelines.md does not list %s", rule.ID)
		}
	}
}

// TestEveryMessageHasARule reads the rules that this package and its rooms give
// their messages.
func TestEveryMessageHasARule(t *testing.T) {
	known := map[string]bool{}
	for _, rule := range pipeline.Rules {
		if known[rule.ID] {
			t.Errorf("%s is listed twice", rule.ID)
		}
		known[rule.ID] = true
	}
	given := regexp.MustCompile(`(?:problem|add|warn)\((?:[^"\n]*, )?"([a-z]+(?:-[a-z]+)*)", `)
	for _, folder := range []string{".", "schema"} {
		sources, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			raw, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range given.FindAllStringSubmatch(string(raw), -1) {
				if !known[match[1]] {
					t.Errorf("%s: rule %s is not listed", source, match[1])
				}
			}
		}
	}
}
