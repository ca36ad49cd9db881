package record

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"

	"salve/internal/triage/decision"
)

// Each of the three parts of the evidence (scenarios, ways of failing, answers about earlier runs) takes as much of a
// record, at most: as JSON, and compressed.
const (
	plainRoom  = 4 << 20
	packedRoom = 256 << 10
)

// part is one part of the evidence, with what it takes.
type part struct{ plain, packed int }

func sizeOf(value any) (part, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return part{}, fmt.Errorf("encoding the evidence: %w", err)
	}
	packed, err := Pack(raw)
	return part{len(raw), len(packed)}, err
}

func (p part) fits() bool { return p.plain <= plainRoom && p.packed <= packedRoom }

// leftOut says why a part is not there.
func (p part) leftOut(what string) string {
	return fmt.Sprintf("left out: %s take %d kB, compressed %d kB; a record has room for %d and %d", what, p.plain>>10,
		p.packed>>10, plainRoom>>10, packedRoom>>10)
}

// Pack compresses a record, for a ticket.
func Pack(raw []byte) ([]byte, error) {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write(raw)
	if err := errors.Join(err, writer.Close()); err != nil {
		return nil, fmt.Errorf("compressing the record: %w", err)
	}
	return packed.Bytes(), nil
}

// fit leaves out of the evidence what a record has no room for. Without the scenarios it has what was counted in them.
// It gives the reasons; all is "" unless nothing is left.
func fit(
	e decision.Evidence, x *decision.Examined,
) (fitting decision.Evidence, all string, reasons []string, err error) {
	if e.Observed.Scenarios != nil {
		size, err := sizeOf(e.Observed.Scenarios)
		if err != nil {
			return e, "", nil, err
		}
		if !size.fits() || e.Observed.Validate() != nil {
			e.Observed.Omitted = size.leftOut(fmt.Sprintf("%d scenarios", e.Observed.Counts.Scenarios))
			e.Observed.Scenarios, e.Examined = nil, x
			reasons = append(reasons, e.Observed.Omitted)
		}
	}
	size, err := sizeOf(e.Past)
	if err != nil {
		return e, "", nil, err
	}
	if !size.fits() {
		e.Past.Omitted = size.leftOut("answers about earlier runs")
		e.Past.Runs, e.Past.Occurrences = nil, nil
		reasons = append(reasons, e.Past.Omitted)
	}
	rest := e.Observed
	rest.Scenarios = nil
	if size, err = sizeOf([]any{rest, e.Examined}); err != nil {
		return e, "", nil, err
	}
	if !size.fits() {
		all = size.leftOut(fmt.Sprintf("%d ways of failing", len(e.Observed.Ways)))
		reasons = append(reasons, all)
	}
	return e, all, reasons, nil
}
