package record

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"salve/internal/redact"
	"salve/internal/triage/decision"
)

const kind = "salve.triage-record"

// MaxSize bounds a record, unpacked.
const MaxSize = 24 << 20

// header is the first line. Two lines follow: what was decided, and the evidence.
type header struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
	Build   string `json:"build"`
	// Sum is the SHA-256 of what follows.
	Sum string `json:"sha256"`
}

// decided is the second line.
type decided struct {
	Recorded Recorded `json:"recorded"`
	Said     Said     `json:"said"`
}

// evidence is the third line.
type evidence struct {
	Evidence json.RawMessage `json:"evidence"` // null: left out
	Omitted  string          `json:"omitted,omitempty"`
}

// Write makes the file of a triage. What it had no room for is told, and stands in the file.
func Write(t Triage) (raw []byte, leftOut []string, err error) {
	said, err := Say(t.Decision)
	if err != nil {
		return nil, nil, err
	}
	fitting, all, leftOut, err := fit(t.Evidence, t.Examined)
	if err != nil {
		return nil, nil, err
	}
	build := redact.String(t.Build)
	second := decided{Recorded{t.Program, t.Architecture, build, t.Created.UTC(), t.Thresholds.Values()}, said}
	third := evidence{Omitted: all}
	if all == "" {
		if third.Evidence, err = json.Marshal(fitting); err != nil {
			return nil, nil, fmt.Errorf("encoding the evidence: %w", err)
		}
	}
	var body []byte
	for _, line := range []any{second, third} {
		raw, err := json.Marshal(line)
		if err != nil {
			return nil, nil, fmt.Errorf("encoding the record: %w", err)
		}
		body = append(append(body, redact.JSON(raw)...), '\n')
	}
	first, err := json.Marshal(header{kind, Version, build, digest(body)})
	if err != nil {
		return nil, nil, fmt.Errorf("encoding the record: %w", err)
	}
	return slices.Concat(first, []byte("\n"), body), leftOut, nil
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// InvalidError says why a file can't be believed.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return "invalid triage record: " + e.Reason }

func invalid(format string, values ...any) error {
	return &InvalidError{fmt.Sprintf(format, values...)}
}

// Is tells whether a file, compressed or not, says that it is a record of a triage.
func Is(raw []byte) bool {
	var reader io.Reader = bytes.NewReader(raw)
	if packed(raw) {
		unpacked, err := gzip.NewReader(reader)
		if err != nil {
			return false
		}
		reader = unpacked
	}
	start, _ := io.ReadAll(io.LimitReader(reader, 64<<10)) // what can't be unpacked has no first line
	line, _, found := bytes.Cut(start, []byte("\n"))
	var first header
	return found && json.Unmarshal(line, &first) == nil && first.Kind == kind
}

func packed(raw []byte) bool { return bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) }

// Read reads a record, compressed or not. It fails with *InvalidError. Evidence that lacks something is no error: the
// record says so.
func Read(raw []byte) (*Record, error) {
	raw, err := unpack(raw)
	if err != nil {
		return nil, err
	}
	line, body, found := bytes.Cut(raw, []byte("\n"))
	var first header
	if err := json.Unmarshal(line, &first); err != nil || !found || first.Kind != kind {
		return nil, invalid("its first line does not say that it is one")
	}
	switch {
	case first.Version > Version:
		return nil, invalid("it is of version %d, this program knows %d. hint: use the version of salve that wrote it",
			first.Version, Version)
	case first.Version < 1:
		return nil, invalid("version %d", first.Version)
	case digest(body) != first.Sum:
		return nil, invalid("it does not match its hash: it was cut or edited")
	}
	lines := bytes.SplitAfter(body, []byte("\n"))
	if len(lines) != 3 || len(lines[2]) > 0 { // behind the last line feed there is nothing
		return nil, invalid("it has %d lines, want 3", len(lines))
	}
	return read(lines[0], lines[1])
}

func unpack(raw []byte) ([]byte, error) {
	if packed(raw) {
		reader, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, invalid("%v", err)
		}
		if raw, err = io.ReadAll(io.LimitReader(reader, MaxSize+1)); err != nil {
			return nil, invalid("%v", err)
		}
	}
	if len(raw) > MaxSize {
		return nil, invalid("it is larger than %d bytes", MaxSize)
	}
	return raw, nil
}

func read(second, third []byte) (*Record, error) {
	var says decided
	if err := json.Unmarshal(second, &says); err != nil {
		return nil, invalid("its second line: %v", err)
	}
	if says.Recorded.Thresholds == nil || says.Said.Run == nil {
		return nil, invalid("its second line does not have what was decided, and with which thresholds")
	}
	if _, err := says.Said.Decision(); err != nil {
		return nil, invalid("%v", err)
	}
	var rests evidence
	if err := json.Unmarshal(third, &rests); err != nil {
		return nil, invalid("its third line: %v", err)
	}
	r := &Record{Recorded: says.Recorded, Said: says.Said}
	if len(rests.Evidence) == 0 || string(rests.Evidence) == "null" {
		r.Lacks = "the evidence"
		if rests.Omitted != "" {
			r.Lacks += " (" + rests.Omitted + ")"
		}
		return r, nil
	}
	found, err := decision.Read[decision.Evidence](rests.Evidence)
	var lacking *decision.LackingError
	switch {
	case errors.As(err, &lacking):
		r.Lacks = lacking.What
		return r, nil
	case err != nil:
		return nil, invalid("its third line: %v", err)
	}
	if err := found.Validate(); err != nil {
		return nil, invalid("its evidence contradicts itself: %v", err)
	}
	r.Evidence = &found
	return r, nil
}
