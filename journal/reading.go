package journal

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"salve/internal/recordable"
	"salve/internal/redact"
	"salve/runbook"
)

const (
	// partAbove is the size from which a member of a reading is kept apart, and packAbove that from which it is
	// compressed.
	partAbove = 256
	packAbove = 2 << 10
	// readingsRoom is the most that the readings of one evaluation take of its line, and recordRoom of a whole record.
	readingsRoom = 256 << 10
	recordRoom   = 32 << 20
	// unpackedReading is the most that a reading has when it is put together again: masks may be longer than what they
	// hide. unpackedRoom is how much of a record is kept unpacked.
	unpackedReading = 2 * runbook.MaxReading
	unpackedRoom    = 32 << 20
)

// Reading is what a guard decided from, as a record keeps it: masked, and each long member once for all guards and
// rounds that have read the same.
type Reading struct {
	Guard string `json:"guard"`
	// Value is what was read, without the members that Parts has.
	Value json.RawMessage `json:"value,omitempty"`
	// Parts are long members of Value, by name; a long value that has no members is the part without a name.
	Parts map[string]string `json:"parts,omitempty"`
	// Masked says that a secret was taken out: the guard has seen more than this.
	Masked bool `json:"masked,omitempty"`
	// Failure is why nothing was read.
	Failure *runbook.Failure `json:"failure,omitempty"`
	// Omitted says why a reading that was made is not kept.
	Omitted string `json:"omitted,omitempty"`
}

// Part is a long member of readings. It stands with the first evaluation that has it.
type Part struct {
	// Sum is the SHA-256 of the value, by which readings name it.
	Sum   string          `json:"sha256"`
	Value json.RawMessage `json:"value,omitempty"`
	// Packed is a longer value, compressed by gzip.
	Packed string `json:"gzip,omitempty"`
}

func (p Part) size() int { return len(p.Value) + len(p.Packed) }

// Record adds what findings were decided from to an evaluation. Parts that stand in the record already are named and
// not repeated.
func (h *History) Record(evaluation *Evaluation) {
	known := map[string]bool{}
	room := min(readingsRoom, recordRoom-h.readingBytes)
	for _, finding := range evaluation.Findings {
		if finding.Reading == nil {
			continue
		}
		one, parts := pack(finding.Guard, *finding.Reading)
		parts = slices.DeleteFunc(parts, func(part Part) bool { return known[part.Sum] || h.parts[part.Sum] > 0 })
		size := len(one.Value)
		for _, part := range parts {
			size += part.size()
		}
		if size > room {
			omitted := fmt.Sprintf("%d bytes, and the record has room for %d", size, max(room, 0))
			evaluation.Readings = append(evaluation.Readings, Reading{Guard: one.Guard, Omitted: omitted})
			continue
		}
		room -= size
		for _, part := range parts {
			known[part.Sum] = true
		}
		evaluation.Readings, evaluation.Parts = append(evaluation.Readings, one), append(evaluation.Parts, parts...)
	}
}

// pack masks a reading and takes its long members apart.
func pack(guard string, reading runbook.Reading) (Reading, []Part) {
	one := Reading{Guard: guard, Failure: reading.Failure, Omitted: reading.Omitted}
	if len(reading.Value) == 0 {
		return one, nil
	}
	value := redact.JSON(reading.Value)
	one.Masked = !bytes.Equal(value, reading.Value)
	members := map[string]json.RawMessage{}
	err := recordable.Unmarshal(value, &members)
	if _, nameless := members[""]; err != nil || nameless {
		members = map[string]json.RawMessage{"": value}
	}
	var parts []Part
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name != "" && len(members[name]) <= partAbove {
			continue
		}
		part, err := packPart(members[name])
		if err != nil {
			return Reading{Guard: guard, Omitted: err.Error()}, nil
		}
		if one.Parts == nil {
			one.Parts = map[string]string{}
		}
		one.Parts[name] = part.Sum
		parts = append(parts, part)
		delete(members, name)
	}
	if one.Value, err = json.Marshal(members); err != nil {
		return Reading{Guard: guard, Omitted: err.Error()}, nil
	}
	return one, parts
}

