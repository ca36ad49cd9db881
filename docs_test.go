package salve_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"salve/internal/prow/check"
	"salve/internal/prow/stray"
	"salve/journal"
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

// TestEachErrorClassAndExitCodeHasItsCure: docs/troubleshooting.md has a heading for each.
func TestEachErrorClassAndExitCodeHasItsCure(t *testing.T) {
	page := read(t, "docs/troubleshooting.md")
	classes := constants(t, "internal/apierr/apierr.go", func(value string) bool { return strings.HasPrefix(value, `"`) })
	codes := constants(t, "cli/exit.go", func(value string) bool { return !strings.HasPrefix(value, `"`) })
	if len(classes) < 7 || len(codes) < 5 {
		t.Fatalf("only %q and %q were found", classes, codes)
	}
	for _, class := range classes {
		if heading := "\n## Error class " + strings.Trim(class, `"`) + "\n"; !strings.Contains(page, heading) {
			t.Errorf("docs/troubleshooting.md has no heading %q", heading)
		}
	}
	for _, code := range codes {
		if heading := "\n## Exit code " + code + "\n"; !strings.Contains(page, heading) {
			t.Errorf("docs/troubleshooting.md has no heading %q", heading)
		}
		if !strings.Contains(read(t, "docs/reference/exit-codes.md"), "\n| ["+code+"](") {
			t.Errorf("docs/reference/exit-codes.md has no row for %s", code)
		}
	}
}

// TestTermsOfMessagesHaveTheirCure: what an error's text names so that people search for it is a heading.
func TestTermsOfMessagesHaveTheirCure(t *testing.T) {
	page := read(t, "docs/troubleshooting.md")
	for term, source := range map[string]string{
		"forbidden": "cli/exit.go", "not found": "cli/exit.go", "throttled": "cli/exit.go", "timed out": "cli/exit.go",
		"broken record": "journal/line.go", "unsealed record": "journal/line.go", "head missing": "journal/head.go",
		"record lost": "journal/head.go", "conflict": "journal/head.go", "lease lost": "journal/lease.go",
		"held": "journal/lease.go", "no permit": "internal/permit/permit.go", "permit expired": "internal/permit/permit.go",
		"blocked drain": "runbooks/recreatepool", "precondition failed": "runbooks/recreatepool",
		"not complete within": "engine", "interrupted": "engine", "still refused": "runbooks/recreatepool",
	} {
		if !strings.Contains(page, "\n### "+term+"\n") {
			t.Errorf("docs/troubleshooting.md has no heading %q", term)
		}
		if !strings.Contains(sourceOf(t, source), term) {
			t.Errorf("%s says nothing of %q any more", source, term)
		}
	}
	for outcome := range strings.SplitSeq("undecided needs-attention failed deferred", " ") {
		if !strings.Contains(page, "\n### "+outcome+"\n") {
			t.Errorf("docs/troubleshooting.md has no heading %q", outcome)
		}
	}
}

// variable matches the name of an environment variable. One word alone is told by a list.
var variable = regexp.MustCompile(`"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|KUBECONFIG|USER|TERM|TRACEPARENT|TRACESTATE)"`)

// TestEnvironmentVariablesAreDocumented: each that the command line reads is on the page, and no other.
func TestEnvironmentVariablesAreDocumented(t *testing.T) {
	page := read(t, "docs/reference/environment.md")
	read := map[string]bool{}
	source := sourceOf(t, "cli") + sourceOf(t, "internal/telemetry/tracing")
	for _, found := range variable.FindAllStringSubmatch(source, -1) {
		read[found[1]] = true
		if !strings.Contains(page, "`"+found[1]+"`") {
			t.Errorf("docs/reference/environment.md does not name %s", found[1])
		}
	}
	_, table, _ := strings.Cut(page, "\n## Read by Salve")
	table, _, _ = strings.Cut(table, "\n## ")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		for i, name := range strings.Split(cells[0], "`") {
			if strings.HasPrefix(line, "| `") && i%2 == 1 && !read[name] {
				t.Errorf("docs/reference/environment.md names %s, which nothing reads", name)
			}
		}
	}
}

// TestGlossaryHasTheTwelveWords and no other.
func TestGlossaryHasTheTwelveWords(t *testing.T) {
	var words []string
	for line := range strings.Lines(read(t, "docs/glossary.md")) {
		cells := strings.Split(line, " | ")
		if word := strings.TrimPrefix(cells[0], "| "); len(cells) == 3 && word != "word" && !strings.HasPrefix(word, "---") {
			words = append(words, word)
		}
	}
	want := strings.Split("runbook,target,guard,finding,evidence,step,plan,permit,journal,run,lease, epoch,world", ",")
	if got := strings.Join(words, ","); got != strings.Join(want, ",") {
		t.Errorf("got %q", got)
	}
}

// TestFormatsAreDocumented: whoever reads a record of any format finds what becomes of it.
func TestFormatsAreDocumented(t *testing.T) {
	page := read(t, "docs/upgrade.md")
	for format := 1; format <= journal.Format; format++ {
		if !strings.Contains(page, fmt.Sprintf("\n| %d | ", format)) {
			t.Errorf("docs/upgrade.md has no row for format %d", format)
		}
	}
}

// constants are the values of a file's constants that a test chooses.
func constants(t *testing.T, path string, chosen func(value string) bool) (values []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for _, value := range spec.Values {
			if literal, ok := value.(*ast.BasicLit); ok && chosen(literal.Value) {
				values = append(values, literal.Value)
			}
		}
		return true
	})
	return values
}

// sourceOf is the text of a file, or of all files of a package, tests aside.
func sourceOf(t *testing.T, path string) string {
	t.Helper()
	if strings.HasSuffix(path, ".go") {
		return read(t, path)
	}
	files, err := filepath.Glob(filepath.Join(path, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no source in %s: %v", path, err)
	}
	var text strings.Builder
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			text.WriteString(read(t, file))
		}
	}
	return text.String()
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
