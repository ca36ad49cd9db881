package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"salve/internal/redact"
)

// line is an entry as it is stored: the hash covers the entry's exact bytes, so
// that nothing has to be encoded again to verify it.
type line struct {
	Sum   string          `json:"sum"`
	Entry json.RawMessage `json:"entry"`
}

// BrokenError says that a record can't be believed from a line on.
type BrokenError struct {
	Run    string
	Line   int
	Reason string
	// Target is the ID of the run's target, empty when not even that is known.
	Target string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("journal of run %q is broken at line %d: %s", e.Run, e.Line, e.Reason)
}

func encode(entry Entry) (raw []byte, sum string, err error) {
	body, err := json.Marshal(entry)
	if err != nil {
		return nil, "", fmt.Errorf("encoding journal entry: %w", err)
	}
	body = redact.Redact(body)
	sum = hash(body)
	raw, err = json.Marshal(line{Sum: sum, Entry: body})
	return append(raw, '\n'), sum, err
}

// decode verifies the chain and gives the entries and the last hash.
func decode(run string, lines [][]byte) ([]Entry, string, error) {
	var entries []Entry
	prev := ""
	for i, raw := range lines {
		broken := func(reason string) error {
			return &BrokenError{Run: run, Line: i + 1, Reason: reason, Target: targetOf(entries)}
		}
		var stored line
		var entry Entry
		if err := strict(raw, &stored); err != nil {
			return nil, "", broken("not a journal line: " + err.Error())
		}
		if hash(stored.Entry) != stored.Sum {
			return nil, "", broken("the entry does not match its hash")
		}
		if err := strict(stored.Entry, &entry); err != nil {
			return nil, "", broken("not a journal entry: " + err.Error())
		}
		if entry.Prev != prev || entry.Seq != i+1 {
			return nil, "", broken("the entry does not follow the one before it")
		}
		entries, prev = append(entries, entry), stored.Sum
	}
	return entries, prev, nil
}

// targetOf reads the target from the entries that could be believed.
func targetOf(entries []Entry) string {
	var header Header
	if len(entries) == 0 || json.Unmarshal(entries[0].Data, &header) != nil {
		return ""
	}
	return header.Target.ID
}

func hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

func strict(raw []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows its end")
	}
	return nil
}
