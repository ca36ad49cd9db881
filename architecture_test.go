package salve_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rooms says which rooms of this module each room may import, tests aside. A
// room that isn't listed may not exist: the plan of the house is kept here.
var rooms = map[string][]string{
	"fault":                   {},
	"pace":                    {"fault"},
	"secret":                  {},
	"internal/permit":         {"fault"},
	"runbook":                 {"internal/permit"},
	"journal":                 {"fault", "runbook", "secret"},
	"journal/incluster":       {"fault", "journal", "kube", "pace"},
	"engine":                  {"fault", "internal/permit", "journal", "pace", "runbook"},
	"azure":                   {"fault", "pace", "runbook"},
	"azure/azuresim":          {"azure/azuresim/template"},
	"azure/azuresim/managed":  {"azure/azuresim", "pace"},
	"azure/azuresim/template": {},
	"azure/azuresim/served":   {"azure/azuresim", "azure/azuresim/managed", "pace"},
	"kube":                    {"fault", "pace", "runbook"},
	"kube/leftovers":          {"fault", "kube", "pace", "runbook"},
	"kube/strays":             {"fault", "kube", "pace", "runbook", "secret"},
	"hotfix":                  {},
	"hotfix/archive":          {},
	"hotfix/disk":             {},
	"hotfix/event":            {"hotfix"},
	"hotfix/hotfixtest":       {},
	"hotfix/hotfixtest/node":  {"hotfix/hotfixtest"},
	"hotfix/launch":           {"pace"},
	"hotfix/payload":          {"hotfix/disk"},
	"hotfix/staging":          {"hotfix", "hotfix/disk", "pace"},
	"hotfix/live":             {"hotfix", "pace"},
	"hotfix/origin":           {"hotfix", "hotfix/archive", "pace"},
	"hotfix/publishing":       {"fault", "hotfix", "hotfix/archive", "hotfix/origin", "pace"},
	"endtoend":                {},
	"kube/kubetest/cluster":   {"kube/kubetest"},
	"kube/kubetest":           {},
	"pipeline/build":          {"pace", "pipeline", "pipeline/process", "pipeline/program", "pipeline/shell"},
	"pipeline/process":        {"pace"},
	"pipeline/chronicle":      {"journal"},
	"pipeline/program":        {},
	"pipeline/revision":       {},
	"pipeline/rollout":        {"engine", "journal", "pace", "pipeline", "pipeline/diagnostic", "pipeline/graph", "pipeline/revision", "runbook", "secret"},
	"pipeline/command":        {"journal", "pace", "pipeline", "pipeline/process", "pipeline/rollout"},
	"report":                  {"engine", "journal", "runbook", "secret"},
	"console":                 {"engine", "journal", "pace", "runbook", "secret"},
	"pipeline":                {"pipeline/diagnostic", "pipeline/graph", "pipeline/revision", "pipeline/schema", "pipeline/shell"},
	"pipeline/change":         {"pipeline"},
	"pipeline/deployment":     {"pace", "pipeline", "pipeline/diagnostic", "pipeline/process", "pipeline/rollout"},
	"pipeline/diagnostic":     {},
	"pipeline/graph":          {},
	"pipeline/schema":         {"pipeline/diagnostic"},
	"pipeline/shell":          {},
}

// roomsOfARunbook are what any room below runbooks/ may import.
var roomsOfARunbook = []string{"azure", "fault", "kube", "kube/leftovers", "kube/strays", "pace", "runbook"}

func TestImportsRunOneWay(t *testing.T) {
	for room, imports := range importsOfRooms(t) {
		allowed, listed := rooms[room]
		switch {
		case strings.HasPrefix(room, "cmd/"):
			continue // the command line may see everything, and nothing sees it
		case strings.HasPrefix(room, "runbooks/"):
			allowed = roomsOfARunbook
		case !listed:
			t.Errorf("room %q is not in the plan of the house", room)
		}
		for _, imported := range imports {
			if !slices.Contains(allowed, imported) {
				t.Errorf("%s imports %s, which is not its to know", room, imported)
			}
		}
	}
}

// TestOnlyTheEngineMints keeps the permit's promise inside this module, where
// «internal» does not.
func TestOnlyTheEngineMints(t *testing.T) {
	for room, imports := range importsOfRooms(t) {
		if slices.Contains(imports, "internal/permit") && room != "engine" && room != "runbook" {
			t.Errorf("%s could mint permits", room)
		}
	}
}

func TestRoomsAreWellKept(t *testing.T) {
	nothing := []string{"util", "utils", "common", "helper", "helpers", "manager", "misc", "shared"}
	for room := range importsOfRooms(t) {
		if slices.Contains(nothing, filepath.Base(room)) {
			t.Errorf("the name of %s says nothing", room)
		}
		if _, err := os.Stat(filepath.Join(room, "doc.go")); err != nil {
			t.Errorf("%s does not say in a doc.go what it is for", room)
		}
	}
	eachGoFile(t, func(path string) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(raw), "\n"); lines > 420 {
			t.Errorf("%s has %d lines: split it by concept", path, lines)
		}
	})
}

// importsOfRooms gives, for each package of this module, which others of it it
// imports outside of tests.
func importsOfRooms(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	eachGoFile(t, func(path string) {
		room := filepath.ToSlash(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") || room == "." {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		found[room] = append(found[room], []string{}...)
		for _, spec := range file.Imports {
			if inner, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "salve/"); ours {
				found[room] = append(found[room], inner)
			}
		}
	})
	if len(found) < 8 {
		t.Fatal(fmt.Sprint("only these rooms were found: ", found))
	}
	return found
}

func eachGoFile(t *testing.T, visit func(path string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != "." || entry.Name() == "testdata" || entry.Name() == "tools") {
			return filepath.SkipDir
		}
		if !entry.IsDir() && strings.HasSuffix(path, ".go") {
			visit(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
