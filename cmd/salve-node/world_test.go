//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"salve/internal/hotfix/hotfixtest"
)

// TestCheckThenRun is a boot with everything: the live service serves a map, which
// names a hotfix that the node's package repository has, which runs.
func TestCheckThenRun(t *testing.T) {
	folder := t.TempDir()
	image := hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.2"})
	metadata := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(response, `{"encoding":"pkcs7","signature":"c2lnbmF0dXJl"}`) // its reader checks
	}))
	defer metadata.Close()
	service, authority := serveLive(t, `{"hotfixes":{"202604.01":"202604.01.2"}}`)
	hotfixtest.Write(t, folder+"/node", hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.0"}))
	check(t, os.WriteFile(folder+"/pointer.json", []byte(`{"comment":"kept"}`), 0o640))
	check(t, os.WriteFile(folder+"/authority.pem", authority, 0o600))

	launch := exec.Command(releasedNode(t), slices.Concat([]string{"launch", "--check", "--api-server", service,
		"--authority", folder + "/authority.pem", "--server-name", "example.com", "--metadata", metadata.URL,
		"--pointer", folder + "/pointer.json", "--trust-root", folder + "/none", "--signed-pointer", folder + "/none",
		"--baked", folder + "/node", "--staged", folder + "/node-hotfix", "--state", folder + "/state"},
		packageRepository(t, image, "202604.01.2"), []string{"--", "provision"})...)
	out, err := launch.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "ran 202604.01.2 provision") {
		t.Errorf("%v\n%s", err, out)
	}
	pointer, err := os.ReadFile(folder + "/pointer.json")
	if err != nil || !strings.Contains(string(pointer), `"hotfixes":{"202604.01":"202604.01.2"}`) {
		t.Errorf("the pointer is %s, %v", pointer, err)
	}
	status, err := exec.Command(launch.Path, "status", "--state", folder+"/state").Output()
	for _, line := range []string{"live-read", "staged", "ran"} {
		if !strings.Contains(string(status), line) {
			t.Errorf("status does not say %s (%v):\n%s", line, err, status)
		}
	}
}

// TestDisksThatRefuse: an outcome each, and the baked program.
func TestDisksThatRefuse(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a disk takes root")
	}
	image := hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.2"})
	node := releasedNode(t)
	server := newSite(t, func(response http.ResponseWriter, _ *http.Request) {
		_, _ = response.Write(image) // the digest tells
	})
	trusted := server.vouch(t, fmt.Sprintf(`{"version":"202604.01.2","artifacts":%s}`,
		artifacts(server.URL+"/node", image)))
	for outcome, options := range map[string]string{"disk-full": "size=512k", "read-only": "ro"} {
		t.Run(outcome, func(t *testing.T) {
			disk := t.TempDir()
			if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "mode=755,"+strings.TrimPrefix(options, "ro")); err != nil {
				t.Skipf("no disk can be mounted here: %v", err)
			}
			defer func() { check(t, syscall.Unmount(disk, 0)) }()
			if options == "ro" {
				check(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
			}
			flags := append([]string{"--current", "202604.01.0", "--baked", "/bin/echo", "--staged",
				disk + "/node-hotfix", "--state", t.TempDir() + "/state"}, trusted...)
			fetched, err := server.command(node, append([]string{"fetch"}, flags...)...).Output()
			if err != nil || !strings.Contains(string(fetched), `"outcome":"`+outcome+`"`) {
				t.Errorf("fetch: %v\n%s", err, fetched)
			}
			ran, err := server.command(node, append(append([]string{"launch"}, flags...), "--", "provision")...).Output()
			if err != nil || string(ran) != "provision\n" {
				t.Errorf("launch: %v\n%s", err, ran)
			}
		})
	}
}

// artifacts are those of a pointer that names one program, for this machine.
func artifacts(address string, content []byte) string {
	return fmt.Sprintf(`{"202604.01":{%q:%s}}`, runtime.GOARCH, artifact(address, content))
}

func artifact(address string, content []byte) string {
	return fmt.Sprintf(`{"url":%q,"sha256":"%x","size":%d,"format":"binary"}`, address, sha256.Sum256(content),
		len(content))
}

// serveLive answers every call as the live service does, with this map. Package
// live has the tests of all that can go wrong, against a real server of gRPC.
func serveLive(t *testing.T, served string) (address string, authority []byte) {
	t.Helper()
	var message []byte
	for field, text := range []string{"aksNodeController", served} {
		message = binary.AppendUvarint(append(message, byte((field+1)<<3|2)), uint64(len(text)))
		message = append(message, text...)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Content-Type", "application/grpc")
		response.Header().Set("Trailer", "Grpc-Status")
		// its reader checks
		_, _ = response.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...))
		response.Header().Set("Grpc-Status", "0")
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}
