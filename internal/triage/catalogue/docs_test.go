package catalogue_test

import (
	"os"
	"strings"
	"testing"

	"salve/internal/triage/catalogue"
)

const page = "../../../docs/triage-catalogue.md"

// TestTheDocumentedCatalogueIsOne that lint has nothing against, and finds its own examples.
func TestTheDocumentedCatalogueIsOne(t *testing.T) {
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(raw), "```yaml\n")[1:]
	if len(blocks) < 2 {
		t.Fatalf("%d blocks", len(blocks))
	}
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		c := parse(t, text)
		if found := catalogue.Lint(c, catalogue.LintOptions{Now: today}); len(found) > 0 {
			t.Error(found)
		}
	}
}

func TestRulesAreDocumented(t *testing.T) {
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range catalogue.Rules() {
		if !strings.Contains(string(raw), "| `"+rule.ID+"` | "+rule.Says+" "+rule.Why+" |\n") {
			t.Errorf("%s is not documented in its own words", rule.ID)
		}
	}
	if rows := strings.Count(string(raw), "\n| `catalogue-"); rows != len(catalogue.Rules()) {
		t.Errorf("%d rules are documented, of %d", rows, len(catalogue.Rules()))
	}
}
