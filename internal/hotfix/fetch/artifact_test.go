package fetch_test

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/fetch"
)

// naming is a signed pointer that names one artifact.
func naming(t *testing.T, architecture string, artifact hotfix.Artifact) hotfix.Pointer {
	t.Helper()
	return signed(t, unsignedNaming(t, architecture, artifact), artifact.URL)
}

func unsignedNaming(t *testing.T, architecture string, artifact hotfix.Artifact) hotfix.Pointer {
	t.Helper()
	fields := map[string]any{"sha256": artifact.SHA256, "size": artifact.Size, "format": artifact.Format}
	if artifact.URL != "" {
		fields["url"] = artifact.URL
	}
	raw, err := json.Marshal(map[string]any{"artifacts": map[string]any{base: map[string]any{architecture: fields}}})
	if err != nil {
		t.Fatal(err)
	}
	return pointer(t, string(raw))
}

// signed vouches for a pointer, and for the hosts of addresses.
func signed(t *testing.T, p hotfix.Pointer, addresses ...string) hotfix.Pointer {
	t.Helper()
	by := hotfix.Provenance{Signed: true}
	for _, address := range addresses {
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		by.Hosts = append(by.Hosts, at.Host)
	}
	return p.By(by)
}

func artifactOf(address string, content []byte, format hotfix.Format) hotfix.Artifact {
	return hotfix.Artifact{URL: address, SHA256: fmt.Sprintf("%x", sha256.Sum256(content)), Size: int64(len(content)),
		Format: format}
}

// anywhere has no package manager: artifacts need none.
func anywhere(t *testing.T) *fetch.Fetcher { return anywhereWith(t, nil) }

func anywhereWith(t *testing.T, change func(*fetch.Settings)) *fetch.Fetcher {
	t.Helper()
	settings := fetch.Settings{OSRelease: osRelease(t, "ID=plan9\n"), Budget: 10 * time.Second, Authorities: authorities()}
	if change != nil {
		change(&settings)
	}
	return fetch.New(settings)
}

// authorities are those of the servers of these tests.
func authorities() *x509.CertPool {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
}

