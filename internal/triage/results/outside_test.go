package results_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/results"
)

var update = flag.Bool("update", false, "write the golden files")

// outside is where data of others lies, beside the project.
const outside = "../../../../shared/triage"

// TestEveryOutsideFileIsReadOrRefusedWithItsReason keeps a table of all outside files: how many cases of each outcome
// they give, and what was refused, where and why.
func TestEveryOutsideFileIsReadOrRefusedWithItsReason(t *testing.T) {
	root := outsideFolder(t)
	var table strings.Builder
	for _, folder := range []string{"junit", "test2json"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || entry.Name() == "LICENSE" {
				return err
			}
			name, _ := filepath.Rel(root, path)
			fmt.Fprintf(&table, "%s: %s\n", filepath.ToSlash(name), summary(t, path))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "testdata/outside.txt", table.String())
}

func outsideFolder(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat(outside); err == nil {
		return outside
	}
	t.Skip("../shared/triage is not there: the outside files are not read")
	return ""
}

// summary counts the outcomes of a file, and says its problem without the folder's name.
func summary(t *testing.T, path string) string {
	t.Helper()
	counts := map[results.Outcome]int{}
	problem := ""
	for c, err := range (results.Reader{}).Cases(t.Context(), path) {
		var p *results.Problem
		switch {
		case errors.As(err, &p):
			problem = fmt.Sprintf("; line %d: %s", p.Line, p.Reason)
		case err != nil:
			t.Errorf("%s: %v is no Problem", path, err)
		default:
			counts[c.Outcome]++
			checkCase(t, c)
		}
	}
	return fmt.Sprintf("pass %d, fail %d, skip %d, error %d%s", counts[results.Pass], counts[results.Fail],
		counts[results.Skip], counts[results.Error], problem)
}

// checkCase is what is so of each case, whatever the file.
func checkCase(t *testing.T, c results.Case) {
	t.Helper()
	if c.Attempt < 1 || c.Origin.File == "" || c.Origin.Line < 1 {
		t.Errorf("case %q of %v has attempt %d", c.Name, c.Origin, c.Attempt)
	}
	texts := []string{c.Name, c.Suite, c.Class, c.Type, c.Message, c.File, c.Failure.String(), c.Output.String()}
	for _, a := range c.Attributes {
		texts = append(texts, a.Name, a.Value)
	}
	for _, text := range texts {
		if !strings.ContainsFunc(text, steering) && strings.ToValidUTF8(text, "") == text {
			continue
		}
		t.Errorf("case %q of %v carries a control character or no UTF-8: %q", c.Name, c.Origin, text)
	}
}

func steering(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }

func golden(t *testing.T, path, got string) {
	t.Helper()
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
		t.Errorf("%s (-want +got; -update writes it):\n%s", path, diff)
	}
}
