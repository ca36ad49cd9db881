package literal_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"salve/internal/triage/literal"
)

func TestEachHitIsToldWithItsLine(t *testing.T) {
	peer := "connection refused by peer"
	for name, of := range map[string]struct {
		literals []string
		text     string
		want     string
	}{
		"no line has one":           {[]string{"refused"}, "a\nb\n", ""},
		"the last line has no end":  {[]string{"refused"}, "a\nrefused", "2@2 refused: 0@2\n"},
		"overlapping":               {[]string{peer[:18], peer[11:]}, peer + "\n", "1@0 " + peer + ": 0@0 1@11\n"},
		"one contains the other":    {[]string{"dial: timeout", "dial"}, "dial: timeout", "1@0 dial: timeout: 0@0 1@0\n"},
		"overlapping itself":        {[]string{"aa"}, "aaaa", "1@0 aaaa: 0@0 0@1 0@2\n"},
		"equal literals":            {[]string{"timeout", "timeout"}, "timeout", "1@0 timeout: 0@0 1@0\n"},
		"one byte":                  {[]string{"!"}, "a!\n\n!b", "1@0 a!: 0@1\n3@4 !b: 0@4\n"},
		"a short one beside a long": {[]string{"OOM", "no memory"}, "\nOOM: no memory", "2@1 OOM: no memory: 0@1 1@6\n"},
		"a line with two":           {[]string{"EOF"}, "\nEOF EOF\nEOF\n", "2@1 EOF EOF: 0@1 0@5\n3@9 EOF: 0@9\n"},
		"no literals":               {nil, "a\n", ""},
		"a literal over two lines":  {[]string{"cause:\n  timeout"}, "cause:\n  timeout", "1@0 cause:: 0@0\n"},
		"a literal at a line's end": {[]string{"\nTraceback"}, "a\nTraceback", "1@0 a: 0@1\n"},
		"bytes that are no text":    {[]string{"\x00\xff"}, "\x00\x00\xff", "1@0 \x00\x00\xff: 0@1\n"},
	} {
		var told strings.Builder
		scan(t, newSet(t, of.literals...), strings.NewReader(of.text), func(line literal.Line) {
			fmt.Fprintf(&told, "%d@%d %s:", line.Number, line.Offset, line.Text)
			for _, hit := range line.Hits {
				fmt.Fprintf(&told, " %d@%d", hit.Literal, hit.Offset)
			}
			told.WriteString("\n")
		})
		if told.String() != of.want {
			t.Errorf("%s: %q, not %q", name, told.String(), of.want)
		}
	}
}

// TestEachHitIsFoundOnce in random texts of few letters, where literals overlap, contain and equal each other.
func TestEachHitIsFoundOnce(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		letters := "ab\n"[:1+chance.IntN(3)]
		longest := 1 + chance.IntN(20)
		literals := make([]string, 1+chance.IntN(12))
		for i := range literals {
			literals[i] = randomText(chance, letters, 1+chance.IntN(longest))
		}
		compareWithSearch(t, literals, randomText(chance, letters, chance.IntN(300)))
	}
}

// TestHitsOverTheBordersOfPieces: the text is longer than what is kept of it, with lines that are longer as well.
func TestHitsOverTheBordersOfPieces(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	literals := []string{
		"connection refused by the peer", "refused by", "e", "peer: connection", "by the\npeer: conn", "dial",
	}
	for _, lines := range []int{0, 1, 3, 200, 20_000} {
		text := []byte(randomText(chance, "xyz .:", 5*literal.MaxLine*4))
		for range lines {
			text[chance.IntN(len(text))] = '\n'
		}
		for range 3000 {
			copy(text[chance.IntN(len(text)-40):], literals[chance.IntN(len(literals))])
		}
		for _, near := range []int{literal.MaxLine, 4 * literal.MaxLine, 8 * literal.MaxLine} {
			for shift := -400; shift < 100; shift += 31 {
				copy(text[near+shift:], literals[0])
			}
		}
		compareWithSearch(t, literals, string(text))
	}
}

