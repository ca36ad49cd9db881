package literal_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"salve/internal/triage/literal"
)

// realLiterals are those that a project searched its logs for over ten years.
const realLiterals = "../../../../shared/triage/elastic-recheck/literals.txt"

// realLines are of ten systems, each in a JSON object with its template.
const realLines = "../../../../shared/triage/loghub2k/content-template.jsonl.gz"

// TestRealLiteralsAreFoundAsByBruteForce: all of them, with what overlaps and contains another, in lines of logs.
func TestRealLiteralsAreFoundAsByBruteForce(t *testing.T) {
	literals := read(t, realLiterals)
	compareWithSearch(t, literals, string(logLines(rand.New(rand.NewPCG(1, 2)), literals, 1<<20, 10)))
}

// BenchmarkScan is of 500 literals, and of lines of which one in 300 has one of them.
func BenchmarkScan(b *testing.B) {
	const lines = 64 << 20
	b.Run("text of the literals' words alone", func(b *testing.B) { // as hard as it gets
		chance := rand.New(rand.NewPCG(3, 4))
		literals := make([]string, 500)
		for i := range literals {
			literals[i] = string(appendWords(nil, chance, 3+chance.IntN(5)))
		}
		benchmark(b, literals, logLines(chance, literals, lines, 300))
	})
	b.Run("real literals, real lines", func(b *testing.B) {
		literals, contents := read(b, realLiterals), read(b, realLines)
		chance := rand.New(rand.NewPCG(5, 6))
		chance.Shuffle(len(literals), func(i, j int) { literals[i], literals[j] = literals[j], literals[i] })
		text := make([]byte, 0, lines+1024)
		for len(text) < lines {
			text = append(append(text, contents[chance.IntN(len(contents))]...), '\n')
			if chance.IntN(300) == 0 {
				text = append(append(text, literals[chance.IntN(500)]...), '\n')
			}
		}
		benchmark(b, literals[:500], text)
	})
}

func benchmark(b *testing.B, literals []string, text []byte) {
	set := newSet(b, literals...)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		hits := 0
		scan(b, set, bytes.NewReader(text), func(line literal.Line) { hits += len(line.Hits) })
		b.ReportMetric(float64(hits), "hits")
	}
}

// read gives the lines of a file of outside data.
func read(t testing.TB, path string) []string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Skip("the outside data isn't here:", err)
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
}

// logLines has one of the literals in one line of so many.
func logLines(chance *rand.Rand, literals []string, length, rare int) []byte {
	text := make([]byte, 0, length+1024)
	for len(text) < length {
		text = fmt.Appendf(text, "2026-11-23T21:%02d:%02d.%03dZ ", chance.IntN(60), chance.IntN(60), chance.IntN(1000))
		text = appendWords(text, chance, 3+chance.IntN(12))
		if chance.IntN(rare) == 0 {
			text = append(text, literals[chance.IntN(len(literals))]...)
		}
		text = append(text, '\n')
	}
	return text[:length]
}

// appendWords takes them from some thousands, short ones and the first ones more often.
func appendWords(text []byte, chance *rand.Rand, count int) []byte {
	syllables := strings.Fields("con nect tion time out re fu sed er ror in stance vol ume net work port quest ta ble")
	for range count {
		for range 1 + chance.IntN(3) {
			text = append(text, syllables[min(chance.IntN(len(syllables)), chance.IntN(len(syllables)))]...)
		}
		text = append(text, ' ')
	}
	return text
}
