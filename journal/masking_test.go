package journal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

const secret = "--password=hunter2"

// TestEveryEntryIsMasked: whatever kind it is of, a secret does not reach the record,
// and a value without one is kept as it is.
func TestEveryEntryIsMasked(t *testing.T) {
	value := []byte(`"` + secret + `"`)
	reasons := map[string]string{"guard": "because " + secret}
	for name, entry := range map[string]journal.Pending{
		"a resumption":  {Kind: journal.Resumed, Data: journal.Resumption{Inputs: value, Overrides: reasons}},
		"a plan":        {Kind: journal.Planned, Data: runbook.Plan{Digest: secret}},
		"an evaluation": {Kind: journal.Evaluated, Data: journal.Evaluation{Decision: journal.Verdict{Reason: secret}}},
		"an intent":     {Kind: journal.Intended, Step: "a", Data: journal.Intent{Inputs: value}},
		"an outcome":    {Kind: journal.Outcome, Step: "a", Data: journal.Result{Reason: secret, Stack: secret}},
		"requests":      {Kind: journal.Requested, Data: journal.Requests{Made: []journal.Request{{Path: "/x?" + secret}}}},
		"a note":        {Kind: journal.Noted, Data: journal.Note{Name: "n", Value: value}},
		"a warning":     {Kind: journal.Warned, Data: journal.Message{Text: secret}},
		"a verdict":     {Kind: journal.Parked, Data: journal.Verdict{Question: secret}},
		"the end":       {Kind: journal.Closed, Data: journal.Verdict{Reason: secret}},
	} {
		t.Run(name, func(t *testing.T) {
			store := journal.NewFile(t.TempDir())
			header := journal.Header{Run: "run-1", Runbook: "mend", Inputs: value, Overrides: reasons}
			record, err := journal.Create(ctx, store, journal.NoLease(1), now, header)
			if err == nil {
				err = record.AppendAll(ctx, entry)
			}
			if err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(recordOf(store))
			if err != nil || strings.Contains(string(raw), "hunter2") || !strings.Contains(string(raw), "--password=") {
				t.Errorf("the record is %s, %v", raw, err)
			}
			for _, history := range []*journal.History{record.History, mustLoad(t, store).History} {
				if string(history.Header.Inputs) != string(value) {
					t.Errorf("the inputs are %s", history.Header.Inputs)
				}
			}
		})
	}
}

