package salve_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestOnlySequentialCodeIsTestedWithoutTheRaceDetector: what the Makefile leaves out starts no goroutine and shares
// nothing between any.
func TestOnlySequentialCodeIsTestedWithoutTheRaceDetector(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`(?m)^SEQUENTIAL := ((?:.*\\\n)*.*)$`).FindSubmatch(makefile)
	if said == nil {
		t.Fatal("the Makefile has no SEQUENTIAL")
	}
	for _, room := range strings.Fields(strings.ReplaceAll(string(said[1]), "\\\n", " ")) {
		folder := filepath.Join(".", filepath.FromSlash(strings.TrimPrefix(room, "salve")))
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Errorf("%s is no package: %v", room, err)
		}
		for _, path := range paths {
			if !strings.HasSuffix(path, "_test.go") {
				for _, found := range concurrency(t, path) {
					t.Errorf("%s: a race can be there: take %s out of SEQUENTIAL", found, room)
				}
			}
		}
	}
}

// concurrency are the places of a file where a goroutine begins, or what goroutines share is imported.
func concurrency(t *testing.T, path string) (found []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.ChanType:
			found = append(found, files.Position(n.Pos()).String())
		case *ast.ImportSpec:
			imported, err := strconv.Unquote(n.Path.Value)
			if err == nil && (imported == "sync" || imported == "sync/atomic" || strings.HasSuffix(imported, "/errgroup")) {
				found = append(found, files.Position(n.Pos()).String())
			}
		}
		return true
	})
	return found
}
