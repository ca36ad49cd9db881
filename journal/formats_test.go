package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"salve/journal"
	"salve/runbook"
)

// TestRecordOfFormat1IsRefused: it was chained and not sealed, so that anybody may
// have written it.
func TestRecordOfFormat1IsRefused(t *testing.T) {
	_, err := journal.Load(ctx, journal.NewFile("testdata/format-1"), "run-1")
	var unsealed *journal.UnsealedError
	if !errors.As(err, &unsealed) || unsealed.Format != 0 || unsealed.Target != "lamp/1" ||
		!strings.Contains(err.Error(), "hint:") {
		t.Errorf("got %v", err)
	}
}

// format2 is a copy of that fixture.
func format2(t *testing.T) *journal.File {
	t.Helper()
	return fixture(t, 2)
}

// fixture is a copy of the records of a format: the key has mode 0600, which a checkout does not keep.
func fixture(t *testing.T, format int) *journal.File {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(fmt.Sprintf("testdata/format-%d", format))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "key"), 0o600); err != nil {
		t.Fatal(err)
	}
	return journal.NewFile(dir)
}

func TestRecordOfFormat2IsRead(t *testing.T) {
	record := mustLoad(t, format2(t))
	var size int
	if _, err := record.Recall("size", &size); err != nil || size != 3 || record.Closed == nil ||
		!record.Step("a").Finished() {
		t.Errorf("size %d, %v, closed %v", size, err, record.Closed)
	}
	bundle, err := record.ReadExport(ctx, "bundle")
	if err != nil || string(bundle) != "definition" {
		t.Errorf("export %q, %v", bundle, err)
	}
}

// TestEveryKindOfFormat2IsRead: the second record has an entry of each, with all that
// it can hold.
func TestEveryKindOfFormat2IsRead(t *testing.T) {
	record, err := journal.Load(ctx, format2(t), "run-2")
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	for _, kind := range kindsUntil(t, 3) {
		if !slices.ContainsFunc(record.Entries, func(e journal.Entry) bool { return string(e.Kind) == kind }) {
			missing = append(missing, kind)
		}
	}
	if len(missing) > 0 {
		t.Errorf("the fixture has no entry of %v", missing)
	}
	var login string
	found, err := record.ReadBack(ctx, "login", &login)
	if !found || err != nil || login != "--password=hunter2" {
		t.Errorf("login %q, %v", login, err)
	}
	header := record.Header
	if string(header.Inputs) != `{"watts":60,"login":"--password=hunter2"}` || header.Target.ID != "lamp/2" ||
		header.Overrides["window"] != "incident 7" || header.Overrides["other"] != "incident 8" || header.Holder.PID != 42 {
		t.Errorf("header %+v", header)
	}
	a, b, c := record.Step("a"), record.Step("b"), record.Step("c")
	if !a.Finished() || !a.Last.Observed || b.Last.Result != journal.Failure || !b.Last.Refused || b.Crossed() ||
		!c.Skipped() {
		t.Errorf("steps %+v, %+v, %+v", a, b, c)
	}
	if record.Plan.Digest != "d1" || record.Parked.Question != "is the lamp on?" || record.RollingBack == nil ||
		record.Closed.Reason != "given up" || record.MigratedTo != nil || record.Epoch != 7 {
		t.Errorf("it is %+v", record.History)
	}
	var sent journal.Requests
	if err := json.Unmarshal(record.Entries[5].Data, &sent); err != nil || sent.More != 3 || len(sent.Made) != 2 ||
		sent.Made[0] != (journal.Request{Method: "PUT", Path: "/lamps/a", Status: 409, Count: 2}) {
		t.Errorf("requests %+v, %v", sent, err)
	}
}

// kindsUntil are those that a format has.
func kindsUntil(t *testing.T, format int) []string {
	since := map[string]int{"asked": 4, "approved": 4, "denied": 4}
	return slices.DeleteFunc(kinds(t), func(kind string) bool { return since[kind] > format })
}

