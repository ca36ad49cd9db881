package journal

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"salve/runbook"
)

// taken is a history into which evaluations were read, from line 2 on.
func taken(t *testing.T, evaluations ...Evaluation) *History {
	t.Helper()
	h := newHistory()
	h.Entries = []Entry{{Seq: 1}}
	for i, evaluation := range evaluations {
		raw, err := json.Marshal(evaluation)
		if err != nil {
			t.Fatal(err)
		}
		entry := Entry{Seq: i + 2, Kind: Evaluated, Data: raw}
		if err := h.takeParts(entry); err != nil {
			t.Fatal(err)
		}
		h.Entries = append(h.Entries, entry)
	}
	return h
}

func long(of string) json.RawMessage { return json.RawMessage(`"` + strings.Repeat(of, 1000) + `"`) }

// TestReadingsOfARecordAreCounted: what is left in its readings, and each part once, where it stands first.
func TestReadingsOfARecordAreCounted(t *testing.T) {
	a, b := Part{Sum: hash(long("a")), Value: long("a")}, Part{Sum: "b", Packed: strings.Repeat("b", 500)}
	one := Reading{Guard: "lamp", Value: json.RawMessage(`{"on":true}`), Parts: map[string]string{"a": a.Sum}}
	h := taken(t, Evaluation{Readings: []Reading{one, one}, Parts: []Part{a}}, Evaluation{Parts: []Part{a, b}})
	if want := 2*len(`{"on":true}`) + len(a.Value) + 500; h.readingBytes != want {
		t.Errorf("%d bytes, want %d", h.readingBytes, want)
	}
	if h.parts[a.Sum] != 2 || h.parts["b"] != 3 {
		t.Errorf("they stand at %v", h.parts)
	}
}

// TestRecordHasRoomForSoManyReadings: what comes after is decided on, and not kept.
func TestRecordHasRoomForSoManyReadings(t *testing.T) {
	for left, kept := range map[int]bool{1002: true, 1001: false, 0: false, -5: false} {
		h := newHistory()
		h.readingBytes = recordRoom - left - len(`{}`)
		evaluation := Evaluation{Findings: []runbook.Finding{{
			Guard: "lamp", Reading: &runbook.Reading{Value: json.RawMessage(`{"a":` + string(long("a")) + `}`)},
		}}}
		h.Record(&evaluation)
		if one := evaluation.Readings[0]; (one.Omitted == "") != kept || strings.Contains(one.Omitted, "-") {
			t.Errorf("%d bytes left: %+v", left, one)
		}
	}
}

// TestSoMuchIsKeptUnpacked: a record of many long parts does not stay in memory whole.
func TestSoMuchIsKeptUnpacked(t *testing.T) {
	const parts = 2*unpackedRoom/runbook.MaxReading + 1
	var evaluations []Evaluation
	for i := range parts {
		value := json.RawMessage(`"` + strings.Repeat(fmt.Sprint(i%10), runbook.MaxReading-4) + fmt.Sprintf("%02d", i) + `"`)
		part, err := packPart(value)
		if err != nil {
			t.Fatal(err)
		}
		one := Reading{Guard: "lamp", Value: json.RawMessage(`{}`), Parts: map[string]string{"": part.Sum}}
		evaluations = append(evaluations, Evaluation{Readings: []Reading{one}, Parts: []Part{part}})
	}
	readings := taken(t, evaluations...).Readings()
	for i, evaluation := range evaluations {
		reading, err := readings.Unpack(evaluation.Readings[0])
		if err != nil || !strings.HasSuffix(string(reading.Value), fmt.Sprintf(`%02d"`, i)) {
			t.Fatalf("part %d: %v", i, err)
		}
		held := 0
		for _, value := range readings.unpacked {
			held += len(value)
		}
		if held > unpackedRoom || held != readings.bytes || len(readings.unpacked) == 0 {
			t.Fatalf("%d bytes in %d parts, counted %d", held, len(readings.unpacked), readings.bytes)
		}
	}
}
