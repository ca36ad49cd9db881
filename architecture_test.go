package salve_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rooms says which rooms of this module each room may import, tests aside. A
// room that isn't listed may not exist: the plan of the house is kept here.
var rooms = map[string][]string{
	"internal/apierr":                     {},
	"internal/clock":                      {},
	"internal/reach":                      {"internal/apierr"},
	"internal/diagnostic":                 {},
	"internal/backoff":                    {"internal/apierr", "internal/clock"},
	"cli":                                 nil,
	"internal/redact":                     {},
	"internal/permit":                     {"internal/apierr", "internal/redact"},
	"internal/recordable":                 {},
	"internal/reference":                  {},
	"runbook":                             {"internal/apierr", "internal/permit", "internal/recordable", "internal/redact"},
	"runbook/runbooktest":                 {"internal/report/replay", "engine", "journal", "runbook", "internal/kubetest"},
	"journal":                             {"internal/apierr", "internal/recordable", "runbook", "internal/redact"},
	"journal/configmap":                   {"internal/apierr", "journal", "kube", "internal/backoff", "internal/clock"},
	"engine":                              {"internal/apierr", "internal/permit", "journal", "internal/backoff", "internal/clock", "runbook"},
	"azure":                               {"internal/apierr", "internal/permit", "internal/reach", "internal/backoff", "internal/clock", "runbook"},
	"internal/approval":                   {"engine", "journal"},
	"internal/approval/csr":               {"engine", "internal/apierr", "internal/approval", "internal/backoff", "internal/clock", "journal", "kube"},
	"internal/azuresim":                   {"internal/azuresim/apiserver", "internal/azuresim/template"},
	"internal/azuresim/apiserver":         {},
	"internal/azuresim/managed":           {"internal/azuresim", "internal/backoff", "internal/clock"},
	"internal/azuresim/template":          {},
	"internal/azuresim/served":            {"internal/azuresim/keyvault", "internal/azuresim", "internal/azuresim/managed", "internal/backoff", "internal/clock"},
	"internal/azuresim/keyvault":          {"internal/clock"},
	"kube":                                {"internal/apierr", "internal/backoff", "internal/clock", "internal/permit", "internal/reach", "runbook"},
	"runbooks/removeoperator/cleanup":     {"internal/apierr", "kube", "internal/backoff", "internal/clock", "runbook"},
	"runbooks/rescuepods/stranded":        {"internal/apierr", "kube", "internal/backoff", "internal/clock", "runbook"},
	"internal/hotfix":                     {},
	"internal/hotfix/archive":             {},
	"internal/hotfix/disk":                {},
	"internal/hotfix/event":               {"internal/hotfix"},
	"internal/hotfix/fleetstatus":         {"internal/hotfix", "internal/hotfix/event"},
	"internal/hotfix/hotfixtest":          {"internal/hotfix/disk"},
	"internal/hotfix/hotfixtest/node":     {"internal/hotfix/hotfixtest"},
	"internal/hotfix/metrics":             {"internal/hotfix", "internal/hotfix/event", "internal/hotfix/slot"},
	"internal/hotfix/launch":              {"internal/backoff", "internal/clock", "internal/hotfix/process"},
	"internal/hotfix/payload":             {"internal/hotfix/disk", "internal/hotfix/protect", "internal/hotfix/writefiles"},
	"internal/hotfix/postpone":            {"internal/backoff", "internal/clock", "internal/hotfix/disk"},
	"internal/hotfix/process":             {"internal/backoff", "internal/clock"},
	"internal/hotfix/protect":             {},
	"internal/hotfix/signing":             {"internal/hotfix", "internal/hotfix/trust"},
	"internal/hotfix/slot":                {"internal/hotfix", "internal/hotfix/disk", "internal/hotfix/process", "internal/backoff", "internal/clock"},
	"internal/hotfix/trust":               {"internal/clock", "internal/hotfix", "internal/hotfix/disk"},
	"internal/hotfix/writefiles":          {},
	"internal/hotfix/liveconfig":          {"internal/hotfix", "internal/backoff", "internal/clock"},
	"internal/hotfix/fetch":               {"internal/hotfix", "internal/hotfix/archive", "internal/hotfix/disk", "internal/backoff", "internal/clock"},
	"internal/hotfix/prepublish":          {"internal/apierr", "internal/hotfix", "internal/hotfix/archive", "internal/hotfix/fetch", "internal/backoff", "internal/clock"},
	"internal/chart":                      {},
	"internal/helm":                       {"internal/apierr", "internal/registry", "kube", "runbook"},
	"internal/registry":                   {"internal/apierr", "internal/permit"},
	"internal/registry/registrytest":      {"internal/registry"},
	"internal/simcli":                     {"azure", "cli", "internal/azuresim", "internal/azuresim/served", "internal/clock", "internal/console", "internal/report", "kube", "runbooks/recreatepool"},
	"internal/endtoend":                   {},
	"internal/kubetest/cluster":           {"internal/kubetest"},
	"internal/kubetest":                   {},
	"internal/prow":                       {},
	"internal/prow/config":                {"internal/diagnostic", "internal/prow/plainyaml"},
	"internal/prow/plainyaml":             {},
	"internal/prow/blocked":               {"internal/prow/cluster", "internal/prow/config", "internal/prow/finding", "internal/prow/github"},
	"internal/prow/openpull":              {"internal/apierr", "internal/clock", "internal/prow/blocked", "internal/prow/config", "internal/prow/github"},
	"internal/prow/brief":                 {},
	"internal/prow/ratelimit":             {"internal/clock", "internal/prow/github", "runbook"},
	"internal/prow/cluster":               {"internal/apierr", "internal/backoff", "internal/clock", "kube"},
	"internal/prow/prowtest":              {"internal/kubetest"},
	"internal/prow/prowtest/day":          {"internal/kubetest", "internal/prow/githubsim", "internal/prow/prowtest"},
	"internal/prow/check":                 {"internal/diagnostic", "internal/prow/blocked", "internal/prow/config", "internal/prow/finding", "internal/prow/github", "internal/prow/manifest", "internal/prow/protection"},
	"internal/prow/breakglass":            {"internal/prow/check", "internal/prow/manifest"},
	"internal/prow/finding":               {"internal/diagnostic"},
	"internal/prow/gittree":               {},
	"internal/prow/live":                  {"internal/prow/check", "internal/prow/config", "kube"},
	"internal/prow/manifest":              {"internal/diagnostic"},
	"internal/pipeline/build":             {"internal/backoff", "internal/clock", "internal/pipeline", "internal/pipeline/process", "internal/pipeline/program", "internal/pipeline/shell"},
	"internal/pipeline/process":           {"internal/backoff", "internal/clock"},
	"internal/pipeline/timeline":          {"journal"},
	"internal/pipeline/program":           {},
	"internal/pipeline/revision":          {},
	"internal/pipeline/rollout":           {"engine", "internal/apierr", "journal", "internal/backoff", "internal/clock", "internal/pipeline", "internal/diagnostic", "internal/pipeline/graph", "internal/pipeline/revision", "runbook", "internal/redact"},
	"internal/pipeline/command":           {"journal", "internal/backoff", "internal/clock", "internal/pipeline", "internal/pipeline/process", "internal/pipeline/rollout"},
	"internal/pipeline/actionprogram":     {"journal", "internal/clock", "internal/pipeline", "internal/pipeline/process", "internal/pipeline/rollout"},
	"internal/report/replay":              {"engine", "journal", "runbook", "internal/diagnostic", "internal/redact", "internal/triage/replay"},
	"internal/report":                     {"engine", "journal", "runbook", "internal/prow/finding", "internal/redact", "internal/report/replay", "internal/triage/replay"},
	"internal/report/chat":                {"internal/lazyregexp", "internal/textencoding"},
	"internal/lazyregexp":                 {},
	"internal/textencoding":               {},
	"internal/telemetry":                  {"engine", "internal/diagnostic", "internal/redact"},
	"internal/telemetry/metrics":          {"engine", "journal", "runbook"},
	"internal/telemetry/tracing":          {"engine", "internal/telemetry", "journal", "runbook"},
	"internal/telemetry/notify":           {"engine", "internal/clock", "internal/telemetry", "runbook"},
	"internal/telemetry/clusterevents":    {"engine", "internal/clock", "internal/telemetry", "kube", "runbook"},
	"internal/telemetry/telemetrytest":    {"engine", "internal/apierr", "internal/clock", "journal", "runbook"},
	"internal/report/consistency":         {"internal/lazyregexp", "journal", "runbook"},
	"internal/report/postmortem":          {"internal/diagnostic", "internal/prow/finding", "internal/redact", "internal/report", "internal/triage", "journal", "runbook"},
	"internal/report/reporttest":          {"internal/apierr", "internal/prow/finding", "internal/report/postmortem", "internal/triage", "journal", "runbook"},
	"internal/report/page":                {"internal/diagnostic", "internal/onepage", "internal/report", "internal/report/picture", "internal/report/postmortem", "runbook"},
	"internal/report/picture":             {"internal/diagnostic", "internal/report", "internal/report/postmortem", "journal", "runbook"},
	"internal/onepage":                    {},
	"internal/console":                    {"engine", "journal", "internal/backoff", "internal/clock", "runbook", "internal/redact"},
	"internal/pipeline/bicep":             {},
	"internal/pipeline/configuration":     {"internal/diagnostic", "internal/pipeline", "internal/pipeline/gotemplate"},
	"internal/pipeline/topology":          {"internal/diagnostic", "internal/pipeline"},
	"internal/pipeline/entrypoint":        {"engine", "internal/apierr", "internal/clock", "internal/diagnostic", "internal/pipeline", "internal/pipeline/graph", "internal/pipeline/rollout", "internal/pipeline/topology", "journal", "runbook"},
	"internal/pipeline/gotemplate":        {},
	"internal/pipeline":                   {"internal/diagnostic", "internal/pipeline/bicep", "internal/pipeline/gotemplate", "internal/pipeline/graph", "internal/pipeline/revision", "internal/pipeline/schema", "internal/pipeline/shell"},
	"internal/pipeline/changedfiles":      {"internal/pipeline"},
	"internal/pipeline/deployment":        {"internal/backoff", "internal/clock", "internal/pipeline", "internal/diagnostic", "internal/pipeline/process", "internal/pipeline/rollout"},
	"internal/pipeline/graph":             {},
	"internal/pipeline/schema":            {"internal/diagnostic"},
	"internal/pipeline/shell":             {},
	"internal/prow/github":                {"internal/apierr", "internal/backoff", "internal/clock", "internal/permit", "internal/redact"},
	"internal/prow/githubsim":             {"internal/clock"},
	"internal/prow/protection":            {"internal/prow/config", "internal/prow/github"},
	"internal/prow/protector":             {"internal/apierr", "internal/backoff", "internal/clock", "internal/prow/config", "internal/prow/protection", "kube"},
	"internal/prow/drift":                 {"internal/apierr", "internal/clock", "internal/prow/blocked", "internal/prow/check", "internal/prow/cluster", "internal/prow/config", "internal/prow/finding", "internal/prow/github", "internal/prow/openpull", "internal/prow/protection", "internal/prow/protector", "kube"},
	"internal/prow/stray":                 {"internal/prow/cluster", "internal/prow/finding", "kube"},
	"internal/triage":                     {},
	"internal/triage/cause":               {"internal/triage", "internal/triage/statistics"},
	"internal/triage/alternative":         {"internal/triage", "internal/triage/statistics"},
	"internal/triage/scenario":            {"internal/triage", "internal/triage/cause", "internal/triage/grouping", "internal/triage/results"},
	"internal/triage/analysis":            {"internal/redact", "internal/triage", "internal/triage/catalogue", "internal/triage/cause", "internal/triage/change", "internal/triage/decision", "internal/triage/grouping", "internal/triage/history", "internal/triage/results", "internal/triage/scenario"},
	"internal/triage/record":              {"internal/redact", "internal/triage", "internal/triage/decision"},
	"internal/triage/replay":              {"internal/diagnostic", "internal/triage", "internal/triage/decision", "internal/triage/record"},
	"internal/triage/decision":            {"internal/recordable", "internal/triage", "internal/triage/alternative", "internal/triage/cause", "internal/triage/history", "internal/triage/verdict"},
	"internal/triage/verdict":             {"internal/triage", "internal/triage/alternative", "internal/triage/cause"},
	"internal/triage/show":                {"internal/onepage", "internal/redact", "internal/triage"},
	"internal/triage/grouping":            {},
	"internal/triage/triagetest":          {"internal/triage", "internal/triage/cause", "internal/triage/decision", "internal/triage/statistics"},
	"internal/triage/literal":             {},
	"internal/triage/change":              {"internal/diagnostic"},
	"internal/triage/history":             {"internal/clock"},
	"internal/triage/comment":             {"internal/apierr", "internal/backoff", "internal/clock", "internal/permit"},
	"internal/triage/simulation":          {},
	"internal/triage/simulation/generate": {"internal/triage/simulation"},
	"internal/triage/statistics":          {},
	"internal/triage/results":             {},
	"internal/triage/catalogue":           {"internal/diagnostic", "internal/triage/literal", "internal/triage/results"},
	"internal/prow/watch":                 {"internal/apierr", "internal/clock", "internal/diagnostic", "internal/prow/cluster", "internal/prow/finding", "internal/prow/stray", "kube"},
}

