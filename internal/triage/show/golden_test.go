package show

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/triagetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestSamplesReadAsTheirGoldenFiles(t *testing.T) {
	for _, sample := range triagetest.Samples() {
		t.Run(sample.Name, func(t *testing.T) {
			var text, colored bytes.Buffer
			if err := Text(&text, sample.Document, Style{}); err != nil {
				t.Fatal(err)
			}
			if err := Text(&colored, sample.Document, Style{Color: true, Width: 100}); err != nil {
				t.Fatal(err)
			}
			golden(t, sample.Name+".txt", text.String())
			golden(t, sample.Name+".color.txt", colored.String())
			golden(t, sample.Name+".md", Markdown(sample.Document, Options{}))
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestDocumentedTextIsWritten keeps docs/triage.md from showing what no triage writes.
func TestDocumentedTextIsWritten(t *testing.T) {
	page, err := os.ReadFile("../../../docs/triage.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Reading the output\n")
	_, block, _ := strings.Cut(section, "```\n")
	block, _, closed := strings.Cut(block, "```\n")
	var text bytes.Buffer
	if err := Text(&text, triagetest.Outage(), Style{}); err != nil {
		t.Fatal(err)
	}
	if !closed || !strings.HasPrefix(text.String(), block) {
		t.Errorf("docs/triage.md shows\n%s\nand it is\n%s", block, text.String()[:min(len(block), text.Len())])
	}
}
