package salve_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestDecisionsLookAtNothing keeps network, clock and environment out of what judges: the decision of a guard, and all
// that it calls in this module, may use what was read and nothing else. So a decision can be made again from a record.
func TestDecisionsLookAtNothing(t *testing.T) {
	house := salveHouse(t)
	decisions := house.decisions()
	if len(decisions) < 40 {
		t.Fatalf("only %d decisions of guards were found", len(decisions))
	}
	for _, decision := range decisions {
		for _, look := range house.looks(decision.body, decision.in, map[types.Object]bool{}) {
			t.Errorf("%s: the decision of a guard uses %s", decision.at, look)
		}
	}
}

// TestVerdictsLookAtNothing keeps them out of the verdicts of triage in the same way: what is decided, and what is
// counted for it, comes from the evidence. So does what a record is compared with.
func TestVerdictsLookAtNothing(t *testing.T) {
	house := loadHouse(t, "./internal/triage/decision", "./internal/triage/replay")
	for _, function := range []string{
		"decision.Decide", "decision.DecideExamined", "decision.Examine", "replay.Replay", "replay.Verify",
	} {
		decides, found := house.function("salve/internal/triage/" + function)
		if !found {
			t.Errorf("there is no %s", function)
			continue
		}
		seen := map[types.Object]bool{}
		for _, look := range house.looks(decides.node, decides.in, seen) {
			t.Errorf("%s uses %s", function, look)
		}
		if len(seen) < 30 {
			t.Errorf("%s: only %d functions below it were looked at", function, len(seen))
		}
	}
}

// function is one of the module's by its path and name.
func (h *house) function(path string) (body, bool) {
	for object, of := range h.bodies {
		if object.Pkg() != nil && object.Pkg().Path()+"."+object.Name() == path && object.Parent() == object.Pkg().Scope() {
			return of, true
		}
	}
	return body{}, false
}

