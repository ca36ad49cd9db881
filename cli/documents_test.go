package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"salve/azure"
	"salve/internal/hotfix"
	"salve/internal/hotfix/trust"
	"salve/internal/reference"
	"salve/internal/report"
	"salve/internal/report/postmortem"
)

// documented is a kind of document that --output json prints: its Go type, and which command prints it.
type documented struct {
	value any
	by    string
}

// documents are all of them, but for those of salve-sim. docs/reference/schemas has a schema of each.
var documents = map[string]documented{
	"run":         {report.Results{}, "`salve run`, `salve resume`, `salve pipeline run`"},
	"plan":        {report.Results{}, "`salve plan`"},
	"check":       {report.Results{}, "`salve check`"},
	"rehearsal":   {report.Results{}, "`salve rehearse`"},
	"error":       {report.Failure{}, "every command that ends with an error"},
	"timeline":    {report.Story{}, "`salve runs show RUN`, `salve runs abandon RUN`"},
	"requests":    {report.RequestTrail{}, "`salve runs show RUN --requests`"},
	"exports":     {report.ExportList{}, "`salve runs show RUN --exports`"},
	"explanation": {report.Explanation{}, "`salve explain RUN`"},
	"runs":        {runsDocument{}, "`salve runs list`"},
	"pruned":      {prunedDocument{}, "`salve runs prune`"},
	"migrated":    {migratedDocument{}, "`salve runs export`, `salve runs import`"},
	"replay":      {report.Replays{}, "`salve replay`"},
	"report":      {postmortem.Draft{}, "`salve report`"},

	"report-findings":           {reportFindingsDocument{}, "`salve report check`"},
	"version":                   {built{}, "`salve version`"},
	"build":                     {buildDocument{}, "`salve pipeline build`"},
	"diagnostics":               {diagnosticsDocument{}, "`salve pipeline validate`"},
	"rollout-plan":              {rolloutPlanDocument{}, "`salve pipeline run --dry-run`"},
	"entrypoint-plan":           {entrypointPlanDocument{}, "`salve pipeline run --entrypoint --dry-run`"},
	"plan-file":                 {planFile{}, "`salve plan --output FILE`"},
	"approval":                  {approvalDocument{}, "`salve approve`, `salve deny`"},
	"runbooks":                  {runbooksDocument{}, "`salve runbooks`"},
	"configuration-differences": {differencesDocument{}, "`salve pipeline config diff`"},
	"prow-findings":             {prowFindingsDocument{}, "`salve prow check`"},
	"prow-break-glass":          {breakGlassDocument{}, "`salve prow break-glass`"},
	"triage-learn":              {learnDocument{}, "`salve triage learn`"},
	"triage-catalogue":          {catalogueDocument{}, "`salve triage catalogue lint`"},
	"triage-history":            {historyDocument{}, "`salve triage history`"},
	"hotfix-key":                {shownKey{}, "`salve hotfix keys generate`, `salve hotfix keys show`"},
	"hotfix-root":               {madeRoot{}, "`salve hotfix keys root`"},
	"hotfix-signed":             {signed{}, "`salve hotfix sign`"},
	"hotfix-verified-root":      {verifiedRoot{}, "`salve hotfix verify` of a root"},
	"hotfix-verified":           {verifiedPointer{}, "`salve hotfix verify` of a pointer"},
	"hotfix-findings":           {hotfixFindings{}, "`salve hotfix lint`"},
	"hotfix-status":             {hotfixStatus{}, "`salve hotfix status`"},
	"hotfix-published":          {published{}, "`salve hotfix publish-check`"},
	"hotfix-resolution":         {resolved{}, "`salve hotfix resolve`"},
}

// printedBy says which command prints the documents of salve-sim.
var printedBy = map[string]string{"scenarios": "`salve rehearse --list`", "sim": "`salve sim serve`, on one line"}

