package cli_test

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/rogpeppe/go-internal/testscript"

	"salve/cli"
	"salve/internal/azuresim"
	"salve/internal/azuresim/keyvault"
	"salve/internal/clock"
	"salve/internal/hotfix/signing"
	"salve/internal/prow/githubsim"
	"salve/internal/registry/registrytest"
	"salve/internal/simcli"
	"salve/journal"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"salve": func() {
			os.Exit(cli.MainChecked(cli.Options{Runbooks: cli.BuiltIn()}, validDocument))
		},
		"lamps": func() {
			os.Exit(cli.MainChecked(cli.Options{Runbooks: []cli.Provider{siteLamp()}}, validDocument))
		},
		"salve-sim": func() { os.Exit(cli.MainChecked(simcli.Options(), validDocument)) },
	})
}

// TestScript runs testdata/script: what a person types and sees. At the end of a script each decision in its journals
// is made again from the record. Besides testscript's own commands there are:
//
//	exits CODE PROGRAM...   the program ends with this exit code
//	serve SCENARIO          serves an embedded Azure over HTTPS, with $ARM to reach it, and its cluster, with the file
//	                        kubeconfig and $KUBE to reach that
//	site FOLDER             serves a folder over HTTP at $SITE
//	github SEED [LEFT]      serves a GitHub with the contents of a file at $GITHUB; root has LEFT requests left
//	run VARIABLE FOLDER [RUNBOOK]  names the newest run of a journal, or of a runbook in it
//	until FOLDER TEXT       waits until a run's journal in the folder holds the text
//	spoil FILE OLD NEW      changes a text in a file
//	webhook VARIABLE FOLDER serves HTTP at $VARIABLE, and writes the body of each request into FOLDER/1, FOLDER/2, …
//	free VARIABLE           names an address of this machine that nobody listens at
//	scrape URL FILE         gets a page into a file, as soon as somebody serves it
//	utf16 FILE              writes a file anew in UTF-16, as Windows does
//	tear FILE               cuts the last bytes off a file
//	salve-node ARGS...      runs salve-node, which is built when it is first asked for
//	agent FILE...           serves an ssh-agent at $SSH_AUTH_SOCK with these private keys, their names as comments
//	securely FOLDER         serves a folder over HTTPS at $SECURE, with the host in $HOST and the certificate trusted;
//	                        below here/, elsewhere/ and plain/ it redirects to itself, to another host and to HTTP
//	plan VARIABLE FILE      gives the digest of a plan's file in a variable
//	waiting VARIABLE FOLDER waits until a run of a journal waits for an approval, and gives the digest of its plan
//	policy FILE KEY...      writes a policy of approvals with four eyes: people named after their public keys
//	digest FILE VARIABLE    gives the SHA-256 of a file in a variable
//	layout FILE TAG         writes a tar file with an OCI layout that has an image under a name
//	registry VARIABLE [REPOSITORY]  serves a registry of images at $VARIABLE; with a repository there is an image in it
//	                        with a signature, and $DIGEST is its digest; while there is a file denied-VARIABLE, it answers 403
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=10") // the detector lets each program linger for a second else
			env.Setenv("HOME", env.Getenv("WORK")+"/home")
			env.Setenv("XDG_STATE_HOME", env.Getenv("WORK")+"/state")
			examples, err := filepath.Abs("../examples")
			if err != nil {
				return err
			}
			env.Setenv("EXAMPLES", examples)
			damaged := &atomic.Bool{}
			env.Values[damage{}] = damaged
			env.Defer(func() {
				for _, problem := range cli.ReplayedBelow(t, env.WorkDir, damaged.Load(), siteLamp()) {
					t.Errorf("%s: %v", filepath.Base(env.WorkDir), problem)
				}
			})
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "serve": serve, "site": serveFolder, "github": serveGitHub,
			"run": nameRun, "until": until, "spoil": spoil, "tear": tear,
			"salve-node": runNode, "agent": serveAgent, "securely": serveSecurely, "digest": digest,
			"plan": planDigest, "policy": writePolicy, "waiting": nameWaiting,
			"free": nameAddress, "scrape": scrape,
			"utf16": utf16File, "webhook": serveWebhook,
			"layout":   func(ts *testscript.TestScript, _ bool, arguments []string) { writeLayout(t, ts, arguments) },
			"registry": func(ts *testscript.TestScript, _ bool, arguments []string) { serveRegistry(t, ts, arguments) },
		},
	})
}

