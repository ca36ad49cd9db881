//go:build unix

package catalogue_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"salve/internal/triage/catalogue"
	"salve/internal/triage/literal"
	"salve/internal/triage/results"
)

var (
	measure  = flag.Bool("measure", false, "measure the search beside grep and ripgrep, some minutes")
	mebibyte = flag.Int("mebibytes", 1024, "size of the log that is measured with")
)

// asProgram names what this process does in place of tests, with a file of literals and a log: what is timed, and what
// takes memory. A child's peak of memory is never below its parent's, and so this stays small.
const asProgram = "SALVE_TRIAGE_PROGRAM"

func TestMain(m *testing.M) {
	name := os.Getenv(asProgram)
	if name == "" {
		os.Exit(m.Run())
	}
	out := bufio.NewWriter(os.Stdout)
	err := map[string]func(out io.Writer, literals [][]byte, path string) error{
		"literals": searchLiterals, "catalogue": searchCatalogue, "write": writeLog, "compare": compareWithSearch,
	}[name](out, lines(os.Args[1]), os.Args[2])
	if err := errors.Join(err, out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func lines(path string) [][]byte {
	raw, err := os.ReadFile(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
}

// searchLiterals tells file, line and all literals, overlapping ones included, with their offsets.
func searchLiterals(out io.Writer, literals [][]byte, path string) error {
	set, err := literal.New(literals)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var told []byte
	return set.Scan(file, func(line literal.Line) error {
		told = append(append(told[:0], path...), ':')
		told = strconv.AppendInt(told, line.Number, 10)
		for _, hit := range line.Hits {
			told = strconv.AppendInt(append(told, ' '), int64(hit.Literal), 10)
			told = strconv.AppendInt(append(told, '@'), hit.Offset, 10)
		}
		_, err := out.Write(append(told, '\n'))
		return err
	})
}

// searchCatalogue is all of it: a log that is read as results are, and a catalogue with a signature for each literal.
func searchCatalogue(out io.Writer, literals [][]byte, path string) error {
	c, err := catalogue.Parse("c.yaml", signatureForEach(literals))
	if err != nil {
		return err
	}
	reader := results.Reader{Observer: c.Observer()}
	for of, err := range reader.Cases(context.Background(), path) {
		if err != nil {
			return err
		}
		for _, hit := range c.Signatures([]catalogue.Found{c.Found(of)}, nil, "", today) {
			if _, err := fmt.Fprintln(out, hit.Signature.ID, hit.Lines, hit.First); err != nil {
				return err
			}
		}
	}
	return nil
}

func signatureForEach(literals [][]byte) []byte {
	type entry struct {
		ID    string   `json:"id"`
		Class string   `json:"class"`
		All   []string `json:"all"`
	}
	var entries []entry
	for i, text := range literals {
		entries = append(entries, entry{fmt.Sprint("s", i), "test", []string{string(text)}})
	}
	raw, err := json.Marshal(map[string][]entry{"signatures": entries}) // JSON is YAML
	if err != nil {
		panic(err)
	}
	return raw
}

// TestMeasureSearch compares the search for 500 of the real literals with others', in seconds of CPU, and its hits with
// those of a search for one literal after the other.
func TestMeasureSearch(t *testing.T) {
	if !*measure {
		t.Skip("only with -measure")
	}
	folder := t.TempDir()
	literals := realLiterals(t)
	patterns, log := filepath.Join(folder, "literals"), filepath.Join(folder, "log")
	if err := os.WriteFile(patterns, append(bytes.Join(literals, []byte("\n")), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	size := fmt.Sprintf("%s=%d", logSize, *mebibyte<<20)
	timed(t, 1, folder, "writing the log", []string{asProgram + "=write", size}, self, patterns, log)
	timed(t, 1, folder, "brute force on 64 MiB", []string{asProgram + "=compare"}, self, patterns, log)
	t.Logf("literal scan: %d literals, %d MiB, in the first 64 of which all hits are as by brute force", len(literals),
		*mebibyte)
	ours := timed(t, 3, folder, "salve, literals", []string{asProgram + "=literals"}, self, patterns, log)
	timed(t, 3, folder, "salve, reader and catalogue", []string{asProgram + "=catalogue"}, self, patterns, log)
	ripgrep := timed(t, 3, folder, "rg -j1", nil, "rg", "-F", "-f", patterns, "-j1", "-n", "-H", "--no-config", log)
	grep := timed(t, 1, folder, "grep", []string{"LC_ALL=C"}, "grep", "-F", "-f", patterns, "-n", "-H", log)
	ours.beside(t, "grep", grep, 3)
	ours.beside(t, "ripgrep", ripgrep, 1)
	if ours.peak >= 64<<20 {
		t.Errorf("%d MiB of memory", ours.peak>>20)
	}
}

type timing struct {
	seconds float64 // of CPU, the least of all runs
	peak    int64   // bytes of memory, the most
	lines   int     // of output
}

// beside says how many times as fast this is, which must be so many at least, and that both find the same.
func (ours timing) beside(t *testing.T, name string, other timing, atLeast float64) {
	t.Helper()
	if other.lines == 0 {
		return
	}
	times := other.seconds / ours.seconds
	t.Logf("literal scan: %.2f × %s (at least %.1f), lines with a hit: %d and %d", times, name, atLeast, ours.lines,
		other.lines)
	if times < atLeast || other.lines != ours.lines {
		t.Errorf("beside %s", name)
	}
}

// timed runs a program with its output into a file. One that isn't there is told.
func timed(t *testing.T, runs int, folder, name string, environment []string, program string, args ...string) timing {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Logf("literal scan: %s isn't here: %v", name, err)
		return timing{}
	}
	var best timing
	for range runs {
		out, err := os.Create(filepath.Join(folder, "out"))
		if err != nil {
			t.Fatal(err)
		}
		command := exec.Command(path, args...)
		command.Env = append(os.Environ(), environment...)
		command.Stdout, command.Stderr = out, os.Stderr
		if err := errors.Join(command.Run(), out.Close()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		raw, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		best.lines = bytes.Count(raw, []byte("\n"))
		usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			t.Skip("this system tells no peak of memory")
		}
		cpu := (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds()
		if best.seconds == 0 || cpu < best.seconds {
			best.seconds = cpu
		}
		best.peak = max(best.peak, usage.Maxrss<<10)
	}
	if !strings.HasPrefix(name, "salve") && !slices.Contains([]string{"rg", "grep"}, program) {
		return best // it was not to be timed
	}
	t.Logf("literal scan: %-28s %6.2f CPU s %6.0f MiB per CPU s %5d MiB peak %8d lines told", name, best.seconds,
		float64(*mebibyte)/best.seconds, best.peak>>20, best.lines)
	return best
}

// realLiterals are 500 of those that a project searched its logs for.
func realLiterals(t *testing.T) [][]byte {
	t.Helper()
	for _, path := range []string{elastic + "literals.txt", loghub} {
		if _, err := os.Stat(path); err != nil {
			t.Skip("the outside data isn't here:", err)
		}
	}
	all := lines(elastic + "literals.txt")
	chance := rand.New(rand.NewPCG(5, 6))
	chance.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:500]
}

// loghub has lines of ten systems; logSize is the environment's variable with the size of the log to write, in bytes.
const (
	loghub  = "../../../../shared/triage/loghub2k/content-template.jsonl.gz"
	logSize = "SALVE_TRIAGE_LOG"
)

// writeLog writes lines of ten systems with times before them, of which one in 300 has a literal.
func writeLog(_ io.Writer, literals [][]byte, path string) error {
	contents, err := realLines()
	if err != nil {
		return err
	}
	size, err := strconv.Atoi(os.Getenv(logSize))
	if err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	chance := rand.New(rand.NewPCG(7, 8))
	var line []byte
	for written := 0; written < size; written += len(line) {
		line = fmt.Appendf(line[:0], "2026-11-23T21:%02d:%02d.%03dZ ", chance.IntN(60), chance.IntN(60), chance.IntN(1000))
		line = append(line, contents[chance.IntN(len(contents))]...)
		if chance.IntN(300) == 0 {
			line = append(append(line, ' '), literals[chance.IntN(len(literals))]...)
		}
		line = append(line, '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return errors.Join(out.Flush(), file.Close())
}

func realLines() ([][]byte, error) {
	file, err := os.Open(loghub)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	var contents [][]byte
	for decoder := json.NewDecoder(in); decoder.More(); {
		var line struct{ C string }
		if err := decoder.Decode(&line); err != nil {
			return nil, err
		}
		contents = append(contents, []byte(strings.ReplaceAll(line.C, "\n", " ")))
	}
	return contents, nil
}

// compareWithSearch holds the hits in the first 64 MiB against those of brute force.
func compareWithSearch(out io.Writer, literals [][]byte, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 64<<20))
	if err != nil {
		return err
	}
	set, err := literal.New(literals)
	if err != nil {
		return err
	}
	got := make([][]int64, len(literals))
	if err := set.Scan(bytes.NewReader(text), func(line literal.Line) error {
		for _, hit := range line.Hits {
			got[hit.Literal] = append(got[hit.Literal], hit.Offset)
		}
		return nil
	}); err != nil {
		return err
	}
	for i, wanted := range literals {
		var want []int64
		for from := 0; ; {
			at := bytes.Index(text[from:], wanted)
			if at < 0 {
				break
			}
			want = append(want, int64(from+at))
			from += at + 1
		}
		if !slices.Equal(got[i], want) {
			return fmt.Errorf("%q: %d hits, brute force finds %d", wanted, len(got[i]), len(want))
		}
		for _, at := range want {
			fmt.Fprintln(out, at)
		}
	}
	return nil
}
