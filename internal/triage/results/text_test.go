package results

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestATextKeepsHeadAndTailAndCountsTheRest compares with the whole text, however it is written.
func TestATextKeepsHeadAndTailAndCountsTheRest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		size := random.IntN(200)
		whole := strings.Map(func(rune) rune { return []rune("aé€😀\n")[random.IntN(5)] }, strings.Repeat("x", size))
		b := budget{left: 1000}
		into := buffer{limit: 2 * (1 + random.IntN(60)), budget: &b}
		for rest := whole; rest != ""; {
			n := 1 + random.IntN(len(rest))
			_, _ = into.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		text, replaced := into.text()
		if b.left != 1000 {
			t.Fatalf("%d bytes are not given back", 1000-b.left)
		}
		if replaced != 0 || !utf8.ValidString(text.Head+text.Tail) {
			t.Fatalf("%q is cut inside a character: %+v", whole, text)
		}
		if len(text.Head)+len(text.Tail)+int(text.Omitted) != len(whole) ||
			!strings.HasPrefix(whole, text.Head) || !strings.HasSuffix(whole, text.Tail) {
			t.Fatalf("%q became %+v", whole, text)
		}
	}
}

func TestCleanReplacesWhatSteersATerminal(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\n": "a\tb\n", "a\r\nb\rc": "a\nb\nc", "\x00\x1b\x7f": "���", "\u009b": "�", "é\xc3": "é�", "�": "�",
	} {
		if got, _ := clean(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func TestAttemptsAreCountedInBoundedMemory(t *testing.T) {
	seen := attempts{}
	for i := range maxCounted {
		seen[[16]byte{byte(i), byte(i >> 8), byte(i >> 16), 1}] = 1
	}
	if n := seen.next(&Case{Name: "new"}); n != 1 || len(seen) != maxCounted {
		t.Errorf("attempt %d, %d cases counted", n, len(seen))
	}
}