// roomsOfARunbook are what any room below runbooks/ may import.
var roomsOfARunbook = []string{"internal/redact", "internal/helm", "internal/registry", "azure", "internal/apierr", "kube", "runbooks/removeoperator/cleanup", "runbooks/repairprotection/branches", "runbooks/resourcegroup", "runbooks/armdeployment", "runbooks/rescuepods/stranded", "internal/backoff", "internal/clock", "internal/pipeline/revision", "internal/prow/config", "internal/prow/github", "internal/prow/protection", "internal/prow/protector", "runbook", "runbooks/rescuepods/instance", "internal/prow/cluster", "internal/prow/manifest", "internal/prow/blocked", "internal/prow/openpull", "internal/prow/brief", "internal/prow/ratelimit", "internal/prow/finding", "internal/prow/stray"}

func TestImportsRunOneWay(t *testing.T) {
	for room, imports := range importsOfRooms(t) {
		allowed, listed := rooms[room]
		switch {
		case strings.HasPrefix(room, "cmd/"), room == "cli":
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
// «internal» does not. Access to the journal and to Events without a permit is the command line's.
func TestOnlyTheEngineMints(t *testing.T) {
	for room, imports := range importsOfRooms(t) {
		// The worlds put the transport that asks for a permit under their clients.
		knows := []string{"engine", "runbook", "azure", "kube", "cli", "internal/prow/github", "internal/registry",
			"internal/triage/comment"}
		if slices.Contains(imports, "internal/permit") && !slices.Contains(knows, room) {
			t.Errorf("%s could mint permits", room)
		}
	}
	allowed := map[string]string{
		"Mint": "engine", "ForJournal": "cli", "ForEvents": "cli", "ForComments": "cli", "ForApprovals": "cli",
	}
	eachGoFile(t, func(path string) {
		room := filepath.ToSlash(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") || room == "internal/permit" {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			from, ok := selector.X.(*ast.Ident)
			if only, guarded := allowed[selector.Sel.Name]; ok && guarded && from.Name == "permit" && room != only {
				t.Errorf("%s: permit.%s is for %s alone", path, selector.Sel.Name, only)
			}
			return true
		})
		for _, spec := range file.Imports {
			if spec.Path.Value == `"salve/internal/permit"` && spec.Name != nil {
				t.Errorf("%s imports internal/permit under another name", path)
			}
		}
	})
}

// TestOnlyTestCodeImportsTesting: what is for tests is in few rooms, and no program links one.
func TestOnlyTestCodeImportsTesting(t *testing.T) {
	forTests := []string{
		"runbook/runbooktest", "internal/kubetest", "internal/hotfix/hotfixtest", "internal/prow/prowtest",
		"internal/registry/registrytest",
		"internal/triage/triagetest", "internal/report/reporttest", "internal/telemetry/telemetrytest",
	}
	for room, imports := range importsOfRooms(t) {
		for _, imported := range imports {
			if slices.Contains(forTests, imported) && !slices.Contains(forTests, path.Dir(room)) &&
				!slices.Contains(forTests, room) {
				t.Errorf("%s imports %s, which is for tests", room, imported)
			}
		}
	}
	eachGoFile(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") || slices.Contains(forTests, path.Dir(filepath.ToSlash(file))) {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			if imported := strings.Trim(spec.Path.Value, `"`); imported == "testing" || strings.HasPrefix(imported, "testing/") {
				t.Errorf("%s imports %s", file, imported)
			}
		}
	})
}

// TestSalveLinksNoSimulator, by whatever room it might come.
func TestSalveLinksNoSimulator(t *testing.T) {
	simulators := []string{"internal/azuresim", "internal/azuresim/served", "internal/prow/githubsim", "internal/simcli",
		"internal/triage/simulation"}
	rooms := importsOfRooms(t)
	for _, simulator := range simulators {
		if _, there := rooms[simulator]; !there {
			t.Errorf("there is no %s: name it anew", simulator)
		}
	}
	linked := map[string]string{"cmd/salve": ""}
	for queue := []string{"cmd/salve"}; len(queue) > 0; queue = queue[1:] {
		for _, imported := range rooms[queue[0]] {
			if _, seen := linked[imported]; seen {
				continue
			}
			linked[imported] = queue[0]
			queue = append(queue, imported)
			if slices.Contains(simulators, imported) {
				t.Errorf("salve links %s by %s", imported, linked[imported])
			}
		}
	}
	if len(linked) < 8 {
		t.Errorf("salve links only %v", linked)
	}
}

func TestRoomsAreWellKept(t *testing.T) {
	nothing := []string{"util", "utils", "common", "helper", "helpers", "manager", "misc", "shared"}
	for room := range importsOfRooms(t) {
		if slices.Contains(nothing, filepath.Base(room)) {
			t.Errorf("the name of %s says nothing", room)
		}
		if _, err := os.Stat(filepath.Join(room, "doc.go")); err != nil && room != "cmd/salve" {
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
		hidden := strings.HasPrefix(entry.Name(), ".") && path != "."
		if entry.IsDir() && (hidden || entry.Name() == "testdata" || entry.Name() == "tools") {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != "." {
			return filepath.SkipDir // a module of its own, such as examples/own-runbook
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
