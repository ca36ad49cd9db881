package cli_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/crypto/ssh/agent"
)

// builtNode is salve-node, built once.
var builtNode = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "salve-node-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "salve-node")
	build := exec.Command("go", "build", "-o", path, "salve/cmd/salve-node")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

func runNode(ts *testscript.TestScript, fails bool, arguments []string) {
	path, err := builtNode()
	ts.Check(err)
	if err := ts.Exec(path, arguments...); (err != nil) != fails {
		ts.Fatalf("%v", err)
	}
}

func serveAgent(ts *testscript.TestScript, _ bool, files []string) {
	keys := agent.NewKeyring()
	for _, file := range files {
		block, _ := pem.Decode([]byte(ts.ReadFile(file)))
		private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		ts.Check(err)
		key := private.(ed25519.PrivateKey)
		ts.Check(keys.Add(agent.AddedKey{PrivateKey: &key, Comment: strings.TrimSuffix(file, ".pem")}))
	}
	folder, err := os.MkdirTemp("", "agent") // the path of a socket is short
	ts.Check(err)
	listener, err := net.Listen("unix", filepath.Join(folder, "s"))
	ts.Check(err)
	ts.Defer(func() {
		ts.Check(listener.Close())
		ts.Check(os.RemoveAll(folder))
	})
	ts.Setenv("SSH_AUTH_SOCK", filepath.Join(folder, "s"))
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(keys, connection) }() // it ends with the connection
		}
	}()
}

func serveSecurely(ts *testscript.TestScript, _ bool, arguments []string) {
	files := http.NewServeMux()
	server := httptest.NewTLSServer(files)
	ts.Defer(server.Close)
	files.Handle("/", http.FileServer(http.Dir(ts.MkAbs(arguments[0]))))
	for path, to := range map[string]string{
		"/here/": server.URL, "/elsewhere/": strings.Replace(server.URL, "127.0.0.1", "localhost", 1),
		"/plain/": strings.Replace(server.URL, "https", "http", 1),
	} {
		files.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, to+"/"+strings.TrimPrefix(r.URL.Path, path), http.StatusFound)
		})
	}
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	ts.Check(os.WriteFile(ts.MkAbs("authority.pem"), authority, 0o600))
	ts.Setenv("SECURE", server.URL)
	ts.Setenv("HOST", strings.TrimPrefix(server.URL, "https://"))
	ts.Setenv("SSL_CERT_FILE", ts.MkAbs("authority.pem"))
}

func digest(ts *testscript.TestScript, _ bool, arguments []string) {
	ts.Setenv(arguments[1], fmt.Sprintf("%x", sha256.Sum256([]byte(ts.ReadFile(arguments[0])))))
}

// TestTheWalkThroughIsRun: every command of the page's walk-through stands in the script that is run.
func TestTheWalkThroughIsRun(t *testing.T) {
	page, err := os.ReadFile("../docs/node-hotfix.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/script/hotfix-walk-through.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n### Signing, step by step\n")
	if !found {
		t.Fatal("the page has no walk-through")
	}
	section, _, _ = strings.Cut(section, "\n#")
	commands := 0
	for line := range strings.Lines(strings.ReplaceAll(section, "\\\n", "")) {
		words := strings.Fields(line)
		if !strings.HasPrefix(line, "    ") || len(words) == 0 || !strings.HasPrefix(words[0], "salve") {
			continue
		}
		commands++
		command := strings.Join(words, " ")
		if before, _, commented := strings.Cut(command, " # "); commented {
			command = before
		}
		if !strings.Contains(string(script), command+"\n") {
			t.Errorf("the script does not run: %s", command)
		}
	}
	if commands < 12 {
		t.Errorf("only %d commands were found", commands)
	}
}
