//go:build linux

package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/hotfix/trust"
)

// site serves files over HTTPS.
type site struct {
	*httptest.Server
	authority string // the file with its certificate
}

func newSite(t testing.TB, handle http.HandlerFunc) site {
	t.Helper()
	s := site{httptest.NewTLSServer(handle), filepath.Join(t.TempDir(), "authority.pem")}
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	check(t, os.WriteFile(s.authority,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	return s
}

func (s site) host() string { return strings.TrimPrefix(s.URL, "https://") }

// command is a process of salve-node, or of the program that it is, to whom the
// site's certificate is good.
func (s site) command(name string, arguments ...string) *exec.Cmd {
	command := exec.Command(name, arguments...)
	command.Env = append(os.Environ(), "SSL_CERT_FILE="+s.authority)
	return command
}

// vouch signs a pointer, and gives the flags of a node that trusts who signed it.
func (s site) vouch(t testing.TB, pointer string) (flags []string) {
	t.Helper()
	folder := t.TempDir()
	soon := time.Now().Add(100 * time.Hour)
	payload, err := trust.Root{Version: 1, Expires: soon, Root: roleOf(1, "owner"), Pointer: roleOf(1, "ci"),
		Hosts: []string{s.host()}}.Payload()
	check(t, err)
	root, err := signedBy(trust.Envelope{PayloadType: trust.RootType, Payload: payload}, "owner").Encode()
	check(t, err)
	check(t, os.WriteFile(filepath.Join(folder, "root.json"), root, 0o600))
	payload, err = trust.Document{Counter: 1, Issued: trust.At(time.Now().Add(-time.Hour)), Expires: trust.At(soon),
		Pointer: []byte(pointer)}.Payload()
	check(t, err)
	bundle, err := trust.Bundle{
		Pointer: signedBy(trust.Envelope{PayloadType: trust.PointerType, Payload: payload}, "ci"),
	}.Encode()
	check(t, err)
	check(t, os.WriteFile(filepath.Join(folder, "signed.json"), bundle, 0o600))
	return []string{"--trust-root", filepath.Join(folder, "root.json"), "--signed-pointer",
		filepath.Join(folder, "signed.json")}
}