func serving(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handle)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are to fail
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func TestAnArtifactIsTheProgramItself(t *testing.T) {
	content := []byte(strings.Repeat("program", 5000))
	address := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	file, err := anywhere(t).Program(t.Context(), naming(t, runtime.GOARCH, artifactOf(address+"/program?sig=secret",
		content, hotfix.Binary)), version(t, base+".2"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	holds(t, file, string(content))
	if file.SHA256 != fmt.Sprintf("%x", sha256.Sum256(content)) {
		t.Errorf("digest %s", file.SHA256)
	}
	if file.Source != address+"/program" {
		t.Errorf("the source %q has to be the address without its query", file.Source)
	}
}

func TestAnArtifactOfScriptsIsForAllArchitectures(t *testing.T) {
	content := []byte("write_files: []\n")
	address := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	file, err := anywhere(t).Scripts(t.Context(),
		naming(t, hotfix.AnyArchitecture, artifactOf(address, content, hotfix.Binary)), version(t, base+".2"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	holds(t, file, string(content))
}

func TestTheProgramIsTakenOutOfAPackage(t *testing.T) {
	for _, compression := range []string{"xz", "gzip", "zstd", "none"} {
		t.Run(compression, func(t *testing.T) {
			path := buildDeb(t, t.TempDir(), packageName, base+".2", compression, "usr/bin/"+packageName, contentOf(base+".2"))
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			address := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
			file, err := anywhere(t).Program(t.Context(), naming(t, runtime.GOARCH, artifactOf(address, content, hotfix.Deb)),
				version(t, base+".2"), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			holds(t, file, contentOf(base+".2"))
		})
	}
}

func TestWhatComesOfAnArtifact(t *testing.T) {
	content := []byte(strings.Repeat("program", 5000))
	right := artifactOf("", content, hotfix.Binary)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for name, row := range map[string]struct {
		serve  http.HandlerFunc
		change func(*hotfix.Artifact)
		want   fetch.Outcome
		tries  int32
	}{
		"not there is final": {serve: status(404), want: fetch.VersionNotFound, tries: 1},
		"gone is final":      {serve: status(410), want: fetch.VersionNotFound, tries: 1},
		"forbidden is final": {serve: status(403), want: fetch.Denied, tries: 1},
		"wrong digest is final": {change: func(a *hotfix.Artifact) { a.SHA256 = strings.Repeat("0", 64) },
			want: fetch.BadArtifact, tries: 1},
		"smaller than said is final":                         {change: func(a *hotfix.Artifact) { a.Size++ }, want: fetch.BadArtifact, tries: 1},
		"larger than said is final":                          {change: func(a *hotfix.Artifact) { a.Size-- }, want: fetch.BadArtifact, tries: 1},
		"another length that is announced is not waited for": {serve: announce, want: fetch.BadArtifact, tries: 1},
		"larger, of unknown length":                          {serve: endless, want: fetch.BadArtifact, tries: 1},
		"not a package": {change: func(a *hotfix.Artifact) { a.Format = hotfix.Deb }, want: fetch.BadArtifact,
			tries: 1},
		"not a package of rpm": {change: func(a *hotfix.Artifact) { a.Format = hotfix.RPM }, want: fetch.BadArtifact,
			tries: 1},
		"unavailable is tried again":  {serve: once(status(503), content), want: fetch.Fetched, tries: 2},
		"throttled is tried again":    {serve: once(status(429), content), want: fetch.Fetched, tries: 2},
		"cut off is tried again":      {serve: once(cutOff, content), want: fetch.Fetched, tries: 2},
		"a long Retry-After is final": {serve: retryAfter, want: fetch.Unreachable, tries: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int32
			serve := row.serve
			if serve == nil {
				serve = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }
			}
			artifact := right
			artifact.URL = serving(t, func(w http.ResponseWriter, r *http.Request) {
				tries.Add(1)
				serve(w, r)
			})
			if row.change != nil {
				row.change(&artifact)
			}
			folder := t.TempDir()
			_, err := anywhere(t).Program(t.Context(), naming(t, runtime.GOARCH, artifact), version(t, base+".2"), folder)
			if got := fetch.OutcomeOf(err); got != row.want {
				t.Errorf("outcome %s, want %s: %v", got, row.want, err)
			}
			if tries.Load() != row.tries {
				t.Errorf("%d tries, want %d", tries.Load(), row.tries)
			}
			if err != nil {
				empty(t, folder)
			}
		})
	}
}

func endless(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := w.Write(make([]byte, 4096)); err != nil {
			return
		}
	}
}

// announce says how much will come, and that is not as much as is signed. Nothing comes.
func announce(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", "34999")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func cutOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "35000")
	_, _ = w.Write(make([]byte, 100))
	panic(http.ErrAbortHandler)
}

func retryAfter(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Retry-After", "3600")
	w.WriteHeader(http.StatusServiceUnavailable)
}

// once fails the first time and serves the content afterwards.
func once(fail http.HandlerFunc, content []byte) http.HandlerFunc {
	var failed atomic.Bool
	return func(w http.ResponseWriter, r *http.Request) {
		if !failed.Swap(true) {
			fail(w, r)
			return
		}
		_, _ = w.Write(content)
	}
}

func TestABrokenArtifactDoesNotFallBackToThePackage(t *testing.T) {
	broken := signed(t, pointer(t, `{"artifacts":{"`+base+`":{"`+runtime.GOARCH+`":{"url":"ftp://example.com/x"}}}}`))
	_, err := anywhere(t).Program(t.Context(), broken, version(t, base+".2"), t.TempDir())
	if fetch.OutcomeOf(err) != fetch.BadArtifact {
		t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
	}
}

func TestAnAddressThatHoldsASecretIsNotPrinted(t *testing.T) {
	artifact := artifactOf("https://127.0.0.1:1/x?sig=secret", []byte("x"), hotfix.Binary)
	node := anywhere(t)
	_, err := node.Program(t.Context(), naming(t, runtime.GOARCH, artifact), version(t, base+".2"), t.TempDir())
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("it says %v", err)
	}
}

func TestAServerThatHangsCostsTheBudgetAndNoMore(t *testing.T) {
	address := serving(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	node := anywhereWith(t, func(s *fetch.Settings) { s.Budget = 500 * time.Millisecond })
	_, err := node.Program(t.Context(), naming(t, runtime.GOARCH, artifactOf(address, []byte("x"), hotfix.Binary)),
		version(t, base+".2"), t.TempDir())
	var known *fetch.Error
	if !errors.As(err, &known) || known.Outcome != fetch.Timeout {
		t.Errorf("it says %v", err)
	}
}

func TestRedirections(t *testing.T) {
	for name, row := range map[string]struct {
		from, to string
		hops     int
		follows  bool
	}{
		"from HTTPS to HTTPS":          {"https://a", "https://b", 1, true},
		"from HTTP to HTTP":            {"http://a", "http://b", 1, true},
		"from HTTP to HTTPS":           {"http://a", "https://b", 1, true},
		"never from HTTPS to HTTP":     {"https://a", "http://a", 1, false},
		"five times":                   {"https://a", "https://b", 5, true},
		"a sixth time is one too many": {"https://a", "https://b", 6, false},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Repeat([]*http.Request{httptest.NewRequest(http.MethodGet, row.from, nil)}, row.hops)
			err := fetch.Follow(httptest.NewRequest(http.MethodGet, row.to, nil), before)
			if (err == nil) != row.follows || (err != nil && !errors.Is(err, fetch.ErrNotFollowed)) {
				t.Errorf("it says %v", err)
			}
		})
	}
}
