package main

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed switchboard/switchboard.go
var switchboard string

// mutant is one thing that can be deleted, and what became of it.
type mutant struct {
	id, line                         int
	file, function, deleted, verdict string
}

// key names a mutant in the list of equivalent ones, where line numbers would go stale.
func (m *mutant) key() string { return m.file + " | " + m.function + " | " + m.deleted }

// source is a file whose mutants are compiled in all at once, each behind a question for its ID, so that one
// build serves them all. Lines stay where they are.
type source struct {
	*bench
	path, function string
	set            *token.FileSet
	content        []byte
	opens, closes  map[int]string
}

// instrument finds the mutants of a package's files, and what is compiled in their place.
func (b *bench) instrument(files *regexp.Regexp) error {
	unit, err := build.ImportDir(b.dir, 0)
	b.texts[filepath.Join(b.dir, "zz_mutants.go")] = strings.ReplaceAll(switchboard, "switchboard", unit.Name)
	for _, name := range slices.DeleteFunc(unit.GoFiles, func(name string) bool { return !files.MatchString(name) }) {
		f := &source{bench: b, path: filepath.Join(b.dir, name), set: token.NewFileSet(),
			opens: map[int]string{}, closes: map[int]string{}}
		f.content, _ = os.ReadFile(f.path) // what can't be read can't be parsed
		tree, err := parser.ParseFile(f.set, f.path, f.content, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.PreorderStack(tree, nil, f.visit)
		var out strings.Builder
		for i := range f.content {
			out.WriteString(f.closes[i] + f.opens[i] + string(f.content[i:i+1]))
		}
		b.texts[f.path] = out.String()
	}
	return err
}

func (f *source) visit(n ast.Node, stack []ast.Node) bool {
	if len(stack) == 0 {
		return true
	}
	parent := stack[len(stack)-1]
	switch parent.(type) {
	case *ast.File:
		f.function = "-"
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		f.statement(n, stack)
	}
	switch n := n.(type) {
	case *ast.FuncDecl:
		if f.function = n.Name.Name; n.Recv != nil {
			f.function = strings.Trim(f.text(n.Recv.List[0].Type), "*") + "." + f.function
		}
	case *ast.IfStmt:
		f.branch("if ", n.Body.List, n.Cond)
	case *ast.CaseClause:
		if choice, ok := stack[len(stack)-2].(*ast.SwitchStmt); ok && choice.Tag == nil && n.List != nil {
			f.branch("case ", n.Body, n.List...)
		}
	case *ast.CompositeLit:
		_, address := parent.(*ast.UnaryExpr)
		if strings.HasPrefix(f.text(n), "[]") && !address {
			f.around(n, fmt.Sprintf("mutantWithout(%d, ", len(f.mutants)+1), ")")
			for _, element := range n.Elts {
				f.add("element: ", element)
			}
		}
	}
	return true
}

var (
	onlyError  = regexp.MustCompile(`^(?:_, )*(_|[\w.]*[eE]rr) :?= [\w.]+\(`)
	makesError = regexp.MustCompile(`^return ([\w.]+\.)?(Errorf|New|Join|Err|Cause|\w+Error)\(`)
)

// statement deletes a call whose result is unused or only an error, and a deferred one.
func (f *source) statement(n ast.Node, stack []ast.Node) {
	switch n := n.(type) {
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && f.text(call.Fun) != "panic" {
			f.delete("", "call: ", n, n)
		}
	case *ast.DeferStmt:
		f.delete("", "", n, n)
	case *ast.AssignStmt:
		found := onlyError.FindStringSubmatch(f.text(n))
		if found != nil && n.Tok == token.ASSIGN {
			f.delete("", "call: ", n, n)
		} else if found != nil {
			f.delete("var "+found[1]+" error; ", "call: ", n, n)
			f.content[f.offset(n.TokPos)] = ' ' // := becomes =
		}
	case *ast.IfStmt:
		if n.Init != nil && n.Else == nil && onlyError.MatchString(f.text(n.Init)) {
			f.delete("", "call: if ", n.Init, n)
		}
	case *ast.ReturnStmt:
		var signature ast.Node
		for _, outer := range stack {
			switch outer := outer.(type) {
			case *ast.FuncDecl:
				signature = outer.Type
			case *ast.FuncLit:
				signature = outer.Type
			}
		}
		if text := f.text(n); strings.HasSuffix(f.text(signature), ") error") && strings.HasSuffix(text, ")") &&
			!makesError.MatchString(text) {
			f.around(n, fmt.Sprintf("if mutantIs(%d) { return nil }; ", f.add("call: ", n)), "")
		}
	}
}

// branch makes a condition untrue whose statements end by leaving what they are in.
func (f *source) branch(word string, body []ast.Stmt, conditions ...ast.Expr) {
	switch append([]ast.Stmt{nil}, body...)[len(body)].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		id := f.add("early return: "+word, conditions[0])
		for _, condition := range conditions {
			f.around(condition, "(", fmt.Sprintf(") && !mutantIs(%d)", id))
		}
	}
}

func (f *source) delete(before, word string, shown, n ast.Node) {
	f.around(n, fmt.Sprintf("%sif !mutantIs(%d) { ", before, f.add(word, shown)), " }")
}

// add numbers the second of the same text in a function, so that each has a key of its own.
func (f *source) add(word string, n ast.Node) (id int) {
	deleted := []rune(strings.Join(strings.Fields(word+f.text(n)), " "))
	m := &mutant{id: len(f.mutants) + 1, line: f.set.Position(n.Pos()).Line, file: f.path, function: f.function,
		deleted: string(deleted[:min(90, len(deleted))])}
	if f.seen[m.key()]++; f.seen[m.key()] > 1 {
		m.deleted += fmt.Sprintf(" #%d", f.seen[m.key()])
	}
	f.mutants = append(f.mutants, m)
	return m.id
}

// around relies on the order of visits: of two at one place, the outer opens first and closes last.
func (f *source) around(n ast.Node, opening, closing string) {
	f.opens[f.offset(n.Pos())] += opening
	f.closes[f.offset(n.End())] = closing + f.closes[f.offset(n.End())]
}

func (f *source) offset(pos token.Pos) int { return f.set.Position(pos).Offset }

func (f *source) text(n ast.Node) string {
	return string(f.content[f.offset(n.Pos()):f.offset(n.End())])
}
