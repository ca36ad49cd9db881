package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

var commitTime = time.Date(2026, 11, 25, 2, 13, 0, 0, time.UTC)

// dist writes what GoReleaser would: two programs for Linux, and others that are not the image's.
func dist(t *testing.T, program string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "dist")
	for _, path := range []string{"salve_amd64", "salve_arm64", "salve_darwin", "salve-sim"} {
		write(t, filepath.Join(folder, path), program+" "+path)
	}
	list := []map[string]any{
		{"type": "Binary", "path": "dist/salve_amd64", "goos": "linux", "goarch": "amd64", "extra": map[string]string{"ID": "salve"}},
		{"type": "Binary", "path": "dist/salve_arm64", "goos": "linux", "goarch": "arm64", "extra": map[string]string{"ID": "salve"}},
		{"type": "Binary", "path": "dist/salve_darwin", "goos": "darwin", "goarch": "arm64", "extra": map[string]string{"ID": "salve"}},
		{"type": "Binary", "path": "dist/salve-sim", "goos": "linux", "goarch": "amd64", "extra": map[string]string{"ID": "salve-sim"}},
		{"type": "Archive", "path": "dist/salve.tar.gz", "goos": "linux", "goarch": "amd64", "extra": map[string]string{"ID": "salve"}},
	}
	raw, err := json.Marshal(list)
	check(t, err)
	write(t, filepath.Join(folder, "artifacts.json"), string(raw))
	write(t, filepath.Join(folder, "metadata.json"), `{"version": "1.2.3", "commit": "3cd56b0", "date": "now"}`)
	return folder
}

// licenses are files as a release has them.
func licenses(t *testing.T) []string {
	t.Helper()
	folder := t.TempDir()
	own, others := filepath.Join(folder, "LICENSE"), filepath.Join(folder, licensesName)
	write(t, own, "its own")
	write(t, others, "those of others")
	return []string{own, others}
}

func TestImageIsTheSameEachTime(t *testing.T) {
	var digests []string
	for range 2 {
		folder := dist(t, "program")
		check(t, makeImage(folder, "", licenses(t), commitTime))
		digests = append(digests, read(t, filepath.Join(folder, "image.digest")))
	}
	other := dist(t, "another program")
	check(t, makeImage(other, "", licenses(t), commitTime))
	if digests[0] != digests[1] {
		t.Errorf("the same programs make %q", digests)
	}
	if digests[0] == read(t, filepath.Join(other, "image.digest")) {
		t.Error("other programs make the same image")
	}
}

// TestImageGoesThroughARegistry: what was pushed from the layout is what a node would pull.
func TestImageGoesThroughARegistry(t *testing.T) {
	folder := dist(t, "program")
	check(t, makeImage(folder, "https://home.invalid", licenses(t), commitTime))
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	tag, err := name.NewTag(strings.TrimPrefix(server.URL, "http://") + "/salve:1.2.3")
	check(t, err)
	check(t, remote.WriteIndex(tag, theIndex(t, folder)))

	for _, architecture := range []string{"amd64", "arm64"} {
		image, err := remote.Image(tag, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: architecture}))
		check(t, err)
		config, err := image.ConfigFile()
		check(t, err)
		if config.Architecture != architecture || config.Config.User != "65532:65532" || !config.Created.Equal(commitTime) {
			t.Errorf("%s: %s as %q of %s", architecture, config.Architecture, config.Config.User, config.Created)
		}
		if config.Config.Labels["org.opencontainers.image.version"] != "1.2.3" {
			t.Errorf("%s: %v", architecture, config.Config.Labels)
		}
		files := filesOf(t, image)
		if files["usr/bin/salve"] != "program salve_"+architecture {
			t.Errorf("%s: salve is %q", architecture, files["usr/bin/salve"])
		}
		if roots := strings.Count(files[rootsPath], "BEGIN CERTIFICATE"); roots < 50 {
			t.Errorf("%s: %d roots", architecture, roots)
		}
		for path := range files {
			if !slices.Contains([]string{"etc/group", "etc/passwd", rootsPath, "usr/bin/salve", licensesPath + "LICENSE",
				licensesPath + licensesName}, path) {
				t.Errorf("%s: %s is in the image", architecture, path)
			}
		}
		if got := files[licensesPath+licensesName]; got != "those of others" {
			t.Errorf("%s: the licenses are %q", architecture, got)
		}
	}
}

