//go:build linux

package liveconfig_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"salve/internal/hotfix"
	"salve/internal/hotfix/liveconfig"
)

const merged = `{"version":"202604.01.5", "scripts_version": "202604.01.6","hotfixes":{"202604.01":"202604.01.7"}}`

func TestALiveRead(t *testing.T) {
	for _, protocols := range [][]string{{"aks-live-patching", "h2"}, {"h2"}, {"h2", "aks-live-patching"},
		{"aks-live-patching"}} {
		t.Run(strings.Join(protocols, ","), func(t *testing.T) {
			f := newFront(t)
			f.tls.NextProtos = protocols
			n := newNode(t, f.serve(t), f.authority, "")
			result := n.check(t)
			if result.Outcome != liveconfig.LiveRead || !result.Written || result.Decision.Wanted() != "202604.01.7" ||
				result.Err != nil {
				t.Errorf("%+v", result)
			}
			n.has(t, merged)
			if state := <-f.asked; state.NegotiatedProtocol != protocols[0] || state.Version < tls.VersionTLS12 {
				t.Errorf("%s, %x", state.NegotiatedProtocol, state.Version)
			}
		})
	}
}

func TestTheSecondReadChangesNothing(t *testing.T) {
	f := newFront(t)
	n := newNode(t, f.serve(t), f.authority, "")
	n.check(t)
	before, err := os.Stat(n.pointer)
	if err != nil {
		t.Fatal(err)
	}
	if result := n.check(t); result.Outcome != liveconfig.LiveRead || result.Written {
		t.Errorf("%+v", result)
	}
	if after, err := os.Stat(n.pointer); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was written again, %v", err)
	}
}

func TestWhatIsServed(t *testing.T) {
	for name, row := range map[string]struct {
		config  string
		want    liveconfig.Outcome
		reason  hotfix.Reason
		pointer string // afterwards; empty where it stays as it was
	}{
		"a hotfix": {`{"hotfixes":{"202604.01":"202604.01.7"}}`, liveconfig.LiveRead, hotfix.ReasonInstall, merged},
		"other bases": {`{"hotfixes":{"202603.01":"202603.01.7"}}`, liveconfig.NoHotfixForBase,
			hotfix.ReasonBaseNotListed, ""},
		"explicitly none": {`{"hotfixes":{"202604.01":null}}`, liveconfig.NoHotfixForBase, hotfix.ReasonExplicitlyNone,
			strings.Replace(merged, `"202604.01.7"`, "null", 1)},
		"an empty map":      {`{"hotfixes":{}}`, liveconfig.NonePublished, hotfix.ReasonNoVersion, ""},
		"an empty object":   {`{}`, liveconfig.NonePublished, hotfix.ReasonNoVersion, ""},
		"an empty text":     {``, liveconfig.NonePublished, hotfix.ReasonEmptyPointer, ""},
		"not higher":        {`{"hotfixes":{"202604.01":"202604.01.3"}}`, liveconfig.Rejected, hotfix.ReasonNotHigher, ""},
		"malformed":         {`{"hotfixes":{"202604.01":"latest"}}`, liveconfig.Rejected, hotfix.ReasonTargetMalformed, ""},
		"of the wrong type": {`{"hotfixes":{"202604.01":7}}`, liveconfig.Rejected, hotfix.ReasonTargetMalformed, ""},
		"of another base": {`{"hotfixes":{"202604.01":"202604.02.7"}}`, liveconfig.Rejected, hotfix.ReasonBaseMismatch,
			""},
		"no map":  {`{"hotfixes":[]}`, liveconfig.Rejected, hotfix.ReasonMalformedPointer, ""},
		"no JSON": {`no`, liveconfig.Rejected, hotfix.ReasonMalformedPointer, ""},
		"larger than read": {`{"hotfixes":{"202604.01":"202604.01.7"},"x":"` + strings.Repeat("x", hotfix.MaxPointerSize) +
			`"}`, liveconfig.Rejected, hotfix.ReasonMalformedPointer, ""},
		"beyond the message": {strings.Repeat("x", 1<<20), liveconfig.Failed, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFront(t)
			f.answers = always(row.config, nil)
			n := newNode(t, f.serve(t), f.authority, "")
			result := n.check(t)
			if result.Outcome != row.want || result.Decision.Reason != row.reason || result.Written != (row.pointer != "") {
				t.Errorf("%+v", result)
			}
			if row.pointer == "" {
				row.pointer = legacy
			}
			n.has(t, row.pointer)
		})
	}
}

