//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"salve/internal/clock"
	"salve/internal/hotfix/hotfixtest"
)

func TestMain(m *testing.M) {
	syscall.Umask(0o022) // a pointer that a group may write to is nobody's
	// What is ignored when a shell starts it can't trap: under nohup no boot would hear of SIGHUP.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	testscript.Main(tests{m}, map[string]func(){"salve-node": mainAtItsTime})
}

// itsTime is a variable that gives the test program, as salve-node, another time than the machine's: no test may set
// the clock of a machine, and no library lies to a static program.
const itsTime = "SALVE_NODE_TEST_TIME"

func mainAtItsTime() {
	at, err := time.Parse(time.RFC3339, os.Getenv(itsTime))
	if err != nil {
		main()
		return
	}
	os.Exit(run(shifted{by: time.Until(at)}))
}

// shifted is a clock that runs as the real one, at another time.
type shifted struct {
	clock.Real
	by time.Duration
}

func (s shifted) Now() time.Time                      { return s.Real.Now().Add(s.by) }
func (s shifted) Since(began time.Time) time.Duration { return s.Now().Sub(began) }

// TestScript runs testdata/script: what a boot types and sees. The paths are set
// by the environment: $BAKED, $STAGED and $POINTER in the folder node, the state in
// the folder state. Besides testscript's own commands there are:
//
//	program PATH VERSION [BEHAVIOUR…]  makes a program: exit=N, dies=SIGNAL, for=TIME, lingers=TIME, fails,
//	                                   confirms (before it ends)
//	spoil PATH KIND                    makes it one of hotfixtest.Unfit
//	publish PATH VERSION [FORMAT]      serves a file as the artifact of the signed pointer's version; «scripts» as a
//	                                   format makes it that of scripts_version
//	payload VERSION PATH               publishes scripts that go to a path; fetching them is to change nothing
//	allowed VERSION PATH               the same; they are to be applied
//	exits CODE PROGRAM…                the program ends with this exit code
//	root VERSION [WORD…]               makes the root of trust; see rootOfScript
//	sign POINTER COUNTER [WORD…]       makes the signed pointer of a pointer file; see signOfScript
//	artifact FILE TO PATH              writes a pointer TO for version 202604.01.2, PATH on $SITE as its artifact
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			for name, value := range map[string]string{"BAKED": "node/node", "STAGED": "node/node-hotfix",
				"POINTER": "node/pointer.json", "STATE": "state", "TRUST_ROOT": "trust/root.json",
				"SIGNED_POINTER": "node/signed.json"} {
				path := filepath.Join(env.Getenv("WORK"), value)
				env.Setenv(name, path)
				env.Setenv(variable(strings.ToLower(name)), path)
			}
			env.Setenv("COUNTER", "0")
			env.Setenv("TOMORROW", time.Now().Add(40*time.Hour).Format(time.RFC3339))
			if err := serveSecurely(env); err != nil {
				return err
			}
			env.Setenv("GORACE", "atexit_sleep_ms=10") // the detector lets each program linger for a second else
			env.Setenv("SALVE_NODE_ROOT", filepath.Join(env.Getenv("WORK"), "root"))
			env.Setenv("SALVE_NODE_BUDGET", "20s")
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return errors.Join(os.MkdirAll(filepath.Join(env.Getenv("WORK"), "node"), 0o755),
				os.MkdirAll(filepath.Join(env.Getenv("WORK"), "trust"), 0o755))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"program": program, "spoil": spoil, "publish": publish, "exits": exits,
			"payload": refusedPayload, "allowed": allowedPayload,
			"root": rootOfScript, "sign": signOfScript, "artifact": artifactOfScript,
		},
	})
}

func program(ts *testscript.TestScript, _ bool, arguments []string) {
	behaviour, confirms := hotfixtest.Behaviour{Version: arguments[1]}, false
	for _, word := range arguments[2:] {
		name, value, _ := strings.Cut(word, "=")
		var err error
		switch name {
		case "exit":
			behaviour.Exit, err = strconv.Atoi(value)
		case "dies":
			var number int
			number, err = strconv.Atoi(value)
			behaviour.DiesFrom = syscall.Signal(number)
		case "for":
			behaviour.For, err = time.ParseDuration(value)
		case "lingers":
			behaviour.AnswersAfter, err = time.ParseDuration(value)
		case "confirms":
			confirms = true
		case "fails":
			behaviour.AnswerExit = 1
		default:
			ts.Fatalf("%s?", name)
		}
		ts.Check(err)
	}
	if confirms {
		behaviour.Becomes = fmt.Sprintf("salve-node confirm; [ %d = 0 ] || kill -%[1]d $$; exit %d", behaviour.DiesFrom,
			behaviour.Exit)
	}
	image, err := hotfixtest.Build(behaviour)
	ts.Check(err)
	ts.Check(hotfixtest.Put(ts.MkAbs(arguments[0]), image))
}

