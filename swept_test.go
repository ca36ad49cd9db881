package salve_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestEveryGuardIsSwept: each guard, precondition and check that this program can ask has a row in a sweep, in the
// tests of its package; and each runbook that a replay makes is swept.
func TestEveryGuardIsSwept(t *testing.T) {
	house := salveHouse(t)
	guards, replayed := 0, 0
	for _, p := range house.packages {
		made, problems := house.guardsMade(p)
		guards += len(made)
		replayed += len(replays(p))
		for _, problem := range append(problems, unswept(t, p, made)...) {
			t.Error(problem)
		}
	}
	if guards < 70 || replayed < 8 {
		t.Errorf("only %d guards and %d replayed runbooks were found", guards, replayed)
	}
}

// TestWhatIsNotSweptIsFound in a package that was made up to have some.
func TestWhatIsNotSweptIsFound(t *testing.T) {
	house := loadHouse(t, "./testdata/unswept")
	var found []string
	for _, p := range house.packages {
		if p.Name == "unswept" {
			made, problems := house.guardsMade(p)
			for _, problem := range append(problems, unswept(t, p, made)...) {
				_, what, _ := strings.Cut(problem, ": ")
				found = append(found, what)
			}
		}
	}
	slices.Sort(found)
	want := []string{
		"ReplayedUndo is not swept", "a guard that decides while it reads: make it with runbook.Ask",
		"guard by-another has no row in a sweep", "guard constant has no row in a sweep",
		"guard no-row has no row in a sweep", "guard row-of-something-else has no row in a sweep",
		"the name of a guard is not a constant: nothing tells whether it is swept",
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}

// madeGuard is a place where a guard is made.
type madeGuard struct{ at, name string }

// guardsMade are the guards that a package makes by runbook.Ask, or by a function that hands a name on to it, and what
// can't be told of others.
func (h *house) guardsMade(p *packages.Package) (made []madeGuard, problems []string) {
	namers := h.namers()
	h.calls(p, namers, func(around *ast.FuncDecl, call *ast.CallExpr, name ast.Expr) {
		at := p.Fset.Position(call.Pos()).String()
		value := p.TypesInfo.Types[name].Value
		switch {
		case value != nil && value.Kind() == constant.String:
			made = append(made, madeGuard{at, constant.StringVal(value)})
		case handedOn(p, around, name) < 0:
			problems = append(problems, at+": the name of a guard is not a constant: nothing tells whether it is swept")
		}
	})
	ofHouse := slices.Contains([]string{"salve/runbook", "salve/runbook/runbooktest"}, p.PkgPath)
	for _, file := range p.Syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if ok && !ofHouse && p.TypesInfo.TypeOf(literal).String() == "salve/runbook.Guard" && hasKey(literal, "Evaluate") {
				problems = append(problems, p.Fset.Position(n.Pos()).String()+
					": a guard that decides while it reads: make it with runbook.Ask")
			}
			return true
		})
	}
	return made, problems
}

func hasKey(literal *ast.CompositeLit, key string) bool {
	return slices.ContainsFunc(literal.Elts, func(element ast.Expr) bool {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		name, ok := pair.Key.(*ast.Ident)
		return ok && name.Name == key
	})
}

// namers are the functions that take the name of a guard, and the position of its parameter.
func (h *house) namers() map[types.Object]int {
	namers := map[types.Object]int{}
	for _, p := range h.packages {
		if p.PkgPath == "salve/runbook" {
			namers[p.Types.Scope().Lookup("Ask")] = 0
		}
	}
	for known := 0; known < len(namers); {
		known = len(namers)
		for _, p := range h.packages {
			h.calls(p, namers, func(around *ast.FuncDecl, _ *ast.CallExpr, name ast.Expr) {
				if i := handedOn(p, around, name); i >= 0 {
					namers[p.TypesInfo.Defs[around.Name]] = i
				}
			})
		}
	}
	return namers
}

