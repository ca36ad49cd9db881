package metrics_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/telemetry/metrics"
	"salve/internal/telemetry/telemetrytest"
)

// TestPrometheusScrapesThem: the real program, where it is installed (Debian has it as prometheus).
func TestPrometheusScrapesThem(t *testing.T) {
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("there is no prometheus here: Debian has it as prometheus")
	}
	m := metrics.New("")
	telemetrytest.Run{Watch: m.Tell, Appended: m.Appended}.Execute(t)
	telemetrytest.Run{Watch: m.Tell, Breaks: "close"}.Execute(t)
	scraped := httptest.NewServer(m.Handler())
	defer scraped.Close()

	folder, address := t.TempDir(), freeAddress(t)
	config := filepath.Join(folder, "prometheus.yml")
	write(t, config, fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: salve\n  metrics_path: /\n"+
		"  static_configs: [{targets: [%q]}]\n", strings.TrimPrefix(scraped.URL, "http://")))
	command := exec.CommandContext(t.Context(), program, "--config.file="+config, "--web.listen-address="+address,
		"--storage.tsdb.path="+filepath.Join(folder, "data"))
	said, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout, command.Stderr = said, said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	for query, want := range map[string]string{
		`salve_runs_total{outcome="remediated"}`:                                      "1",
		`sum(salve_runs_total)`:                                                       "2",
		`sum(salve_step_duration_seconds_count{result="done"})`:                       "2",
		`sum(histogram_quantile(1, salve_guard_duration_seconds_bucket) < bool 1000)`: "2",
	} {
		if got := asked(t, address, query); got != want {
			t.Errorf("%s is %s, want %s", query, got, want)
		}
	}
}

// asked is the answer to a query, as soon as there is one.
func asked(t *testing.T, address, query string) string {
	t.Helper()
	for {
		var answer struct {
			Data struct {
				Result []struct{ Value [2]any }
			}
		}
		response, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(query))
		if err == nil {
			err = json.NewDecoder(response.Body).Decode(&answer)
			_ = response.Body.Close()
		}
		if err == nil && len(answer.Data.Result) > 0 {
			return fmt.Sprint(answer.Data.Result[0].Value[1])
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%s: %v", query, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// TestPromtoolFindsNothing in the file for the textfile collector.
func TestPromtoolFindsNothing(t *testing.T) {
	program, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("there is no promtool here: Debian has it in prometheus")
	}
	path := filepath.Join(t.TempDir(), "salve.prom")
	m := metrics.New(path)
	telemetrytest.Run{Watch: m.Tell, Appended: m.Appended}.Execute(t)
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	check := exec.CommandContext(t.Context(), program, "check", "metrics")
	check.Stdin = file
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
