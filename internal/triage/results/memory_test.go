package results_test

import (
	"io"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"

	"salve/internal/triage/results"
)

// endless is an input that nobody stores: first, then a piece again and again, at most size bytes (0: for ever), then
// last. It looks at the heap each 8 MiB.
type endless struct {
	first, piece, last string
	size               int
	given, looked      int
	rest               string
	started, ended     bool
	peak               uint64
}

func (e *endless) Read(p []byte) (int, error) {
	for e.rest == "" {
		switch {
		case !e.started:
			e.started, e.rest = true, e.first
		case e.size == 0 || e.given < e.size:
			e.rest = e.piece
		case !e.ended:
			e.ended, e.rest = true, e.last
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	if e.given += n; e.given-e.looked >= 8<<20 {
		e.looked = e.given
		e.peak = max(e.peak, heap())
	}
	return n, nil
}

func heap() uint64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestMemoryDoesNotGrowWithTheInput reads more than fits the bound many times over.
func TestMemoryDoesNotGrowWithTheInput(t *testing.T) {
	const bound = 16 << 20
	output := `{"Action":"output","Package":"p","Test":"A","Output":"` + strings.Repeat("x", 60<<10) + `\n"}` + "\n"
	const run, inCase = `{"Action":"run","Package":"p","Test":"A"}` + "\n", "<testsuite><testcase name='a'><system-out>"
	for name, in := range map[string]*endless{
		"a log with lines of 64 KiB": {piece: strings.Repeat("x", 64<<10-1) + "\n", size: 64 << 20},
		"a log that is one line":     {piece: strings.Repeat("x", 64<<10), size: 20 << 20},
		"an output in JUnit": {first: inCase, piece: strings.Repeat("line &amp; \n", 1000), size: 20 << 20,
			last: "</system-out></testcase></testsuite>"},
		"an attribute in JUnit": {first: "<testsuite><testcase name='", piece: strings.Repeat("x", 1000), size: 20 << 20,
			last: "'/></testsuite>"},
		"a comment in JUnit": {first: "<testsuite><testcase name='a'/><!--", piece: strings.Repeat("-", 1000),
			size: 20 << 20, last: "--></testsuite>"},
		"cases in JUnit": {first: "<testsuite>", piece: "<testcase name='a'><failure message='m'>t</failure></testcase>",
			size: 20 << 20, last: "</testsuite>"},
		"an output of go test":               {first: run, piece: output, size: 20 << 20},
		"a line of go test that doesn't end": {first: run, piece: strings.Repeat("{", 1000), size: 20 << 20},
		"cases of go test": {first: run, size: 20 << 20,
			piece: output + `{"Action":"fail","Package":"p","Test":"A"}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			cases := 0
			for _, err := range (results.Reader{Stdin: in}).Cases(t.Context(), "-") {
				if err != nil {
					t.Error(err)
				}
				cases++
			}
			if cases == 0 || in.looked == 0 {
				t.Errorf("%d cases, heap looked at by %d bytes", cases, in.looked)
			}
			if in.peak > before+bound {
				t.Errorf("the heap grew by %d KiB", (in.peak-before)>>10)
			}
		})
	}
}

// TestTestsThatRunAtOnceShareABudget: 2,000 paused tests with an output each that alone would be kept.
func TestTestsThatRunAtOnceShareABudget(t *testing.T) {
	var in strings.Builder
	for i := range 2000 {
		name := "T" + strings.Repeat("i", i)
		in.WriteString(`{"Action":"output","Package":"p","Test":"` + name + `","Output":"` + strings.Repeat("x", 1000) + `"}` + "\n")
	}
	kept, omitted := 0, int64(0)
	reader := results.Reader{Stdin: strings.NewReader(in.String()), Limits: results.Limits{OpenBytes: 100_000}}
	for c, err := range reader.Cases(t.Context(), "-") {
		if err != nil {
			t.Fatal(err)
		}
		kept += len(c.Output.Head) + len(c.Output.Tail)
		omitted += c.Output.Omitted
	}
	if kept > 100_000 || kept+int(omitted) != 2_000_000 {
		t.Errorf("%d bytes kept and %d left out of 2,000,000", kept, omitted)
	}
}
