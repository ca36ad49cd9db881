package shell

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Commands are the programs that a script names in plain words, in the order of
// the text, each as often as it is named: without the shell's own commands, the
// script's functions, and those that it asks for first with command -v. The error
// says where the text is no shell.
func Commands(script string) ([]string, error) {
	read := reader{dropped: map[string]bool{}}
	if err := read.script(script); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(read.commands, func(name string) bool { return read.dropped[name] || builtins[name] }), nil
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

type reader struct {
	commands []string
	// dropped are functions, and programs that the script can do without.
	dropped map[string]bool
	// moved: the script has left the folder that it began in.
	moved bool
}

func (r *reader) script(script string) error {
	parsed, err := parse(script)
	if err != nil {
		return err
	}
	syntax.Walk(parsed, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.FuncDecl:
			r.dropped[node.Name.Value] = true
		case *syntax.CallExpr:
			r.call(node.Args)
		}
		return true
	})
	return nil
}

// wrappers are commands that execute the command that follows them.
var wrappers = map[string]bool{
	"builtin": true, "command": true, "env": true, "exec": true, "nice": true, "nohup": true, "sudo": true, "time": true, "timeout": true,
}

// seekers are commands that look whether there is a program.
var seekers = map[string]bool{"hash": true, "type": true, "which": true}

// call reads a simple command, behind wrappers with their options.
func (r *reader) call(words []*syntax.Word) {
	wrapped := ""
	for at, word := range words {
		literal, plain := literalOf(word)
		switch {
		case !plain:
			return
		case wrapped == "command" && (literal == "-v" || literal == "-V"), wrapped == "" && seekers[literal]:
			r.seek(words[at+1:])
			return
		case wrapped != "" && (strings.HasPrefix(literal, "-") || strings.Contains(literal, "=") || isSpan(literal)):
			continue
		case wrappers[literal]:
			wrapped = literal
		default:
			r.executes(literal)
			return
		}
	}
}

func (r *reader) seek(words []*syntax.Word) {
	for _, word := range words {
		if literal, plain := literalOf(word); plain {
			r.dropped[literal] = true
		}
	}
}

func (r *reader) executes(name string) {
	if name == "cd" || name == "pushd" {
		r.moved = true
	}
	if r.moved && strings.Contains(name, "/") && !filepath.IsAbs(name) {
		return
	}
	r.commands = append(r.commands, name)
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
var builtins = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields(`. : [ alias bg bind break builtin caller cd command compgen complete compopt continue
		declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout
		mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type
		typeset ulimit umask unalias unset wait`) {
		all[name] = true
	}
	return all
}()