// calls visits the calls of such functions in a package, with the function around them, which is nil outside of all.
func (h *house) calls(
	p *packages.Package, namers map[types.Object]int, visit func(*ast.FuncDecl, *ast.CallExpr, ast.Expr),
) {
	for _, file := range p.Syntax {
		for _, declared := range file.Decls {
			around, _ := declared.(*ast.FuncDecl)
			ast.Inspect(declared, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if i, names := namers[calledBy(p, call)]; names && i < len(call.Args) {
					visit(around, call, ast.Unparen(call.Args[i]))
				}
				return true
			})
		}
	}
}

// handedOn is the position of the parameter that an expression is; -1 when it is none.
func handedOn(p *packages.Package, around *ast.FuncDecl, expression ast.Expr) int {
	name, ok := expression.(*ast.Ident)
	if !ok || around == nil {
		return -1
	}
	return parameter(p, around, p.TypesInfo.Uses[name])
}

// replays are a package's functions that make a runbook for its decisions alone.
func replays(p *packages.Package) (names []string) {
	for _, name := range p.Types.Scope().Names() {
		function, ok := p.Types.Scope().Lookup(name).(*types.Func)
		if ok && function.Exported() && strings.HasPrefix(name, "Replayed") && function.Signature().Results().Len() == 2 &&
			function.Signature().Results().At(0).Type().String() == "salve/runbook.Runbook" {
			names = append(names, name)
		}
	}
	return names
}

// unswept says which guards have no row in the package's tests, and which runbooks are not swept there.
func unswept(t *testing.T, p *packages.Package, guards []madeGuard) (problems []string) {
	t.Helper()
	if len(guards)+len(replays(p)) == 0 {
		return nil
	}
	tests := testsBeside(t, p)
	rows := rowsIn(tests)
	for _, guard := range guards {
		if !rows[guard.name] {
			problems = append(problems, guard.at+": guard "+guard.name+" has no row in a sweep")
		}
	}
	swept := calledWith(tests, "SweepGuards")
	for _, name := range replays(p) {
		if !swept[name] {
			problems = append(problems, p.PkgPath+": "+name+" is not swept")
		}
	}
	return problems
}

func testsBeside(t *testing.T, p *packages.Package) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(filepath.Dir(p.GoFiles[0]), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// rowsIn are the keys of all runbooktest.Rows.
func rowsIn(files []*ast.File) map[string]bool {
	rows := map[string]bool{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok || !isRows(literal.Type) {
				return true
			}
			for _, element := range literal.Elts {
				pair, ok := element.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				if key, ok := pair.Key.(*ast.BasicLit); ok {
					name, _ := strconv.Unquote(key.Value) // it has been parsed
					rows[name] = true
				}
			}
			return true
		})
	}
	return rows
}

func isRows(of ast.Expr) bool {
	selector, ok := of.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := selector.X.(*ast.Ident)
	return ok && from.Name == "runbooktest" && selector.Sel.Name == "Rows"
}

// calledWith are the names that are called by the functions that call another one, or by what these call.
func calledWith(files []*ast.File, other string) map[string]bool {
	calls := map[string]map[string]bool{}
	for _, file := range files {
		for _, declared := range file.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok || function.Body == nil {
				continue
			}
			called := map[string]bool{}
			ast.Inspect(function.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					called[nameOf(call.Fun)] = true
				}
				return true
			})
			calls[function.Name.Name] = called
		}
	}
	found := map[string]bool{}
	var follow func(map[string]bool)
	follow = func(called map[string]bool) {
		for name := range called {
			if !found[name] {
				found[name] = true
				follow(calls[name])
			}
		}
	}
	for _, called := range calls {
		if called[other] {
			follow(called)
		}
	}
	return found
}

func nameOf(called ast.Expr) string {
	switch called := ast.Unparen(called).(type) {
	case *ast.Ident:
		return called.Name
	case *ast.SelectorExpr:
		return called.Sel.Name
	}
	return ""
}