// Every status of gRPC, with a map in the node's configuration to fall back on.
func TestEveryStatus(t *testing.T) {
	outcomes := map[codes.Code]liveconfig.Outcome{
		codes.NotFound: liveconfig.NonePublished, codes.PermissionDenied: liveconfig.NonePublished,
		codes.Unauthenticated: liveconfig.NonePublished,
		codes.InvalidArgument: liveconfig.Failed, codes.AlreadyExists: liveconfig.Failed,
		codes.ResourceExhausted:  liveconfig.Failed,
		codes.FailedPrecondition: liveconfig.Failed, codes.OutOfRange: liveconfig.Failed,
		codes.Canceled: liveconfig.ColdStartFallback, codes.Unknown: liveconfig.ColdStartFallback,
		codes.DeadlineExceeded: liveconfig.ColdStartFallback,
		codes.Aborted:          liveconfig.ColdStartFallback, codes.Unimplemented: liveconfig.ColdStartFallback,
		codes.Internal:    liveconfig.ColdStartFallback,
		codes.Unavailable: liveconfig.ColdStartFallback, codes.DataLoss: liveconfig.ColdStartFallback,
	}
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		t.Run(code.String(), func(t *testing.T) {
			f := newFront(t)
			f.answers = always("", status.Error(code, "because, 100%"))
			n := newNode(t, f.serve(t), f.authority, `{"202604.01":"202604.01.7"}`)
			result := n.check(t)
			if result.Outcome != outcomes[code] {
				t.Errorf("%+v, want %s", result, outcomes[code])
			}
			if result.Err == nil || !strings.Contains(result.Err.Error(), "because, 100%") {
				t.Errorf("it says %v", result.Err)
			}
			if result.Outcome == liveconfig.ColdStartFallback {
				n.has(t, merged)
			} else {
				n.has(t, legacy)
			}
		})
	}
}

func TestWhoIsNotBelieved(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *front){
		"another name": func(t *testing.T, f *front) {
			f.tls.Certificates[0] = f.authority.issue(t, "localhost", time.Now().Add(time.Hour))
		},
		"another authority": func(t *testing.T, f *front) {
			f.tls.Certificates[0] = newAuthority(t).issue(t, serviceName, time.Now().Add(time.Hour))
		},
		"a certificate that is over": func(t *testing.T, f *front) {
			f.tls.Certificates[0] = f.authority.issue(t, serviceName, time.Now().Add(-time.Hour))
		},
		"an old TLS":          func(_ *testing.T, f *front) { f.tls.MaxVersion = tls.VersionTLS11 },
		"no protocol of ours": func(_ *testing.T, f *front) { f.tls.NextProtos = nil },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFront(t)
			change(t, f)
			n := newNode(t, f.serve(t), f.authority, "")
			if result := n.check(t); result.Outcome != liveconfig.Failed || result.Err == nil {
				t.Errorf("%+v", result)
			}
			n.has(t, legacy)
		})
	}
}

func TestAnotherServerNameCanBeSet(t *testing.T) {
	f := newFront(t)
	f.tls.Certificates[0] = f.authority.issue(t, "patches.example.com", time.Now().Add(time.Hour))
	n := newNode(t, f.serve(t), f.authority, "")
	n.settings.ServerName = "patches.example.com"
	if result := n.check(t); result.Outcome != liveconfig.LiveRead {
		t.Errorf("%+v", result)
	}
}