func packPart(value json.RawMessage) (Part, error) {
	part := Part{Sum: hash(value)}
	if len(value) <= packAbove {
		part.Value = value
		return part, nil
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write(value)
	if err := errors.Join(err, writer.Close()); err != nil {
		return part, fmt.Errorf("compressing it: %w", err)
	}
	part.Packed = base64.StdEncoding.EncodeToString(packed.Bytes())
	if redact.String(part.Packed) != part.Packed { // it would be masked on its way to the record
		return part, errors.New("compressed, it looks like a secret")
	}
	return part, nil
}

// Readings gives the readings of a record back. It is for one goroutine.
type Readings struct {
	history *History
	// parts are those of the entries that were looked at, which known names, as they stand there.
	parts map[string]Part
	known map[int]bool
	// unpacked are those that were asked for of late: who wrote the record decides how much comes out of it.
	unpacked map[string]json.RawMessage
	bytes    int
}

// Readings are those of this record.
func (h *History) Readings() *Readings {
	return &Readings{history: h, parts: map[string]Part{}, known: map[int]bool{}, unpacked: map[string]json.RawMessage{}}
}

// Evaluation is what an entry of an evaluation holds.
func (r *Readings) Evaluation(entry Entry) (Evaluation, error) {
	var evaluation Evaluation
	if err := recordable.Unmarshal(entry.Data, &evaluation); err != nil {
		return Evaluation{}, err
	}
	r.keep(entry.Seq, evaluation.Parts)
	return evaluation, nil
}

// keep remembers the parts that stand in an entry first.
func (r *Readings) keep(seq int, parts []Part) {
	for _, one := range parts {
		if r.history.parts[one.Sum] == seq {
			r.parts[one.Sum] = one
		}
	}
	r.known[seq] = true
}

// Unpack gives a reading back as the guard had it, but for what was masked. A part that is not what its digest says is
// *BrokenError.
func (r *Readings) Unpack(one Reading) (runbook.Reading, error) {
	reading := runbook.Reading{Failure: one.Failure, Omitted: one.Omitted}
	if len(one.Value) == 0 {
		return reading, nil
	}
	if len(one.Parts) == 0 {
		reading.Value = one.Value
		return reading, nil
	}
	members := map[string]json.RawMessage{}
	if err := recordable.Unmarshal(one.Value, &members); err != nil {
		return reading, r.unreadable(one, "", err)
	}
	size := len(one.Value)
	for name, sum := range one.Parts {
		value, err := r.part(sum)
		if size += len(value); err == nil && size > unpackedReading {
			err = fmt.Errorf("it is longer than %d bytes", unpackedReading)
		}
		if err != nil {
			return reading, r.unreadable(one, sum, err)
		}
		if name == "" {
			reading.Value = value
			return reading, nil
		}
		members[name] = value
	}
	reading.Value = joined(members)
	return reading, nil
}

// joined is an object of members, each of which is JSON.
func joined(members map[string]json.RawMessage) json.RawMessage {
	size := len(members) * len(`"a-usual-name":,`)
	for _, value := range members {
		size += len(value)
	}
	object := append(make([]byte, 0, size), '{')
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if len(object) > 1 {
			object = append(object, ',')
		}
		key, _ := json.Marshal(name) // a text can always be encoded
		object = append(append(append(object, key...), ':'), members[name]...)
	}
	return append(object, '}')
}

func (r *Readings) unreadable(one Reading, sum string, err error) error {
	reason := fmt.Sprintf("the reading of guard %q: %v", one.Guard, err)
	return &BrokenError{Run: r.history.Header.Run, Line: r.history.parts[sum], Reason: reason}
}

// part finds a part of readings where it stands.
func (r *Readings) part(sum string) (json.RawMessage, error) {
	seq := r.history.parts[sum]
	if seq > 0 && !r.known[seq] {
		if _, err := r.Evaluation(r.history.Entries[seq-1]); err != nil {
			return nil, err
		}
	}
	if value, found := r.unpacked[sum]; found {
		return value, nil
	}
	part, found := r.parts[sum]
	if !found {
		return nil, errors.New("a part of it is not in the record")
	}
	value, err := part.unpack()
	if err != nil {
		return nil, err
	}
	if r.bytes += len(value); r.bytes > unpackedRoom {
		clear(r.unpacked)
		r.bytes = len(value)
	}
	r.unpacked[sum] = value
	return value, nil
}

func (p Part) unpack() (json.RawMessage, error) {
	value := p.Value
	if p.Packed != "" {
		var err error
		if value, err = unpack(p.Packed); err != nil {
			return nil, err
		}
	}
	if hash(value) != p.Sum {
		return nil, errors.New("a part of it does not match its hash")
	}
	return value, nil
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

// takeParts remembers where parts of readings stand.
func (h *History) takeParts(entry Entry) error {
	var evaluation struct {
		Readings []Reading `json:"readings"`
		Parts    []Part    `json:"parts"`
	}
	if err := recordable.Unmarshal(entry.Data, &evaluation); err != nil {
		return err
	}
	for _, one := range evaluation.Readings {
		h.readingBytes += len(one.Value)
	}
	for _, one := range evaluation.Parts {
		if h.parts[one.Sum] == 0 {
			h.parts[one.Sum] = entry.Seq
			h.readingBytes += one.size()
		}
	}
	return nil
}
