package history_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/history"
)

// answers is everything that a history can say, as text.
func answers(t *testing.T, h *history.History, now time.Time) string {
	t.Helper()
	all := []any{h.Builds(), h.Signatures(month, now), h.Uncategorised(0, now)}
	for _, s := range []history.Subject{
		{Key: "g1-a"}, {Key: "g1-b"}, {Key: "g1-c"}, {Signature: "outage"}, {Key: "g1-a", Signature: "slow"},
	} {
		all = append(all, h.Occurrences(s, month, now), h.Occurrences(s, 24*time.Hour, now), h.Trend(s, 6, now),
			h.Escalation(s, history.Rule{At: 6, Days: 30, Below: 3}, now),
			h.Baseline(history.Question{
				Subject: s, Scenarios: []string{"TestA/1"}, Change: "pr-1", Since: month, Enough: 5,
			}, now))
	}
	raw, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// lines of the files of a folder, by the files' names.
func lines(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	found, err := filepath.Glob(filepath.Join(folder, "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files[file] = string(raw)
	}
	return files
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// someHistory is a folder of random runs within two months, some of them triaged several times.
func someHistory(t *testing.T, random *rand.Rand, runs int) string {
	t.Helper()
	folder := t.TempDir()
	for range runs {
		var groups []string
		for _, key := range []string{"g1-a", "g1-b", "g1-c"} {
			if random.IntN(2) == 0 {
				groups = append(groups, key)
			}
		}
		build := random.IntN(runs)
		e := entry(fmt.Sprint(build), fmt.Sprint("pr-", build%5),
			noon.Add(-time.Duration(build*random.IntN(3))*time.Hour), groups...)
		e.Run = []string{"", "job-1", "job-2"}[random.IntN(3)]
		for i := range e.Groups {
			if random.IntN(2) == 0 {
				e.Groups[i].Signatures = []string{[]string{"outage", "slow"}[random.IntN(2)]}
			}
		}
		record(t, folder, e)
	}
	return folder
}

func TestOrderCopiesAndFilesDontMatter(t *testing.T) {
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 13))
		folder := someHistory(t, random, 30)
		h := open(t, folder, history.Options{})
		clean(t, h)
		want := answers(t, h, noon)
		files := slices.Collect(maps.Values(lines(t, folder)))
		for range 5 {
			// Some of the lines stand twice, in any order, in one file or two.
			all := append(slices.Clone(files), files[:random.IntN(len(files))]...)
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			merged, half := t.TempDir(), random.IntN(len(all))
			write(t, filepath.Join(merged, "one.jsonl"), strings.Join(all[:half], ""))
			write(t, filepath.Join(merged, "2026-11", "two.jsonl"), strings.Join(all[half:], ""))
			h := open(t, merged, history.Options{})
			clean(t, h)
			if different := cmp.Diff(want, answers(t, h, noon)); different != "" {
				t.Fatalf("seed %d: %s", seed, different)
			}
		}
	}
}

func TestBranchesMergeToTheUnionOfTheirFiles(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	record(t, one, entry("1", "pr-1", noon, "g1-a"), entry("2", "pr-2", noon, "g1-a"))
	record(t, two, entry("1", "pr-1", noon, "g1-a"), entry("3", "pr-3", noon, "g1-a"), entry("2", "pr-2", noon, "g1-b"))
	ours, theirs := lines(t, one), lines(t, two)
	for file, text := range theirs {
		relative, err := filepath.Rel(two, file)
		if err != nil {
			t.Fatal(err)
		}
		if there, conflict := ours[filepath.Join(one, relative)]; conflict && there != text {
			t.Errorf("%s is in both and different", relative)
		}
		write(t, filepath.Join(one, relative), text)
	}
	h := open(t, one, history.Options{})
	clean(t, h)
	if a := h.Occurrences(history.Subject{Key: "g1-a"}, month, noon); h.Builds() != 3 || a.Count < 2 {
		t.Errorf("%d builds, %+v", h.Builds(), a)
	}
}

func TestLinesThatAreLeftOutAreReported(t *testing.T) {
	folder := t.TempDir()
	record(t, folder, entry("1", "pr-1", noon, "g1-a"))
	var good string
	for _, text := range lines(t, folder) {
		good = text
	}
	second := strings.Replace(good, `"build":"1"`, `"build":"2"`, 1)
	for _, test := range []struct{ name, line, says string }{
		{"torn", good[:len(good)/2], "not a line of a history"},
		{"not JSON", "hello\n", "not a line of a history"},
		{"another format", `{"format":"salve.triage.history/v9","build":7}` + "\n",
			`format "salve.triage.history/v9" is not known`},
		{"a negative count", strings.Replace(good, `"failures":3`, `"failures":-3`, 1), "a count below 0"},
		{"no build", strings.Replace(good, `"build":"1"`, `"build":""`, 1), "no build"},
		{"a time that no run has", strings.Replace(good, "2026-11", "0001-01", 1), "no time"},
		{"a set that is none", strings.Replace(good, `"ran":"`, `"ran":"AAAA`, 1), "a set"},
		{"an escape in a key", strings.Replace(good, "g1-a", `g1-\u001b`, 1), "too long for an ID"},
		{"longer than a line may be", strings.Repeat("x", 5<<20) + "\n", "a line of more than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, filepath.Join(folder, "all.jsonl"), good+test.line+"\n"+second)
			h := open(t, folder, history.Options{})
			if len(h.Problems) != 1 || h.Problems[0].Line != 2 || h.Problems[0].File != "all.jsonl" ||
				!strings.Contains(h.Problems[0].Text, test.says) {
				t.Errorf("problems: %v", h.Problems)
			}
			if got := h.Occurrences(history.Subject{Key: "g1-a"}, month, noon); got.Count != 2 {
				t.Errorf("the lines around it: %+v", got)
			}
		})
	}
}

