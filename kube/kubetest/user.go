package kubetest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// standsIn is who acts as the users that tests name.
const standsIn = "stand-in"

// auditPolicy records who asked for what, of the users of tests alone.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    users: [` + standsIn + `]
  - level: None
`

// KubeconfigOf writes a kubeconfig of a user without any rights but those that the
// test binds to the name, and gives its path.
func (c *ControlPlane) KubeconfigOf(t testing.TB, user string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(c.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	delete(config.AuthInfos, "admin")
	config.AuthInfos[standsIn].Impersonate = user
	config.Contexts[config.CurrentContext].AuthInfo = standsIn
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Requests are the kinds of requests that a user of KubeconfigOf has made, sorted:
// "verb resource", with the group for those that have one, as in
// "get daemonsets.apps" and "create pods/eviction".
func (c *ControlPlane) Requests(t testing.TB, user string) []string {
	t.Helper()
	file, err := os.Open(c.file("audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	kinds := map[string]bool{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb             string
			ImpersonatedUser struct{ Username string }
			ObjectRef        *struct{ Resource, Subresource, APIGroup string }
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatalf("the audit log: %v", err)
		}
		if event.ImpersonatedUser.Username != user || event.ObjectRef == nil {
			continue
		}
		resource := event.ObjectRef.Resource
		if event.ObjectRef.APIGroup != "" && event.ObjectRef.Subresource == "" {
			resource += "." + event.ObjectRef.APIGroup
		}
		kinds[strings.TrimSuffix(fmt.Sprintf("%s %s/%s", event.Verb, resource, event.ObjectRef.Subresource), "/")] = true
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("the audit log: %v", err)
	}
	var sorted []string
	for kind := range kinds {
		sorted = append(sorted, kind)
	}
	slices.Sort(sorted)
	return sorted
}