func TestBlackHoles(t *testing.T) {
	f := newFront(t)
	for name, serve := range map[string]func(net.Conn){
		"never completes the handshake": func(net.Conn) {},
		"never answers": func(raw net.Conn) {
			connection := tls.Server(raw, f.tls)
			_, _ = connection.Read(make([]byte, 1<<16))
		},
		"closes at once": func(raw net.Conn) { _ = raw.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			listener := listen(t)
			go func() {
				for {
					raw, err := listener.Accept()
					if err != nil {
						return
					}
					t.Cleanup(func() { _ = raw.Close() })
					serve(raw)
				}
			}()
			n := newNode(t, listener.Addr().String(), f.authority, `{"202604.01":"202604.01.7"}`)
			n.settings.Limit = 300 * time.Millisecond
			began := time.Now()
			result := n.check(t)
			if result.Outcome != liveconfig.ColdStartFallback || result.Decision.Wanted() != "202604.01.7" {
				t.Errorf("%+v", result)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
			n.has(t, merged)
		})
	}
}

// What a server sends that is no whole answer of gRPC.
func TestHalfAnAnswer(t *testing.T) {
	whole := "\x00\x00\x00\x00\x04\x12\x02{}"
	grpcAnswer := func(body, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/grpc")
			w.Header().Set("Trailer", "Grpc-Status")
			_, _ = w.Write([]byte(body))
			if code != "" {
				w.Header().Set("Grpc-Status", code)
			}
		}
	}
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		_, _ = w.Write([]byte(whole[:6]))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	for name, row := range map[string]struct {
		handle http.HandlerFunc
		want   liveconfig.Outcome
	}{
		"a whole one, to compare":    {grpcAnswer(whole, "0"), liveconfig.NonePublished},
		"cut off in the message":     {cut, liveconfig.Failed},
		"half a message":             {grpcAnswer(whole[:7], "0"), liveconfig.Failed},
		"half a prefix":              {grpcAnswer(whole[:3], "0"), liveconfig.Failed},
		"no message":                 {grpcAnswer("", "0"), liveconfig.Failed},
		"two messages":               {grpcAnswer(whole+whole, "0"), liveconfig.Failed},
		"no status":                  {grpcAnswer(whole, ""), liveconfig.Failed},
		"a status that is no number": {grpcAnswer(whole, "fine"), liveconfig.Failed},
		"a compressed message":       {grpcAnswer("\x01"+whole[1:], "0"), liveconfig.Failed},
		"a message that says a TB":   {grpcAnswer("\x00\xff\xff\xff\xff", "0"), liveconfig.Failed},
		"no protobuf":                {grpcAnswer("\x00\x00\x00\x00\x02\x12\x7f", "0"), liveconfig.Failed},
		"about another component":    {grpcAnswer("\x00\x00\x00\x00\x03\x0a\x01x", "0"), liveconfig.Failed},
		"a gateway's page": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "sorry",
				http.StatusBadGateway)
		}, liveconfig.Failed},
		"a gateway that forbids": {func(w http.ResponseWriter,
			_ *http.Request) {
			http.Error(w, "no", http.StatusForbidden)
		}, liveconfig.NonePublished},
		"a page where gRPC should be": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
			liveconfig.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFront(t)
			server := httptest.NewUnstartedServer(row.handle)
			server.EnableHTTP2, server.TLS = true, f.tls.Clone()
			server.TLS.NextProtos = []string{"h2"}
			server.StartTLS()
			t.Cleanup(server.Close)
			n := newNode(t, server.Listener.Addr().String(), f.authority, "")
			if result := n.check(t); result.Outcome != row.want {
				t.Errorf("%+v, want %s", result, row.want)
			}
			n.has(t, legacy)
		})
	}
}

func TestTheMetadataServiceIsTriedTwice(t *testing.T) {
	f := newFront(t)
	address := f.serve(t)
	for name, row := range map[string]struct {
		bad  int32 // answers before a good one
		want liveconfig.Outcome
	}{"once bad": {1, liveconfig.LiveRead}, "twice bad": {2, liveconfig.Failed}} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			n := newNode(t, address, f.authority, "")
			n.settings.Metadata = metadataService(t, func(w http.ResponseWriter, _ *http.Request) {
				if tries.Add(1) <= row.bad {
					http.Error(w, "not now", http.StatusInternalServerError)
					return
				}
				_, _ = fmt.Fprintf(w, `{"signature":%q}`, signature)
			})
			if result := n.check(t); result.Outcome != row.want {
				t.Errorf("%+v", result)
			}
			if tries.Load() != 2 {
				t.Errorf("%d tries", tries.Load())
			}
		})
	}
}

