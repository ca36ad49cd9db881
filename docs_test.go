package salve_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"salve/internal/prow/check"
	"salve/internal/prow/stray"
)

// TestDocumentedCodeIsCompiled keeps docs/writing-a-runbook.md from showing code that
// nobody has compiled: each block is a part of a file that is built and tested.
func TestDocumentedCodeIsCompiled(t *testing.T) {
	var compiled strings.Builder
	for _, path := range []string{
		"engine/example_test.go", "examples/own-runbook/main.go",
		"examples/own-runbook/stalewebhook/provider.go", "examples/own-runbook/stalewebhook/runbook_test.go",
	} {
		compiled.WriteString(read(t, path) + "\n")
	}
	blocks := strings.Split(read(t, "docs/writing-a-runbook.md"), "```go\n")[1:]
	if len(blocks) != 4 {
		t.Errorf("the page shows %d blocks of code", len(blocks))
	}
	for _, block := range blocks {
		shown, _, closed := strings.Cut(block, "```\n")
		if !closed || strings.TrimSpace(shown) == "" || !strings.Contains(compiled.String(), shown) {
			t.Errorf("not compiled:\n%s", shown)
		}
	}
}

// TestRulesOfProwAreDocumented: each rule has a heading in docs/prow.md, and each such
// heading a rule.
func TestRulesOfProwAreDocumented(t *testing.T) {
	rules := map[string]bool{}
	for _, rule := range check.Rules() {
		rules[rule.ID] = true
	}
	_, entries, _ := strings.Cut(read(t, "docs/prow.md"), "\n## Findings")
	documented := 0
	for line := range strings.Lines(entries) {
		heading, ok := strings.CutPrefix(line, "### ")
		if !ok {
			continue
		}
		documented++
		if id := strings.Trim(strings.TrimSpace(heading), "`"); !rules[id] {
			t.Errorf("%s is no rule", id)
		}
	}
	if documented != len(rules) {
		t.Errorf("%d rules, of which %d are documented", len(rules), documented)
	}
}

// TestRulesOfTheWatchAreDocumented: each has a line in the table of what is found.
func TestRulesOfTheWatchAreDocumented(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "docs/prow.md"), "\n## Watching a live Prow")
	section, _, _ = strings.Cut(section, "\n## ")
	var documented []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) == 6 && !strings.HasPrefix(cells[1], " rule") &&
			!strings.HasPrefix(cells[1], " ---") {
			documented = append(documented, strings.TrimSpace(cells[1]))
		}
	}
	if !slices.Equal(documented, stray.Rules()) {
		t.Errorf("documented are %q, the rules are %q", documented, stray.Rules())
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