func mustLoad(t *testing.T, store journal.Backend) *journal.Record {
	t.Helper()
	record, err := journal.Load(ctx, store, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// TestWhatMaskingLeavesIsNotKeptApart: nor is a reason made of none.
func TestWhatMaskingLeavesIsNotKeptApart(t *testing.T) {
	store := journal.NewFile(t.TempDir())
	header := journal.Header{Run: "run-1", Runbook: "mend", Inputs: []byte(`{"pool":"a"}`)}
	record, err := journal.Create(ctx, store, journal.NoLease(1), now, header)
	if err == nil {
		err = record.Append(ctx, journal.Noted, "", journal.Note{Name: "n", Value: []byte(`{"pool":"a"}`)})
	}
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := filepath.Glob(filepath.Join(filepath.Dir(recordOf(store)), "exports", "*")); err != nil ||
		len(kept) > 0 {
		t.Errorf("kept apart: %v, %v", kept, err)
	}
	read := mustLoad(t, store)
	if read.Header.Overrides != nil || record.Header.Overrides != nil {
		t.Errorf("overrides %v", read.Header.Overrides)
	}
	raw, err := os.ReadFile(recordOf(store))
	if err != nil || strings.Contains(string(raw), "overrides") {
		t.Errorf("the record is %s, %v", raw, err)
	}
}

// TestOnlyTheNewestValueIsNeeded: those before it may be gone.
func TestOnlyTheNewestValueIsNeeded(t *testing.T) {
	value := func(text string) []byte { return []byte(`"--password=` + text + `"`) }
	for name, row := range map[string]struct {
		// gone are the exports, by their entry, that are removed; refused says that
		// the run can't be loaded, and recalled what is read of the note then.
		gone     []string
		refused  bool
		recalled string
	}{
		"nothing is gone":             {recalled: "--password=third"},
		"the header's inputs":         {gone: []string{"private-1."}, recalled: "--password=third"},
		"the first note":              {gone: []string{"private-2."}, recalled: "--password=third"},
		"the note that is the newest": {gone: []string{"private-5."}},
		"the newest inputs":           {gone: []string{"private-3."}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			store := journal.NewFile(t.TempDir())
			header := journal.Header{Run: "run-1", Runbook: "mend", Inputs: value("first")}
			record, err := journal.Create(ctx, store, journal.NoLease(1), now, header)
			if err == nil {
				err = record.AppendAll(ctx,
					journal.Pending{Kind: journal.Noted, Data: journal.Note{Name: "n", Value: value("first")}},
					journal.Pending{Kind: journal.Resumed, Data: journal.Resumption{Inputs: value("second")}},
					journal.Pending{Kind: journal.Resumed, Data: journal.Resumption{}},
					journal.Pending{Kind: journal.Noted, Data: journal.Note{Name: "n", Value: value("third")}})
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, gone := range row.gone {
				files, err := filepath.Glob(filepath.Join(filepath.Dir(recordOf(store)), "exports", gone+"*"))
				if err != nil || len(files) != 1 {
					t.Fatal(files, err)
				}
				if err := os.Remove(files[0]); err != nil {
					t.Fatal(err)
				}
			}
			read, err := journal.Load(ctx, store, "run-1")
			if row.refused != (err != nil) {
				t.Fatalf("loading: %v", err)
			}
			if row.refused {
				return
			}
			var got string
			if _, err := read.Recall("n", &got); got != row.recalled || (err == nil) != (got != "") {
				t.Errorf("recalled %q, %v", got, err)
			}
			if string(read.Header.Inputs) != string(value("second")) {
				t.Errorf("inputs %s", read.Header.Inputs)
			}
		})
	}
}

// TestAPublicValueTakesThePlaceOfASecretOne: the secret one is not needed any more.
func TestAPublicValueTakesThePlaceOfASecretOne(t *testing.T) {
	store := journal.NewFile(t.TempDir())
	header := journal.Header{Run: "run-1", Runbook: "mend", Inputs: []byte(`"` + secret + `"`)}
	record, err := journal.Create(ctx, store, journal.NoLease(1), now, header)
	if err == nil {
		err = record.AppendAll(ctx,
			journal.Pending{Kind: journal.Noted, Data: journal.Note{Name: "n", Value: header.Inputs}},
			journal.Pending{Kind: journal.Resumed, Data: journal.Resumption{Inputs: []byte(`"open"`)}},
			journal.Pending{Kind: journal.Noted, Data: journal.Note{Name: "n", Value: []byte(`"open"`)}})
	}
	if err == nil {
		err = os.RemoveAll(filepath.Join(filepath.Dir(recordOf(store)), "exports"))
	}
	if err != nil {
		t.Fatal(err)
	}
	asked := &exportsRead{Store: store}
	read, err := journal.Load(ctx, asked, "run-1")
	if err != nil || asked.count > 0 {
		t.Fatalf("%d exports were asked for, %v", asked.count, err)
	}
	var got string
	if _, err := read.Recall("n", &got); err != nil || got != "open" || string(read.Header.Inputs) != `"open"` {
		t.Errorf("%q, %v, inputs %s", got, err, read.Header.Inputs)
	}
}

// exportsRead counts the exports that are asked for.
type exportsRead struct {
	journal.Store
	count int
}

func (e *exportsRead) Export(ctx context.Context, run, name string) ([]byte, error) {
	e.count++
	return e.Store.Export(ctx, run, name)
}

// TestValuesAreJSON: and what can't be encoded is refused before anything is written.
func TestValuesAreJSON(t *testing.T) {
	store := journal.NewMemory()
	record, err := journal.Create(ctx, store, journal.NoLease(1), now, journal.Header{Run: "run-1", Runbook: "mend"})
	if err != nil {
		t.Fatal(err)
	}
	for name, entry := range map[string]journal.Pending{
		"a note":       {Kind: journal.Noted, Data: journal.Note{Name: "n", Value: []byte("{")}},
		"a resumption": {Kind: journal.Resumed, Data: journal.Resumption{Inputs: []byte("{")}},
	} {
		if err := record.AppendAll(ctx, entry); apierr.ClassOf(err) != apierr.Terminal || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := record.Append(ctx, journal.Warned, "a", func() {}); err == nil ||
		!strings.Contains(err.Error(), "encoding warning") {
		t.Errorf("what JSON doesn't know: %v", err)
	}
	if err := record.Append(ctx, journal.Warned, "", journal.Message{Text: "x"}); err != nil {
		t.Errorf("writing on: %v", err)
	}
	if _, err := journal.Create(ctx, store, journal.NoLease(1), now,
		journal.Header{Run: "run-2", Runbook: "mend", Inputs: []byte("{")}); err == nil {
		t.Error("a header with such inputs was written")
	}
}

// TestExportsAreNamedAndBounded: before anything is kept.
func TestExportsAreNamedAndBounded(t *testing.T) {
	store := journal.NewFile(t.TempDir())
	record, err := journal.Create(ctx, store, journal.NoLease(1), now, journal.Header{Run: "run-1", Runbook: "mend"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "-a", "a-", "A", "a/b", "..", "a b", strings.Repeat("a", 64)} {
		if err := record.PutExport(ctx, name, nil); apierr.ClassOf(err) != apierr.Terminal || err == nil {
			t.Errorf("export %q: %v", name, err)
		}
	}
	for _, name := range []string{"b", "a.b-c", "a", strings.Repeat("c", 63)} {
		if err := record.PutExport(ctx, name, []byte(name)); err != nil {
			t.Errorf("export %q: %v", name, err)
		}
	}
	var names []string
	for _, export := range record.Exports() {
		names = append(names, export.Name)
		if data, err := record.ReadExport(ctx, export.Name); err != nil || string(data) != export.Name {
			t.Errorf("export %q is %q, %v", export.Name, data, err)
		}
	}
	if got := strings.Join(names, " "); got != "a a.b-c b "+strings.Repeat("c", 63) {
		t.Errorf("exports %s", got)
	}
	var missing *journal.MissingError
	if _, err := record.ReadExport(ctx, "other"); !errors.As(err, &missing) ||
		!strings.Contains(missing.Where, "export other") {
		t.Errorf("one that was never kept: %v", err)
	}
}

// TestExportsOfARecordAreVerified: also what the record says of them.
func TestExportsOfARecordAreVerified(t *testing.T) {
	for name, row := range map[string]struct {
		export journal.Export
		data   string
	}{
		"other data": {journal.Export{Name: "x", Sum: strings.Repeat("0", 64), Size: 4}, "data"},
		"another size": {journal.Export{Name: "x",
			Sum: "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7", Size: 5}, "data"},
		"a short sum":   {journal.Export{Name: "x", Sum: "3a6eb0790f39ac87"}, "data"},
		"a path":        {journal.Export{Name: "../x", Sum: strings.Repeat("0", 64)}, "data"},
		"no name":       {journal.Export{Sum: strings.Repeat("0", 64)}, "data"},
		"no sum at all": {journal.Export{Name: "x"}, "data"},
	} {
		record := replayed(t, journal.Pending{Kind: journal.Exported, Data: row.export})
		if row.export.Sum != "" && len(row.export.Sum) >= 16 {
			file := row.export.Name + "." + row.export.Sum[:16]
			if err := record.Backend().PutExport(ctx, "run-1", file, []byte(row.data)); err != nil {
				t.Fatal(err)
			}
		}
		if data, err := record.ReadExport(ctx, row.export.Name); err == nil {
			t.Errorf("%s: it is %q", name, data)
		}
	}
}

// TestReadBackBelievesOneLine: whatever the store gives for it.
func TestReadBackBelievesOneLine(t *testing.T) {
	store := &lines{Store: journal.NewMemory()}
	record, err := journal.Create(ctx, store, journal.NoLease(1), now,
		journal.Header{Run: "run-1", Runbook: "mend", Target: runbook.Target{ID: "lamp/1"}})
	if err == nil {
		err = record.Append(ctx, journal.Noted, "", journal.Note{Name: "size", Value: []byte("3")})
	}
	if err != nil {
		t.Fatal(err)
	}
	genuine, err := store.Store.ReadLine(context.Background(), "run-1", 2)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(from, to string) []byte { return []byte(strings.Replace(string(genuine), from, to, 1)) }
	first, err := store.Store.ReadLine(context.Background(), "run-1", 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, given := range map[string][]byte{
		"no line":          nil,
		"another line":     first,
		"another value":    edit(`"value":3`, `"value":4`),
		"another sum":      edit(`"sum":"`, `"sum":"0`),
		"another seal":     edit(`"seal":"`, `"seal":"0`),
		"an unknown field": edit(`{"sum"`, `{"x":1,"sum"`),
		"something behind": append(append([]byte{}, genuine...), " x"...),
	} {
		store.line = given
		var size int
		var broken *journal.BrokenError
		if _, err := record.ReadBack(ctx, "size", &size); !errors.As(err, &broken) || broken.Line != 2 ||
			broken.Target != "lamp/1" {
			t.Errorf("%s: %d, %v", name, size, err)
		}
	}
	store.line = genuine
	var size int
	if _, err := record.ReadBack(ctx, "size", &size); err != nil || size != 3 {
		t.Errorf("the line that was written: %d, %v", size, err)
	}
}
