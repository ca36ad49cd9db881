package simulation_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/analysis"
	"salve/internal/triage/catalogue"
	"salve/internal/triage/change"
	"salve/internal/triage/record"
	"salve/internal/triage/replay"
)

var (
	logBytes  = flag.Int64("log", 5<<30, "bytes of the log of BenchmarkLog")
	scenarios = flag.Int("scenarios", 100_000, "of BenchmarkScenarios")
)

const (
	attributesOfMany = 10
	groupsOfMany     = 300
)

// BenchmarkScenarios triages 100,000 scenarios with 10 attributes and 300 groups of failures, with a change and a map.
func BenchmarkScenarios(b *testing.B) {
	path := filepath.Join(b.TempDir(), "run.json")
	if folder := scratch(); folder != "" {
		path = filepath.Join(folder, fmt.Sprintf("salve-triage-bench-%d.json", os.Getpid()))
		defer os.Remove(path) //nolint:errcheck // scratch
	}
	size := writeMany(b, path, *scenarios)
	components, err := change.ParseMap("map",
		[]byte("components:\n- {name: gpu, paths: [\"pkg/gpu/**\"], scenarios: [\"TestGPU*/**\"]}\n"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		peak := resetPeak(b)
		began := time.Now()
		result, err := analysis.Analyze(b.Context(), analysis.Request{
			Paths: []string{path}, Map: components, Now: time.Now(), Thresholds: triage.Default(),
			Change: &change.Change{Files: []change.File{{Path: "pkg/gpu/install.go", Status: change.Modified}}},
		})
		if err != nil {
			b.Fatal(err)
		}
		d := result.Document
		if n := len(d.Groups) + d.Omitted; n < groupsOfMany || n > groupsOfMany+5 || d.Counts.Scenarios != *scenarios {
			b.Fatalf("%d groups, %d scenarios", len(d.Groups)+d.Omitted, d.Counts.Scenarios)
		}
		b.Logf("%d scenarios, %d attributes, %d groups, %d MB of results: %.1f s, at most %d MB of memory", *scenarios,
			attributesOfMany, groupsOfMany, size>>20, time.Since(began).Seconds(), peak())
		keepMany(b, result)
	}
}

// keepMany writes the record of a triage and makes its verdicts again.
func keepMany(b *testing.B, result *analysis.Result) {
	b.Helper()
	began := time.Now()
	raw, leftOut, err := record.Write(record.Triage{
		Program: "bench", Architecture: "any", Thresholds: result.Thresholds, Evidence: result.Evidence,
		Examined: result.Examined, Decision: result.Decision,
	})
	if err != nil {
		b.Fatal(err)
	}
	packed, err := record.Pack(raw)
	if err != nil || len(packed) > 1<<20 {
		b.Fatal(len(packed), err)
	}
	wrote := time.Since(began)
	began = time.Now()
	back, err := record.Read(packed)
	if err != nil {
		b.Fatal(err)
	}
	again, err := replay.Replay(back, replay.Options{Program: "bench", Architecture: "any"})
	if err != nil || again.Verdict != replay.Same || !again.Checked {
		b.Fatal(again.Verdict, again.Reason, err)
	}
	b.Logf("record of %d kB, compressed %d kB, written in %.1f s, replayed in %.1f s; %s", len(raw)>>10, len(packed)>>10,
		wrote.Seconds(), time.Since(began).Seconds(), strings.Join(leftOut, "; "))
}

// writeMany writes the events, and gives their bytes. A tenth fails, in groups of very different sizes.
func writeMany(b *testing.B, path string, count int) int64 {
	b.Helper()
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	nouns := []string{"alpha", "bravo", "delta", "echo", "golf", "hotel", "india", "kilo", "lima", "mike"}
	for i := range count {
		test := fmt.Sprintf("Test%s%d/case-%d", []string{"GPU", "Disk", "Pod"}[i%3], i/5, i)
		event := func(rest string) { fmt.Fprintf(out, `{"Package":"e2e","Test":"%s",%s}`+"\n", test, rest) }
		event(`"Action":"run"`)
		for a := range attributesOfMany {
			event(fmt.Sprintf(`"Action":"attr","Key":"attribute%d","Value":"value-%d"`, a, random.IntN(3+4*a)))
		}
		if random.IntN(10) > 0 && i >= groupsOfMany {
			event(`"Action":"pass"`)
			continue
		}
		group := i
		if i >= groupsOfMany {
			group = int(float64(groupsOfMany) * random.Float64() * random.Float64())
		}
		event(fmt.Sprintf(`"Action":"output","Output":"    a_test.go:7: %s %s %s: request %08x refused after %ds\n"`,
			nouns[group%10], nouns[group/10%10], nouns[group/100], random.Uint32(), random.IntN(900)))
		event(`"Action":"fail"`)
	}
	fmt.Fprintln(out, `{"Package":"e2e","Action":"fail"}`)
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	size, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		b.Fatal(err)
	}
	return size
}

