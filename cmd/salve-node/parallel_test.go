package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"salve/hotfix/hotfixtest"
)

// TestManyFetchAtOnce: one of them downloads, and all find the program staged.
func TestManyFetchAtOnce(t *testing.T) {
	folder := t.TempDir()
	image := hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.2"})
	var downloads atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
		downloads.Add(1)
		_, _ = response.Write(image) // the digest tells
	}))
	defer server.Close()
	pointer := fmt.Sprintf(`{"hotfixes": {"202604.01": "202604.01.2"}, "artifacts": %s}`, artifacts(server.URL+"/node", image))
	check(t, os.WriteFile(filepath.Join(folder, "pointer.json"), []byte(pointer), 0o600))
	node := releasedNode(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			fetch := exec.Command(node, "fetch", "--strict", "--current", "202604.01.0", "--pointer", folder+"/pointer.json",
				"--baked", "/bin/true", "--staged", folder+"/node-hotfix", "--state", folder+"/state")
			out, err := fetch.CombinedOutput()
			if err != nil || !strings.Contains(string(out), `staged","reason":"install"`) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	all.Wait()
	if downloads.Load() != 1 {
		t.Errorf("%d downloads", downloads.Load())
	}
	selected, err := exec.Command(node, "select", "--current", "202604.01.0", "--pointer", folder+"/pointer.json",
		"--baked", "/bin/true", "--staged", folder+"/node-hotfix", "--state", folder+"/state").Output()
	if err != nil || string(selected) != folder+"/node-hotfix\n" {
		t.Errorf("%q, %v", selected, err)
	}
}
