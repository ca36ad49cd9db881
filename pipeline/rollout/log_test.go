package rollout_test

import (
	"os"
	"strings"
	"testing"

	"salve/pipeline"
	"salve/pipeline/rollout"
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
	want := "it is ***, and password=[redacted]\nthen the *** and no end--- attempt 2 ---\n" + strings.Repeat("x", 100_000) + "\n"
	if string(raw) != want {
		t.Errorf("logged %.200s", raw)
	}
	if path := folder.Path("run-1", step); !strings.HasPrefix(path, string(folder)+"/run-1/") || strings.Contains(path, "..") {
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
