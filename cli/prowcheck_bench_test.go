package cli_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var measure = flag.Bool("measure", false, "measure salve prow check beside Prow's checkconfig (make bench-prow)")

// cost is that of one whole process. Resident memory counts what of the program's file is in memory, which all its
// processes share and which the kernel takes back when it needs to; own memory is without.
type cost struct {
	wall, processor time.Duration
	own, resident   int64 // bytes, at the peak
}

// TestProwCheckBesideCheckconfig measures both programs over the same files, in turn, and takes the median of each: at
// least five times faster, at most a quarter of the memory of its own.
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
	faster, smaller := float64(b.wall)/float64(a.wall), float64(b.own)/float64(a.own)
	fmt.Printf("prow: %d jobs in %d lines, median of %d\n", jobs, lines, rounds)
	fmt.Printf("prow: salve prow check %s\n", a)
	fmt.Printf("prow: checkconfig      %s\n", b)
	fmt.Printf("prow: %.1f times faster, %.1f times smaller; resident, with the program itself, %.1f times\n", faster,
		smaller, float64(b.resident)/float64(a.resident))
	if faster < 5 || smaller < 4 {
		t.Errorf("%.1f times faster and %.1f times smaller, want 5 and 4", faster, smaller)
	}
}

// measured runs a program twice: its memory is looked at all the time, which would cost the other run time.
func measured(t *testing.T, words []string) cost {
	t.Helper()
	began := time.Now()
	state := finished(t, words, func(int) {})
	c := cost{wall: time.Since(began), processor: state.UserTime() + state.SystemTime()}
	finished(t, words, func(pid int) {
		for {
			own, resident, running := memoryNow(pid)
			if !running {
				return
			}
			c.own, c.resident = max(c.own, own), max(c.resident, resident)
		}
	})
	return c
}

func finished(t *testing.T, words []string, watch func(pid int)) *os.ProcessState {
	t.Helper()
	command := exec.Command(words[0], words[1:]...)
	var output strings.Builder
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watch(command.Process.Pid)
	}()
	err := command.Wait()
	<-watched
	if err != nil {
		t.Fatalf("%v: %v\n%s", words, err, output.String())
	}
	return command.ProcessState
}

// memoryNow is what a process has now, as Linux counts it (proc_pid_status(5)): RssAnon, and VmHWM, which is the peak.
// A process that has ended has none.
func memoryNow(pid int) (own, resident int64, running bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, false
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		var kibibytes int64
		if name != "RssAnon" && name != "VmHWM" {
			continue
		}
		if _, err := fmt.Sscanf(value, "%d kB", &kibibytes); err != nil {
			return 0, 0, false
		}
		if name == "RssAnon" {
			own = kibibytes << 10
		} else {
			resident = kibibytes << 10
		}
	}
	return own, resident, resident > 0
}

func median(costs []cost) cost {
	middle := func(of func(cost) int64) int64 {
		var values []int64
		for _, c := range costs {
			values = append(values, of(c))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return cost{
		wall:      time.Duration(middle(func(c cost) int64 { return int64(c.wall) })),
		processor: time.Duration(middle(func(c cost) int64 { return int64(c.processor) })),
		own:       middle(func(c cost) int64 { return c.own }),
		resident:  middle(func(c cost) int64 { return c.resident }),
	}
}

func (c cost) String() string {
	milliseconds := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return fmt.Sprintf("%7.1f ms, %7.1f ms of processor, %6.1f MiB of its own, %6.1f MiB resident", milliseconds(c.wall),
		milliseconds(c.processor), float64(c.own)/(1<<20), float64(c.resident)/(1<<20))
}

// writeLargeProw writes an instance of 3,000 jobs of 100 repositories, all protected. The
// jobs are as most are: decorated, with a preset's credentials and with resources.
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
	write("config.yaml", largeConfig)
	const spec = "{containers: [{image: registry/builder:v1, command: [runner.sh], args: [make, test], resources: " +
		`{requests: {cpu: "4", memory: 8Gi}, limits: {cpu: "4", memory: 8Gi}}}]}`
	for repo := range 100 {
		var text strings.Builder
		fmt.Fprintf(&text, "presubmits:\n  org/repo-%d:\n", repo)
		for job := range 20 {
			when := []string{"always_run: true", "run_if_changed: ^pkg/", "always_run: true"}[job%3]
			fmt.Fprintf(&text, "  - name: pull-%d-%d\n    %s\n    branches: [^main$, ^release-1\\.2$]\n    decorate: true\n"+
				"    labels: {preset-credentials: \"true\"}\n    spec: %s\n", repo, job, when, spec)
			jobs++
		}
		fmt.Fprintf(&text, "periodics:\n")
		for job := range 10 {
			fmt.Fprintf(&text, "- name: ci-%d-%d\n  interval: 1h\n  decorate: true\n  spec: %s\n", repo, job, spec)
			jobs++
		}
		write(fmt.Sprintf("jobs/repo-%d.yaml", repo), text.String())
	}
	return lines, jobs
}

const largeConfig = `prowjob_namespace: prow
pod_namespace: test-pods
plank:
  job_url_prefix_config: {'*': 'https://prow.example/view/'}
  default_decoration_config_entries:
  - config:
      timeout: 2h
      grace_period: 15m
      utility_images:
        clonerefs: registry/clonerefs:v1
        initupload: registry/initupload:v1
        entrypoint: registry/entrypoint:v1
        sidecar: registry/sidecar:v1
      gcs_configuration: {bucket: bucket, path_strategy: explicit}
      gcs_credentials_secret: uploader
presets:
- labels: {preset-credentials: "true"}
  env: [{name: CREDENTIALS, value: /etc/credentials/key.json}]
  volumes: [{name: credentials, secret: {secretName: credentials}}]
  volumeMounts: [{name: credentials, mountPath: /etc/credentials, readOnly: true}]
branch-protection:
  orgs:
    org:
      protect: true
      required_status_checks: {contexts: [tide]}
tide:
  queries:
  - {orgs: [org], labels: [lgtm, approved]}
`
