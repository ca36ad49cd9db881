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
	"strings"
)

//go:embed switchboard.txt
var switchboard string

// site is one thing that a mutant deletes.
type site struct {
	id, line                int
	file, function, deleted string
}

// key names a site in the list of equivalent mutants, where line numbers would go stale.
func (s site) key() string { return s.file + " | " + s.function + " | " + s.deleted }

// source is a file under instrumentation. All mutants of a package are compiled in at once, each behind a
// question for its ID, so that one build serves them all. Lines stay where they are.
type source struct {
	path, function string
	set            *token.FileSet
	content        []byte
	opens, closes  map[int]string
	sites          *[]site
	skip           map[string]bool // file:line of what doesn't compile when instrumented
}

// instrument gives the sites of a package and the new content of its files.
func instrument(dir string, files *regexp.Regexp, skip map[string]bool) ([]site, map[string]string, error) {
	unit, err := build.ImportDir(dir, 0)
	sites, texts := []site{}, map[string]string{filepath.Join(dir, "zz_mutants.go"): "package " + unit.Name + switchboard}
	for _, name := range unit.GoFiles {
		f := &source{path: filepath.Join(dir, name), set: token.NewFileSet(), sites: &sites, skip: skip,
			opens: map[int]string{}, closes: map[int]string{}}
		if f.content, err = os.ReadFile(f.path); err != nil {
			return nil, nil, err
		}
		tree, err := parser.ParseFile(f.set, f.path, f.content, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		if files.MatchString(name) {
			ast.PreorderStack(tree, nil, f.visit)
			texts[f.path] = f.rewritten()
		}
	}
	seen := map[string]int{}
	for i, s := range sites { // the second of the same text in a function gets a number
		if seen[s.key()]++; seen[s.key()] > 1 {
			sites[i].deleted += fmt.Sprintf(" #%d", seen[s.key()])
		}
	}
	return sites, texts, err
}

func (f *source) visit(n ast.Node, stack []ast.Node) bool {
	var parent ast.Node
	var results *ast.FieldList
	f.function = "-"
	for _, parent = range stack {
		switch outer := parent.(type) {
		case *ast.FuncDecl:
			results, f.function = outer.Type.Results, outer.Name.Name
			if outer.Recv != nil {
				f.function = strings.Trim(f.text(outer.Recv.List[0].Type), "*") + "." + f.function
			}
		case *ast.FuncLit:
			results = outer.Type.Results
		}
	}
	switch parent.(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		f.statement(n, results)
	}
	switch n := n.(type) {
	case *ast.IfStmt:
		f.branch("if ", n.Body.List, n.Cond)
	case *ast.CaseClause:
		if choice, ok := stack[len(stack)-2].(*ast.SwitchStmt); ok && choice.Tag == nil && n.List != nil {
			f.branch("case ", n.Body, n.List...)
		}
	case *ast.CompositeLit:
		address, _ := parent.(*ast.UnaryExpr)
		if list, ok := n.Type.(*ast.ArrayType); ok && list.Len == nil && address == nil {
			f.elements(n)
		}
	}
	return true
}

// statement deletes a call whose result is unused or only an error, and a deferred one.
func (f *source) statement(n ast.Node, results *ast.FieldList) {
	switch n := n.(type) {
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && f.text(call.Fun) != "panic" {
			f.wrap("call: ", n, n, "")
		}
	case *ast.DeferStmt:
		f.wrap("", n, n, "")
	case *ast.AssignStmt:
		if name, ok := f.onlyError(n); ok && n.Tok == token.ASSIGN {
			f.wrap("call: ", n, n, "")
		} else if ok && f.wrap("call: ", n, n, "var "+name+" error; ") {
			f.content[f.offset(n.TokPos)] = ' ' // := becomes =
		}
	case *ast.IfStmt:
		if first, ok := n.Init.(*ast.AssignStmt); ok && n.Else == nil {
			if _, ok := f.onlyError(first); ok {
				f.wrap("call: if ", first, n, "")
			}
		}
	case *ast.ReturnStmt:
		if results.NumFields() == 1 && f.text(results.List[0].Type) == "error" && isCall(n.Results) &&
			!makesError.MatchString(f.text(n)) {
			if id := f.add("call: ", n); id > 0 {
				f.opens[f.offset(n.Pos())] += fmt.Sprintf("if mutantIs(%d) { return nil }; ", id)
			}
		}
	}
}

var makesError = regexp.MustCompile(`^return ([\w.]+\.)?(Errorf|New|Join|Err|Cause|\w+Error)\(`)

func isCall(list []ast.Expr) bool {
	if len(list) != 1 {
		return false
	}
	_, is := list[0].(*ast.CallExpr)
	return is
}

// onlyError tells whether a call's results are given to no name but that of an error.
func (f *source) onlyError(s *ast.AssignStmt) (name string, ok bool) {
	for _, left := range s.Lhs {
		if text := f.text(left); strings.HasSuffix(strings.ToLower(text), "err") {
			name = text
		} else if text != "_" {
			return "", false
		}
	}
	return name, isCall(s.Rhs)
}

// branch makes a condition untrue whose statements end by leaving what they are in.
func (f *source) branch(word string, body []ast.Stmt, conditions ...ast.Expr) {
	if len(body) == 0 {
		return
	}
	switch body[len(body)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		id := f.add("early return: "+word, conditions[0])
		for _, condition := range conditions {
			if id > 0 {
				f.around(condition, "(", fmt.Sprintf(") && !mutantIs(%d)", id))
			}
		}
	}
}

func (f *source) elements(list *ast.CompositeLit) {
	first := len(*f.sites) + 1
	for _, element := range list.Elts {
		if _, keyed := element.(*ast.KeyValueExpr); keyed || f.add("element: ", element) == 0 {
			*f.sites = (*f.sites)[:first-1]
			return
		}
	}
	f.around(list, fmt.Sprintf("mutantWithout(%d, ", first), ")")
}

func (f *source) wrap(word string, shown, n ast.Node, before string) bool {
	id := f.add(word, shown)
	if id > 0 {
		f.around(n, fmt.Sprintf("%sif !mutantIs(%d) { ", before, id), " }")
	}
	return id > 0
}

func (f *source) add(word string, n ast.Node) (id int) {
	line, deleted := f.set.Position(n.Pos()).Line, []rune(strings.Join(strings.Fields(word+f.text(n)), " "))
	if f.skip[fmt.Sprintf("%s:%d", f.path, line)] {
		return 0
	}
	id = len(*f.sites) + 1
	*f.sites = append(*f.sites, site{id, line, f.path, f.function, string(deleted[:min(90, len(deleted))])})
	return id
}

// around relies on the order of visits: of two at one place, the outer opens first and closes last.
func (f *source) around(n ast.Node, opening, closing string) {
	f.opens[f.offset(n.Pos())] += opening
	f.closes[f.offset(n.End())] = closing + f.closes[f.offset(n.End())]
}

func (f *source) rewritten() string {
	var out strings.Builder
	for i, c := range f.content {
		out.WriteString(f.closes[i] + f.opens[i])
		out.WriteByte(c)
	}
	return out.String()
}

func (f *source) offset(pos token.Pos) int { return f.set.Position(pos).Offset }
func (f *source) text(n ast.Node) string {
	return string(f.content[f.offset(n.Pos()):f.offset(n.End())])
}