func spoil(ts *testscript.TestScript, _ bool, arguments []string) {
	good, err := os.ReadFile(ts.MkAbs(arguments[0]))
	ts.Check(err)
	image, known := hotfixtest.Spoilt(good)[strings.Join(arguments[1:], " ")]
	if !known {
		ts.Fatalf("%v?", arguments[1:])
	}
	ts.Check(hotfixtest.Put(ts.MkAbs(arguments[0]), image))
}

// publish writes the pointer anew, but for the other one of program and scripts, and
// signs it: only so may it name what is to be fetched.
func publish(ts *testscript.TestScript, _ bool, arguments []string) {
	path, version, format := arguments[0], arguments[1], "binary"
	if len(arguments) > 2 {
		format = arguments[2]
	}
	raw, err := os.ReadFile(ts.MkAbs(path))
	ts.Check(err)
	const published = "published.json"
	pointer := map[string]any{}
	if before, err := os.ReadFile(ts.MkAbs(published)); err == nil {
		ts.Check(json.Unmarshal(before, &pointer))
	}
	artifacts, _ := pointer["artifacts"].(map[string]any)
	if artifacts == nil {
		artifacts = map[string]any{}
	}
	base := version[:len("YYYYMM.DD")]
	files, _ := artifacts[base].(map[string]any)
	if files == nil {
		files = map[string]any{}
	}
	architecture := runtime.GOARCH
	if format == "scripts" {
		architecture, format = "all", "binary"
		pointer["scripts_version"] = version
	} else {
		pointer["hotfixes"] = map[string]any{base: version}
	}
	files[architecture] = map[string]any{
		"url": ts.Getenv("SITE") + "/" + path, "sha256": fmt.Sprintf("%x", sha256.Sum256(raw)), "size": len(raw),
		"format": format,
	}
	artifacts[base] = files
	pointer["artifacts"] = artifacts
	written, err := json.Marshal(pointer)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(published), written, 0o644))
	if _, err := os.Stat(ts.Getenv("TRUST_ROOT")); err != nil {
		rootOfScript(ts, false, []string{"1"})
	}
	counter := number(ts, ts.Getenv("COUNTER")) + 1
	ts.Setenv("COUNTER", strconv.FormatInt(counter, 10))
	signOfScript(ts, false, []string{published, ts.Getenv("COUNTER")})
}

func refusedPayload(ts *testscript.TestScript, _ bool, arguments []string) {
	scriptsTo(ts, arguments[0], arguments[1], "bad-payload")
}

func allowedPayload(ts *testscript.TestScript, _ bool, arguments []string) {
	scriptsTo(ts, arguments[0], arguments[1], "applied")
}

func scriptsTo(ts *testscript.TestScript, version, path, outcome string) {
	const file = "payload.yaml"
	before, beforeErr := os.ReadFile(path)
	payload := fmt.Sprintf("write_files:\n- {path: %s.sh, content: worse}\n- {path: %s, content: worse}\n",
		ts.MkAbs("first"), path)
	ts.Check(os.WriteFile(ts.MkAbs(file), []byte(payload), 0o644))
	publish(ts, false, []string{file, version, "scripts"})
	if path == ts.Getenv("SIGNED_POINTER") { // it was just signed
		before, beforeErr = os.ReadFile(path)
	}
	ts.Check(ts.Exec("salve-node", "fetch"))
	if said := ts.ReadFile("stdout"); !strings.Contains(said, `"scripts":{"outcome":"`+outcome+`"`) {
		ts.Fatalf("%s: %s", path, said)
	}
	if outcome == "applied" {
		return
	}
	after, err := os.ReadFile(path)
	if string(after) != string(before) || (err == nil) != (beforeErr == nil) {
		ts.Fatalf("%s has changed: %v", path, err)
	}
	if _, err := os.Stat(ts.MkAbs("first.sh")); err == nil {
		ts.Fatalf("%s: another file of the payload was written", path)
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
