package results

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Text is a text of which the middle may be left out.
type Text struct {
	Head, Tail string
	Omitted    int64 // bytes between Head and Tail
}

// String is the text, with a line that says what is missing.
func (t Text) String() string {
	if t.Omitted == 0 {
		return t.Head + t.Tail
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", t.Head, t.Omitted, t.Tail)
}

// Empty says whether there never was a text.
func (t Text) Empty() bool { return t.Head == "" && t.Tail == "" && t.Omitted == 0 }

// budget bounds the texts of all the cases that are open at once.
type budget struct{ left int }

// take grants what is left, at most want.
func (b *budget) take(want int) int {
	got := min(want, b.left)
	b.left -= got
	return got
}

// buffer collects a Text: half of its limit is head, half a ring that holds the tail.
type buffer struct {
	limit   int
	budget  *budget
	head    []byte
	ring    []byte
	at      int // where the ring's oldest byte is, once it is full
	omitted int64
	full    bool // the ring grows no more
}

func (b *buffer) Write(p []byte) (int, error) {
	n := len(p)
	if len(b.ring) == 0 && b.omitted == 0 {
		fits := b.budget.take(min(len(p), b.limit/2-len(b.head)))
		b.head = append(b.head, p[:fits]...)
		p = p[fits:]
	}
	if len(p) > 0 && !b.full {
		want := min(len(p), b.limit/2-len(b.ring))
		fits := b.budget.take(want)
		b.ring = append(b.ring, p[:fits]...)
		p = p[fits:]
		b.full = len(b.ring) == b.limit/2 || fits < want
	}
	b.rotate(p)
	return n, nil
}

// rotate writes over the oldest bytes of the ring.
func (b *buffer) rotate(p []byte) {
	b.omitted += int64(len(p))
	p = p[max(0, len(p)-len(b.ring)):]
	for len(p) > 0 {
		n := copy(b.ring[b.at:], p)
		b.at = (b.at + n) % len(b.ring)
		p = p[n:]
	}
}

// text ends the buffer, gives its bytes back to the budget, and says how many characters it had to replace.
func (b *buffer) text() (Text, int) {
	b.budget.left += len(b.head) + len(b.ring)
	tail := append(b.ring[b.at:len(b.ring):len(b.ring)], b.ring[:b.at]...)
	head := b.head
	t := Text{Omitted: b.omitted}
	var replaced, more int
	if t.Omitted == 0 {
		t.Head, replaced = clean(string(head) + string(tail))
	} else {
		// A character that the cut goes through is left out with the middle.
		end, start := wholeEnd(head), wholeStart(tail)
		t.Omitted += int64(len(head) - end + start)
		t.Head, replaced = clean(string(head[:end]))
		t.Tail, more = clean(string(tail[start:]))
	}
	*b = buffer{limit: b.limit, budget: b.budget}
	return t, replaced + more
}

// copyTo writes what is kept into another buffer.
func (b *buffer) copyTo(to io.Writer) {
	_, _ = to.Write(b.head)
	if b.omitted > 0 {
		_, _ = fmt.Fprintf(to, "\n[… %d bytes left out …]\n", b.omitted)
	}
	_, _ = to.Write(b.ring[b.at:])
	_, _ = to.Write(b.ring[:b.at])
}

// wholeEnd is where the last whole character ends.
func wholeEnd(p []byte) int {
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax); i-- {
		if utf8.RuneStart(p[i]) {
			if utf8.FullRune(p[i:]) {
				return len(p)
			}
			return i
		}
	}
	return len(p)
}

// wholeStart is where the first whole character begins.
func wholeStart(p []byte) int {
	for i := range min(len(p), utf8.UTFMax) {
		if utf8.RuneStart(p[i]) {
			return i
		}
	}
	if len(p) < utf8.UTFMax {
		return len(p)
	}
	return 0 // no UTF-8
}

// clean is the text in UTF-8 without control characters, and how many it replaced. Line ends become "\n".
func clean(s string) (string, int) {
	if !needsCleaning(s) {
		return s, 0
	}
	var out strings.Builder
	out.Grow(len(s))
	replaced := 0
	for i := 0; i < len(s); {
		char, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case char == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case char == '\r':
			out.WriteByte('\n')
		case control(char), char == utf8.RuneError && size == 1:
			out.WriteRune(utf8.RuneError)
			replaced++
		default:
			out.WriteString(s[i : i+size])
		}
		i += size
	}
	return out.String(), replaced
}

func needsCleaning(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r == '\r' || control(r) })
}

// control is what steers a terminal, C0, DEL and C1, but for tabs and line ends.
func control(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r < 0xa0
}

// cut is the beginning of a text, in whole characters.
func cut(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	return s[:wholeEnd([]byte(s[:limit]))], true
}

// replacedNote says what clean did, or nothing.
func replacedNote(replaced int) []string {
	if replaced == 0 {
		return nil
	}
	const one = "1 control character or byte that is no UTF-8 replaced by U+FFFD"
	return []string{counted(replaced, one, "%d control characters or bytes that are no UTF-8 replaced by U+FFFD")}
}

// counted says how many there are of what has a singular and a plural.
func counted(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}
