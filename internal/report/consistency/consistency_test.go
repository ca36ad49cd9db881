package consistency_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/report/consistency"
)

func rulesOf(found []consistency.Finding) string {
	var rules []string
	for _, f := range found {
		rules = append(rules, f.Rule+": "+f.Message)
	}
	return strings.Join(rules, "\n")
}

func TestConsistentPostMortemsHaveNoFindings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) < 12 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := checked(t, raw); len(found) > 0 {
			t.Errorf("%s: %s", file, rulesOf(found))
		}
	}
}

func TestEachContradictionIsFound(t *testing.T) {
	for _, c := range contradictions {
		t.Run(c.file+" "+c.rule+" "+c.new, func(t *testing.T) {
			raw, err := os.ReadFile("testdata/" + c.file + ".md")
			if err != nil {
				t.Fatal(err)
			}
			planted := strings.Replace(string(raw), c.old, c.new, 1)
			if planted == string(raw) {
				t.Fatal("nothing was planted")
			}
			found := checked(t, []byte(planted))
			for _, f := range found {
				if f.Rule == c.rule && f.Line > 0 && len(f.Quotes) > 0 {
					return
				}
			}
			t.Errorf("not found among:\n%s", rulesOf(found))
		})
	}
}

func TestUntrustedInputIsBounded(t *testing.T) {
	for name, raw := range map[string]string{
		"too large":  strings.Repeat("a", consistency.MaxSize+1),
		"NUL":        "# a\n\x00",
		"too nested": strings.Repeat("> ", 200) + "a",
	} {
		if _, err := consistency.Check([]byte(raw), consistency.Options{}); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	found := checked(t, []byte("# Outage\n\n## Summary\n\nTODO: \x1b[31mred\n"))
	if len(found) != 1 || strings.ContainsRune(found[0].Quotes[0].Text, '\x1b') {
		t.Error(found)
	}
}

func TestStrictNamesLinesThatNoActionTakesUp(t *testing.T) {
	raw := "# Outage\n\n## What went poorly\n\n- dashboards disagreed\n- alerts came late\n\n" +
		"## Action items\n\n- one dashboard (alice)\n"
	found, err := consistency.Check([]byte(raw), consistency.Options{Strict: true})
	if err != nil || len(found) != 1 || found[0].Line != 6 || found[0].Rule != consistency.PoorlyWithoutAction {
		t.Error(found, err)
	}
	if found := checked(t, []byte(raw)); len(found) > 0 {
		t.Error(found)
	}
}

func FuzzCheck(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.md")
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		found, err := consistency.Check(raw, consistency.Options{Strict: true})
		if err != nil {
			return
		}
		for _, one := range found {
			if one.Line < 1 || one.Rule == "" || len(one.Quotes) == 0 {
				t.Errorf("%+v", one)
			}
		}
	})
}
