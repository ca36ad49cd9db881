package removeoperator_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"salve/runbook"
)

// contents are the objects of a bundle, as "kind namespace/name" in lower case.
func (o *operator) contents(bundle []byte) map[string]bool {
	o.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(bundle))
	o.must(err)
	all := map[string]bool{}
	for lines := bufio.NewScanner(unzipped); lines.Scan(); {
		object := &unstructured.Unstructured{}
		o.must(json.Unmarshal(lines.Bytes(), &object.Object))
		all[strings.ToLower(object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName())] = true
	}
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
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "certificate"}, StringData: map[string]string{"key": "opened"}}
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
