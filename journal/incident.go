package journal

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// IncidentVersion is the version of incident files that is written, and the newest that is read.
const IncidentVersion = 1

// MaxIncident bounds an incident file, unpacked.
const MaxIncident = 64 << 20

const incidentKind = "salve.incident"

// incident is the first line of an incident file. The record's lines follow, byte for byte as they are kept: chain
// and seals can be checked wherever the file is.
type incident struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
	Run     string `json:"run"`
	Runbook string `json:"runbook"`
	// Lines is how many follow, and Sum the SHA-256 of all of them.
	Lines int    `json:"lines"`
	Sum   string `json:"sha256"`
	// Torn says that the record's last line was torn: it is not among those that follow.
	Torn bool `json:"torn,omitempty"`
}

// Incident makes the incident file of a run: its record as it is kept, secrets masked, what guards decided from in it.
// The record is verified, seals and all. Exports are not part of it.
func Incident(ctx context.Context, backend Backend, run string) ([]byte, error) {
	record, err := Load(ctx, backend, run)
	if err != nil {
		return nil, err
	}
	lines, err := backend.Read(ctx, run)
	if err != nil {
		return nil, fmt.Errorf("reading the record of run %q: %w", run, err)
	}
	// The record may have grown since it was verified: what came is not part of the file.
	lines = lines[:min(len(lines), len(record.Entries))]
	if len(lines) == 0 {
		return nil, &BrokenError{Run: run, Reason: "the record has no entry"}
	}
	body := append(bytes.Join(trimmed(lines), []byte("\n")), '\n')
	first, err := json.Marshal(incident{
		Kind: incidentKind, Version: IncidentVersion, Run: run, Runbook: record.Header.Runbook, Lines: len(lines),
		Sum: hash(body), Torn: record.Torn,
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the incident file of run %q: %w", run, err)
	}
	if len(first)+1+len(body) > MaxIncident {
		return nil, fmt.Errorf("the record of run %q has %d bytes, more than an incident file may have (%d)", run,
			len(body), MaxIncident)
	}
	return slices.Concat(first, []byte("\n"), body), nil
}

// trimmed are lines without their line feeds.
func trimmed(lines [][]byte) [][]byte {
	short := make([][]byte, len(lines))
	for i, line := range lines {
		short[i] = bytes.TrimSuffix(line, []byte("\n"))
	}
	return short
}

// PackIncident compresses an incident file, for a ticket.
func PackIncident(raw []byte) ([]byte, error) {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write(raw)
	if err := errors.Join(err, writer.Close()); err != nil {
		return nil, fmt.Errorf("compressing the incident file: %w", err)
	}
	return packed.Bytes(), nil
}

// IncidentError says why an incident file can't be believed.
type IncidentError struct{ Reason string }

func (e *IncidentError) Error() string { return "invalid incident file: " + e.Reason }

// ReadIncident reads an incident file, compressed or not, and follows its chain. It fails with *IncidentError,
// *BrokenError or, for what a newer version wrote, *UnsealedError. Who wrote the file the chain does not tell: that
// takes the key of its seals. Values that were masked in the record are masked in the history.
func ReadIncident(raw []byte) (*History, error) {
	raw, err := unpackedIncident(raw)
	if err != nil {
		return nil, err
	}
	line, body, found := bytes.Cut(raw, []byte("\n"))
	var first incident
	if err := json.Unmarshal(line, &first); err != nil || !found || first.Kind != incidentKind {
		return nil, &IncidentError{"its first line does not say that it is one"}
	}
	switch {
	case first.Version > IncidentVersion:
		return nil, &IncidentError{fmt.Sprintf("it is of version %d, this program knows %d. "+
			"hint: use the version of salve that wrote it", first.Version, IncidentVersion)}
	case first.Version < 1:
		return nil, &IncidentError{fmt.Sprintf("version %d", first.Version)}
	case hash(body) != first.Sum:
		return nil, &IncidentError{"it does not match its hash: it was cut or edited. hint: " + fileHint}
	}
	lines := bytes.SplitAfter(body, []byte("\n"))
	lines = lines[:len(lines)-1] // behind the last line feed there is nothing
	if len(lines) != first.Lines {
		return nil, &IncidentError{fmt.Sprintf("it has %d lines, and says %d", len(lines), first.Lines)}
	}
	history, err := carried(first.Run, lines)
	if err != nil {
		return nil, inFile(err)
	}
	history.Torn = first.Torn
	return history, nil
}

// carried is the history that the lines of an incident file add up to.
func carried(run string, lines [][]byte) (*History, error) {
	chain, err := decode(run, lines)
	if err != nil {
		return nil, err
	}
	if err := chain.sealed(); err != nil {
		return nil, err
	}
	history, err := replay(chain.entries, maskedValues(chain.entries), map[int]error{})
	if err != nil {
		return nil, chain.broken(len(chain.entries), err.Error())
	}
	return history, nil
}

// inFile marks an error of a record as one of an incident file: what is to be done about it is another thing.
func inFile(err error) error {
	var broken *BrokenError
	if errors.As(err, &broken) {
		broken.InFile = true
	}
	var unsealed *UnsealedError
	if errors.As(err, &unsealed) {
		unsealed.InFile = true
	}
	return err
}

func unpackedIncident(raw []byte) ([]byte, error) {
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		reader, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, &IncidentError{err.Error()}
		}
		if raw, err = io.ReadAll(io.LimitReader(reader, MaxIncident+1)); err != nil {
			return nil, &IncidentError{err.Error()}
		}
	}
	if len(raw) > MaxIncident {
		return nil, &IncidentError{fmt.Sprintf("it is larger than %d bytes", MaxIncident)}
	}
	return raw, nil
}

// maskedValues are inputs and notes as the record shows them: what is kept apart from it is not at hand.
func maskedValues(entries []Entry) map[int]json.RawMessage {
	values := map[int]json.RawMessage{}
	for _, entry := range entries {
		if entry.Kind != Opened && entry.Kind != Resumed && entry.Kind != Noted {
			continue // the others keep nothing apart
		}
		var shown struct {
			Inputs json.RawMessage `json:"inputs"`
			Value  json.RawMessage `json:"value"`
		}
		if json.Unmarshal(entry.Data, &shown) != nil {
			continue
		}
		values[entry.Seq] = shown.Inputs
		if entry.Kind == Noted {
			values[entry.Seq] = shown.Value
		}
	}
	return values
}
