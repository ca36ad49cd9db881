package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"salve/internal/recordable"
)

// Format is the version of what is written. Records of format 1 were chained, and
// not sealed: they can be recognized, and are never adopted. Those of format 2 do not
// hold what guards decided from, and those of format 3 no approvals.
const Format = 4

// firstSealed is the oldest format that is believed.
const firstSealed = 2

// line is an entry as it is stored. The hash covers the entry's exact bytes, so
// that nothing has to be encoded again to verify it, and the chain can be followed
// without the key. The seal covers the entry and the seal before it.
type line struct {
	// Format and Key, the ID of the key, stand in the first line alone.
	Format int    `json:"format,omitempty"`
	Key    string `json:"key,omitempty"`
	follower
}

// follower is a line that is not the first.
type follower struct {
	Sum   string          `json:"sum"`
	Seal  string          `json:"seal,omitempty"`
	Entry json.RawMessage `json:"entry"`
}

// mark is what is remembered of a stored line, to know it again.
type mark struct{ sum, seal string }

const linePurpose = "salve record line 2"

// BrokenError says that a record can't be believed from a line on.
type BrokenError struct {
	Run    string
	Line   int
	Reason string
	// Target is the ID of the run's target, empty when not even that is known.
	Target string
	// Ours says that the header carries the seal of our key: what is broken is a
	// record of ours, and not something that was put there.
	Ours bool
	// Junk says that not even the first line is one of a record: there is nothing in it to be looked into.
	Junk bool
	// InFile says that the record came in an incident file: no journal here holds it.
	InFile bool
}

func (e *BrokenError) Error() string {
	text := fmt.Sprintf("broken record: run %q, line %d: %s. hint: ", e.Run, e.Line, e.Reason)
	switch {
	case e.InFile:
		return text + fileHint
	case e.Junk:
		return text + fmt.Sprintf("salve runs abandon %s --target ID --reason TEXT, then salve runs prune --broken", e.Run)
	}
	return text + fmt.Sprintf("keep a copy of the record, find out who wrote to it, then salve runs abandon %s "+
		"--reason TEXT", e.Run)
}

// fileHint is what to do about an incident file that can't be believed. It is evidence too.
const fileHint = "keep the file, and ask for another from the journal: salve replay --record RUN FILE"

// UnsealedError says that a record does not carry the seal of the key that its
// runbook's records are sealed with: it is nobody's, and never adopted.
type UnsealedError struct {
	Run string
	// Format is the version in which it was written.
	Format int
	// Key and Want are the IDs of the key that the record names, and of ours.
	// Both are empty for a record without any seal.
	Key, Want string
	// Target is what the record says of its target.
	Target string
	// InFile says that the record came in an incident file: no journal here holds it.
	InFile bool
}

func (e *UnsealedError) Error() string {
	switch {
	case e.Format > Format:
		return fmt.Sprintf("unsealed record: run %q is of format %d, which this version does not know. "+
			"hint: use the version of salve that wrote it", e.Run, e.Format)
	case e.Key != e.Want:
		return fmt.Sprintf("unsealed record: run %q is sealed with key %q, the key here is %q. "+
			"hint: set SALVE_JOURNAL_KEY_FILE to the key file it was written with", e.Run, e.Key, e.Want)
	}
	text := fmt.Sprintf("unsealed record: run %q is of format %d, without a seal: who wrote it can't be told. hint: ",
		e.Run, max(e.Format, 1))
	if e.InFile {
		return text + fileHint
	}
	return text + "keep a copy of it and find out who wrote it, then salve runs prune --broken deletes it"
}

// encode makes a stored line of an entry that follows one of a seal.
func encode(key Key, entry Entry, before mark) (raw []byte, at mark, err error) {
	body, err := json.Marshal(entry)
	if err != nil {
		return nil, mark{}, fmt.Errorf("encoding journal entry: %w", err)
	}
	raw, at, err = sealLine(key, body, entry.Seq, before)
	if err == nil && len(raw) > MaxLine {
		return nil, mark{}, fmt.Errorf("journal entry of %d bytes is above the limit of %d", len(raw), MaxLine)
	}
	return raw, at, err
}