// TestLinesAreWholeUpToTheirBound, and come in parts beyond, each with its hits whole.
func TestLinesAreWholeUpToTheirBound(t *testing.T) {
	set := newSet(t, "first signature", "last signature")
	whole := "first signature" + strings.Repeat("-", literal.MaxLine-29) + "last signature"
	lines := 0
	scan(t, set, strings.NewReader(strings.Repeat("\n"+whole, 20)), func(line literal.Line) {
		if lines++; line.Part || string(line.Text) != whole || len(line.Hits) != 2 {
			t.Errorf("line %d has %d bytes and %d hits", line.Number, len(line.Text), len(line.Hits))
		}
	})
	if lines != 20 {
		t.Errorf("%d lines", lines)
	}
	long := strings.Repeat(whole, 21) + "\nfirst signature\n"
	var hits []literal.Hit
	scan(t, set, strings.NewReader(long), func(line literal.Line) {
		if line.Part != (line.Number == 1) {
			t.Errorf("line %d: part %v", line.Number, line.Part)
		}
		for _, hit := range line.Hits {
			name := []string{"first signature", "last signature"}[hit.Literal]
			if !bytes.HasPrefix(line.Text[hit.Offset-line.Offset:], []byte(name)) {
				t.Errorf("line %d: the hit at %d isn't whole", line.Number, hit.Offset)
			}
		}
		hits = append(hits, line.Hits...)
	})
	if len(hits) != 43 {
		t.Errorf("%d hits", len(hits))
	}
}

// TestALineOfEightNestedLiteralsIsWhole, which are as many as the promise is about.
func TestALineOfEightNestedLiteralsIsWhole(t *testing.T) {
	literals := strings.Fields("a aa aaa aaaa aaaaa aaaaaa aaaaaaa aaaaaaaa")
	text := strings.Repeat("a", literal.MaxLine) + "\n"
	scan(t, newSet(t, literals...), strings.NewReader(text), func(line literal.Line) {
		if line.Part || len(line.Text) != literal.MaxLine {
			t.Errorf("line %d: %d bytes, part %v", line.Number, len(line.Text), line.Part)
		}
	})
}

// TestHitsAtATimeAreBounded where a thousand literals begin at each byte of the text, beside a long one.
func TestHitsAtATimeAreBounded(t *testing.T) {
	literals := make([]string, 1000, 1001)
	for i := range literals {
		literals[i] = strings.Repeat("a", i+1)
	}
	literals = append(literals, strings.Repeat("b", literal.MaxLine))
	const length, bound = 1_200, 1<<19 + 1000
	hits, most := 0, 0
	scan(t, newSet(t, literals...), strings.NewReader(strings.Repeat("a", length)), func(line literal.Line) {
		hits += len(line.Hits)
		most = max(most, len(line.Hits))
	})
	if want := length*1000 - 1000*999/2; hits != want || most > bound {
		t.Errorf("%d hits, not %d; %d at a time", hits, want, most)
	}
}

// TestMemoryDoesNotGrowWithTheStream, be it one line or many.
func TestMemoryDoesNotGrowWithTheStream(t *testing.T) {
	for _, unit := range []string{"connection refused by the peer; ", "connection refused by the peer;\n"} {
		set := newSet(t, "connection refused", "refused by", "peer")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		hits := 0
		const length = 8 << 20
		stream := io.LimitReader(&repeater{unit: unit}, length)
		scan(t, set, stream, func(line literal.Line) { hits += len(line.Hits) })
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 6<<20 {
			t.Errorf("%d MiB allocated", allocated>>20)
		}
		if want := 3 * length / len(unit); hits != want {
			t.Errorf("%d hits, not %d", hits, want)
		}
	}
}

func TestASetCanBeScannedWithAgain(t *testing.T) {
	set := newSet(t, "refused")
	for range 3 {
		scan(t, set, strings.NewReader("\nrefused"), func(line literal.Line) {
			if line.Number != 2 || line.Offset != 1 || line.Part {
				t.Errorf("%+v", line)
			}
		})
	}
}

// TestWhatWasReadBeforeAnErrorIsTold: an archive that is cut off is not a stream that ends.
func TestWhatWasReadBeforeAnErrorIsTold(t *testing.T) {
	for _, broken := range []error{io.ErrUnexpectedEOF, errors.New("lost")} {
		lines := 0
		err := newSet(t, "refused").Scan(io.MultiReader(strings.NewReader("refused"), iotest.ErrReader(broken)),
			func(literal.Line) error { lines++; return nil })
		if !errors.Is(err, broken) || lines != 1 {
			t.Errorf("%d lines, %v", lines, err)
		}
	}
	if err := newSet(t, "refused").Scan(idle{}, nil); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing: %v", err)
	}
}