func serveWebhook(ts *testscript.TestScript, _ bool, arguments []string) {
	folder := ts.MkAbs(arguments[1])
	ts.Check(os.MkdirAll(folder, 0o700))
	var count atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		raw, err := io.ReadAll(request.Body)
		path := filepath.Join(folder, strconv.FormatInt(count.Add(1), 10))
		if errors.Join(err, os.WriteFile(path, raw, 0o600)) != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv(arguments[0], server.URL)
}

func planDigest(ts *testscript.TestScript, _ bool, arguments []string) {
	var file struct{ Plan struct{ Digest string } }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(arguments[1])), &file))
	ts.Setenv(arguments[0], file.Plan.Digest)
}

// nameWaiting waits until a run asks for an approval that nobody has given yet.
func nameWaiting(ts *testscript.TestScript, _ bool, arguments []string) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-ticker.C {
		for _, path := range journals(ts, arguments[1]) {
			if digest := asked(ts.ReadFile(path)); digest != "" {
				ts.Setenv(arguments[0], digest)
				return
			}
		}
	}
	ts.Fatalf("no run in %s waits for an approval", arguments[1])
}

// asked is the digest of the plan that a run waits with, by the lines of its journal; empty where it waits with none.
func asked(lines string) (digest string) {
	for line := range strings.Lines(lines) {
		var written struct{ Entry journal.Entry }
		if json.Unmarshal([]byte(line), &written) != nil {
			return "" // it is being written
		}
		entry := written.Entry
		switch entry.Kind {
		case journal.Asked:
			var question journal.Question
			if json.Unmarshal(entry.Data, &question) == nil {
				digest = question.Digest
			}
		case journal.Approved, journal.Denied, journal.Resumed, journal.Parked, journal.Closed:
			digest = ""
		default: // the run goes on waiting, or did not ask yet
		}
	}
	return digest
}

func writePolicy(ts *testscript.TestScript, _ bool, arguments []string) {
	policy := "schemaVersion: 1\nfourEyes: true\nwait: 5m\npeople:\n"
	for _, key := range arguments[1:] {
		public, err := signing.ReadPublic(ts.MkAbs(key))
		ts.Check(err)
		policy += fmt.Sprintf("- {name: %s, key: %q}\n", strings.TrimSuffix(key, ".pem.pub"), signing.ShowPublic(public))
	}
	ts.Check(os.WriteFile(ts.MkAbs(arguments[0]), []byte(policy), 0o600))
}

// utf16File writes a file as PowerShell's > does.
func utf16File(ts *testscript.TestScript, _ bool, arguments []string) {
	raw := []byte("\xff\xfe")
	for _, unit := range utf16.Encode([]rune(ts.ReadFile(arguments[0]))) {
		raw = binary.LittleEndian.AppendUint16(raw, unit)
	}
	ts.Check(os.WriteFile(ts.MkAbs(arguments[0]), raw, 0o600))
}

// writeLayout is the command layout FILE.tar TAG: an OCI layout with an image under a name.
func writeLayout(t *testing.T, ts *testscript.TestScript, arguments []string) {
	folder := t.TempDir()
	registrytest.Layout(t, folder, arguments[1])
	registrytest.Archive(t, folder, ts.MkAbs(arguments[0]))
}

func serveRegistry(t *testing.T, ts *testscript.TestScript, arguments []string) {
	denied := ts.MkAbs("denied-" + arguments[0])
	host := registrytest.Serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := os.Stat(denied); err == nil && r.URL.Path != "/v2/" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	ts.Setenv(arguments[0], host)
	if len(arguments) > 1 {
		image := registrytest.Push(t, host, arguments[1], true)
		registrytest.Attach(t, image, "")
		ts.Setenv("DIGEST", image.Digest)
	}
}

