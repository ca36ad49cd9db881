package journal

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"salve/internal/redact"
	"salve/runbook"
)

const (
	// packAbove is the size from which a reading is compressed.
	packAbove = 4 << 10
	// readingsRoom is the most that the readings of one evaluation take of its line, and recordRoom of a whole record.
	readingsRoom = 256 << 10
	recordRoom   = 32 << 20
)

// Reading is what a guard decided from, as a record keeps it: masked, and once for all guards and rounds that
// decided from the same.
type Reading struct {
	Guard string `json:"guard"`
	// Sum is the SHA-256 of the value, after masking. The value itself stands with the first reading of that sum.
	Sum   string          `json:"sha256,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	// Packed is a long value, compressed by gzip.
	Packed string `json:"gzip,omitempty"`
	// Masked says that a secret was taken out: the guard has seen more than this.
	Masked bool `json:"masked,omitempty"`
	// Failure is why nothing was read.
	Failure *runbook.Failure `json:"failure,omitempty"`
	// Omitted says why a reading that was made is not kept.
	Omitted string `json:"omitted,omitempty"`
}

// Readings prepares what findings were decided from for an entry of the record. What stands in the record already is
// named and not repeated.
func (h *History) Readings(findings []runbook.Finding) []Reading {
	var kept []Reading
	known := map[string]bool{}
	room := min(readingsRoom, recordRoom-h.readingBytes)
	for _, finding := range findings {
		if finding.Reading == nil {
			continue
		}
		one := pack(finding.Guard, *finding.Reading)
		switch size := len(one.Value) + len(one.Packed); {
		case one.Sum == "":
		case known[one.Sum] || h.readings[one.Sum] > 0:
			one.Value, one.Packed = nil, ""
		case size > room:
			one = Reading{Guard: one.Guard, Omitted: fmt.Sprintf("%d bytes, and the record has room for %d", size, max(room, 0))}
		default:
			room -= size
			known[one.Sum] = true
		}
		kept = append(kept, one)
	}
	return kept
}

func pack(guard string, reading runbook.Reading) Reading {
	one := Reading{Guard: guard, Failure: reading.Failure, Omitted: reading.Omitted}
	if len(reading.Value) == 0 {
		return one
	}
	value := redact.JSON(reading.Value)
	one.Sum, one.Masked = hash(value), !bytes.Equal(value, reading.Value)
	if len(value) <= packAbove {
		one.Value = value
		return one
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write(value)
	err = errors.Join(err, writer.Close())
	one.Packed = base64.StdEncoding.EncodeToString(packed.Bytes())
	// What looks like a secret would be masked on its way to the record.
	if err != nil || redact.String(one.Packed) != one.Packed {
		return Reading{Guard: guard, Omitted: "it could not be compressed"}
	}
	return one
}

// Unpack gives a reading of this record back as the guard had it, but for what was masked. A reading that is not what
// its digest says is *BrokenError.
func (h *History) Unpack(one Reading) (runbook.Reading, error) {
	reading := runbook.Reading{Failure: one.Failure, Omitted: one.Omitted}
	if one.Sum == "" || one.Omitted != "" {
		return reading, nil
	}
	broken := func(reason string) error {
		return &BrokenError{Run: h.Header.Run, Line: h.readings[one.Sum], Reason: reason}
	}
	if len(one.Value)+len(one.Packed) == 0 {
		whole, found := h.whole(one.Sum)
		if !found {
			return runbook.Reading{}, broken(fmt.Sprintf("the reading of guard %q is not in the record", one.Guard))
		}
		one.Value, one.Packed = whole.Value, whole.Packed
	}
	reading.Value = one.Value
	if one.Packed != "" {
		value, err := unpack(one.Packed)
		if err != nil {
			return runbook.Reading{}, broken(fmt.Sprintf("the reading of guard %q: %v", one.Guard, err))
		}
		reading.Value = value
	}
	if hash(reading.Value) != one.Sum {
		return runbook.Reading{}, broken(fmt.Sprintf("the reading of guard %q does not match its hash", one.Guard))
	}
	return reading, nil
}

func unpack(packed string) (json.RawMessage, error) {
	raw, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		return nil, err
	}
	reader, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	value, err := io.ReadAll(io.LimitReader(reader, runbook.MaxReading+1))
	switch {
	case err != nil:
		return nil, err
	case len(value) > runbook.MaxReading:
		return nil, fmt.Errorf("it is longer than %d bytes", runbook.MaxReading)
	case !json.Valid(value):
		return nil, errors.New("it is not JSON")
	}
	return value, nil
}

// whole finds the reading of a sum where it stands whole.
func (h *History) whole(sum string) (Reading, bool) {
	seq := h.readings[sum]
	if seq == 0 {
		return Reading{}, false
	}
	var evaluation Evaluation
	if json.Unmarshal(h.Entries[seq-1].Data, &evaluation) != nil {
		return Reading{}, false
	}
	for _, one := range evaluation.Readings {
		if one.Sum == sum && len(one.Value)+len(one.Packed) > 0 {
			return one, true
		}
	}
	return Reading{}, false
}

// takeReadings remembers where readings stand.
func (h *History) takeReadings(entry Entry) error {
	var evaluation struct {
		Readings []Reading `json:"readings"`
	}
	if err := json.Unmarshal(entry.Data, &evaluation); err != nil {
		return err
	}
	for _, one := range evaluation.Readings {
		size := len(one.Value) + len(one.Packed)
		if size > 0 && h.readings[one.Sum] == 0 {
			h.readings[one.Sum] = entry.Seq
			h.readingBytes += size
		}
	}
	return nil
}
