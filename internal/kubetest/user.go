package kubetest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// standsIn is who acts as the users that tests name.
const standsIn = "stand-in"

// Runner is a user with a token of its own and without any rights but those that
// tests bind to the name: its kubeconfig is one that a cloud may hand out, which an
// impersonation is not.
const Runner = "runner"

// auditPolicy records who asked for what, of the users of tests alone.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    users: [` + standsIn + `, ` + Runner + `]
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

// KubeconfigOfRunner writes the kubeconfig of Runner, and gives its path.
func (c *ControlPlane) KubeconfigOfRunner(t testing.TB) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(c.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	delete(config.AuthInfos, "admin")
	delete(config.AuthInfos, standsIn)
	config.Contexts[config.CurrentContext].AuthInfo = Runner
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Requests are the kinds of requests that a user of a test has made, sorted:
// "verb resource", with the group for those that have one, as in
// "get daemonsets.apps" and "create pods/eviction".
func (c *ControlPlane) Requests(t testing.TB, user string) []string {
	t.Helper()
	kinds := map[string]bool{}
	c.audited(t, user, func(made audited) { kinds[made.String()] = true })
	return slices.Sorted(maps.Keys(kinds))
}

// Accepted counts the requests of a user of KubeconfigOf that changed something.
func (c *ControlPlane) Accepted(t testing.TB, user string) int {
	t.Helper()
	count := 0
	c.audited(t, user, func(made audited) {
		reads := made.Verb == "get" || made.Verb == "list" || made.Verb == "watch"
		if !reads && made.ResponseStatus.Code < 300 {
			count++
		}
	})
	return count
}

// audited is an entry of the audit log.
type audited struct {
	Verb             string
	User             struct{ Username string }
	ImpersonatedUser struct{ Username string }
	ObjectRef        *struct{ Resource, Subresource, APIGroup string }
	ResponseStatus   struct{ Code int }
}

func (a audited) String() string {
	resource := a.ObjectRef.Resource
	if a.ObjectRef.APIGroup != "" && a.ObjectRef.Subresource == "" {
		resource += "." + a.ObjectRef.APIGroup
	}
	return strings.TrimSuffix(fmt.Sprintf("%s %s/%s", a.Verb, resource, a.ObjectRef.Subresource), "/")
}

// audited reads the requests of a user for objects from the audit log.
func (c *ControlPlane) audited(t testing.TB, user string, visit func(audited)) {
	t.Helper()
	file, err := os.Open(c.file("audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var made audited
		if err := json.Unmarshal(lines.Bytes(), &made); err != nil {
			t.Fatalf("the audit log: %v", err)
		}
		who := made.ImpersonatedUser.Username
		if who == "" {
			who = made.User.Username
		}
		if who == user && made.ObjectRef != nil {
			visit(made)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("the audit log: %v", err)
	}
}