// BenchmarkLog reads a log of 5 GB in lines of 64 KiB, with signatures to look for. It is made as it is read.
func BenchmarkLog(b *testing.B) {
	var text strings.Builder
	text.WriteString("kinds: [{kind: serial, files: [\"*.log\"], producer: machine}]\nsignatures:\n")
	for _, id := range []string{"oom", "disk", "net", "dns", "tls", "etcd", "cni", "pull"} {
		fmt.Fprintf(&text, "- {id: %s, class: infrastructure, all: [\"%s failure of the worker\"]}\n", id, id)
	}
	known, err := catalogue.Parse("catalogue.yaml", []byte(text.String()))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		peak := resetPeak(b)
		began := time.Now()
		result, err := analysis.Analyze(b.Context(), analysis.Request{
			Paths: []string{"-"}, Stdin: newLog(*logBytes), Catalogue: known, Now: time.Now(), Thresholds: triage.Default(),
		})
		if err != nil {
			b.Fatal(err)
		}
		g := result.Document.Groups[0]
		if len(g.Signatures) != 1 || g.Signatures[0].ID != "etcd" {
			b.Fatalf("signatures %+v", g.Signatures)
		}
		took := time.Since(began).Seconds()
		b.Logf("%d MB of log in lines of 64 KiB: %.1f s, %.0f MB/s, at most %d MB of memory", *logBytes>>20, took,
			float64(*logBytes>>20)/took, peak())
	}
}

// newLog is a log of many bytes that shows a signature in its last line.
func newLog(size int64) io.Reader {
	const line = 64 << 10
	random := rand.New(rand.NewPCG(3, 4))
	block := make([]byte, 0, 64*line)
	for len(block) < cap(block) {
		word := strconv.FormatUint(random.Uint64(), 36) + " reconciled "
		if rest := line - 1 - len(block)%line; len(word) >= rest {
			block = append(block, bytes.Repeat([]byte{'.'}, rest)...)
			block = append(block, '\n')
			continue
		}
		block = append(block, word...)
	}
	return io.MultiReader(io.LimitReader(&repeated{block: block}, size),
		strings.NewReader("\netcd failure of the worker\n"))
}

// repeated is a block again and again.
type repeated struct {
	block []byte
	at    int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.block[r.at:])
	r.at = (r.at + n) % len(r.block)
	return n, nil
}

// resetPeak begins to measure the most memory that the process holds, in MB, as Linux counts it.
func resetPeak(b *testing.B) (peak func() int) {
	b.Helper()
	debug.FreeOSMemory() // what an earlier benchmark held
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return func() int { return 0 }
	}
	return func() int {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return 0
		}
		for line := range strings.Lines(string(status)) {
			if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
				kilobytes, _ := strconv.Atoi(strings.Fields(rest)[0])
				return kilobytes >> 10
			}
		}
		return 0
	}
}
