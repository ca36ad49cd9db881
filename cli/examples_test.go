package cli

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestEachCommandHasExamples that it understands: the commands are there, and their flags.
func TestEachCommandHasExamples(t *testing.T) {
	root := newRoot(&app{program: Options{Runbooks: BuiltIn()}})
	eachCommand(root, func(command *cobra.Command) {
		if !command.Runnable() || command.HasSubCommands() || command.Hidden || command.Name() == "help" {
			return
		}
		if !strings.Contains(command.Example, "salve ") {
			t.Errorf("%s has no example", command.CommandPath())
			return
		}
		own := false
		for _, words := range exampleCommands(command.Example) {
			of, rest, err := newRoot(&app{program: Options{Runbooks: BuiltIn()}}).Find(words)
			if err != nil {
				t.Errorf("%s: %q: %v", command.CommandPath(), words, err)
				continue
			}
			own = own || of.CommandPath() == command.CommandPath()
			if err := of.ParseFlags(rest); err != nil {
				t.Errorf("%s: %q: %v", command.CommandPath(), words, err)
			} else if err := of.ValidateArgs(of.Flags().Args()); err != nil {
				t.Errorf("%s: %q: %v", command.CommandPath(), words, err)
			}
		}
		if !own {
			t.Errorf("%s: no example is of the command itself", command.CommandPath())
		}
	})
}

func eachCommand(command *cobra.Command, do func(*cobra.Command)) {
	do(command)
	for _, below := range command.Commands() {
		eachCommand(below, do)
	}
}

// shellWord is a word of a shell: in quotes, or without spaces.
var shellWord = regexp.MustCompile(`(?:[^\s'"]|'[^']*'|"[^"]*")+`)

// exampleCommands are the arguments of each command of this program in examples.
func exampleCommands(example string) (all [][]string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(example, "\\\n", " "), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		var words []string
		inside := false
		for _, word := range shellWord.FindAllString(line, -1) {
			bare := strings.NewReplacer("'", "", `"`, "").Replace(word)
			switch {
			case !inside && strings.TrimLeft(bare, "<$(") == "salve":
				inside, words = true, nil
			case inside && strings.ContainsAny(word[:1], "|&;><"):
				all, inside = append(all, words), false
			case inside && word == bare && strings.HasSuffix(bare, ")"):
				all, inside = append(all, append(words, strings.TrimRight(bare, ")"))), false
			case inside:
				words = append(words, bare)
			}
		}
		if inside {
			all = append(all, words)
		}
	}
	return all
}

// placeholders of a page's synopsis: [--flag], a|b and "…" stand for something else than themselves.
var placeholders = regexp.MustCompile(`\[--|[a-z]\|[a-z]|\[the |…`)

// environmentFirst is a command whose variables stand before it.
var environmentFirst = regexp.MustCompile(`^([A-Z_]+=\S* )+(salve |\\$)`)

// TestCommandsOfPagesAreUnderstood: what the pages show in blocks of code has commands and flags that are there.
func TestCommandsOfPagesAreUnderstood(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "docs", "*.md"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("only %q, %v", pages, err)
	}
	shown := 0
	for _, page := range append(pages, filepath.Join("..", "README.md")) {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range exampleCommands(codeOf(string(raw))) {
			if placeholders.MatchString(strings.Join(words, " ")) {
				continue
			}
			shown++
			of, rest, err := newRoot(&app{program: Options{Runbooks: BuiltIn()}}).Find(words)
			if err == nil && of.HasSubCommands() && !of.Runnable() {
				err = errors.New("this is no command")
			}
			if err == nil {
				err = of.ParseFlags(rest)
			}
			if err != nil {
				t.Errorf("%s: salve %q: %v", filepath.Base(page), words, err)
			}
		}
	}
	if shown < 80 {
		t.Errorf("only %d commands were found", shown)
	}
}

// codeOf is what a page has in fenced blocks for a shell and in indented ones, without prompts.
func codeOf(page string) string {
	var code strings.Builder
	fenced := false
	for line := range strings.Lines(page) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fenced = !fenced
		case fenced || strings.HasPrefix(line, "    "):
			if command, prompted := strings.CutPrefix(trimmed, "$ "); prompted || strings.HasPrefix(trimmed, "salve ") ||
				strings.HasPrefix(trimmed, "--") || environmentFirst.MatchString(trimmed) {
				code.WriteString(command + "\n")
			}
		}
	}
	return code.String()
}