// written describes types that write their JSON by a method of their own.
var written = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[time.Time]():        {Type: "string", Format: "date-time"},
	reflect.TypeFor[time.Duration]():    {Type: "integer", Description: "nanoseconds"},
	reflect.TypeFor[json.RawMessage]():  {},
	reflect.TypeFor[[]byte]():           {Type: "string", ContentEncoding: "base64"},
	reflect.TypeFor[azure.Definition](): {},
	reflect.TypeFor[trust.Moment]():     {Type: "string", Format: "date-time"},
	reflect.TypeFor[trust.Bytes]():      {Type: "string", ContentEncoding: "base64"},
	reflect.TypeFor[hotfix.Percent]():   {Type: "number"},
	reflect.TypeFor[report.Phase]():     oneOf(report.PhaseOpen, report.PhaseClosed, report.PhaseUnknown),
	reflect.TypeFor[report.WaitsFor]():  oneOf(report.ForApproval, report.ForOperator),
	reflect.TypeFor[report.RecordState](): oneOf(report.RecordBroken, report.RecordUnverified, report.RecordLost,
		report.RecordElsewhere),
}

// oneOf describes texts of which there are only these.
func oneOf[Text ~string](all ...Text) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "string"}
	for _, text := range all {
		schema.Enum = append(schema.Enum, string(text))
	}
	return schema
}

// DocumentFiles are the schemas of all documents and the page that lists them, as they are to stand in docs/reference.
func DocumentFiles(more map[string]any) (map[string][]byte, error) {
	all := map[string]documented{}
	for kind, document := range documents {
		all[kind] = document
	}
	for kind, value := range more {
		all[kind] = documented{value, printedBy[kind]}
	}
	files := map[string][]byte{}
	comments := reference.NewComments("..")
	var rows []reference.Row
	for kind, document := range all {
		schema, err := reference.Schema(kind, document.value, written, comments)
		if err != nil {
			return nil, fmt.Errorf("document %q: %w", kind, err)
		}
		files["schemas/"+kind+".json"] = schema
		rows = append(rows, reference.Row{Name: kind, Says: document.by})
	}
	files["json.md"] = reference.Documents("salve", rows)
	return files, nil
}

// TestEveryKindOfDocumentHasASchema: what a command prints with --output json is described.
func TestEveryKindOfDocumentHasASchema(t *testing.T) {
	found := kindsInSource(t, ".", "../internal/report", "../internal/simcli")
	if len(found) < 20 {
		t.Fatalf("only %q were found", found)
	}
	for _, kind := range found {
		if _, known := documents[kind]; !known && printedBy[kind] == "" {
			t.Errorf("document %q has no entry in documents (documents_test.go)", kind)
		}
	}
	for kind := range documents {
		verb := slices.Contains([]string{string(act), string(plan), string(check), "rehearsal"}, kind)
		if !verb && !slices.Contains(found, kind) {
			t.Errorf("nothing prints a document %q", kind)
		}
	}
}

// kindsInSource are the texts that NewDocument is called with below folders.
func kindsInSource(t *testing.T, folders ...string) (kinds []string) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if kind := kindOf(node); kind != "" {
					kinds = append(kinds, kind)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return kinds
}

// kindOf is what a call of NewDocument is given, where that is a text.
func kindOf(node ast.Node) string {
	call, ok := node.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return ""
	}
	name := ""
	switch called := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = called.Sel.Name
	case *ast.Ident:
		name = called.Name
	}
	literal, ok := call.Args[0].(*ast.BasicLit)
	if !ok || name != "NewDocument" {
		return ""
	}
	kind, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return kind
}

// MainChecked is Main; each document that it prints is given to a check, which ends it with exit code 90 when it
// finds something.
func MainChecked(options Options, check func(document []byte) error) int {
	a := newApp()
	a.program = options
	if !slices.ContainsFunc(a.arguments, func(one string) bool { return one == "json" || one == "--output=json" }) {
		return execute(a)
	}
	var kept bytes.Buffer
	a.stdout = io.MultiWriter(a.stdout, &kept)
	code := execute(a)
	for decoder := json.NewDecoder(&kept); ; {
		var document json.RawMessage
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return code
		}
		if err == nil {
			err = check(document)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "not what docs/reference/schemas says: %v\n", err)
			return 90
		}
	}
}

// RootCommand is the tree of commands of a program.
func RootCommand(options Options) *cobra.Command {
	a := newApp()
	a.program = options
	root := newRoot(a)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}
