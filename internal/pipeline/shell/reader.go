package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// reader follows a script from command to command.
type reader struct {
	Programs
	// dropped are functions, and programs that the script can do without.
	dropped map[string]bool
	at      place
}

// place is a folder, as it is seen from the one in which the script begins; empty
// for that one.
type place struct {
	folder string
	known  bool
}

func (r *reader) script(script string) error {
	parsed, err := parse(script)
	if err != nil {
		return err
	}
	r.read(parsed)
	return nil
}

func (r *reader) read(node syntax.Node) {
	syntax.Walk(node, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Stmt:
			if !node.Background {
				return true
			}
			inFront := *node
			inFront.Background = false
			r.apart(func() { r.read(&inFront) })
		case *syntax.FuncDecl:
			r.dropped[node.Name.Value] = true
			r.perhaps(node.Body)
		case *syntax.CallExpr:
			r.parts(node)
			r.call(node.Args)
		case *syntax.Subshell:
			r.apart(func() { r.statements(node.Stmts) })
		case *syntax.CmdSubst:
			r.apart(func() { r.statements(node.Stmts) })
		case *syntax.ProcSubst:
			r.apart(func() { r.statements(node.Stmts) })
		case *syntax.BinaryCmd:
			r.pair(node)
		case *syntax.IfClause:
			r.statements(node.Cond)
			r.perhaps(statements(node.Then))
			if node.Else != nil {
				r.perhaps(node.Else)
			}
		case *syntax.WhileClause:
			r.perhaps(statements(append(slices.Clone(node.Cond), node.Do...)))
		case *syntax.ForClause:
			r.perhaps(node.Loop, statements(node.Do))
		case *syntax.CaseClause:
			r.perhaps(node.Word)
			for _, item := range node.Items {
				r.perhaps(statements(item.Stmts))
			}
		default:
			return true
		}
		return false
	})
}

// statements are several as one.
func statements(all []*syntax.Stmt) syntax.Node { return &syntax.Block{Stmts: all} }

func (r *reader) statements(all []*syntax.Stmt) { r.read(statements(all)) }

// parts reads what a command is made of: its words may hold commands too.
func (r *reader) parts(call *syntax.CallExpr) {
	for _, assigned := range call.Assigns {
		r.read(assigned)
	}
	for _, word := range call.Args {
		r.read(word)
	}
}

// pair reads two commands with something between them. Those of a pipe are apart
// from the script; behind && and || stands what may be left out.
func (r *reader) pair(pair *syntax.BinaryCmd) {
	if pair.Op == syntax.Pipe || pair.Op == syntax.PipeAll {
		r.apart(func() { r.read(pair.X) })
		r.apart(func() { r.read(pair.Y) })
		return
	}
	commands := []*syntax.Stmt{pair.Y}
	first := pair.X
	for {
		before, isPair := first.Cmd.(*syntax.BinaryCmd)
		if !isPair || before.Op == syntax.Pipe || before.Op == syntax.PipeAll {
			break
		}
		commands = append(commands, before.Y)
		first = before.X
	}
	r.read(first)
	began := r.at
	for _, command := range slices.Backward(commands) {
		r.read(command)
	}
	if r.at != began {
		r.at.known = false
	}
}

// apart reads what can't move the script.
func (r *reader) apart(read func()) {
	before := r.at
	read()
	r.at = before
}

// perhaps reads what may be left out, or come again. Where it moves the script,
// nobody knows where that is from then on.
func (r *reader) perhaps(nodes ...syntax.Node) {
	before := r.at
	for _, node := range nodes {
		r.read(node)
	}
	if r.at != before {
		r.at = place{}
	}
}

// wrappers are commands that execute the command that follows them.
func wrappers() map[string]bool {
	return map[string]bool{
		"builtin": true, "command": true, "env": true, "exec": true, "nice": true, "nohup": true, "sudo": true, "time": true,
		"timeout": true,
	}
}

// seekers are commands that look whether there is a program.
func seekers() map[string]bool {
	return map[string]bool{"hash": true, "type": true, "which": true}
}

// shells are programs that read a script as this one is.
func shells() map[string]bool {
	return map[string]bool{"bash": true, "dash": true, "sh": true}
}

// call reads a simple command, behind wrappers with their options.
func (r *reader) call(words []*syntax.Word) {
	wrapped := ""
	for at, word := range words {
		literal, plain := literalOf(word)
		switch {
		case !plain:
			r.Untold = append(r.Untold, sourceOf(word))
			return
		case wrapped == "command" && (literal == "-v" || literal == "-V"), wrapped == "" && seekers()[literal]:
			r.seek(words[at+1:])
			return
		case wrapped != "" && (strings.HasPrefix(literal, "-") || strings.Contains(literal, "=") || isSpan(literal)):
			continue
		case wrappers()[literal]:
			wrapped = literal
		default:
			r.executes(literal, words[at+1:])
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

func (r *reader) executes(name string, arguments []*syntax.Word) {
	switch {
	case name == "cd":
		r.move(arguments)
		return
	case name == "pushd", name == "popd":
		r.at.known = false
		return
	case name == "eval":
		r.Untold = append(r.Untold, name)
		return
	case shells()[path.Base(name)]:
		r.inner(arguments)
	}
	switch {
	case !strings.Contains(name, "/") || path.IsAbs(name) || r.at == place{known: true}:
		r.Named = append(r.Named, name)
	case !r.at.known:
		r.Untold = append(r.Untold, name)
	default:
		name = path.Join(r.at.folder, name)
		if !strings.Contains(name, "/") {
			name = "./" + name
		}
		r.Elsewhere = append(r.Elsewhere, name)
	}
}

// move follows a cd.
func (r *reader) move(arguments []*syntax.Word) {
	if len(arguments) != 1 {
		r.at.known = false
		return
	}
	folder, plain := literalOf(arguments[0])
	switch {
	case !plain || strings.HasPrefix(folder, "-") || strings.HasPrefix(folder, "~"):
		r.at.known = false
	case path.IsAbs(folder):
		r.at = place{folder: path.Clean(folder), known: true}
	case r.at.known:
		if r.at.folder = path.Join(r.at.folder, folder); r.at.folder == "." {
			r.at.folder = ""
		}
	}
}

// inner reads the script that a shell is given with -c.
func (r *reader) inner(arguments []*syntax.Word) {
	for at, argument := range arguments {
		option, plain := literalOf(argument)
		isOption := plain && (strings.HasPrefix(option, "-") || strings.HasPrefix(option, "+"))
		switch {
		case isOption && !strings.HasPrefix(option, "--") && strings.Contains(option, "c") && at+1 < len(arguments):
			script, plain := literalOf(arguments[at+1])
			if !plain {
				r.Untold = append(r.Untold, sourceOf(arguments[at+1]))
				return
			}
			r.apart(func() { _ = r.script(script) }) // the shell will say where it is none
			return
		case !isOption && (at == 0 || !takesName(arguments[at-1])):
			return // a file
		}
	}
}

// takesName tells the options of a shell behind which the name of one stands.
func takesName(word *syntax.Word) bool {
	option, _ := literalOf(word)
	return !strings.HasPrefix(option, "--") && strings.HasSuffix(option, "o")
}

// sourceOf is a word as it is written.
func sourceOf(word *syntax.Word) string {
	var text strings.Builder
	_ = syntax.NewPrinter().Print(&text, word) // never fails into memory
	return text.String()
}
