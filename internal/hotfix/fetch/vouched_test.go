//go:build linux

package fetch_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	kclock "k8s.io/utils/clock"

	"salve/internal/clock"
	"salve/internal/hotfix"
	"salve/internal/hotfix/fetch"
)

// TestAnUnsignedPointerNamesNoAddress: nobody is asked, not even the package manager,
// for it is not what the pointer means.
func TestAnUnsignedPointerNamesNoAddress(t *testing.T) {
	content := []byte("program")
	var asked atomic.Int32
	address := serving(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	searchPath, record := recording(t, "exit 0", "tdnf")
	node := withTdnf(t, searchPath, generous)
	for title, row := range map[string]hotfix.Pointer{
		"over HTTPS":         unsignedNaming(t, runtime.GOARCH, artifactOf(address, content, hotfix.Binary)),
		"over HTTP":          unsignedNaming(t, runtime.GOARCH, artifactOf("http://127.0.0.1:1/x", content, hotfix.Deb)),
		"without an address": unsignedNaming(t, runtime.GOARCH, artifactOf("", content, hotfix.RPM)),
		"malformed":          pointer(t, `{"artifacts": {"`+base+`": {"`+runtime.GOARCH+`": 7}}}`),
		"misspelt":           pointer(t, `{"Artifacts": {"`+base+`": {}}}`),
		"hosts without a signature": unsignedNaming(t, runtime.GOARCH, artifactOf(address, content, hotfix.Binary)).
			By(hotfix.Provenance{Hosts: []string{strings.TrimPrefix(address, "https://")}}),
	} {
		t.Run(title, func(t *testing.T) {
			folder := t.TempDir()
			_, err := node.Program(t.Context(), row, version(t, base+".2"), folder)
			if fetch.OutcomeOf(err) != fetch.UnsignedArtifact {
				t.Errorf("outcome %s: %v", fetch.OutcomeOf(err), err)
			}
			empty(t, folder)
		})
	}
	scripts := unsignedNaming(t, hotfix.AnyArchitecture, artifactOf(address, content, hotfix.Binary))
	_, err := node.Scripts(t.Context(), scripts, version(t, base+".2"), t.TempDir())
	if fetch.OutcomeOf(err) != fetch.UnsignedArtifact {
		t.Errorf("scripts: outcome %s: %v", fetch.OutcomeOf(err), err)
	}
	if _, err := os.Stat(record); err == nil || asked.Load() > 0 {
		t.Errorf("the package manager was asked (%v), or the address %d times", err == nil, asked.Load())
	}
}

// TestASignedPointerNamesWhatIsFetched: without a digest under the signature nothing
// is, and nothing from elsewhere than the hosts of the list.
func TestASignedPointerNamesWhatIsFetched(t *testing.T) {
	content := []byte(strings.Repeat("program", 500))
	var asked atomic.Int32
	count := func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write(content)
	}
	address := serving(t, count)
	other := serving(t, count)
	for title, row := range map[string]struct {
		pointer hotfix.Pointer
		want    fetch.Outcome
	}{
		"from a host of the list": {naming(t, runtime.GOARCH, artifactOf(address, content, hotfix.Binary)), fetch.Fetched},
		"none at all":             {signed(t, pointer(t, `{"version":"`+base+`.2"}`)), fetch.NotUnderSignature},
		"none for the base": {signed(t, pointer(t, `{"artifacts":{"202605.01":{"`+runtime.GOARCH+`":1}}}`)),
			fetch.NotUnderSignature},
		"none for the architecture": {naming(t, "riscv64", artifactOf(address, content, hotfix.Binary)),
			fetch.NotUnderSignature},
		"from another host": {signed(t, unsignedNaming(t, runtime.GOARCH, artifactOf(address, content, hotfix.Binary)), other),
			fetch.BadArtifact},
		"with no list": {signed(t, unsignedNaming(t, runtime.GOARCH, artifactOf(address, content, hotfix.Binary))),
			fetch.BadArtifact},
		"over HTTP": {naming(t, runtime.GOARCH, artifactOf("http"+strings.TrimPrefix(address, "https"), content,
			hotfix.Binary)), fetch.BadArtifact},
	} {
		t.Run(title, func(t *testing.T) {
			before := asked.Load()
			folder := t.TempDir()
			_, err := anywhere(t).Program(t.Context(), row.pointer, version(t, base+".2"), folder)
			if fetch.OutcomeOf(err) != row.want {
				t.Errorf("outcome %s, want %s: %v", fetch.OutcomeOf(err), row.want, err)
			}
			if row.want != fetch.Fetched {
				empty(t, folder)
				if asked.Load() != before {
					t.Error("somebody was asked")
				}
			}
		})
	}
}

// TestRedirectionsOfASignedArtifact stay on HTTPS and on the hosts of the list.
func TestRedirectionsOfASignedArtifact(t *testing.T) {
	content := []byte(strings.Repeat("program", 500))
	var asked atomic.Int32
	listed := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	stranger := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write(content)
	})
	for title, row := range map[string]struct {
		to   string
		want fetch.Outcome
	}{
		"to a host of the list":                     {listed, fetch.Fetched},
		"to another host":                           {stranger, fetch.Untrusted},
		"to another host by way of one of the list": {listed + "/on", fetch.Fetched},
		"to HTTP":               {"http" + strings.TrimPrefix(listed, "https"), fetch.Untrusted},
		"to a file":             {"file:///etc/passwd", fetch.Untrusted},
		"to a host with a user": {strings.Replace(stranger, "https://", "https://127.0.0.1@", 1), fetch.Untrusted},
	} {
		t.Run(title, func(t *testing.T) {
			var tries atomic.Int32
			address := serving(t, func(w http.ResponseWriter, r *http.Request) {
				tries.Add(1)
				http.Redirect(w, r, row.to, http.StatusFound)
			})
			p := signed(t, unsignedNaming(t, runtime.GOARCH, artifactOf(address, content, hotfix.Binary)), address, listed)
			_, err := anywhere(t).Program(t.Context(), p, version(t, base+".2"), t.TempDir())
			if fetch.OutcomeOf(err) != row.want || tries.Load() != 1 {
				t.Errorf("outcome %s after %d tries: %v", fetch.OutcomeOf(err), tries.Load(), err)
			}
		})
	}
	if asked.Load() > 0 {
		t.Errorf("the other host was asked %d times", asked.Load())
	}
}