func sealLine(key Key, body []byte, seq int, before mark) ([]byte, mark, error) {
	stored := line{follower: follower{
		Sum: hash(body), Seal: key.seal(linePurpose, []byte(before.seal), body), Entry: body,
	}}
	if seq == 1 {
		stored.Format, stored.Key = Format, key.ID()
	}
	raw, err := json.Marshal(stored)
	return append(raw, '\n'), mark{sum: stored.Sum, seal: stored.Seal}, err
}

// chained is a record whose hashes were followed, and whose seals were not.
type chained struct {
	run     string
	format  int
	key     string
	header  Header
	entries []Entry
	bodies  []json.RawMessage
	marks   []mark
}

// decode follows the chain of hashes. What it gives is consistent, and may be
// anybody's.
func decode(run string, lines [][]byte) (*chained, error) {
	c := &chained{run: run}
	if len(lines) > MaxLines {
		return c, c.broken(MaxLines+1, "the record is longer than any")
	}
	if len(lines) > 0 {
		if err := ofNewerFormat(run, lines[0]); err != nil {
			return c, err
		}
	}
	prev := ""
	for i, raw := range lines {
		var stored line
		var entry Entry
		if len(raw) > MaxLine {
			return c, c.broken(i+1, "the line is longer than any")
		}
		if err := storedLine(raw, i == 0, &stored); err != nil {
			return c, &BrokenError{
				Run: c.run, Line: i + 1, Reason: "not a journal line: " + err.Error(), Target: c.header.Target.ID, Junk: i == 0,
			}
		}
		if hash(stored.Entry) != stored.Sum {
			return c, c.broken(i+1, "the entry does not match its hash")
		}
		if err := recordable.UnmarshalStrict(stored.Entry, &entry); err != nil {
			return c, c.broken(i+1, "not a journal entry: "+err.Error())
		}
		if entry.Prev != prev || entry.Seq != i+1 {
			return c, c.broken(i+1, "the entry does not follow the one before it")
		}
		if i == 0 {
			c.format, c.key = stored.Format, stored.Key
			if err := c.open(entry); err != nil {
				return c, err
			}
		}
		c.entries, c.bodies = append(c.entries, entry), append(c.bodies, stored.Entry)
		c.marks, prev = append(c.marks, mark{stored.Sum, stored.Seal}), stored.Sum
	}
	return c, nil
}

// ofNewerFormat tells by its first line whether a newer version wrote a record. Of such a record nothing more is known,
// not even which fields its lines have.
func ofNewerFormat(run string, first []byte) error {
	var seen struct {
		Format int
		Entry  struct {
			Data struct{ Target struct{ ID string } }
		}
	}
	if recordable.Unmarshal(first, &seen) != nil || seen.Format <= Format {
		return nil
	}
	return &UnsealedError{Run: run, Format: seen.Format, Target: seen.Entry.Data.Target.ID}
}

// storedLine reads a line. What it may hold depends on whether it is the first.
func storedLine(raw []byte, first bool, into *line) error {
	if first {
		return recordable.UnmarshalStrict(raw, into)
	}
	return recordable.UnmarshalStrict(raw, &into.follower)
}

// open reads the header.
func (c *chained) open(entry Entry) error {
	if entry.Kind != Opened {
		return c.broken(1, fmt.Sprintf("the first entry is %q, want %q", entry.Kind, Opened))
	}
	if err := json.Unmarshal(entry.Data, &c.header); err != nil {
		return c.broken(1, "not a header: "+err.Error())
	}
	if c.header.Run != c.run {
		return c.broken(1, fmt.Sprintf("it is the record of run %q", c.header.Run))
	}
	return nil
}

func (c *chained) broken(line int, reason string) error {
	return &BrokenError{Run: c.run, Line: line, Reason: reason, Target: c.header.Target.ID}
}

// sealed tells whether the record names a key, in a format that is known.
func (c *chained) sealed() error {
	if c.format < firstSealed || c.format > Format || c.key == "" {
		return &UnsealedError{Run: c.run, Format: c.format, Target: c.header.Target.ID}
	}
	return nil
}

// verify checks the seals of all lines.
func (c *chained) verify(key Key) error {
	if key.ID() != c.key {
		return &UnsealedError{Run: c.run, Format: c.format, Key: c.key, Want: key.ID(), Target: c.header.Target.ID}
	}
	before := mark{}
	for i, at := range c.marks {
		if !key.sealed(at.seal, linePurpose, []byte(before.seal), c.bodies[i]) {
			return c.broken(i+1, "forged: the seal does not match the entry")
		}
		before = at
	}
	return nil
}

func hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
