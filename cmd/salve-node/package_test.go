//go:build linux

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// packageRepository is a real one of apt's, signed, over loopback HTTP, with one
// package of the program. The flags are those of a node that has it configured.
// Package fetch has the tests of all that can go wrong with one.
func packageRepository(t testing.TB, image []byte, version string) (flags []string) {
	t.Helper()
	for _, name := range []string{"apt-get", "apt-cache", "dpkg-deb", "apt-ftparchive", "gpg", "gpgv"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed; .ci/run installs what this needs", name)
		}
	}
	folder, tree, home := t.TempDir(), t.TempDir(), t.TempDir()
	t.Cleanup(func() { _ = exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run() }) // its agent
	output := func(name string, arguments ...string) string {
		command := exec.Command(name, arguments...)
		command.Dir = folder
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return string(out)
	}
	put := func(path, content string) {
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, []byte(content), 0o755))
	}
	architecture := strings.TrimSpace(output("dpkg", "--print-architecture"))
	put(filepath.Join(tree, "DEBIAN/control"), "Package: aks-node-controller\nVersion: "+version+"\nArchitecture: "+
		architecture+"\nMaintainer: nobody <nobody@example.com>\nDescription: a program of a test\n")
	put(filepath.Join(tree, "usr/bin/aks-node-controller"), string(image))
	output("dpkg-deb", "--root-owner-group", "-b", tree, filepath.Join(folder, "a.deb"))
	put(filepath.Join(folder, "Packages"), output("apt-ftparchive", "packages", "."))
	put(filepath.Join(folder, "Release"), output("apt-ftparchive", "release", "."))
	gpg := []string{"--homedir", home, "--batch", "--quiet", "--passphrase", ""}
	output("gpg", append(gpg, "--quick-gen-key", "hotfix@example.com", "rsa3072", "sign", "never")...)
	output("gpg", append(gpg, "--clearsign", "-o", "InRelease", "Release")...)
	key := filepath.Join(folder, "key.asc")
	put(key, output("gpg", append(gpg, "--armor", "--export")...))
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	sources, release := filepath.Join(folder, "hotfix.list"), filepath.Join(folder, "os-release")
	put(sources, "deb [signed-by="+key+"] "+server.URL+" ./\n")
	put(release, "ID=debian\n")
	return []string{"--source", sources, "--os-release", release}
}
