package catalogue_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/catalogue"
	"salve/internal/triage/results"
)

const two = `
signatures:
- {id: one, class: product, all: connection refused}
- {id: line, class: product, line: {all: [begin of the line, end of the line]}}
`

// hits is what the texts show, told.
func hits(c *catalogue.Catalogue, found ...catalogue.Found) string {
	return tell(c.Signatures(found, nil, "", today))
}

func TestTextsInPiecesAreAsTextsInOne(t *testing.T) {
	c := parse(t, two)
	var text strings.Builder
	chance := rand.New(rand.NewPCG(1, 2))
	parts := []string{"connection refused", "begin of the line", "end of the line", strings.Repeat("x", 900), "\n", "\n"}
	for range 6000 {
		text.WriteString(parts[chance.IntN(len(parts))])
	}
	whole := hits(c, find(t, c, "a.log", text.String()))
	if !strings.Contains(whole, "one by test") || !strings.Contains(whole, "line by test") {
		t.Fatal(whole)
	}
	for range 20 {
		o := c.Observer().Observe("a.log")
		line := 1
		for rest := text.String(); rest != ""; {
			piece := rest[:min(len(rest), 1+chance.IntN(1<<chance.IntN(19)))]
			o.Text(line, []byte(piece))
			line += strings.Count(piece, "\n")
			rest = rest[len(piece):]
		}
		o.End()
		if diff := cmp.Diff(whole, hits(c, c.Found(results.Case{Observation: o}))); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestLinesUpTo64KiBAreWhole(t *testing.T) {
	c := parse(t, two)
	const begin, end = "begin of the line", "end of the line"
	for length, whole := range map[int]bool{64 << 10: true, 400 << 10: false} {
		line := begin + strings.Repeat("-", length-len(begin)-len(end)) + end
		for _, before := range []int{0, 1, 1000, 65_535, 65_536, 70_000} {
			found := find(t, c, "a.log", strings.Repeat("x", before)+"\n"+line+"\nconnection refused\n")
			got := hits(c, found)
			if strings.Contains(got, "line by test") != whole || !strings.Contains(got, "a.log:3") {
				t.Errorf("a line of %d bytes after %d: %.200s", length, before, got)
			}
			if found.Cut == whole {
				t.Errorf("a line of %d bytes after %d: cut %v", length, before, found.Cut)
			}
		}
	}
}

func TestALiteralIsFoundWhereverALongLineIsCut(t *testing.T) {
	c := parse(t, two)
	const wanted = "connection refused"
	for before := 64<<10 - 20; before < 64<<10+2; before++ {
		text := strings.Repeat("x", before) + wanted + strings.Repeat("x", 200<<10)
		if got := hits(c, find(t, c, "a.log", text)); !strings.HasPrefix(got, "one by test 1×") {
			t.Fatalf("after %d bytes: %.100q", before, got)
		}
	}
}

// TestPlacesAreThoseOfTheFile, also where the text stands in its lines out of order.
func TestPlacesAreThoseOfTheFile(t *testing.T) {
	c := parse(t, "signatures:\n- {id: s, class: test, all: denied}\n")
	o := c.Observer().Observe("events.json")
	for _, event := range []struct {
		line int
		text string
	}{{7, "x\n"}, {12, "x\ny\n"}, {30, "y "}, {41, "denied\n"}, {55, "z\n"}} {
		o.Text(event.line, []byte(event.text))
	}
	o.End()
	if got := hits(c, c.Found(results.Case{Observation: o})); got != `s by test 1× events.json:30 "y denied"` {
		t.Error(got)
	}
	o = c.Observer().Observe("big.log")
	for line := range 20_000 {
		o.Text(line+5, []byte("0123456789\n"))
	}
	o.Text(20_005, []byte("denied"))
	o.End()
	if got := hits(c, c.Found(results.Case{Observation: o})); got != `s by test 1× big.log:20005 "denied"` {
		t.Error(got)
	}
}

// TestColoursAreNoPartOfAText, wherever it comes in pieces, and places stay those of the file.
func TestColoursAreNoPartOfAText(t *testing.T) {
	c := parse(t, "signatures:\n- {id: s, class: test, line: {all: ['error: denied', 'by x']}}\n")
	const coloured = "\x1b[1;31merror\x1b[0m: denied\x1b[K by \x1b[4mx\x1b\x1b[0m"
	for cut := range coloured {
		o := c.Observer().Observe("a.log")
		o.Text(3, []byte("\x1b[32mok\x1b[0m\n"))
		o.Text(8, []byte(coloured[:cut]))
		o.Text(8, []byte(coloured[cut:]+"\n"))
		o.Text(11, []byte("by x\n"))
		o.End()
		want := `s by test 1× a.log:8 "error: denied by x"`
		if got := hits(c, c.Found(results.Case{Observation: o})); got != want {
			t.Fatalf("in pieces from %d: %s", cut, got)
		}
	}
	plain := "\x1b7 error: denied \x1b[" + strings.Repeat("1", 40) + " by x \x1b["
	if got := hits(c, find(t, c, "a.log", plain)); !strings.HasPrefix(got, "s by test") {
		t.Errorf("what is no sequence: %s", got)
	}
	long := strings.Repeat("\x1b[31mx\x1b[0m", 20<<10) + coloured + strings.Repeat("\x1b[31mx", 20<<10)
	two := parse(t, "signatures:\n- {id: s, class: test, all: 'error: denied'}\n")
	if got := hits(two, find(t, two, "a.log", long)); !strings.HasPrefix(got, "s by test 1×") {
		t.Errorf("a line that is cut: %.100s", got)
	}
}

func TestNoLineGoesOnOverABreak(t *testing.T) {
	c := parse(t, two)
	o := c.Observer().Observe("a.xml")
	o.Text(1, []byte("begin of the line"))
	o.Break()
	o.Text(1, []byte("end of the line"))
	o.Break()
	o.Text(9, []byte("connection refused"))
	o.End()
	if got := hits(c, c.Found(results.Case{Observation: o})); got != `one by test 1× a.xml:9 "connection refused"` {
		t.Error(got)
	}
}

// TestCasesThatRunAtOnceShareTheirMemory: 2,000 of them, each with 11 KiB of which most is unfinished lines.
func TestCasesThatRunAtOnceShareTheirMemory(t *testing.T) {
	const limit = 1 << 20
	c := parse(t, two)
	observer := c.Observer()
	observer.LimitHeld(limit)
	open := make([]results.Observation, 2000)
	before, peak := heap(), uint64(0)
	for round := range 3 {
		for i := range open {
			if round == 0 {
				open[i] = observer.Observe("events.json")
			}
			open[i].Text(1, []byte(strings.Repeat("x", 400)+"\nconnection refused\n"+strings.Repeat("y", 3200)))
		}
		peak = max(peak, heap())
	}
	if peak > before+4*limit {
		t.Errorf("the heap grew by %d KiB", (peak-before)>>10)
	}
	for _, o := range open {
		o.End()
		if got := hits(c, c.Found(results.Case{Observation: o})); !strings.HasPrefix(got, "one by test 3×") {
			t.Fatal(got)
		}
	}
	runtime.KeepAlive(observer)
}

// TestLinesStayWholeWhereFinishedOnesMakeRoom: what 300 cases hold back is too much, and most of it are whole lines.
func TestLinesStayWholeWhereFinishedOnesMakeRoom(t *testing.T) {
	c := parse(t, two)
	observer := c.Observer()
	observer.LimitHeld(1 << 20)
	open := make([]results.Observation, 300)
	begun := strings.Repeat("x\n", 2<<10) + "begin of the line" + strings.Repeat("-", 600)
	for i := range open {
		open[i] = observer.Observe("events.json")
		open[i].Text(1, []byte(begun))
	}
	for i, o := range open {
		o.Text(1, []byte("end of the line"))
		o.End()
		found := c.Found(results.Case{Observation: o})
		if got := hits(c, found); found.Cut || !strings.HasPrefix(got, "line by test 1×") {
			t.Fatalf("case %d: cut %v, %s", i, found.Cut, got)
		}
	}
}

// TestLargeTextsTakeTurnsWithFewBuffers: 500 of them, one after the other.
func TestLargeTextsTakeTurnsWithFewBuffers(t *testing.T) {
	c := parse(t, two)
	observer := c.Observer()
	text := []byte(strings.Repeat("x\n", 50<<10))
	for range 500 {
		o := observer.Observe("a.log")
		o.Text(1, text)
		o.End()
	}
	if n := observer.Spare(); n != 1 {
		t.Errorf("%d buffers", n)
	}
}

// TestWhatIsKeptOfATextIsBounded, whatever it holds: 2,000 signatures that all lines show, and an attribute that
// changes with each line.
func TestWhatIsKeptOfATextIsBounded(t *testing.T) {
	var catalog strings.Builder
	catalog.WriteString("attributes: [{name: node, from: line, literal: node-, pattern: 'node-(?P<value>\\d+)'}]\n")
	catalog.WriteString("signatures:\n")
	for i := range 2000 {
		fmt.Fprintf(&catalog, "- {id: s%d, class: test, all: 'code %04d'}\n", i, i)
	}
	c := parse(t, catalog.String())
	o := c.Observer().Observe("a.log")
	before := heap()
	for line := range 6_000 {
		o.Text(line+1, fmt.Appendf(nil, "node-%d: code %04d %s\n", line, line%2000, strings.Repeat("x", 400)))
	}
	o.End()
	found := c.Found(results.Case{Observation: o})
	if grown := heap() - before; grown > 2<<20 {
		t.Errorf("%d KiB are kept", grown>>10)
	}
	if n := len(c.Signatures([]catalogue.Found{found}, nil, "", today)); n != 2000 {
		t.Errorf("%d signatures", n)
	}
	if _, ambiguous := c.Attributes("", []catalogue.Found{found}); len(ambiguous) != 1 || len(ambiguous[0].Values) > 4 {
		t.Errorf("%v", ambiguous)
	}
}

// TestALargeLogTakesConstantMemory: lines of 64 KiB, each with a hit, and one line without an end.
func TestALargeLogTakesConstantMemory(t *testing.T) {
	const bound, size = 8 << 20, 32 << 20
	c := parse(t, two)
	for name, unit := range map[string]string{
		"lines of 64 KiB": "connection refused" + strings.Repeat("-", 64<<10-19) + "\n",
		"one line":        "connection refused" + strings.Repeat("-", 64<<10-18),
	} {
		in := &repeated{unit: unit, left: size}
		before := heap()
		for of, err := range (results.Reader{Stdin: in, Observer: c.Observer()}).Cases(t.Context(), "-") {
			if err != nil {
				t.Fatal(err)
			}
			found := c.Found(of)
			lines := size >> 16
			if name == "one line" {
				lines = 1
			}
			if got := hits(c, found); !strings.HasPrefix(got, fmt.Sprintf("one by test %d×", lines)) {
				t.Errorf("%s: %.80s", name, got)
			}
			if found.Cut != (name == "one line") {
				t.Errorf("%s: cut %v", name, found.Cut)
			}
		}
		if in.peak > before+bound {
			t.Errorf("%s: the heap grew by %d MiB", name, (in.peak-before)>>20)
		}
	}
}

// repeated is a unit again and again. It looks at the heap each 8 MiB.
type repeated struct {
	unit     string
	at, left int
	looked   int
	peak     uint64
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.left)], r.unit[r.at:])
	r.at, r.left = (r.at+n)%len(r.unit), r.left-n
	if r.looked += n; r.looked > 8<<20 {
		r.looked = 0
		r.peak = max(r.peak, heap())
	}
	return n, nil
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestCasesOfAReaderCarryWhatWasFound of both formats and of logs, also where the case keeps nothing of it.
func TestCasesOfAReaderCarryWhatWasFound(t *testing.T) {
	c := parse(t, two)
	middle := strings.Repeat("x\n", 100) + "connection refused\n" + strings.Repeat("x\n", 100)
	escaped := strings.ReplaceAll(middle, "\n", `\n`)
	for name, test := range map[string]struct{ in, place string }{
		"a log":   {middle, "101"},
		"JUnit":   {"<testsuite><testcase name='a'>\n<failure>" + middle + "</failure></testcase></testsuite>", "102"},
		"message": {"<testsuite><testcase name='a'>\n<failure message='connection refused'/></testcase></testsuite>", "2"},
		"go test": {`{"Action":"output","Package":"p","Test":"A","Output":"` + escaped + `"}
{"Action":"fail","Package":"p","Test":"A"}`, "1"},
	} {
		reader := results.Reader{
			Stdin: strings.NewReader(test.in), Observer: c.Observer(), Limits: results.Limits{Text: 16},
		}
		for of, err := range reader.Cases(t.Context(), "-") {
			if err != nil {
				t.Fatal(err)
			}
			want := "one by test 1× standard input:" + test.place + ` "connection refused"`
			if got := hits(c, c.Found(of)); of.Name != "" && got != want {
				t.Errorf("%s: %s, not %s", name, got, want)
			}
		}
	}
}

// BenchmarkSmallTexts is of 100,000 cases with five lines each.
func BenchmarkSmallTexts(b *testing.B) {
	c := parse(b, two)
	text := []byte("=== RUN   TestA\n    a_test.go:12: waiting\n    a_test.go:19: dial: connection refused\n--- FAIL\n\n")
	b.ReportAllocs()
	for b.Loop() {
		observer := c.Observer()
		for range 100_000 {
			o := observer.Observe("events.json")
			o.Text(1, text)
			o.End()
		}
	}
}