// hasty is a clock for what must not pause.
type hasty struct {
	clock.Real
	t *testing.T
}

func (h hasty) NewTimer(d time.Duration) kclock.Timer {
	h.t.Fatalf("it would have paused for %s", d)
	return nil
}

// TestWhatWillNotChangeIsFinal: no second try, and no pause.
func TestWhatWillNotChangeIsFinal(t *testing.T) {
	content := []byte("program")
	address := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	gone := serving(t, func(http.ResponseWriter, *http.Request) {})
	plain := plainServer(t)
	for title, row := range map[string]struct {
		address string
		change  func(*fetch.Settings)
		want    fetch.Outcome
	}{
		"nobody listens":                     {"https://127.0.0.1:1/x", nil, fetch.Unreachable},
		"a certificate of another authority": {address, func(s *fetch.Settings) { s.Authorities = nil }, fetch.Untrusted},
		"a certificate of another name":      {strings.Replace(gone, "127.0.0.1", "localhost", 1), nil, fetch.Untrusted},
		"a server that speaks no TLS":        {plain, nil, fetch.Untrusted},
	} {
		t.Run(title, func(t *testing.T) {
			node := anywhereWith(t, func(s *fetch.Settings) {
				s.Budget, s.Clock = generous, hasty{t: t}
				if row.change != nil {
					row.change(s)
				}
			})
			_, err := node.Program(t.Context(), naming(t, runtime.GOARCH, artifactOf(row.address, content, hotfix.Binary)),
				version(t, base+".2"), t.TempDir())
			if fetch.OutcomeOf(err) != row.want {
				t.Errorf("outcome %s, want %s: %v", fetch.OutcomeOf(err), row.want, err)
			}
		})
	}
}

// TestTriesAreBounded: after a failure that is remembered, once is enough.
func TestTriesAreBounded(t *testing.T) {
	var tries atomic.Int32
	address := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		tries.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	node := anywhereWith(t, func(s *fetch.Settings) { s.Budget, s.Tries, s.Clock = generous, 1, hasty{t: t} })
	_, err := node.Program(t.Context(), naming(t, runtime.GOARCH, artifactOf(address, []byte("x"), hotfix.Binary)),
		version(t, base+".2"), t.TempDir())
	if fetch.OutcomeOf(err) != fetch.Unreachable || tries.Load() != 1 {
		t.Errorf("outcome %s after %d tries: %v", fetch.OutcomeOf(err), tries.Load(), err)
	}
}

// TestASignedPackageComesFromTheRepository: known by its digest, it needs no signature
// of the repository's.
func TestASignedPackageComesFromTheRepository(t *testing.T) {
	r := aptRepository(t)
	raw, err := os.ReadFile(r.sources)
	if err != nil {
		t.Fatal(err)
	}
	unsigned := filepath.Join(t.TempDir(), "hotfix.list")
	write(t, unsigned, strings.Replace(string(raw), "signed-by", "trusted=yes arch=all,amd64,arm64 signed-by", 1))
	found, err := filepath.Glob(filepath.Join(r.folder, packageName+"_"+base+".2_*.deb"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	content, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	right := artifactOf("", content, hotfix.Deb)
	for title, row := range map[string]struct {
		change func(*hotfix.Artifact)
		source string
		want   fetch.Outcome
	}{
		"the very package":                    {nil, r.sources, fetch.Fetched},
		"of a source whose checks are off":    {nil, unsigned, fetch.Fetched},
		"another digest":                      {func(a *hotfix.Artifact) { a.SHA256 = strings.Repeat("0", 64) }, r.sources, fetch.BadArtifact},
		"another size":                        {func(a *hotfix.Artifact) { a.Size++ }, r.sources, fetch.BadArtifact},
		"a package of another kind of system": {func(a *hotfix.Artifact) { a.Format = hotfix.RPM }, r.sources, fetch.BadArtifact},
		"no package":                          {func(a *hotfix.Artifact) { a.Format = hotfix.Binary }, r.sources, fetch.BadArtifact},
	} {
		t.Run(title, func(t *testing.T) {
			artifact := right
			if row.change != nil {
				row.change(&artifact)
			}
			folder := t.TempDir()
			file, err := debian(t, r, func(s *fetch.Settings) { s.Source = row.source }).Program(t.Context(),
				signed(t, unsignedNaming(t, runtime.GOARCH, artifact)), version(t, base+".2"), folder)
			if fetch.OutcomeOf(err) != row.want {
				t.Fatalf("outcome %s, want %s: %v", fetch.OutcomeOf(err), row.want, err)
			}
			if err == nil {
				holds(t, file, contentOf(base+".2"))
				return
			}
			empty(t, folder)
		})
	}
}

func plainServer(t *testing.T) (address string) {
	t.Helper()
	server := httptest.NewServer(nil)
	t.Cleanup(server.Close)
	return "https" + strings.TrimPrefix(server.URL, "http")
}
