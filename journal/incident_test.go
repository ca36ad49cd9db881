package journal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"salve/journal"
)

// TestIncidentFile: the record leaves the journal whole, and comes back the same, packed or not.
func TestIncidentFile(t *testing.T) {
	store := fixture(t, 3)
	raw, err := journal.Incident(ctx, store, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("hunter2")) {
		t.Error("it holds a secret")
	}
	packed, err := journal.PackIncident(raw)
	if err != nil || len(packed) >= len(raw) {
		t.Fatalf("%d of %d bytes, %v", len(packed), len(raw), err)
	}
	want := mustLoad(t, store)
	for _, file := range [][]byte{raw, packed} {
		history, err := journal.ReadIncident(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(history.Entries) != len(want.Entries) || history.Closed.Reason != want.Closed.Reason ||
			string(history.Header.Inputs) != `{"watts":60,"login":"--password=[redacted]"}` {
			t.Errorf("%d entries, closed %+v, inputs %s", len(history.Entries), history.Closed, history.Header.Inputs)
		}
	}
}

// TestIncidentFileOfAnotherFormat is read as well as its record.
func TestIncidentFileOfAnotherFormat(t *testing.T) {
	raw, err := journal.Incident(ctx, fixture(t, 2), "run-2")
	if err != nil {
		t.Fatal(err)
	}
	if history, err := journal.ReadIncident(raw); err != nil || history.Header.Run != "run-2" {
		t.Errorf("%v", err)
	}
}

// TestIncidentFileThatWasEditedIsRefused, and one of a later version.
func TestIncidentFileThatWasEditedIsRefused(t *testing.T) {
	raw, err := journal.Incident(ctx, fixture(t, 3), "run-1")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := journal.PackIncident(raw)
	if err != nil {
		t.Fatal(err)
	}
	replace := func(old, by string) []byte { return bytes.Replace(raw, []byte(old), []byte(by), 1) }
	for name, row := range map[string]struct {
		file []byte
		want string
	}{
		"empty":                   {nil, "first line"},
		"not one":                 {[]byte("{}\n{}\n"), "first line"},
		"JSON of another kind":    {replace(`"salve.incident"`, `"salve.other"`), "first line"},
		"of a later version":      {replace(`"version":1`, `"version":2`), "hint: use the version of salve that wrote it"},
		"of no version":           {replace(`"version":1`, `"version":0`), "version 0"},
		"an answer was edited":    {replace(`forbidden`, `permitted`), "does not match its hash"},
		"the last line was cut":   {raw[:bytes.LastIndexByte(raw[:len(raw)-1], '\n')+1], "does not match its hash"},
		"the packed file was cut": {packed[:len(packed)/2], "unexpected EOF"},
		"another number of lines": {replace(`"lines":2`, `"lines":3`), "lines, and says"},
		"another run":             {replace(`"run":"run-1"`, `"run":"run-2"`), "it is the record of run"},
	} {
		_, err := journal.ReadIncident(row.file)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIncidentFileThatWasRehashedIsRefused: the chain of the record is followed too.
func TestIncidentFileThatWasRehashedIsRefused(t *testing.T) {
	raw, err := journal.Incident(ctx, fixture(t, 3), "run-1")
	if err != nil {
		t.Fatal(err)
	}
	edited := bytes.Replace(raw, []byte("the lamp flickers"), []byte("the lamp is fine!"), 1)
	var broken *journal.BrokenError
	line, body, _ := bytes.Cut(edited, []byte("\n"))
	var first map[string]any
	if err := json.Unmarshal(line, &first); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(body)
	first["sha256"] = hex.EncodeToString(sum[:])
	if line, err = json.Marshal(first); err != nil {
		t.Fatal(err)
	}
	_, err = journal.ReadIncident(append(append(line, '\n'), body...))
	if !errors.As(err, &broken) || !broken.InFile || strings.Contains(err.Error(), "abandon") {
		t.Errorf("%v", err)
	}
}

// TestIncidentFileTellsOfATornLine: the line itself is no entry, and no part of the file.
func TestIncidentFileTellsOfATornLine(t *testing.T) {
	backend, file := written(t)
	for _, torn := range []bool{false, true} {
		if torn {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, raw[:len(raw)-1], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		raw, err := journal.Incident(ctx, backend, "run-1")
		if err != nil {
			t.Fatal(err)
		}
		if history, err := journal.ReadIncident(raw); err != nil || history.Torn != torn {
			t.Errorf("torn: %t, want %t, %v", history.Torn, torn, err)
		}
	}
}

// TestIncidentFileIsBounded: a small file that unpacks to much is refused.
func TestIncidentFileIsBounded(t *testing.T) {
	bomb, err := journal.PackIncident(make([]byte, journal.MaxIncident+1))
	if err != nil {
		t.Fatal(err)
	}
	var invalid *journal.IncidentError
	if _, err := journal.ReadIncident(bomb); !errors.As(err, &invalid) || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("%v", err)
	}
}

// TestBrokenRecordMakesNoIncidentFile.
func TestBrokenRecordMakesNoIncidentFile(t *testing.T) {
	backend, file := written(t)
	if _, err := journal.Incident(ctx, backend, "run-9"); err == nil {
		t.Error("a run that there is not")
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(raw, []byte("done"), []byte("fail"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	var broken *journal.BrokenError
	if _, err := journal.Incident(ctx, backend, "run-1"); !errors.As(err, &broken) {
		t.Errorf("%v", err)
	}
}
