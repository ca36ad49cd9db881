package postmortem

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
)

// MarkerError says which line of a written draft has a marker that can't be.
type MarkerError struct {
	Line   int
	Reason string
}

func (e *MarkerError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Merging says what to do with blocks that people touched.
type Merging struct {
	// ReplaceEdited makes blocks again that were edited by hand, RestoreDeleted those that were deleted.
	ReplaceEdited, RestoreDeleted bool
}

// Merged is a document with its blocks made again.
type Merged struct {
	Text []byte
	// Kept are blocks that were edited by hand and stay so, Deleted those that are not there and stay away, Unknown those
	// that this program does not make.
	Kept, Deleted, Unknown []SectionID
}

var (
	begins = regexp.MustCompile(`^<!-- salve:begin ([a-z][a-z-]*) sha256=([0-9a-f]{64}) -->\r?\n?$`)
	ends   = regexp.MustCompile(`^<!-- salve:end ([a-z][a-z-]*) -->\r?\n?$`)
	// marked is what only a marker may hold.
	marked = regexp.MustCompile(`(?i)<!--\s*/?\s*salve:`)
)

// piece is a run of lines: a block with its markers, or what stands between two.
type piece struct {
	text  []byte
	block SectionID
	// inner is the part of a block between its markers.
	inner  []byte
	digest string
	crlf   bool
}

// edited tells whether a block is not as it was made. That an editor changed the ends of all lines is no edit.
func (p piece) edited() bool { return p.digest != digest(p.inner) }

func digest(text []byte) string {
	sum := sha256.Sum256(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	return hex.EncodeToString(sum[:])
}

// Merge makes the blocks of a written document again. All that stands outside of the markers stays byte for byte, and
// so does a block that was edited by hand, unless that is to be replaced.
func Merge(written []byte, blocks []Block, how Merging) (Merged, error) {
	pieces, err := split(written)
	if err != nil {
		return Merged{}, err
	}
	var merged Merged
	seen := map[SectionID]bool{}
	for _, p := range pieces {
		i := slices.IndexFunc(blocks, func(b Block) bool { return b.ID == p.block && b.Body != "" })
		seen[p.block] = true
		switch {
		case p.block == "":
			merged.Text = append(merged.Text, p.text...)
		case i < 0:
			merged.Unknown = append(merged.Unknown, p.block)
			merged.Text = append(merged.Text, p.text...)
		case p.edited() && !how.ReplaceEdited:
			merged.Kept = append(merged.Kept, p.block)
			merged.Text = append(merged.Text, p.text...)
		default:
			merged.Text = append(merged.Text, p.again(blocks[i])...)
		}
	}
	merged.restore(blocks, seen, how, bytes.Contains(written, []byte("\r\n")))
	return merged, nil
}

// again is a block in the place of an older one: with its ends of lines, and without a last one where it had none.
func (p piece) again(b Block) []byte {
	text := ended(b.marked(), p.crlf)
	if !bytes.HasSuffix(p.text, []byte("\n")) {
		text = bytes.TrimRight(text, "\r\n")
	}
	return text
}

// restore puts back blocks that are not there, or names them.
func (m *Merged) restore(blocks []Block, seen map[SectionID]bool, how Merging, crlf bool) {
	for _, block := range blocks {
		if seen[block.ID] || block.Body == "" {
			continue
		}
		if !how.RestoreDeleted {
			m.Deleted = append(m.Deleted, block.ID)
			continue
		}
		m.put(block, crlf)
	}
}

// put adds a block before its home, or at the end.
func (m *Merged) put(block Block, crlf bool) {
	text := ended("\n"+block.whole(), crlf)
	if at := m.home(block.Home); at >= 0 {
		m.Text = slices.Insert(m.Text, at, text[bytes.IndexByte(text, '\n')+1:]...)
		return
	}
	if len(m.Text) > 0 && !bytes.HasSuffix(m.Text, []byte("\n")) {
		m.Text = append(m.Text, ended("\n", crlf)...)
	}
	m.Text = append(m.Text, text...)
}

// home is where the last line begins that begins with a text and stands in no block; -1 if there is none.
func (m *Merged) home(text string) int {
	found, at, inside := -1, 0, false
	for line := range bytes.Lines(m.Text) {
		switch {
		case begins.Match(line):
			inside = true
		case ends.Match(line):
			inside = false
		case !inside && text != "" && bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte(text)):
			found = at
		}
		at += len(line)
	}
	return found
}

// split finds the blocks of a document. A marker that has no partner, stands in another block, twice, or is not
// written as this program writes it, is an error.
func split(written []byte) ([]piece, error) {
	var pieces []piece
	current := piece{}
	seen := map[SectionID]int{}
	opened, number := 0, 0
	for text := range bytes.Lines(written) {
		number++
		begin, end := begins.FindSubmatch(text), ends.FindSubmatch(text)
		inside := current.block != ""
		switch {
		case begin != nil && inside:
			return nil, &MarkerError{number, fmt.Sprintf("block %q begins inside of block %q, which began on line %d", begin[1],
				current.block, opened)}
		case begin != nil:
			id := SectionID(begin[1])
			if at, twice := seen[id]; twice {
				return nil, &MarkerError{number, fmt.Sprintf("block %q begins a second time; the first is on line %d", id, at)}
			}
			seen[id], opened = number, number
			if len(current.text) > 0 {
				pieces = append(pieces, current)
			}
			current = piece{text: bytes.Clone(text), block: id, digest: string(begin[2]),
				crlf: bytes.HasSuffix(text, []byte("\r\n"))}
		case end != nil && (!inside || SectionID(end[1]) != current.block):
			return nil, &MarkerError{number, fmt.Sprintf("block %q ends here and did not begin", end[1])}
		case end != nil:
			current.text = append(current.text, text...)
			pieces, current = append(pieces, current), piece{}
		case marked.Match(text):
			return nil, &MarkerError{number, "not a marker as salve report writes them: " + clean(string(text), 120)}
		default:
			current.text = append(current.text, text...)
			if inside {
				current.inner = append(current.inner, text...)
			}
		}
	}
	if current.block != "" {
		return nil, &MarkerError{opened, fmt.Sprintf("block %q begins here and does not end", current.block)}
	}
	if len(current.text) > 0 {
		pieces = append(pieces, current)
	}
	return pieces, nil
}