func TestTheVisitorEndsTheScan(t *testing.T) {
	enough := errors.New("enough")
	lines := 0
	err := newSet(t, "a").Scan(strings.NewReader("a\na\na\n"), func(literal.Line) error {
		if lines++; lines == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || lines != 2 {
		t.Errorf("%d lines, %v", lines, err)
	}
}

func TestLiteralsThatCantBeSearchedForAreRefused(t *testing.T) {
	for name, invalid := range map[string][]byte{"empty": {}, "too long": make([]byte, literal.MaxLine+1)} {
		_, err := literal.New([][]byte{[]byte("fine"), invalid})
		if err == nil || !strings.Contains(err.Error(), "literal 1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzScan: whatever the literals and the text, the hits are those of a search for one after the other.
func FuzzScan(f *testing.F) {
	f.Add("refused|refused by|d b", "connection refused by peer\nrefused")
	f.Add("aaaaaaaaaaaa|aaaaaaaa|a|aa", "aaaaaaaaaaaaaaaaaaaaaaa\naaaaaaaaaaaa")
	f.Add("\n|\n\n|a\n", "a\n\n\na")
	f.Fuzz(func(t *testing.T, list, text string) {
		literals := slices.DeleteFunc(strings.Split(list, "|"), func(s string) bool { return s == "" })
		if len(text)*len(literals) < 1<<20 {
			compareWithSearch(t, literals, text)
		}
	})
}

// compareWithSearch scans by a reader that gives what it likes.
func compareWithSearch(t *testing.T, literals []string, text string) {
	t.Helper()
	var got []literal.Hit
	last, counted, lines := literal.Line{}, int64(0), int64(1)
	scan(t, newSet(t, literals...), iotest.HalfReader(strings.NewReader(text)), func(line literal.Line) {
		for _, hit := range line.Hits {
			lines += int64(strings.Count(text[counted:hit.Offset], "\n"))
			counted = hit.Offset
			if lines != line.Number {
				t.Fatalf("the hit at %d is in line %d, not %d", hit.Offset, lines, line.Number)
			}
		}
		if !strings.HasPrefix(text[line.Offset:], string(line.Text)) || bytes.ContainsRune(line.Text, '\n') ||
			line.Offset <= last.Offset && last.Number > 0 || !line.Part && line.Number == last.Number {
			t.Fatalf("line %d at %d isn't what the text has there", line.Number, line.Offset)
		}
		got = append(got, line.Hits...)
		last = line
	})
	if want := search(literals, text); !slices.Equal(got, want) {
		t.Fatalf("%d hits, not %d; literals %q", len(got), len(want), literals)
	}
}

// search is brute force.
func search(literals []string, text string) []literal.Hit {
	var hits []literal.Hit
	for i, wanted := range literals {
		for from := 0; ; {
			at := strings.Index(text[from:], wanted)
			if at < 0 {
				break
			}
			hits = append(hits, literal.Hit{Literal: i, Offset: int64(from + at)})
			from += at + 1
		}
	}
	slices.SortFunc(hits, func(a, b literal.Hit) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Literal, b.Literal))
	})
	return hits
}

func newSet(t testing.TB, literals ...string) *literal.Set {
	t.Helper()
	list := make([][]byte, len(literals))
	for i, text := range literals {
		list[i] = []byte(text)
	}
	set, err := literal.New(list)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func scan(t testing.TB, set *literal.Set, r io.Reader, visit func(literal.Line)) {
	t.Helper()
	if err := set.Scan(r, func(line literal.Line) error { visit(line); return nil }); err != nil {
		t.Fatal(err)
	}
}

func randomText(chance *rand.Rand, letters string, length int) string {
	text := make([]byte, length)
	for i := range text {
		text[i] = letters[chance.IntN(len(letters))]
	}
	return string(text)
}

// idle is a reader that never gives anything, nor an end.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// repeater gives its unit without end.
type repeater struct {
	unit string
	at   int
}

func (r *repeater) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		copied := copy(p[n:], r.unit[r.at:])
		n, r.at = n+copied, (r.at+copied)%len(r.unit)
	}
	return len(p), nil
}
