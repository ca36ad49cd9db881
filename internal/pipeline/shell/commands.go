package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Programs are what a script executes.
type Programs struct {
	// Named are the programs that it names in plain words, in the order of the text,
	// each as often as it is named: without the shell's own commands, the script's
	// functions, and those that it asks for first with command -v. Paths begin in the
	// folder in which the script does.
	Named []string
	// Elsewhere are those that it names by a path behind a cd to another folder. What
	// leads there may make them first.
	Elsewhere []string
	// Untold are the words of which only the shell will know which program they name.
	Untold []string
}

// ProgramsOf reads what a script executes. The error says where the text is no shell.
func ProgramsOf(script string) (Programs, error) {
	read := reader{dropped: map[string]bool{}, at: place{known: true}}
	if err := read.script(script); err != nil {
		return Programs{}, err
	}
	dropped := func(name string) bool { return read.dropped[name] || builtins[name] }
	read.Named = slices.DeleteFunc(read.Named, dropped)
	read.Elsewhere = slices.DeleteFunc(read.Elsewhere, dropped)
	return read.Programs, nil
}

// Commands are the programs that a script names in plain words, without those
// elsewhere.
func Commands(script string) ([]string, error) {
	programs, err := ProgramsOf(script)
	return programs.Named, err
}

// Words are all words of a script that are written out.
func Words(script string) ([]string, error) {
	parsed, err := parse(script)
	if err != nil {
		return nil, err
	}
	var words []string
	syntax.Walk(parsed, func(node syntax.Node) bool {
		if word, ok := node.(*syntax.Word); ok {
			if literal, plain := literalOf(word); plain {
				words = append(words, literal)
			}
		}
		return true
	})
	return words, nil
}

// parsers are kept: each has buffers of its own, and a pipeline many scripts.
//
//nolint:gochecknoglobals // a pool is of the process
var parsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

func parse(script string) (*syntax.File, error) {
	parser := parsers.Get().(*syntax.Parser)
	defer parsers.Put(parser)
	parsed, err := parser.Parse(strings.NewReader(script), "")
	var wrong syntax.ParseError
	if errors.As(err, &wrong) {
		return nil, fmt.Errorf("in its line %d, column %d: %s", wrong.Pos.Line(), wrong.Pos.Col(), wrong.Text)
	}
	return parsed, err
}

// isSpan tells the duration that timeout takes first, and nice's number.
func isSpan(word string) bool {
	return word != "" && strings.Trim(word, "0123456789.smhd") == ""
}

// literalOf is a word without expansions, its quotes taken off.
func literalOf(word *syntax.Word) (string, bool) {
	var text strings.Builder
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			text.WriteString(part.Value)
		case *syntax.DblQuoted:
			inner, plain := literalOf(&syntax.Word{Parts: part.Parts})
			if !plain {
				return "", false
			}
			text.WriteString(inner)
		default:
			return "", false
		}
	}
	literal := text.String()
	return literal, literal != "" && !strings.Contains(literal, "{{")
}

// builtins are the commands of bash itself.
//
//nolint:gochecknoglobals // a table that nobody writes to, made once
var builtins = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields(`
		. : [ alias bg bind break builtin caller cd command compgen complete compopt continue
		declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout
		mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type
		typeset ulimit umask unalias unset wait`) {
		all[name] = true
	}
	return all
}()
