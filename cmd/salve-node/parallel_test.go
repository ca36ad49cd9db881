//go:build linux

package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"salve/internal/hotfix/hotfixtest"
)

// TestManyFetchAtOnce: one of them downloads, and all find the program staged.
func TestManyFetchAtOnce(t *testing.T) {
	folder := t.TempDir()
	image := hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.2"})
	var downloads atomic.Int32
	server := newSite(t, func(response http.ResponseWriter, _ *http.Request) {
		downloads.Add(1)
		_, _ = response.Write(image) // the digest tells
	})
	flags := append(server.vouch(t, fmt.Sprintf(`{"hotfixes": {"202604.01": "202604.01.2"}, "artifacts": %s}`,
		artifacts(server.URL+"/node", image))), "--current", "202604.01.0", "--baked", "/bin/true",
		"--staged", folder+"/node-hotfix", "--state", folder+"/state")
	node := releasedNode(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			out, err := server.command(node, append([]string{"fetch", "--strict"}, flags...)...).CombinedOutput()
			if err != nil || !strings.Contains(string(out), `staged","reason":"install"`) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	all.Wait()
	if downloads.Load() != 1 {
		t.Errorf("%d downloads", downloads.Load())
	}
	selected, err := exec.Command(node, append([]string{"select"}, flags...)...).Output()
	if err != nil || string(selected) != folder+"/node-hotfix\n" {
		t.Errorf("%q, %v", selected, err)
	}
}

// TestFetchKilledAtAnyTime kills whole processes of fetch, of program and scripts.
// Whenever that was, a program runs at once, and the scripts are all old or all new.
// Packages staging and payload have the tests that kill before each single effect.
func TestFetchKilledAtAnyTime(t *testing.T) {
	node := releasedNode(t)
	image := hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.2"})
	scripts := []byte("write_files:\n- {path: /opt/azure/a, content: new}\n- {path: /opt/azure/b, content: new}\n")
	server := newSite(t, func(response http.ResponseWriter, request *http.Request) {
		_, _ = response.Write(map[string][]byte{"/node": image, "/scripts": scripts}[request.URL.Path]) // the digest tells
	})
	trusted := server.vouch(t, fmt.Sprintf(
		`{"version": "202604.01.2", "scripts_version": "202604.01.2", "artifacts": {"202604.01": {%q: %s, "all": %s}}}`,
		runtime.GOARCH, artifact(server.URL+"/node", image), artifact(server.URL+"/scripts", scripts)))
	for round := range 25 {
		folder := t.TempDir()
		check(t, os.MkdirAll(folder+"/root/opt/azure", 0o755))
		check(t, os.WriteFile(folder+"/root/opt/azure/a", []byte("old"), 0o644))
		hotfixtest.Write(t, folder+"/node", hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.0"}))
		flags := append([]string{"--baked", folder + "/node", "--staged", folder + "/node-hotfix",
			"--state", folder + "/state", "--root", folder + "/root"}, trusted...)
		fetch := server.command(node, append([]string{"fetch"}, flags...)...)
		check(t, fetch.Start())
		killer := time.AfterFunc(time.Duration(round*round)*time.Millisecond/2, func() { _ = fetch.Process.Kill() })
		_ = fetch.Wait() // it was killed, or it was quicker
		killer.Stop()

		selected, err := exec.Command(node, append([]string{"select"}, flags...)...).Output()
		check(t, err)
		if said, err := exec.Command(strings.TrimSpace(string(selected)), "version").Output(); err != nil ||
			!strings.HasPrefix(string(said), "202604.01.") {
			t.Errorf("round %d: %s says %q, %v", round, selected, said, err)
		}
		ran, err := server.command(node, append(append([]string{"launch"}, flags...), "--", "go")...).Output()
		if err != nil || string(ran) != "ran 202604.01.2 go\n" {
			t.Errorf("round %d: it %q, %v", round, ran, err)
		}
		for _, path := range []string{"/root/opt/azure/a", "/root/opt/azure/b"} {
			if raw, err := os.ReadFile(folder + path); err != nil || string(raw) != "new" {
				t.Errorf("round %d: %s holds %q, %v", round, path, raw, err)
			}
		}
	}
}