// TestApprovalsOfFormat4AreRead: what was asked, who answered, and that it is used.
func TestApprovalsOfFormat4AreRead(t *testing.T) {
	record := mustLoad(t, fixture(t, 4))
	rule := record.Header.Approval
	if rule == nil || !rule.FourEyes || rule.WaitSeconds != 3600 || rule.By[0] != "group:sre" ||
		record.Header.Plan != "d1" {
		t.Errorf("header %+v", record.Header)
	}
	if !record.Used("approval-1") || !record.Used("denial-1") || record.Asked != nil ||
		string(record.Header.Inputs) != `{"max":10}` {
		t.Errorf("used %v, %v, asked %v, inputs %s", record.Used("approval-1"), record.Used("denial-1"), record.Asked,
			record.Header.Inputs)
	}
	at := slices.IndexFunc(record.Entries, func(e journal.Entry) bool { return e.Kind == journal.Approved })
	var approval journal.Approval
	if err := json.Unmarshal(record.Entries[at].Data, &approval); err != nil || approval.By.User != "alice" ||
		approval.Lasts() != time.Hour || approval.From != "host ci-7" {
		t.Errorf("approval %+v, %v", approval, err)
	}
}

// kinds are those of entry.go.
func kinds(t *testing.T) (all []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "entry.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "Kind" {
				kind, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, kind)
			}
		}
		return true
	})
	if len(all) < 16 {
		t.Fatalf("only %v", all)
	}
	return all
}

// TestEveryKindOfFormat3IsRead, and what its guards decided from.
func TestEveryKindOfFormat3IsRead(t *testing.T) {
	record := mustLoad(t, fixture(t, 3))
	for _, kind := range kindsUntil(t, 3) {
		if !slices.ContainsFunc(record.Entries, func(e journal.Entry) bool { return string(e.Kind) == kind }) {
			t.Errorf("the fixture has no entry of kind %s", kind)
		}
	}
	var resumed journal.Resumption
	at := slices.IndexFunc(record.Entries, func(e journal.Entry) bool { return e.Kind == journal.Resumed })
	if err := json.Unmarshal(record.Entries[at].Data, &resumed); err != nil || resumed.Command != "salve resume run-1" ||
		record.Header.Command != "salve run lamp-off --lamp 1" || record.Header.Program != "v0.9.0 4f1a2b" {
		t.Errorf("header %+v, resumption %+v, %v", record.Header, resumed, err)
	}
	long, middle := strings.Repeat("on", 4000), strings.Repeat("off", 200)
	for _, row := range []struct {
		entry   int
		guard   string
		want    string
		masked  bool
		failure runbook.Absence
		omitted bool
	}{
		{entry: 2, guard: "short", want: `{"on":true}`},
		{entry: 2, guard: "long", want: `{"lamps":["` + long + `"],"on":true}`},
		{entry: 2, guard: "list", want: `["` + middle + `"]`},
		{entry: 2, guard: "masked", want: `{"login":"--password=[redacted]"}`, masked: true},
		{entry: 2, guard: "blind", failure: runbook.AbsentDenied},
		{entry: 2, guard: "omitted", omitted: true},
		{entry: 3, guard: "short", want: `{"on":true}`},
		{entry: 3, guard: "other", want: `{"lamps":["` + long + `"],"off":"` + middle + `"}`},
	} {
		var evaluation journal.Evaluation
		if err := json.Unmarshal(record.Entries[row.entry-1].Data, &evaluation); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(evaluation.Readings, func(r journal.Reading) bool { return r.Guard == row.guard })
		reading, err := record.Readings().Unpack(evaluation.Readings[i])
		if err != nil || string(reading.Value) != row.want || evaluation.Readings[i].Masked != row.masked ||
			(reading.Omitted != "") != row.omitted || (reading.Failure != nil) != (row.failure != "") ||
			reading.Failure != nil && reading.Failure.Absence != row.failure {
			t.Errorf("%s: %+v, %v", row.guard, reading, err)
		}
	}
}

// TestEachFormatHasItsFixture: whoever changes the format keeps a record of the one
// before, and of the new one.
func TestEachFormatHasItsFixture(t *testing.T) {
	for format := 1; format <= journal.Format; format++ {
		kept, err := filepath.Glob(fmt.Sprintf("testdata/format-%d/runs/*/journal.jsonl", format))
		if err != nil || len(kept) == 0 {
			t.Errorf("of format %d: %v, %v", format, kept, err)
		}
	}
}
