package cli

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"salve/internal/azuresim"
)

// BenchmarkStartToFirstCall measures from the start of the process to its first
// request to ARM, over HTTPS, a token's way to it included. The peer, in the same
// run, is the start of the process alone.
func BenchmarkStartToFirstCall(b *testing.B) {
	program := filepath.Join(b.TempDir(), "salve")
	out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program, "salve/cmd/salve").CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	server, first := serveHealthy(b)
	authority := filepath.Join(b.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(authority, certificate, 0o600); err != nil {
		b.Fatal(err)
	}
	var toCall, alone time.Duration
	for b.Loop() {
		check := exec.Command(program, "check", "aks-recreate-pool",
			"--arm-endpoint", server.URL, "--authority-host", server.URL, "--arm-ca", authority)
		check.Env = append(os.Environ(), "SUBSCRIPTION_ID=5a1e0000-0000-4000-8000-000000000001", "RESOURCE_GROUP=fleet",
			"CLUSTER_NAME=aks-1", "AZURE_TENANT_ID=5a1e0000-0000-4000-8000-00000000000a",
			"AZURE_CLIENT_ID=5a1e0000-0000-4000-8000-00000000000b", "AZURE_CLIENT_SECRET=any", "XDG_STATE_HOME="+b.TempDir())
		began := time.Now()
		if out, err := check.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		toCall += first.take(b).Sub(began)
		began = time.Now()
		if err := exec.Command(program, "version").Run(); err != nil {
			b.Fatal(err)
		}
		alone += time.Since(began)
	}
	b.ReportMetric(float64(toCall.Milliseconds())/float64(b.N), "ms-to-first-call")
	b.ReportMetric(float64(alone.Milliseconds())/float64(b.N), "ms-version")
}

// firstCall remembers when the first request to ARM came.
type firstCall struct {
	mu sync.Mutex
	at time.Time
}

func (f *firstCall) see() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at.IsZero() {
		f.at = time.Now()
	}
}

func (f *firstCall) take(b *testing.B) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at.IsZero() {
		b.Fatal("no request came to ARM")
	}
	at := f.at
	f.at = time.Time{}
	return at
}

func serveHealthy(b *testing.B) (*httptest.Server, *firstCall) {
	scenario, err := azuresim.Load("healthy")
	if err != nil {
		b.Fatal(err)
	}
	world, err := azuresim.New(scenario, azuresim.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(world.Close)
	first := &firstCall{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if strings.HasPrefix(request.URL.Path, "/subscriptions/") {
			first.see()
		}
		world.ServeHTTP(response, request)
	}))
	b.Cleanup(server.Close)
	return server, first
}