func exits(ts *testscript.TestScript, _ bool, arguments []string) {
	want, err := strconv.Atoi(arguments[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(arguments[1], arguments[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func serve(ts *testscript.TestScript, _ bool, arguments []string) {
	name := arguments[0]
	if strings.HasSuffix(name, ".yaml") {
		name = ts.MkAbs(name)
	}
	scenario, err := azuresim.Load(name)
	ts.Check(err)
	world, err := azuresim.New(scenario, azuresim.Options{})
	ts.Check(err)
	ts.Defer(world.Close)
	everything := http.NewServeMux()
	everything.Handle("/", world)
	everything.Handle(keyvault.Prefix, keyvault.New(clock.Real{}))
	server := httptest.NewTLSServer(everything)
	ts.Defer(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	ts.Check(os.WriteFile(ts.MkAbs("ca.pem"), authority, 0o600))
	cluster := httptest.NewTLSServer(world.KubernetesHandler())
	ts.Defer(cluster.Close)
	ts.Check(os.WriteFile(ts.MkAbs("kubeconfig"), kubeconfigOf(cluster), 0o600))
	for name, value := range map[string]string{
		"ARM": server.URL, "KUBE": cluster.URL, "SUBSCRIPTION": scenario.Subscription, "GROUP": scenario.ResourceGroup,
		"CLUSTER": scenario.Cluster, "AZURE_TENANT_ID": "5a1e0000-0000-4000-8000-00000000000a",
		"AZURE_CLIENT_ID": "5a1e0000-0000-4000-8000-00000000000b", "AZURE_CLIENT_SECRET": "any",
	} {
		ts.Setenv(name, value)
	}
}

// kubeconfigOf leads to a server by context here, which is the current one, and by context nowhere to none.
func kubeconfigOf(server *httptest.Server) []byte {
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: here
clusters:
- {name: here, cluster: {server: %q, certificate-authority-data: %s}}
- {name: nowhere, cluster: {server: "https://127.0.0.1:1"}}
users: [{name: somebody, user: {token: any}}]
contexts:
- {name: here, context: {cluster: here, user: somebody}}
- {name: nowhere, context: {cluster: nowhere, user: somebody}}
`, server.URL, base64.StdEncoding.EncodeToString(authority))
}

func serveFolder(ts *testscript.TestScript, _ bool, arguments []string) {
	server := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(arguments[0]))))
	ts.Defer(server.Close)
	ts.Setenv("SITE", server.URL)
}

func serveGitHub(ts *testscript.TestScript, _ bool, arguments []string) {
	world, err := githubsim.Read(ts.MkAbs(arguments[0]))
	ts.Check(err)
	sim := githubsim.New(githubsim.Options{World: world})
	if len(arguments) > 1 {
		left, err := strconv.Atoi(arguments[1])
		ts.Check(err)
		sim.Limit("root", left)
	}
	server := httptest.NewServer(sim)
	ts.Defer(server.Close)
	ts.Setenv("GITHUB", server.URL)
}

func journals(ts *testscript.TestScript, folder string) []string {
	found, err := filepath.Glob(filepath.Join(ts.MkAbs(folder), "runs", "*", "journal.jsonl"))
	ts.Check(err)
	return found
}

func nameRun(ts *testscript.TestScript, _ bool, arguments []string) {
	found := journals(ts, arguments[1])
	if len(arguments) > 2 {
		found = slices.DeleteFunc(found, func(path string) bool { return !strings.Contains(ts.ReadFile(path), `"runbook":"`+arguments[2]+`"`) })
	}
	if len(found) == 0 {
		ts.Fatalf("no run in %s", arguments[1])
	}
	ts.Setenv(arguments[0], filepath.Base(filepath.Dir(slices.MaxFunc(found, byBegin))))
}

// byBegin orders journals by the second in their names, and those of one second by when they were last written to.
func byBegin(a, b string) int {
	second := func(path string) string { return filepath.Base(filepath.Dir(path))[:len("20060102-150405")] }
	written := func(path string) time.Time {
		info, err := os.Stat(path)
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	return cmp.Or(strings.Compare(second(a), second(b)), written(a).Compare(written(b)))
}

// patience bounds what a script waits for.
const patience = 30 * time.Second

func until(ts *testscript.TestScript, _ bool, arguments []string) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-ticker.C {
		for _, path := range journals(ts, arguments[0]) {
			if raw, err := os.ReadFile(path); err == nil && strings.Contains(string(raw), arguments[1]) {
				return
			}
		}
	}
	ts.Fatalf("no journal in %s holds %q", arguments[0], arguments[1])
}

// damage is the name of the value that says that a script has damaged a journal: its decisions can't be made again.
type damage struct{}

func harmed(ts *testscript.TestScript, path string) {
	if filepath.Base(path) == "journal.jsonl" {
		ts.Value(damage{}).(*atomic.Bool).Store(true)
	}
}

func spoil(ts *testscript.TestScript, _ bool, arguments []string) {
	path := ts.MkAbs(arguments[0])
	harmed(ts, path)
	raw := ts.ReadFile(path)
	if !strings.Contains(raw, arguments[1]) {
		ts.Fatalf("%s does not hold %q", path, arguments[1])
	}
	ts.Check(os.WriteFile(path, []byte(strings.Replace(raw, arguments[1], arguments[2], 1)), 0o600))
}

func tear(ts *testscript.TestScript, _ bool, arguments []string) {
	path := ts.MkAbs(arguments[0])
	harmed(ts, path)
	raw := ts.ReadFile(path)
	ts.Check(os.WriteFile(path, []byte(raw[:len(raw)-20]), 0o600))
}
