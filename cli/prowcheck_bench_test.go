package cli_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var measure = flag.Bool("measure", false, "measure salve prow check beside Prow's checkconfig (make bench-prow)")

// cost is that of one whole process.
type cost struct {
	wall time.Duration
	peak int64 // bytes
}

// TestProwCheckBesideCheckconfig measures both programs over the same files, in turn, and
// takes the median of each: at least five times faster, at most a quarter of the memory.
func TestProwCheckBesideCheckconfig(t *testing.T) {
	if !*measure {
		t.Skip("measured by make bench-prow")
	}
	folder := t.TempDir()
	lines, jobs := writeLargeProw(t, folder)
	config, jobFolder := filepath.Join(folder, "config.yaml"), filepath.Join(folder, "jobs")
	ours := []string{"../bin/salve", "prow", "check", "--config", config, "--job-config", jobFolder}
	theirs := []string{"../bin/prow/checkconfig", "--config-path", config, "--job-config-path", jobFolder}
	const rounds = 7
	var salve, checkconfig []cost
	for range rounds {
		salve = append(salve, measured(t, ours))
		checkconfig = append(checkconfig, measured(t, theirs))
	}
	a, b := median(salve), median(checkconfig)
	faster, smaller := float64(b.wall)/float64(a.wall), float64(b.peak)/float64(a.peak)
	fmt.Printf("prow: %d jobs in %d lines, median of %d\n", jobs, lines, rounds)
	fmt.Printf("prow: salve prow check %7.1f ms %6.1f MiB\n", milliseconds(a.wall), mebibytes(a.peak))
	fmt.Printf("prow: checkconfig      %7.1f ms %6.1f MiB\n", milliseconds(b.wall), mebibytes(b.peak))
	fmt.Printf("prow: %.1f times faster, %.1f times smaller\n", faster, smaller)
	if faster < 5 || smaller < 4 {
		t.Errorf("%.1f times faster and %.1f times smaller, want 5 and 4", faster, smaller)
	}
}

func measured(t *testing.T, words []string) cost {
	t.Helper()
	command := exec.Command(words[0], words[1:]...)
	var output strings.Builder
	command.Stdout, command.Stderr = &output, &output
	began := time.Now()
	err := command.Run()
	took := time.Since(began)
	if err != nil {
		t.Fatalf("%v: %v\n%s", words, err, output.String())
	}
	usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no rusage here")
	}
	return cost{took, int64(usage.Maxrss) << 10} // Linux counts kibibytes
}

func median(costs []cost) cost {
	walls, peaks := []time.Duration{}, []int64{}
	for _, c := range costs {
		walls, peaks = append(walls, c.wall), append(peaks, c.peak)
	}
	slices.Sort(walls)
	slices.Sort(peaks)
	return cost{walls[len(walls)/2], peaks[len(peaks)/2]}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func mebibytes(bytes int64) float64        { return float64(bytes) / (1 << 20) }

// writeLargeProw writes an instance of 3,000 jobs of 100 repositories, all protected.
func writeLargeProw(t *testing.T, folder string) (lines, jobs int) {
	t.Helper()
	write := func(name, text string) {
		lines += strings.Count(text, "\n")
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("config.yaml", `prowjob_namespace: prow
pod_namespace: test-pods
plank:
  job_url_prefix_config: {'*': 'https://prow.example/view/'}
branch-protection:
  orgs:
    org:
      protect: true
      required_status_checks: {contexts: [tide]}
tide:
  queries:
  - {orgs: [org], labels: [lgtm, approved]}
`)
	for repo := range 100 {
		var text strings.Builder
		fmt.Fprintf(&text, "presubmits:\n  org/repo-%d:\n", repo)
		for job := range 20 {
			when := []string{"always_run: true", "run_if_changed: ^pkg/", "always_run: true"}[job%3]
			fmt.Fprintf(&text, "  - name: pull-%d-%d\n    %s\n    branches: [^main$, ^release-1\\.2$]\n    spec:\n      "+
				"containers:\n"+
				"      - {image: golang, command: [make, test]}\n", repo, job, when)
			jobs++
		}
		fmt.Fprintf(&text, "periodics:\n")
		for job := range 10 {
			fmt.Fprintf(&text, "- name: ci-%d-%d\n  interval: 1h\n  spec:\n    containers:\n    - {image: golang, command: "+
				"[make]}\n",
				repo, job)
			jobs++
		}
		write(fmt.Sprintf("jobs/repo-%d.yaml", repo), text.String())
	}
	return lines, jobs
}
