//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// TestTheTryAfterAPauseAsksOnce: what has failed for the whole of a budget does not cost another boot the same.
func TestTheTryAfterAPauseAsksOnce(t *testing.T) {
	var asked atomic.Int32
	server := newSite(t, func(response http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		response.WriteHeader(http.StatusServiceUnavailable)
	})
	folder := t.TempDir()
	launch := append([]string{"launch"}, server.vouch(t, fmt.Sprintf(
		`{"version": "202604.01.2", "artifacts": %s}`, artifacts(server.URL+"/node", []byte("x"))))...)
	launch = append(launch, "--state", folder, "--baked", "/bin/true", "--staged", filepath.Join(folder, "staged"),
		"--current", "202604.01.0", "--budget", "8s", "--", "x")
	boot := func() int32 {
		t.Helper()
		before := asked.Load()
		if out, err := server.command(releasedNode(t), launch...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return asked.Load() - before
	}
	if times := boot(); times < 2 {
		t.Fatalf("the first boot asked %d times", times)
	}
	if times := boot(); times != 0 {
		t.Errorf("during the pause a boot asked %d times", times)
	}
	endPause(t, filepath.Join(folder, "postponed.json"))
	if times := boot(); times != 1 {
		t.Errorf("after the pause a boot asked %d times", times)
	}
}

// endPause lets so many boots pass that there is a try, whatever the clock says.
func endPause(t *testing.T, path string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	check(t, err)
	var memory map[string]any
	check(t, json.Unmarshal(raw, &memory))
	memory["failures"].([]any)[0].(map[string]any)["boots"] = 20
	raw, err = json.Marshal(memory)
	check(t, err)
	check(t, os.WriteFile(path, raw, 0o600))
}
