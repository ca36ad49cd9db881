package journal_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"salve/journal"
	"salve/runbook"
)

// begun is a record to which evaluations are added.
func begun(t *testing.T) (*journal.Memory, *journal.Record) {
	t.Helper()
	store := journal.NewMemory()
	record, err := journal.Create(ctx, store, journal.NoLease(1), now, journal.Header{Run: "run-1", Runbook: "mend"})
	if err != nil {
		t.Fatal(err)
	}
	return store, record
}

// evaluate adds an evaluation in which each guard has read a value, and gives it as it stands in the record.
func evaluate(t *testing.T, record *journal.Record, readings ...string) journal.Evaluation {
	t.Helper()
	evaluation := journal.Evaluation{For: "start"}
	for i, value := range readings {
		evaluation.Findings = append(evaluation.Findings, runbook.Finding{
			Guard: fmt.Sprintf("guard-%d", i), Answer: runbook.AnswerHolds,
			Reading: &runbook.Reading{Value: json.RawMessage(value)},
		})
	}
	record.Record(&evaluation)
	if err := record.Append(ctx, journal.Evaluated, "", evaluation); err != nil {
		t.Fatal(err)
	}
	return lastEvaluation(t, record.Entries)
}

func lastEvaluation(t *testing.T, entries []journal.Entry) (evaluation journal.Evaluation) {
	t.Helper()
	if err := json.Unmarshal(entries[len(entries)-1].Data, &evaluation); err != nil {
		t.Fatal(err)
	}
	return evaluation
}

// unpacked are the values of an evaluation's readings, read back by another process.
func unpacked(t *testing.T, store *journal.Memory, evaluation journal.Evaluation) (values []string) {
	t.Helper()
	readings := mustLoad(t, store).Readings()
	for _, one := range evaluation.Readings {
		reading, err := readings.Unpack(one)
		if err != nil {
			t.Fatalf("%s: %v", one.Guard, err)
		}
		values = append(values, string(reading.Value)+reading.Omitted)
	}
	return values
}

func quoted(length int) string { return `"` + strings.Repeat("x", length-2) + `"` }

