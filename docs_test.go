package salve_test

import (
	"os"
	"strings"
	"testing"
)

// TestTheDocumentedRunbookIsTheCompiledOne keeps docs/writing-a-runbook.md from
// showing code that nobody has compiled.
func TestTheDocumentedRunbookIsTheCompiledOne(t *testing.T) {
	page := read(t, "docs/writing-a-runbook.md")
	_, after, found := strings.Cut(page, "```go\n")
	shown, _, closed := strings.Cut(after, "```\n")
	if !found || !closed {
		t.Fatal("the page shows no Go code")
	}
	if !strings.HasSuffix(read(t, "engine/example_test.go"), shown) {
		t.Error("the page's code is not that of engine/example_test.go")
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
