package rollout_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
)

func TestLogs(t *testing.T) {
	folder := rollout.LogFolder(t.TempDir())
	step := pipeline.StepID{ResourceGroup: "../up", Step: "a/b"}
	write := func(number int, pieces ...string) {
		t.Helper()
		log, err := folder.Open("run-1", step, number)
		if err != nil {
			t.Fatal(err)
		}
		log.Hide("hush-hush\nsecond line")
		for _, piece := range pieces {
			if _, err := log.Write([]byte(piece)); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write(1, "it is hu", "sh-hush, and password=abcdef\n", "then the second ", "line and no end")
	write(2, strings.Repeat("x", 100_000), "\n")
	raw, err := os.ReadFile(folder.Path("run-1", step))
	if err != nil {
		t.Fatal(err)
	}
	want := "it is ***, and password=[redacted]\nthen the *** and no end--- attempt 2 ---\n" +
		strings.Repeat("x", 100_000) + "\n"
	if string(raw) != want {
		t.Errorf("logged %.200s", raw)
	}
	if path := folder.Path("run-1", step); !strings.HasPrefix(path, string(folder)+"/run-1/") ||
		strings.Contains(path, "..") {
		t.Errorf("the log is %s", path)
	}
}

// TestLogsAreLive: a line is there as soon as it was said.
func TestLogsAreLive(t *testing.T) {
	folder := rollout.LogFolder(t.TempDir())
	step := pipeline.StepID{ResourceGroup: "g", Step: "s"}
	log, err := folder.Open("run-1", step, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Write([]byte("now\nand th")); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(folder.Path("run-1", step)); err != nil || string(raw) != "now\n" {
		t.Errorf("%q, %v", raw, err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSecretsInEndlessLines are masked wherever in them they stand.
func TestSecretsInEndlessLines(t *testing.T) {
	for _, at := range []int{0, 65_530, 65_536, 81_910, 131_060, 200_000} {
		folder := rollout.LogFolder(t.TempDir())
		step := pipeline.StepID{ResourceGroup: "g", Step: "s"}
		log, err := folder.Open("run-1", step, 1)
		if err != nil {
			t.Fatal(err)
		}
		log.Hide("supersecretvalue9")
		text := strings.Repeat("x", at) + "supersecretvalue9" + strings.Repeat("y", 100_000)
		for piece := 0; piece < len(text); piece += 4096 {
			if _, err := log.Write([]byte(text[piece:min(piece+4096, len(text))])); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(folder.Path("run-1", step))
		if want := strings.Repeat("x", at) + "***" + strings.Repeat("y", 100_000); err != nil || string(raw) != want {
			t.Errorf("at %d: %d bytes, %v, want %d; the secret shows: %t", at, len(raw), err, len(want),
				strings.Contains(string(raw), "value9"))
		}
	}
}

// BenchmarkLog is a step that says much, with a secret to mask.
func BenchmarkLog(b *testing.B) {
	log, err := rollout.LogFolder(b.TempDir()).Open("run-1", pipeline.StepID{ResourceGroup: "g", Step: "s"}, 1)
	if err != nil {
		b.Fatal(err)
	}
	log.Hide("supersecretvalue9")
	text := []byte(strings.Repeat("a line of what a step says, of ordinary length\n", 700))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := log.Write(text); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLogsAreBounded: a step that writes without end fills no disk, and its next attempt none either.
func TestLogsAreBounded(t *testing.T) {
	folder := rollout.LogFolder(t.TempDir())
	step := pipeline.StepID{ResourceGroup: "g", Step: "s"}
	path := folder.Path("run-1", step)
	write := func(text string) {
		t.Helper()
		log, err := folder.Open("run-1", step, 1)
		if err != nil {
			t.Fatal(err)
		}
		_, err = log.Write([]byte(text))
		if again, err := log.Write([]byte("and more\n")); err != nil || again != len("and more\n") {
			t.Errorf("a step is told of the bound: %d, %v", again, err)
		}
		if err := errors.Join(err, log.Close()); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	if err := os.Truncate(path, rollout.MostLog-4); err != nil { // nothing is written for it on the disk
		t.Fatal(err)
	}
	const note = "--- a log has at most 256 MiB; what the step says from here on is not kept ---\n"
	for range 2 {
		write("yes\nno\nperhaps\n")
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		end := make([]byte, 200)
		n, err := file.ReadAt(end, rollout.MostLog-4)
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if got := string(end[:n]); got != "yes\n\n"+note {
			t.Errorf("the log ends with %q", got)
		}
	}
}