// TestReadingsComeBackAsTheyWere, whatever their form and their size.
func TestReadingsComeBackAsTheyWere(t *testing.T) {
	for name, value := range map[string]string{
		"a small object":               `{"a":1,"b":"c"}`,
		"an empty object":              `{}`,
		"a member just short":          `{"a":` + quoted(256) + `}`,
		"a member just long":           `{"a":` + quoted(257) + `,"b":2}`,
		"a member just not packed":     `{"a":` + quoted(2<<10) + `}`,
		"a member just packed":         `{"a":` + quoted(2<<10+1) + `,"b":[1,2]}`,
		"all members long":             `{"a":` + quoted(300) + `,"b":` + quoted(9000) + `}`,
		"the same member twice":        `{"a":` + quoted(300) + `,"b":` + quoted(300) + `}`,
		"a list":                       `[1,` + quoted(300) + `]`,
		"a long text":                  quoted(9000),
		"a number":                     `7`,
		"null":                         `null`,
		"a member without a name":      `{"":1,"a":2}`,
		"a long one without a name":    `{"":` + quoted(300) + `,"a":` + quoted(300) + `}`,
		"a name that has to be quoted": `{"a\"\n":` + quoted(300) + `}`,
	} {
		store, record := begun(t)
		if got := unpacked(t, store, evaluate(t, record, value)); !slices.Equal(got, []string{value}) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestLongMembersAreKeptApart, the longest compressed, and short ones where they are.
func TestLongMembersAreKeptApart(t *testing.T) {
	_, record := begun(t)
	evaluation := evaluate(t, record, `{"long":`+quoted(9000)+`,"middle":`+quoted(300)+`,"short":`+quoted(256)+`}`)
	one := evaluation.Readings[0]
	if names := slices.Sorted(maps.Keys(one.Parts)); !slices.Equal(names, []string{"long", "middle"}) ||
		string(one.Value) != `{"short":`+quoted(256)+`}` {
		t.Errorf("apart are %v; left is %s", names, one.Value)
	}
	for _, part := range evaluation.Parts {
		packed := part.Sum == one.Parts["long"]
		if packed != (part.Packed != "") || packed == (len(part.Value) > 0) || len(part.Packed) > 200 {
			t.Errorf("%+v", part)
		}
	}
}

// TestWhatWasReadBeforeIsNamed, and not written again: in the same evaluation, and in a later one of another process.
func TestWhatWasReadBeforeIsNamed(t *testing.T) {
	store, record := begun(t)
	value, other := `{"a":`+quoted(300)+`}`, `{"a":`+quoted(301)+`}`
	first := evaluate(t, record, value, value, other)
	if len(first.Readings) != 3 || len(first.Parts) != 2 {
		t.Fatalf("%d readings, %d parts", len(first.Readings), len(first.Parts))
	}
	again := mustLoad(t, store)
	if err := again.Reopen(journal.NoLease(2), now); err != nil {
		t.Fatal(err)
	}
	second := evaluate(t, again, other, value)
	if len(second.Readings) != 2 || len(second.Parts) != 0 {
		t.Errorf("%d readings, %d parts", len(second.Readings), len(second.Parts))
	}
	if got := unpacked(t, store, second); !slices.Equal(got, []string{other, value}) {
		t.Errorf("%.80q", got)
	}
}

// random is a text that can't be compressed, as JSON.
func random(t *testing.T, length int) string {
	t.Helper()
	raw := make([]byte, length/2)
	if _, err := rand.Read(raw); err != nil {
		t.Fatal(err)
	}
	return `"` + hex.EncodeToString(raw) + `"`
}

// TestReadingsForWhichThereIsNoRoom are omitted, and those beside them are kept.
func TestReadingsForWhichThereIsNoRoom(t *testing.T) {
	store, record := begun(t)
	evaluation := evaluate(t, record, random(t, 300<<10), `{"a":1}`, random(t, 1<<20), random(t, 300<<10), `{"b":2}`)
	got := unpacked(t, store, evaluation)
	if len(got) != 5 || got[1] != `{"a":1}` || got[4] != `{"b":2}` || len(got[0]) < 300<<10 {
		t.Fatalf("%d: %.80q", len(got), got)
	}
	for _, i := range []int{2, 3} { // longer than all room, and than what the first has left
		guard := fmt.Sprintf("guard-%d", i)
		if !strings.Contains(got[i], "and the record has room for") || evaluation.Readings[i].Guard != guard {
			t.Errorf("reading %d: %.80s", i, got[i])
		}
	}
}

// TestSecretsAreTakenOutOfReadings, and it is said that they were.
func TestSecretsAreTakenOutOfReadings(t *testing.T) {
	store, record := begun(t)
	login := `"--password=hunter2 ` + strings.Repeat("x", 300) + `"`
	evaluation := evaluate(t, record, `{"login":`+login+`}`, `{"on":true}`)
	got := unpacked(t, store, evaluation)
	if strings.Contains(fmt.Sprint(got), "hunter2") || !strings.Contains(got[0], "[redacted]") {
		t.Errorf("%q", got)
	}
	if !evaluation.Readings[0].Masked || evaluation.Readings[1].Masked {
		t.Errorf("%+v", evaluation.Readings)
	}
}

// TestReadingThatWasNotMade says why.
func TestReadingThatWasNotMade(t *testing.T) {
	_, record := begun(t)
	failure := &runbook.Failure{Absence: runbook.AbsentDenied, Class: "denied", Reason: "403", Locked: true}
	evaluation := journal.Evaluation{For: "start", Findings: []runbook.Finding{
		{Guard: "blind", Reading: &runbook.Reading{Failure: failure}},
		{Guard: "huge", Reading: &runbook.Reading{Omitted: "5 MiB"}}, {Guard: "none"},
	}}
	record.Record(&evaluation)
	if len(evaluation.Readings) != 2 {
		t.Fatalf("%+v", evaluation.Readings)
	}
	blind, err := record.Readings().Unpack(evaluation.Readings[0])
	if err != nil || blind.Failure == nil || *blind.Failure != *failure {
		t.Errorf("%+v, %v", blind, err)
	}
	huge, err := record.Readings().Unpack(evaluation.Readings[1])
	if err != nil || huge.Omitted != "5 MiB" || huge.Value != nil {
		t.Errorf("%+v, %v", huge, err)
	}
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func packed(t *testing.T, value string) string {
	t.Helper()
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	_, err := writer.Write([]byte(value))
	if err := errors.Join(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// forged is a record, sealed as any, with an evaluation that no engine writes.
func forged(t *testing.T, parts []journal.Part, readings ...journal.Reading) (*journal.Record, journal.Evaluation) {
	t.Helper()
	store, record := begun(t)
	evaluation := journal.Evaluation{For: "start", Parts: parts, Readings: readings}
	if err := record.Append(ctx, journal.Evaluated, "", evaluation); err != nil {
		t.Fatal(err)
	}
	return mustLoad(t, store), evaluation
}

// TestPartsThatAreNotWhatTheySayAreBroken: nothing else is taken for them.
func TestPartsThatAreNotWhatTheySayAreBroken(t *testing.T) {
	const megabyte = 1 << 20
	most := quoted(runbook.MaxReading)
	for name, row := range map[string]struct {
		part journal.Part
		want string
	}{
		"it is what it says":       {journal.Part{Sum: sumOf(most), Packed: packed(t, most)}, ""},
		"another value":            {journal.Part{Sum: sumOf(`"a"`), Value: json.RawMessage(`"b"`)}, "does not match its hash"},
		"another packed value":     {journal.Part{Sum: sumOf(`"a"`), Packed: packed(t, `"b"`)}, "does not match its hash"},
		"no base64":                {journal.Part{Sum: "s", Packed: "%"}, "illegal base64 data"},
		"nothing that is packed":   {journal.Part{Sum: "s", Packed: "dGV4dA=="}, "EOF"},
		"packed, and cut":          {journal.Part{Sum: "s", Packed: packed(t, quoted(megabyte))[:400]}, "EOF"},
		"packed, and no JSON":      {journal.Part{Sum: "s", Packed: packed(t, "text")}, "it is not JSON"},
		"packed, and far too long": {journal.Part{Sum: "s", Packed: packed(t, quoted(5*megabyte))}, "than 4194304 bytes"},
		"another part":             {journal.Part{Sum: sumOf(`"a"`), Value: json.RawMessage(`"a"`)}, "is not in the record"},
	} {
		named := row.part.Sum
		if name == "another part" {
			named = "none"
		}
		record, evaluation := forged(t, []journal.Part{row.part},
			journal.Reading{Guard: "lamp", Value: json.RawMessage(`{}`), Parts: map[string]string{"a": named}})
		_, err := record.Readings().Unpack(evaluation.Readings[0])
		var broken *journal.BrokenError
		switch {
		case row.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case row.want != "" && (!errors.As(err, &broken) || !strings.Contains(broken.Reason, row.want) ||
			!strings.Contains(broken.Reason, `the reading of guard "lamp"`) || broken.Run != "run-1"):
			t.Errorf("%s: %v", name, err)
		case row.want != "" && named != "none" && broken.Line != 2:
			t.Errorf("%s: line %d", name, broken.Line)
		}
	}
	record, evaluation := forged(t, nil,
		journal.Reading{Guard: "lamp", Value: json.RawMessage(`[]`), Parts: map[string]string{"a": "b"}})
	if _, err := record.Readings().Unpack(evaluation.Readings[0]); err == nil {
		t.Error("a list with members")
	}
}

// TestReadingIsNoLongerThanAny that a guard could have made: a small record does not become a large one.
func TestReadingIsNoLongerThanAny(t *testing.T) {
	most := quoted(runbook.MaxReading)
	part := journal.Part{Sum: sumOf(most), Packed: packed(t, most)}
	members := func(count int) journal.Reading {
		one := journal.Reading{Guard: "lamp", Value: json.RawMessage(`{}`), Parts: map[string]string{}}
		for i := range count {
			one.Parts[fmt.Sprint(i)] = part.Sum
		}
		return one
	}
	record, evaluation := forged(t, []journal.Part{part}, members(1), members(3))
	readings := record.Readings()
	if _, err := readings.Unpack(evaluation.Readings[0]); err != nil {
		t.Error(err)
	}
	_, err := readings.Unpack(evaluation.Readings[1])
	if err == nil || !strings.Contains(err.Error(), "it is longer than") {
		t.Errorf("%v", err)
	}
}
