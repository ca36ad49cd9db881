package cli

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/internal/apierr"
	"salve/internal/kubetest"
)

// TestOrAbsent: an error is told by its type, and never by what it says.
func TestOrAbsent(t *testing.T) {
	kind := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "None"}}
	lookup := func(host string, found bool) error {
		return fmt.Errorf("reading: %w", &net.DNSError{Name: host, Err: "no such host", IsNotFound: found})
	}
	access := registryAccess{cloud: cloudFlags{name: "public"}}
	for rule, row := range map[string]struct {
		err     error
		missing bool
	}{
		"a kind that the cluster lacks":         {orAbsent(fmt.Errorf("chart: %w", kind)), true},
		"a text that says so":                   {orAbsent(errors.New(kind.Error())), false},
		"nothing":                               {orAbsent(nil), false},
		"a registry of the cloud":               {access.orAbsent(lookup("new.azurecr.io", true), "new.azurecr.io"), true},
		"one that could not be looked up":       {access.orAbsent(lookup("new.azurecr.io", false), "new.azurecr.io"), false},
		"another host than the registry's":      {access.orAbsent(lookup("login.example", true), "new.azurecr.io"), false},
		"a registry that no step could make":    {access.orAbsent(lookup("images.example", true), "images.example"), false},
		"what has nothing to do with its names": {access.orAbsent(errors.New("no such host"), "new.azurecr.io"), false},
	} {
		if got := apierr.ClassOf(row.err) == apierr.Missing; got != row.missing {
			t.Errorf("%s: missing is %v: %v", rule, got, row.err)
		}
	}
}

// absentPipeline releases what needs a kind that the cluster doesn't have, after another release that may bring it.
const absentPipeline = `$schema: pipeline.schema.v1
serviceGroup: Example.Fleet
rolloutName: Fleet
resourceGroups:
- name: fleet
  resourceGroup: mgmt
  subscription: sub
  steps:
  - {name: id, action: Shell, shellIdentity: {value: none}, command: 'true'}
  - {name: operator, action: Helm, aksCluster: cluster, releaseName: operator, releaseNamespace: NAMESPACE, NOBODY
     chartDir: operator, valuesFile: values.yaml}
  - {name: thing, action: Helm, aksCluster: cluster, releaseName: thing, releaseNamespace: NAMESPACE, NOBODY
     chartDir: thing, valuesFile: values.yaml, dependsOn: [{resourceGroup: fleet, step: operator}]}
`

// TestHelmPreviewOfAKindThatIsYetToBeMade is unknown after a step that may make it, and a failure where none does.
func TestHelmPreviewOfAKindThatIsYetToBeMade(t *testing.T) {
	t.Parallel()
	plane := kubetest.Start(t)
	namespace := plane.Namespace(t)
	r := &rollouts{t, t.TempDir()}
	pipeline := strings.NewReplacer("NAMESPACE", namespace, "NOBODY", "kustoDatabase: '', kustoTable: '',\n"+
		"     kustoEndpoint: {resourceGroup: fleet, step: id, name: x},\n"+
		"     identityFrom: {resourceGroup: fleet, step: id, name: x},",
	).Replace(absentPipeline)
	write := func(name, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(r.in(name)), 0o700),
			os.WriteFile(r.in(name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("pipeline.yaml", pipeline)
	write("values.yaml", "{}\n")
	for name, object := range map[string]string{
		"operator": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: operator}\n",
		"thing":    "apiVersion: example.com/v1\nkind: None\nmetadata: {name: thing}\n",
	} {
		write(name+"/Chart.yaml", "apiVersion: v2\nname: "+name+"\nversion: 1.0.0\n")
		write(name+"/templates/all.yaml", object)
	}
	with := r.run("--kubeconfig", plane.Kubeconfig(), "--journal", r.in("journal"), "--skip-actions", "Shell", "--dry-run")
	code, said := r.runs("state", "", with...)
	if code != exitDecided || !strings.Contains(said, "known once the steps before it are done: ") ||
		!strings.Contains(said, `no matches for kind "None"`) {
		t.Errorf("after another: exit %d:\n%s", code, said)
	}
	write("pipeline.yaml", strings.ReplaceAll(pipeline, ", dependsOn: [{resourceGroup: fleet, step: operator}]", ""))
	code, said = r.runs("state", "", with...)
	if code != exitFailed || !strings.Contains(said, "the dry run failed at 1 step: fleet/thing.") ||
		!strings.Contains(said, "installs release operator") {
		t.Errorf("by itself: exit %d:\n%s", code, said)
	}
}