// TestALookIsFound in decisions that were made up to have one.
func TestALookIsFound(t *testing.T) {
	house := loadHouse(t, "./testdata/purity")
	var found []string
	for _, decision := range house.decisions() {
		found = append(found, house.looks(decision.body, decision.in, map[types.Object]bool{})...)
	}
	slices.Sort(found)
	want := []string{
		"clock.PassiveClock.Now", "http.Get", "os.Getenv", "runbook.Run.ID", "runbook.Shared.Last", "time.Now", "time.Since",
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}

// house is the module's code with its types.
type house struct {
	packages []*packages.Package
	// bodies are the functions of the module, by their objects.
	bodies map[types.Object]body
}

type body struct {
	node ast.Node
	in   *packages.Package
}

type decision struct {
	at   string
	body ast.Node
	in   *packages.Package
}

// built is the house of the program salve with all of its runbooks, which several tests look at.
var built = sync.OnceValues(func() (*house, error) {
	return load(context.Background(), "./cmd/salve", "./runbooks/...", "./internal/prow/...")
})

func salveHouse(t *testing.T) *house {
	t.Helper()
	h, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func loadHouse(t *testing.T, patterns ...string) *house {
	t.Helper()
	h, err := load(t.Context(), patterns...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// load reads the module's code below the patterns with its types. What other modules define comes from what the
// compiler exported: nobody looks into their code.
func load(ctx context.Context, patterns ...string) (*house, error) {
	listed, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps, Context: ctx,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	var ours []string
	packages.Visit(listed, nil, func(p *packages.Package) {
		if p.PkgPath == "salve" || strings.HasPrefix(p.PkgPath, "salve/") {
			ours = append(ours, p.PkgPath)
		}
	})
	h := &house{bodies: map[types.Object]body{}}
	h.packages, err = packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
			packages.NeedImports | packages.NeedExportFile | packages.NeedCompiledGoFiles,
		Context: ctx,
	}, ours...)
	if err != nil {
		return nil, err
	}
	for _, p := range h.packages {
		for _, problem := range p.Errors {
			return nil, problem
		}
		for _, file := range p.Syntax {
			for _, declared := range file.Decls {
				if function, ok := declared.(*ast.FuncDecl); ok && function.Body != nil {
					h.bodies[p.TypesInfo.Defs[function.Name]] = body{function.Body, p}
				}
			}
		}
	}
	return h, nil
}

// decisions are the functions that are handed to runbook.Ask as its last argument, or to a function that hands it on.
func (h *house) decisions() []decision {
	askers := map[types.Object]int{} // functions that take a decision, and the position of its parameter
	for _, p := range h.packages {
		if p.PkgPath == "salve/runbook" {
			askers[p.Types.Scope().Lookup("Ask")] = 3
		}
	}
	var found []decision
	for known := 0; known < len(askers); {
		known, found = len(askers), nil
		for _, p := range h.packages {
			for _, file := range p.Syntax {
				for _, declared := range file.Decls {
					function, ok := declared.(*ast.FuncDecl)
					if !ok || function.Body == nil {
						continue
					}
					ast.Inspect(function.Body, func(n ast.Node) bool {
						if call, ok := n.(*ast.CallExpr); ok {
							found = append(found, h.handed(p, function, call, askers)...)
						}
						return true
					})
				}
			}
		}
	}
	return found
}

// handed gives the decision that a call hands to one of the askers; where it is a parameter of the function around it,
// that function becomes an asker.
func (h *house) handed(
	p *packages.Package, around *ast.FuncDecl, call *ast.CallExpr,
	askers map[types.Object]int,
) []decision {
	position, asks := askers[calledBy(p, call)]
	if !asks || position >= len(call.Args) {
		return nil
	}
	at := p.Fset.Position(call.Pos()).String()
	switch argument := ast.Unparen(call.Args[position]).(type) {
	case *ast.FuncLit:
		ast.Inspect(argument.Body, func(n ast.Node) bool { // it may hand on what the function around it was given
			if name, ok := n.(*ast.Ident); ok {
				object := p.TypesInfo.Uses[name]
				if i := parameter(p, around, object); i >= 0 && decides(object.Type()) {
					askers[p.TypesInfo.Defs[around.Name]] = i
				}
			}
			return true
		})
		return []decision{{at, argument.Body, p}}
	case *ast.Ident:
		if i := parameter(p, around, p.TypesInfo.Uses[argument]); i >= 0 {
			askers[p.TypesInfo.Defs[around.Name]] = i
			return nil
		}
		return h.named(at, p, around, p.TypesInfo.Uses[argument])
	case *ast.SelectorExpr:
		return h.named(at, p, around, p.TypesInfo.Uses[argument.Sel])
	}
	return []decision{{at + " (neither a function nor a literal)", call, p}}
}

// named is a decision by the name of its function, or of a variable that holds a literal.
func (h *house) named(at string, p *packages.Package, around *ast.FuncDecl, object types.Object) []decision {
	if of, ok := h.bodies[origin(object)]; ok {
		return []decision{{at, of.node, of.in}}
	}
	var found []decision
	ast.Inspect(around.Body, func(n ast.Node) bool {
		assigned, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, left := range assigned.Lhs {
			name, isName := left.(*ast.Ident)
			if isName && i < len(assigned.Rhs) && (p.TypesInfo.Defs[name] == object || p.TypesInfo.Uses[name] == object) {
				found = append(found, decision{at, assigned.Rhs[i], p})
			}
		}
		return true
	})
	return found
}

// decides tells whether a function's type is that of a decision.
func decides(t types.Type) bool {
	function, ok := t.Underlying().(*types.Signature)
	return ok && function.Params().Len() == 1 && function.Results().Len() == 1 &&
		strings.HasSuffix(function.Results().At(0).Type().String(), "runbook.Finding")
}

func origin(object types.Object) types.Object {
	if function, ok := object.(*types.Func); ok {
		return function.Origin()
	}
	return object
}

func calledBy(p *packages.Package, call *ast.CallExpr) types.Object {
	switch function := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return origin(p.TypesInfo.Uses[function])
	case *ast.SelectorExpr:
		return origin(p.TypesInfo.Uses[function.Sel])
	case *ast.IndexExpr:
		return calledBy(p, &ast.CallExpr{Fun: function.X})
	}
	return nil
}

// parameter is the position of a parameter of a function; -1 when the object is none.
func parameter(p *packages.Package, function *ast.FuncDecl, object types.Object) int {
	i := 0
	for _, field := range function.Type.Params.List {
		for _, name := range field.Names {
			if p.TypesInfo.Defs[name] == object {
				return i
			}
			i++
		}
	}
	return -1
}

// looks are the uses of the world in code, and in what it calls.
func (h *house) looks(code ast.Node, p *packages.Package, seen map[types.Object]bool) []string {
	found := map[string]bool{}
	ast.Inspect(code, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		object := origin(p.TypesInfo.Uses[name])
		function, isFunction := object.(*types.Func)
		if !isFunction || seen[object] {
			return true
		}
		seen[object] = true
		if look := lookOf(function); look != "" {
			found[look] = true
			return true
		}
		if of, ours := h.bodies[object]; ours {
			for _, look := range h.looks(of.node, of.in, seen) {
				found[look] = true
			}
		}
		return true
	})
	return slices.Sorted(maps.Keys(found))
}

// lookOf names a function that looks at the world; empty for any other.
func lookOf(function *types.Func) string {
	if function.Pkg() == nil {
		return ""
	}
	name := function.Pkg().Name() + "." + function.Name()
	if receiver := function.Signature().Recv(); receiver != nil {
		of := receiver.Type()
		if pointer, ok := of.(*types.Pointer); ok {
			of = pointer.Elem()
		}
		if named, ok := of.(*types.Named); ok {
			name = fmt.Sprintf("%s.%s.%s", function.Pkg().Name(), named.Obj().Name(), function.Name())
		}
	}
	path := function.Pkg().Path()
	rooms := []string{
		"context", "crypto/rand", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec", "salve/internal/clock",
		"k8s.io/utils/clock",
	}
	clients := strings.HasPrefix(path, "k8s.io/client-go") ||
		strings.HasPrefix(path, "github.com/Azure/azure-sdk-for-go/sdk/azcore")
	times := []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.NewTimer"}
	if clients || slices.Contains(rooms, path) || slices.Contains(times, name) ||
		strings.HasPrefix(name, "runbook.Run.") || strings.HasPrefix(name, "runbook.Shared.") {
		return name
	}
	return ""
}
