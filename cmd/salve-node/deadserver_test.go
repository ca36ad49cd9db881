//go:build linux

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// maxPutOff bounds what a boot costs whose hotfix is put off, over the baked program alone, which is /bin/true.
const maxPutOff = 10 * time.Millisecond

// BenchmarkDeadServer is the second boot, and each after it, of a node whose server
// takes connections and never answers. The first has cost its budget.
func BenchmarkDeadServer(b *testing.B) {
	dead := newSite(b, func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() })
	folder := b.TempDir()
	flags := append(dead.vouch(b, `{"version":"202604.01.2","artifacts":`+artifacts(dead.URL+"/node", []byte("x"))+`}`),
		"--state", filepath.Join(folder, "state"), "--baked", "/bin/true", "--staged", filepath.Join(folder, "staged"),
		"--current", "202604.01.0", "--budget", "2s")
	launch := append(append([]string{releasedNode(b), "launch"}, flags...), "--", "x")
	b.Setenv("SSL_CERT_FILE", dead.authority)
	timed(b, launch...)
	path := filepath.Join(folder, "state", "postponed.json")
	memory, err := os.ReadFile(path)
	check(b, err)
	if !strings.Contains(string(memory), `"outcome": "timeout"`) {
		b.Fatalf("the first boot remembers %s", memory)
	}
	b.Run("from-the-second-boot-on", func(b *testing.B) {
		boot, baked := time.Hour, time.Hour
		for b.Loop() {
			check(b, os.WriteFile(path, memory, 0o600)) // a count of boots ends the pause at last
			boot, baked = min(boot, timed(b, launch...)), min(baked, timed(b, "/bin/true"))
		}
		b.ReportMetric(float64(boot.Microseconds())/1000, "ms-fastest")
		b.ReportMetric(float64(baked.Microseconds())/1000, "ms-fastest-baked")
		if boot-baked > maxPutOff {
			b.Errorf("it costs %s, more than %s", boot-baked, maxPutOff)
		}
	})
	out, err := dead.command(releasedNode(b), "status", "--state", filepath.Join(folder, "state"), "--last", "3").Output()
	if err != nil || !strings.Contains(string(out), "postponed") {
		b.Errorf("%v\n%s", err, out)
	}
}
