package prepublish_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"salve/internal/hotfix"
	"salve/internal/hotfix/prepublish"
)

// site serves files by their path.
type site map[string][]byte

func (s site) serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, there := s[r.URL.Path]
		if !there {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func compressed(t *testing.T, ending, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	var to interface {
		Write([]byte) (int, error)
		Close() error
	}
	var err error
	switch ending {
	case ".gz":
		to = gzip.NewWriter(&out)
	case ".xz":
		to, err = xz.NewWriter(&out)
	case ".zst":
		to, err = zstd.NewWriter(&out)
	default:
		return []byte(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := to.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// apt is a repository with one version for amd64 and two for arm64.
func apt(t *testing.T, ending string) site {
	t.Helper()
	s := site{}
	release := "Origin: x\nMD5Sum:\n 0 1 main/binary-amd64/Packages\nSHA256:\n"
	for architecture, versions := range map[string][]string{"amd64": {"202604.01.7-ubuntu24.04u1"},
		"arm64": {"202604.01.7", "202604.01.10"}} {
		text := "Package: other\nArchitecture: all\nVersion: 1\n\n"
		for _, version := range versions {
			text += "Package: aks-node-controller\nArchitecture: " + architecture + "\nVersion: " + version +
				"\nDescription: x\n Version: 9\n\n"
		}
		text += "Package: aks-node-controller-scripts\nArchitecture: all\nVersion: 202604.01.2\n"
		raw := compressed(t, ending, text)
		path := "main/binary-" + architecture + "/Packages" + ending
		s["/dists/noble/"+path] = raw
		release += fmt.Sprintf(" %x %d %s\n", sha256.Sum256(raw), len(raw), path)
	}
	s["/dists/noble/Release"] = []byte(release + "SHA512:\n 0 1 main/binary-amd64/Packages\n")
	return s
}

func rpm(t *testing.T, ending string) site {
	t.Helper()
	s := site{}
	for _, architecture := range []string{"x86_64", "aarch64"} {
		primary := `<?xml version="1.0"?><metadata xmlns="http://linux.duke.edu/metadata/common" packages="2">`
		for _, item := range [][3]string{{"aks-node-controller", architecture, "202604.01.7"},
			{"aks-node-controller-scripts", "noarch", "202604.01.2"}, {"aks-node-controller", "src", "202604.01.19"}} {
			primary += `<package type="rpm"><name>` + item[0] + `</name><arch>` + item[1] + `</arch><version epoch="0" ver="` +
				item[2] + `" rel="1.azl3"/></package>`
		}
		raw := compressed(t, ending, primary+"</metadata>")
		s["/"+architecture+"/repodata/primary.xml"+ending] = raw
		s["/"+architecture+"/repodata/repomd.xml"] = fmt.Appendf(nil,
			`<repomd xmlns="http://linux.duke.edu/metadata/repo"><data type="other"/><data type="primary"><checksum type="sha256">%x</checksum><location href="repodata/primary.xml%s"/></data></repomd>`,
			sha256.Sum256(raw), ending)
	}
	return s
}

var both = []string{"amd64", "arm64"}

// published looks for a pointer's targets and gives what is there in short.
func published(t *testing.T, content string, repositories ...string) []string {
	t.Helper()
	pointer, err := hotfix.ParsePointer([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	var places []prepublish.Repository
	for _, text := range repositories {
		place, err := prepublish.ParseRepository(text)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, place)
	}
	reader := prepublish.NewReader()
	defer reader.Close()
	names := prepublish.Names{Program: "aks-node-controller", Scripts: "aks-node-controller-scripts"}
	var found []string
	for _, target := range reader.Published(t.Context(), pointer, names, both, places) {
		found = append(found, strings.Join([]string{strings.TrimPrefix(target.Package, "aks-node-controller"), target.Version,
			target.Architecture, string(target.State)}, " "))
	}
	return found
}

func TestPublishedInARepository(t *testing.T) {
	for _, form := range []string{"deb", "deb.gz", "deb.xz", "rpm.gz", "rpm.xz", "rpm.zst"} {
		kind, ending, _ := strings.Cut(form, ".")
		if ending != "" {
			ending = "." + ending
		}
		var place string
		if kind == "deb" {
			place = "deb " + apt(t, ending).serve(t) + " noble main"
		} else {
			place = "rpm " + rpm(t, ending).serve(t) + "/$basearch"
		}
		t.Run(form, func(t *testing.T) {
			for content, want := range map[string][]string{
				`{"hotfixes":{"202604.01":"202604.01.7"}}`: {" 202604.01.7 amd64 there",
					" 202604.01.7 arm64 there"},
				`{"hotfixes":{"202604.01":"202604.01.1"}}`: {" 202604.01.1 amd64 not-there",
					" 202604.01.1 arm64 not-there"},
				`{"hotfixes":{"202604.01":"202604.01.19"}}`: {" 202604.01.19 amd64 not-there",
					" 202604.01.19 arm64 not-there"},
				`{"version":"202604.01.7","scripts_version":"202604.01.2"}`: {" 202604.01.7 amd64 there",
					"-scripts 202604.01.2 amd64 there", " 202604.01.7 arm64 there", "-scripts 202604.01.2 arm64 there"},
				`{"version":"202604.01.9","hotfixes":{"202604.01":"","202603.01":null}}`: nil,
				`{"hotfixes":{"202604.01":"","202603.01":"202603.01.1"},"version":"what"}`: {" 202603.01.1 amd64 not-there",
					" 202603.01.1 arm64 not-there"},
			} {
				if diff := cmp.Diff(want, published(t, content, place)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", content, diff)
				}
			}
		})
	}
}

func TestOneArchitectureIsMissing(t *testing.T) {
	want := []string{" 202604.01.10 amd64 not-there", " 202604.01.10 arm64 there"}
	if diff := cmp.Diff(want, published(t, `{"version":"202604.01.10"}`, "deb "+apt(t, ".gz").serve(t)+
		" noble main")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a canary names is looked for beside what is for all, however small its share is: it is there to grow.
func TestPublishedForACanary(t *testing.T) {
	place := "deb " + apt(t, ".gz").serve(t) + " noble main"
	for _, percent := range []string{"0", "0.01", "100"} {
		pointer := `{"hotfixes":{"202604.01":"202604.01.7"},"canaries":{"202604.01":{"version":"202604.01.10","percent":` +
			percent + `}}}`
		want := []string{" 202604.01.7 amd64 there", " 202604.01.10 amd64 not-there", " 202604.01.7 arm64 there",
			" 202604.01.10 arm64 there"}
		if diff := cmp.Diff(want, published(t, pointer, place)); diff != "" {
			t.Errorf("%s percent (-want +got):\n%s", percent, diff)
		}
	}
}

// What could not be looked at is never called missing, nor there.
func TestUnreachableRepositoryIsUnknown(t *testing.T) {
	spoilt := apt(t, ".gz")
	spoilt["/dists/noble/main/binary-amd64/Packages.gz"] = compressed(t, ".gz", "Package: x\n")
	for name, place := range map[string]string{
		"no repository there":  "deb " + site{}.serve(t) + " noble main",
		"another suite":        "deb " + apt(t, "").serve(t) + " jammy main",
		"another component":    "deb " + apt(t, "").serve(t) + " noble universe",
		"no metadata there":    "rpm " + site{}.serve(t),
		"metadata that is odd": "rpm " + site{"/repodata/repomd.xml": []byte("<html>")}.serve(t),
	} {
		t.Run(name, func(t *testing.T) {
			want := []string{" 202604.01.7 amd64 unknown", " 202604.01.7 arm64 unknown"}
			if diff := cmp.Diff(want, published(t, `{"version":"202604.01.7"}`, place)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	want := []string{" 202604.01.7 amd64 unknown", " 202604.01.7 arm64 there"}
	if diff := cmp.Diff(want, published(t, `{"version":"202604.01.7"}`, "deb "+spoilt.serve(t)+
		" noble main")); diff != "" {
		t.Errorf("an index that is not the one of Release (-want +got):\n%s", diff)
	}
}

func TestPublishedAtAnAddress(t *testing.T) {
	content := []byte("program")
	address := site{"/program": content}.serve(t)
	pointer := func(path, digest string, size int) string {
		return fmt.Sprintf(
			`{"hotfixes":{"202604.01":"202604.01.7"},"artifacts":{"202604.01":{"amd64":{"url":%q,"sha256":%q,"size":%d,"format":"binary"}}}}`, address+path, digest, size)
	}
	digest := fmt.Sprintf("%x", sha256.Sum256(content))
	place := "deb " + apt(t, "").serve(t) + " noble main"
	for name, row := range map[string]struct{ pointer, want string }{
		"there":         {pointer("/program", digest, 7), "there"},
		"not there":     {pointer("/other", digest, 7), "not-there"},
		"larger":        {pointer("/program", digest, 6), "not-there"},
		"smaller":       {pointer("/program", digest, 8), "not-there"},
		"other content": {pointer("/program", strings.Repeat("0", 64), 7), "not-there"},
	} {
		t.Run(name, func(t *testing.T) {
			want := []string{" 202604.01.7 amd64 " + row.want, " 202604.01.7 arm64 there"}
			if diff := cmp.Diff(want, published(t, row.pointer, place)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRepository(t *testing.T) {
	for _, text := range []string{"", "deb", "deb https://x noble", "deb https://x noble/ main", "deb ftp://x noble main",
		"rpm", "rpm https://x y", "zip https://x", "rpm file:///x"} {
		if place, err := prepublish.ParseRepository(text); err == nil {
			t.Errorf("%q is taken for %s", text, place)
		}
	}
	place, err := prepublish.ParseRepository(" rpm https://user:secret@example.com/x?token=secret ")
	if err != nil || strings.Contains(place.String(), "secret") {
		t.Errorf("%s, %v", place, err)
	}
}

// Indexes as the real tools write them.
func TestIndexesOfRealTools(t *testing.T) {
	for _, tool := range []string{"dpkg-deb", "apt-ftparchive"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed; .ci/run installs what this needs", tool)
		}
	}
	folder, tree := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(tree, "DEBIAN"), 0o755); err != nil {
		t.Fatal(err)
	}
	control := "Package: aks-node-controller\nVersion: 202604.01.7-ubuntu24.04u1\nArchitecture: all\nMaintainer: x " +
		"<x@example.com>\nDescription: x\n"
	if err := os.WriteFile(filepath.Join(tree, "DEBIAN/control"), []byte(control), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"dpkg-deb -b " + tree + " x.deb", "apt-ftparchive packages .", "gzip -k Packages",
		"apt-ftparchive release ."} {
		words := strings.Fields(line)
		command := exec.Command(words[0], words[1:]...)
		command.Dir = folder
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if words[0] == "apt-ftparchive" {
			name := map[string]string{"packages": "Packages", "release": "Release"}[words[1]]
			if err := os.WriteFile(filepath.Join(folder, name), out, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	want := []string{" 202604.01.7 amd64 there", " 202604.01.7 arm64 there"}
	if diff := cmp.Diff(want, published(t, `{"version":"202604.01.7"}`, "deb "+server.URL+" ./")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestARedirectionWithoutEndIsNoPublishedArtifact(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
	}))
	t.Cleanup(server.Close)
	document := fmt.Sprintf(
		`{"hotfixes":{"202604.01":"202604.01.2"},"artifacts":{"202604.01":{"amd64":{"url":%q,"sha256":%q,"size":1,"format":"binary"}}}}`,
		server.URL+"/node", strings.Repeat("0", 64))
	pointer, err := hotfix.ParsePointer([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	reader := prepublish.NewReader()
	defer reader.Close()
	found := reader.Published(t.Context(), pointer, prepublish.Names{}, []string{"amd64"}, nil)
	if len(found) != 1 || !strings.Contains(fmt.Sprint(found), "the redirection is not followed") {
		t.Errorf("found %+v", found)
	}
}