func TestLastLineWithoutItsEndIsReportedAsSuch(t *testing.T) {
	folder := t.TempDir()
	file := record(t, folder, entry("1", "pr-1", noon, "g1-a"))[0]
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for length := 0; length < len(whole); length += 1 + (len(whole)-1-length)%7 { // the last length with them
		write(t, file, string(whole[:length]))
		h := open(t, folder, history.Options{})
		switch {
		case length == 0 || length == len(whole)-1: // nothing, or only the line's end is missing
			clean(t, h)
		case len(h.Problems) != 1 || !strings.Contains(h.Problems[0].Text, "not written to its end") || h.Builds() > 0:
			t.Fatalf("%d bytes: %v", length, h.Problems)
		}
		// Recorded again into the same file, it is whole, and the half stays a line of its own.
		if again := record(t, folder, entry("1", "pr-1", noon, "g1-a"))[0]; length < len(whole)-1 && again != file {
			t.Fatalf("%d bytes: written to %q", length, again)
		}
		again := open(t, folder, history.Options{})
		if torn := length > 0 && length < len(whole)-1; again.Builds() != 1 || (len(again.Problems) == 1) != torn {
			t.Fatalf("%d bytes: %d builds, %v", length, again.Builds(), again.Problems)
		}
	}
}

func TestLineWithoutItsEndDoesntSpoilTheFileThatIsPutAfterIt(t *testing.T) {
	one := string(history.Line(t, entry("1", "pr-1", noon, "g1-a")))
	two := string(history.Line(t, entry("2", "pr-1", noon, `g1-{"format":"x`)))
	for length := 1; length < len(one); length += 1 + (len(one)-1-length)%7 {
		folder := t.TempDir()
		write(t, filepath.Join(folder, "all.jsonl"), one[:length]+two+one)
		h := open(t, folder, history.Options{})
		if torn := length < len(one)-1; h.Builds() != 2 || (len(h.Problems) == 1) != torn {
			t.Fatalf("%d bytes: %d builds, %v", length, h.Builds(), h.Problems)
		}
	}
}

func TestOnlyRegularFilesOfTheFolderAreRead(t *testing.T) {
	folder, outside := t.TempDir(), t.TempDir()
	file := record(t, outside, entry("1", "pr-1", noon, "g1-a"))[0]
	write(t, filepath.Join(folder, "a", "b", "deep.jsonl"), lines(t, outside)[file])
	write(t, filepath.Join(folder, ".git", "hidden.jsonl"), lines(t, outside)[file])
	write(t, filepath.Join(folder, "README.md"), "text")
	if err := os.Symlink(file, filepath.Join(folder, "link.jsonl")); err != nil {
		t.Skip("no links here: ", err)
	}
	h := open(t, folder, history.Options{})
	clean(t, h)
	if h.Builds() != 0 {
		t.Errorf("%d builds", h.Builds())
	}
	missing := open(t, filepath.Join(folder, "none"), history.Options{})
	if len(missing.Problems) != 1 || !strings.Contains(missing.Problems[0].Text, "no such folder") {
		t.Errorf("a folder that isn't there: %v", missing.Problems)
	}
	if _, err := history.Open(t.Context(), filepath.Join(folder, "README.md"), history.Options{}); err == nil {
		t.Error("a file is no folder")
	}
}

// FuzzOpen: whatever the lines are, the history opens, and every question has an answer.
func FuzzOpen(f *testing.F) {
	f.Add([]byte("{}\nhello"))
	f.Add([]byte(`{"format":"salve.triage.history/v1","build":"1","triaged":1,"time":"2026-11-20T12:00:00Z","ran":"AAAA"}`))
	f.Add(history.Line(f, entry("1", "pr-1", noon, "g1-a", "g1-b")))
	f.Fuzz(func(t *testing.T, lines []byte) {
		folder := t.TempDir()
		write(t, filepath.Join(folder, "all.jsonl"), string(lines))
		h := open(t, folder, history.Options{Grouping: history.Grouping{Version: "g1", Key: g1}})
		text := answers(t, h, noon)
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
			t.Errorf("control characters in %q", text)
		}
	})
}

// recorder is the environment variable that makes a test process one of two that record at once.
const recorder = "SALVE_TEST_RECORDER"

func TestMain(m *testing.M) {
	who, folder, is := strings.Cut(os.Getenv(recorder), "=")
	if !is {
		os.Exit(m.Run())
	}
	h, err := history.Open(context.Background(), folder, history.Options{})
	for i := 0; err == nil && i < 50; i++ {
		// Every other build is the same in both, which writes into the same file.
		build := fmt.Sprint("build-", i)
		if i%2 == 0 {
			build += who
		}
		_, err = h.Record(entry(build, "pr-1", noon, "g1-a"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func TestTwoProcessesRecordAtOnce(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "history")
	var running []*exec.Cmd
	for _, who := range []string{"one", "two"} {
		process := exec.CommandContext(t.Context(), os.Args[0])
		process.Env = append(os.Environ(), recorder+"="+who+"="+folder)
		process.Stderr = os.Stderr
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, process)
	}
	for _, process := range running {
		if err := process.Wait(); err != nil {
			t.Error(err)
		}
	}
	h := open(t, folder, history.Options{})
	clean(t, h)
	if got := h.Occurrences(history.Subject{Key: "g1-a"}, month, noon).Count; got != 75 {
		t.Errorf("%d builds of 25 and 25 and 25 that are the same", got)
	}
}
