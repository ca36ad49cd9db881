package removeoperator_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"salve/journal/configmap"
	"salve/runbook"
)

// contents are the objects of a bundle, as "kind namespace/name" in lower case.
func (o *operator) contents(bundle []byte) map[string]bool {
	o.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(bundle))
	o.must(err)
	all := map[string]bool{}
	lines := bufio.NewScanner(unzipped)
	for lines.Buffer(nil, 4<<20); lines.Scan(); {
		object := &unstructured.Unstructured{}
		o.must(json.Unmarshal(lines.Bytes(), &object.Object))
		all[strings.ToLower(object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName())] = true
	}
	o.must(lines.Err())
	return all
}

// TestBundleHoldsEverythingThatIsDeleted: each object that the run asks to delete, and what goes with the namespace.
func TestBundleHoldsEverythingThatIsDeleted(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.deployment(0)
	o.rights()
	o.hooks()
	o.widget("plain")
	o.gadget("wide")
	o.configMap(o.namespace, "settings")
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "certificate"}, StringData: map[string]string{"key": "opened"},
	}
	_, err := o.admin.Client.CoreV1().Secrets(o.namespace).Create(t.Context(), secret, metav1.CreateOptions{})
	o.must(err)
	o.lease("leader", "", 0)

	var mu sync.Mutex
	var deleted []string // kinds in the plural, and names
	o.cluster = o.through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method == http.MethodDelete {
			mu.Lock()
			defer mu.Unlock()
			deleted = append(deleted, path.Base(path.Dir(request.URL.Path))+" "+path.Base(request.URL.Path))
		}
		return next.RoundTrip(request)
	})
	o.inputs.CascadeWait.Duration = untilNamespacesGo
	result := o.run()
	o.ends(result, runbook.Remediated)

	inBundle := o.contents(o.bundleOf(result.Run))
	if len(deleted) < 8 {
		t.Errorf("the run deleted %q", deleted)
	}
	for _, one := range deleted {
		plural, name, _ := strings.Cut(one, " ")
		found := false
		for entry := range inBundle {
			kind, whose, _ := strings.Cut(entry, " ")
			found = found || kind == strings.TrimSuffix(plural, "s") && path.Base(whose) == name
		}
		if !found {
			t.Errorf("%s was deleted and is not in the bundle: %v", one, inBundle)
		}
	}
	for _, goes := range []string{"secret NS/certificate", "configmap NS/settings", "lease NS/leader", "namespace /NS"} {
		if !inBundle[strings.ReplaceAll(goes, "NS", o.namespace)] {
			t.Errorf("%s went with the namespace and is not in the bundle: %v", goes, inBundle)
		}
	}
}

// TestBundleComesOutOfTheClusterByKubectl, by the line in the documentation.
func TestBundleComesOutOfTheClusterByKubectl(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.big(13, 800<<10) // more than ten Secrets hold, so that their order matters
	kept, err := configmap.New(configmap.Options{Client: o.admin.Client, Clock: o.admin.Clock, Namespace: o.team})
	o.must(err)
	o.journal = kept
	o.exportsNamespace()
	result := o.run()
	o.ends(result, runbook.Remediated)

	docs, err := os.ReadFile("../../docs/remove-operator.md")
	o.must(err)
	_, line, found := strings.Cut(string(docs), "\n    kubectl -n salve-system-exports get ")
	line, _, _ = strings.Cut(line, " > leftovers.json.gz")
	if !found {
		t.Fatal("the documentation does not say how")
	}
	line = o.plane.Program("kubectl") + " -n " + configmap.Namespaces(o.team)[1] + " get " +
		strings.Replace(line, "salve-run=RUN", "salve-run="+result.Run, 1)
	command := exec.CommandContext(t.Context(), "sh", "-c", line)
	command.Env = append(os.Environ(), "KUBECONFIG="+o.plane.Kubeconfig())
	content, err := command.Output()
	o.must(err)
	if !bytes.Equal(content, o.bundleOf(result.Run)) {
		t.Errorf("kubectl gave %d bytes, which are not the bundle", len(content))
	}
}

// TestOperatorInNamespaceOfAnyName: one that looks like a credential to a mask.
func TestOperatorInNamespaceOfAnyName(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.namespace = "onepassword-" + o.namespace
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.namespace}}
	_, err := o.admin.Client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	o.must(err)
	o.inputs.Namespace, o.inputs.StopOperator = o.namespace, true
	o.inputs.CascadeWait.Duration = untilNamespacesGo
	o.deployment(1)
	o.rights()
	o.hooks()
	o.widget("password", func(object *unstructured.Unstructured) {
		object.Object["spec"] = map[string]any{"args": []any{"--password=hunter2"}, "token": "t-1"}
	})
	o.ends(o.run(), runbook.Remediated)
	o.removed()
}