// TestProgramRunsInTheImage, as its user and with nothing else there, not even a library.
func TestProgramRunsInTheImage(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to change the root of the file system")
	}
	folder := dist(t, "")
	source := filepath.Join(t.TempDir(), "main.go")
	write(t, source, `package main
import ("crypto/x509"; "fmt"; "os"; "os/user")
func main() {
	_, err := x509.SystemCertPool()
	who, _ := user.Current()
	_, ofRoot := os.Create("/x")
	home, ours := os.Create("/home/salve/x")
	_ = home
	fmt.Println(err, who.Username, ofRoot != nil, ours)
}
`)
	program := filepath.Join(folder, "salve_"+runtime.GOARCH)
	check(t, os.Remove(program)) // Go builds over programs alone
	build := exec.Command("go", "build", "-o", program, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	check(t, makeImage(folder, "", licenses(t), commitTime))
	image := imageFor(t, theIndex(t, folder), runtime.GOARCH)
	config, err := image.ConfigFile()
	check(t, err)
	root := t.TempDir()
	check(t, os.Chmod(root, 0o755))
	unpack(t, image, root)

	command := &exec.Cmd{
		Path: config.Config.Entrypoint[0], Args: config.Config.Entrypoint, Env: config.Config.Env, Dir: config.Config.WorkingDir,
		SysProcAttr: &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}},
	}
	said, err := command.CombinedOutput()
	if want := "<nil> salve true <nil>\n"; err != nil || string(said) != want {
		t.Errorf("%v: %q, want %q", err, said, want)
	}
}

func TestReleaseWithoutPrograms(t *testing.T) {
	folder := dist(t, "program")
	write(t, filepath.Join(folder, "artifacts.json"), "[]")
	if err := makeImage(folder, "", licenses(t), commitTime); err == nil || !strings.Contains(err.Error(), "no salve for linux") {
		t.Error(err)
	}
	if err := makeImage(t.TempDir(), "", licenses(t), commitTime); err == nil || !strings.Contains(err.Error(), "hint: make release-snapshot") {
		t.Error(err)
	}
}

func TestChartHasTheVersionOfTheRelease(t *testing.T) {
	files := fstest.MapFS{
		"Chart.yaml":       {Data: []byte("name: salve\nversion: 0.0.0\nappVersion: 0.0.0\n")},
		"values.yaml":      {Data: []byte("version: 0.0.0\n")},
		"templates/a.yaml": {Data: []byte("a")},
	}
	var first, second bytes.Buffer
	check(t, writeChart(&first, files, "1.2.3", commitTime))
	check(t, writeChart(&second, files, "1.2.3", commitTime))
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("it is another one each time")
	}
	unpacked, err := gzip.NewReader(&first)
	check(t, err)
	got := entries(t, unpacked)
	want := map[string]string{
		"salve/Chart.yaml":  "name: salve\nversion: 1.2.3\nappVersion: 1.2.3\n",
		"salve/values.yaml": "version: 0.0.0\n", "salve/templates/a.yaml": "a",
	}
	if len(got) != len(want) {
		t.Errorf("got %d files, want %d", len(got), len(want))
	}
	for path, content := range want {
		if got[path] != content {
			t.Errorf("%s is %q", path, got[path])
		}
	}
}

func theIndex(t *testing.T, dist string) v1.ImageIndex {
	t.Helper()
	index, err := layout.ImageIndexFromPath(filepath.Join(dist, "image"))
	check(t, err)
	manifest, err := index.IndexManifest()
	check(t, err)
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].Digest.String()+"\n" != read(t, filepath.Join(dist, "image.digest")) {
		t.Fatalf("the layout holds %v", manifest.Manifests)
	}
	inner, err := index.ImageIndex(manifest.Manifests[0].Digest)
	check(t, err)
	return inner
}

func imageFor(t *testing.T, index v1.ImageIndex, architecture string) v1.Image {
	t.Helper()
	manifest, err := index.IndexManifest()
	check(t, err)
	for _, one := range manifest.Manifests {
		if one.Platform.Architecture == architecture {
			image, err := index.Image(one.Digest)
			check(t, err)
			return image
		}
	}
	t.Fatalf("there is no image for %s", architecture)
	return nil
}

func filesOf(t *testing.T, image v1.Image) map[string]string {
	t.Helper()
	content := mutate.Extract(image)
	defer content.Close()
	return entries(t, content)
}

func entries(t *testing.T, content io.Reader) map[string]string {
	t.Helper()
	files := map[string]string{}
	for archive := tar.NewReader(content); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		check(t, err)
		if header.Typeflag == tar.TypeReg {
			raw, err := io.ReadAll(archive)
			check(t, err)
			files[header.Name] = string(raw)
		}
	}
}

// unpack writes the image's files as a runtime does.
func unpack(t *testing.T, image v1.Image, root string) {
	t.Helper()
	content := mutate.Extract(image)
	defer content.Close()
	for archive := tar.NewReader(content); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		check(t, err)
		path := filepath.Join(root, header.Name)
		if header.Typeflag == tar.TypeDir {
			check(t, os.Mkdir(path, 0o755))
		} else {
			raw, err := io.ReadAll(archive)
			check(t, err)
			check(t, os.WriteFile(path, raw, 0o600))
		}
		check(t, os.Chown(path, header.Uid, header.Gid))
		check(t, os.Chmod(path, header.FileInfo().Mode()))
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, []byte(content), 0o755))
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	check(t, err)
	return string(raw)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
