//go:build linux

package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"salve/internal/hotfix/trust"
)

// serveSecurely serves the script's folder at $SITE over HTTPS; the node trusts its certificate.
func serveSecurely(env *testscript.Env) error {
	server := httptest.NewTLSServer(http.FileServer(http.Dir(env.Getenv("WORK"))))
	env.Defer(server.Close)
	authority := filepath.Join(env.Getenv("WORK"), "authority.pem")
	env.Setenv("SITE", server.URL)
	env.Setenv("SSL_CERT_FILE", authority)
	return os.WriteFile(authority,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600)
}

// The keys of scripts are made of their names.
func privateKey(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func roleOf(threshold int, names string) trust.Role {
	role := trust.Role{Threshold: threshold}
	for name := range strings.SplitSeq(names, ",") {
		public := privateKey(name).Public().(ed25519.PublicKey)
		role.Keys = append(role.Keys, trust.Key{ID: trust.IDOf(public), Name: name, Public: public})
	}
	return role
}

func signedBy(e trust.Envelope, names string) trust.Envelope {
	for name := range strings.SplitSeq(names, ",") {
		if name != "" {
			id := roleOf(1, name).Keys[0].ID
			e.Signatures = append(e.Signatures, trust.Signature{KeyID: id, Sig: ed25519.Sign(privateKey(name), e.Signed())})
		}
	}
	return e
}

// words are those of a script's command, with defaults: name=value.
func words(ts *testscript.TestScript, arguments []string, values map[string]string) map[string]string {
	for _, word := range arguments {
		name, value, _ := strings.Cut(word, "=")
		if _, known := values[name]; !known {
			ts.Fatalf("%s?", name)
		}
		values[name] = value
	}
	return values
}

func number(ts *testscript.TestScript, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	ts.Check(err)
	return n
}

// fromNow is a time, an age as Go writes it away from now.
func fromNow(ts *testscript.TestScript, age string) time.Time {
	d, err := time.ParseDuration(age)
	ts.Check(err)
	return time.Now().Add(d)
}

// rootOfScript makes root VERSION at $TRUST_ROOT. The words: to=FILE, keys= and pointers= the names of the keys of the
// two roles, threshold= of the pointer's, by= who signs, hosts=, expires= from now.
func rootOfScript(ts *testscript.TestScript, _ bool, arguments []string) {
	_, host, _ := strings.Cut(ts.Getenv("SITE"), "//")
	given := words(ts, arguments[1:], map[string]string{"to": "", "keys": "owner", "pointers": "ci", "threshold": "1",
		"by": "owner", "hosts": host, "expires": "1000h"})
	root := trust.Root{
		Version: number(ts, arguments[0]), Expires: fromNow(ts, given["expires"]), Root: roleOf(1, given["keys"]),
		Pointer: roleOf(int(number(ts, given["threshold"])), given["pointers"]), Hosts: strings.Split(given["hosts"], ","),
	}
	payload, err := root.Payload()
	ts.Check(err)
	raw, err := signedBy(trust.Envelope{PayloadType: trust.RootType, Payload: payload}, given["by"]).Encode()
	ts.Check(err)
	to := ts.Getenv("TRUST_ROOT")
	if given["to"] != "" {
		to = ts.MkAbs(given["to"])
	}
	ts.Check(os.WriteFile(to, raw, 0o644))
}

// signOfScript makes $SIGNED_POINTER of a pointer file, as document COUNTER. The words: by= who signs, issued= and
// expires= from now, roots= files of roots that come with it.
func signOfScript(ts *testscript.TestScript, _ bool, arguments []string) {
	given := words(ts, arguments[2:], map[string]string{"by": "ci", "issued": "-1h", "expires": "100h", "roots": ""})
	document := trust.Document{Counter: number(ts, arguments[1]), Issued: trust.At(fromNow(ts, given["issued"])),
		Expires: trust.At(fromNow(ts, given["expires"])), Pointer: []byte(strings.TrimSpace(ts.ReadFile(arguments[0])))}
	payload, err := document.Payload()
	ts.Check(err)
	envelope := trust.Envelope{PayloadType: trust.PointerType, Payload: payload}
	bundle := trust.Bundle{Pointer: signedBy(envelope, given["by"])}
	for file := range strings.SplitSeq(given["roots"], ",") {
		if file != "" {
			envelope, err := trust.ParseEnvelope([]byte(ts.ReadFile(file)))
			ts.Check(err)
			bundle.Roots = append(bundle.Roots, envelope)
		}
	}
	raw, err := bundle.Encode()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.Getenv("SIGNED_POINTER"), raw, 0o666))
}

// artifactOfScript writes a pointer whose artifact is a file, at a path on $SITE.
func artifactOfScript(ts *testscript.TestScript, _ bool, arguments []string) {
	raw := ts.ReadFile(arguments[0])
	pointer := fmt.Sprintf(`{"hotfixes":{"202604.01":"202604.01.2"},"artifacts":{"202604.01":{%q:%s}}}`, runtime.GOARCH,
		artifact(ts.Getenv("SITE")+"/"+arguments[2], []byte(raw)))
	ts.Check(os.WriteFile(ts.MkAbs(arguments[1]), []byte(pointer), 0o600))
}
