package fetch_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/fetch"
)

const (
	packageName = "aks-node-controller"
	base        = "202604.01"
)

// debs are the packages of a repository: version to the compression of its files.
var debs = map[string]string{
	base + ".1-ubuntu24.04u1":  "xz",
	base + ".2":                "gzip",
	base + ".10-ubuntu24.04u1": "zstd",
	base + ".19-ubuntu24.04u1": "none",
}

// needs skips where a program is not installed.
func needs(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed; .ci/run installs what this needs", name)
		}
	}
}

func execute(t *testing.T, folder, name string, arguments ...string) string {
	t.Helper()
	command := exec.Command(name, arguments...)
	command.Dir = folder
	var complaints strings.Builder
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(arguments, " "), err, out, complaints.String())
	}
	return string(out)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// contentOf is the program in the package of a version.
func contentOf(version string) string { return "program of " + version + "\n" }

// buildDeb makes a real package with the file inside.
func buildDeb(t *testing.T, folder, name, version, compression, inside, content string) string {
	t.Helper()
	needs(t, "dpkg-deb")
	tree := t.TempDir()
	architecture := strings.TrimSpace(execute(t, tree, "dpkg", "--print-architecture"))
	write(t, filepath.Join(tree, "DEBIAN/control"), "Package: "+name+"\nVersion: "+version+
		"\nArchitecture: "+architecture+"\nMaintainer: nobody <nobody@example.com>\nDescription: a program of a test\n")
	write(t, filepath.Join(tree, inside), content)
	write(t, filepath.Join(tree, "usr/share/doc/"+name+"/"+filepath.Base(inside)+".txt"), "not the one that is wanted")
	path := filepath.Join(folder, name+"_"+version+"_"+architecture+".deb")
	execute(t, folder, "dpkg-deb", "-Z"+compression, "--root-owner-group", "-b", tree, path)
	return path
}

// repository is a real one over loopback HTTP.
type repository struct {
	folder, sources string
	first           atomic.Pointer[instead]
}

// instead may answer a request before a file is served.
type instead func(w http.ResponseWriter, r *http.Request) (answered bool)

func (r *repository) handle(answer instead) { r.first.Store(&answer) }

// built holds the packages, which are built once for all tests.
var built struct {
	folder                  string
	deb, rpm, key, stranger sync.Once
}

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "fetch")
	if err != nil {
		panic(err)
	}
	built.folder = folder
	code := m.Run()
	for _, home := range []string{"hotfix", "stranger"} {
		_ = exec.Command("gpgconf", "--homedir", filepath.Join(folder, home), "--kill", "all").Run() // its agents
	}
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

func aptRepository(t *testing.T) *repository {
	t.Helper()
	needs(t, "apt-get", "apt-cache", "dpkg-deb", "apt-ftparchive")
	r := &repository{folder: filepath.Join(built.folder, "deb")}
	built.deb.Do(func() {
		write(t, filepath.Join(r.folder, "README"), "packages of a test\n")
		for version, compression := range debs {
			buildDeb(t, r.folder, packageName, version, compression, "usr/bin/"+packageName, contentOf(version))
		}
		buildDeb(t, r.folder, packageName+"-scripts", base+".2", "xz", "usr/share/"+packageName+"/write_files.yaml",
			"write_files: []\n")
		write(t, filepath.Join(r.folder, "Packages"), execute(t, r.folder, "apt-ftparchive", "packages", "."))
		write(t, filepath.Join(r.folder, "Release"), execute(t, r.folder, "apt-ftparchive", "release", "."))
		execute(t, r.folder, "gpg", append(keyring(t).flags(), "--clearsign", "-o", "InRelease", "Release")...)
	})
	address := r.serve(t)
	r.sources = filepath.Join(t.TempDir(), "hotfix.list")
	write(t, r.sources, "deb [signed-by="+keyring(t).public+"] "+address+" ./\n")
	return r
}

// keys sign repositories and packages.
type keys struct{ home, public, name string }

func (k keys) flags() []string {
	return []string{"--homedir", k.home, "--batch", "--yes", "--quiet", "--local-user", k.name}
}

// keyring makes a key of this test's own, once.
func keyring(t *testing.T) keys { return newKey(t, "hotfix", &built.key) }

// stranger is another key, which no repository names.
func stranger(t *testing.T) keys { return newKey(t, "stranger", &built.stranger) }

func newKey(t *testing.T, name string, once *sync.Once) keys {
	t.Helper()
	needs(t, "gpg", "gpgv")
	k := keys{filepath.Join(built.folder, name), filepath.Join(built.folder, name+".asc"), name + "@example.com"}
	once.Do(func() {
		if err := os.Mkdir(k.home, 0o700); err != nil {
			t.Fatal(err)
		}
		execute(t, k.home, "gpg", "--homedir", k.home, "--batch", "--quiet", "--passphrase", "", "--quick-gen-key", k.name,
			"rsa3072", "sign", "never")
		write(t, k.public, execute(t, k.home, "gpg", "--homedir", k.home, "--armor", "--export"))
	})
	return k
}

func (r *repository) serve(t *testing.T) (address string) {
	files := http.FileServer(http.Dir(r.folder))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if first := r.first.Load(); first == nil || !(*first)(w, request) {
			files.ServeHTTP(w, request)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// generous is the budget of what has to succeed, on however busy a machine.
const generous = 5 * time.Minute

// debian is a node whose packages come from a repository.
func debian(t *testing.T, r *repository, change func(*fetch.Settings)) *fetch.Fetcher {
	t.Helper()
	settings := fetch.Settings{Source: r.sources, OSRelease: osRelease(t, "ID=debian\n"), Budget: generous}
	if change != nil {
		change(&settings)
	}
	return fetch.New(settings)
}

func osRelease(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "os-release")
	write(t, path, content)
	return path
}

func version(t *testing.T, text string) hotfix.Version {
	t.Helper()
	parsed, err := hotfix.ParseVersion(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func pointer(t *testing.T, text string) hotfix.Pointer {
	t.Helper()
	parsed, err := hotfix.ParsePointer([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// holds tells whether a fetched file is what it has to be, and that nothing else
// was left in its folder.
func holds(t *testing.T, file fetch.File, content string) {
	t.Helper()
	raw, err := os.ReadFile(file.Path)
	if err != nil {
		t.Fatal(err)
	}
	if string(raw) != content {
		t.Errorf("%s holds %q, want %q", file.Path, raw, content)
	}
	if info, err := os.Stat(file.Path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(file.Path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func empty(t *testing.T, folder string) {
	t.Helper()
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}