func TestAMetadataServiceThatHangs(t *testing.T) {
	f := newFront(t)
	n := newNode(t, f.serve(t), f.authority, "")
	n.settings.Metadata = metadataService(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	n.settings.MetadataLimit = 50 * time.Millisecond
	if result := n.check(t); result.Outcome != liveconfig.Failed {
		t.Errorf("%+v", result)
	}
}

func TestNoProxyIsUsed(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	f := newFront(t)
	if result := newNode(t, f.serve(t), f.authority, "").check(t); result.Outcome != liveconfig.LiveRead {
		t.Errorf("%+v", result)
	}
}

func TestTheNodesConfiguration(t *testing.T) {
	f := newFront(t)
	address := f.serve(t)
	authorityFile := filepath.Join(t.TempDir(), "ca.pem")
	for name, row := range map[string]struct {
		configuration string
		settings      liveconfig.Settings
		want          liveconfig.Outcome
	}{
		"as protobuf names its fields": {`{"api_server_config":{"api_server_name":"` + address +
			`"},"kubernetes_ca_cert":"%s"}`, liveconfig.Settings{}, liveconfig.LiveRead},
		"not needed when all is set": {``, liveconfig.Settings{Server: address, Authority: authorityFile},
			liveconfig.LiveRead},
		"no API server": {`{"kubernetesCaCert":"%s"}`, liveconfig.Settings{}, liveconfig.Failed},
		"no authority": {`{"apiServerConfig":{"apiServerName":"` + address + `"}}`, liveconfig.Settings{},
			liveconfig.Failed},
		"an authority that is no base64": {`{"apiServerConfig":{"apiServerName":"` + address + `"},"kubernetesCaCert":"!"}`,
			liveconfig.Settings{}, liveconfig.Failed},
		"no JSON": {`#!/bin/sh`, liveconfig.Settings{}, liveconfig.Failed},
		"an authority's file that is gone": {`{}`, liveconfig.Settings{Server: address, Authority: "/nowhere"},
			liveconfig.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, address, f.authority, "")
			raw, err := os.ReadFile(n.settings.Configuration)
			if err != nil {
				t.Fatal(err)
			}
			_, rest, _ := strings.Cut(string(raw), `"kubernetesCaCert":"`)
			encoded, _, _ := strings.Cut(rest, `"`)
			n.writes(t, authorityFile, string(f.authority.pem))
			n.writes(t, n.settings.Configuration, strings.Replace(row.configuration, "%s", encoded, 1))
			n.settings.Server, n.settings.Authority = row.settings.Server, row.settings.Authority
			if result := n.check(t); result.Outcome != row.want {
				t.Errorf("%+v, want %s", result, row.want)
			}
		})
	}
}

func TestAnEmbeddedMapPassesTheSameGate(t *testing.T) {
	by := newAuthority(t)
	for embedded, row := range map[string]struct {
		want liveconfig.Outcome
		file string
	}{
		`{"202604.01":"202604.01.7"}`: {liveconfig.ColdStartFallback, merged},
		`{"202603.01":"202603.01.7"}`: {liveconfig.ColdStartFallback, legacy},
		`{"202604.01":"202604.01.2"}`: {liveconfig.Failed, legacy},
		`{"202604.01":"newest"}`:      {liveconfig.Failed, legacy},
		`{}`:                          {liveconfig.Failed, legacy},
		`[]`:                          {liveconfig.Failed, legacy},
		`null`:                        {liveconfig.Failed, legacy},
	} {
		t.Run(embedded, func(t *testing.T) {
			n := newNode(t, "127.0.0.1:1", by, embedded)
			if result := n.check(t); result.Outcome != row.want || result.Err == nil {
				t.Errorf("%+v", result)
			}
			n.has(t, row.file)
		})
	}
}

func TestANodeWithoutAVersionAsksNobody(t *testing.T) {
	n := newNode(t, "127.0.0.1:1", newAuthority(t), `{"202604.01":"202604.01.7"}`)
	result := liveconfig.New(n.settings).Check(t.Context(), "dev", n.pointer)
	if result.Outcome != liveconfig.Failed || result.Written {
		t.Errorf("%+v", result)
	}
}
