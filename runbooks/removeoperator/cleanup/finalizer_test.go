package cleanup_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"salve/internal/permit"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"salve/internal/apierr"
	"salve/internal/kubetest"
	"salve/kube"
	"salve/runbooks/removeoperator/cleanup"
)

func TestWhichFinalizersAreOwn(t *testing.T) {
	operator := &cleanup.Operator{
		Group: "package-operator.run", Finalizers: []string{"legacy-cleanup", "other.example/of-the-operator"},
	}
	for finalizer, want := range map[string]bool{
		"package-operator.run/cached":             true,
		"manifests.package-operator.run/teardown": true,
		"package-operator.run":                    true,
		"finalizer.package-operator.run":          true,
		"legacy-cleanup":                          true,
		"other.example/of-the-operator":           true,
		"other.example/of-another":                false,
		"evil-package-operator.run/cached":        false,
		"package-operator.run.evil.example/x":     false,
		"evil.example/package-operator.run":       false,
		"kubernetes.io/pvc-protection":            false,
		"foregroundDeletion":                      false,
		"orphan":                                  false,
		"":                                        false,
	} {
		if got := operator.Owns(finalizer); got != want {
			t.Errorf("%q is own: %v, want %v", finalizer, got, want)
		}
	}
	if nobody := (&cleanup.Operator{}); nobody.Owns("anything/else") || nobody.Owns("") {
		t.Error("no group owns something")
	}
}

var ctx = context.Background()

const ownFinalizer, foreignFinalizer = "example.io/cleanup", "elsewhere.example/protect"

var configMaps = kube.Resource{
	GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"},
	Kind:                 "ConfigMap", Namespaced: true,
}

// TestReleaseRemovesItsOwnFromWhatIsBeingDeleted, one patch each, whatever happens to
// the object meanwhile.
func TestReleaseRemovesItsOwnFromWhatIsBeingDeleted(t *testing.T) {
	both := []string{"first." + ownFinalizer, foreignFinalizer, ownFinalizer}
	for name, test := range map[string]struct {
		alive bool
		// meanwhile happens right before the first patch reaches the API server.
		meanwhile func(*heldMap)
		want      []string
		patches   int
	}{
		"foreign finalizers stay":                       {want: []string{foreignFinalizer}, patches: 2},
		"an object that is not being deleted keeps all": {alive: true, want: both},
		"one that was changed is checked again": {meanwhile: func(m *heldMap) { m.finalizers(both[1], both[0], both[2]) },
			want: []string{foreignFinalizer}, patches: 3},
		"one that lost it meanwhile is done": {meanwhile: func(m *heldMap) { m.finalizers(foreignFinalizer) },
			want: []string{foreignFinalizer}, patches: 1},
		"one that is gone is done": {meanwhile: func(m *heldMap) { m.finalizers() }, want: nil, patches: 1},
		"one that was replaced is another one": {meanwhile: func(m *heldMap) { m.finalizers(); m.create(both...) },
			want: both, patches: 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := newHeldMap(t, both...)
			if !test.alive {
				m.delete()
			}
			m.meanwhile = test.meanwhile
			held := cleanup.Stuck{Object: kube.Object{Resource: configMaps, Namespace: m.namespace, Name: "held", UID: m.uid}}
			if err := m.operator.Release(permit.NewContext(ctx, granted()), []cleanup.Stuck{held}); err != nil {
				t.Fatal(err)
			}
			if got := m.now(); !slices.Equal(got, test.want) {
				t.Errorf("the finalizers are %q, want %q", got, test.want)
			}
			if m.patches != test.patches {
				t.Errorf("%d patches, want %d", m.patches, test.patches)
			}
		})
	}
}

func TestNoPermitNoRelease(t *testing.T) {
	m := newHeldMap(t, ownFinalizer)
	m.delete()
	held := cleanup.Stuck{Object: kube.Object{Resource: configMaps, Namespace: m.namespace, Name: "held", UID: m.uid}}
	err := m.operator.Release(ctx, []cleanup.Stuck{held})
	if apierr.ClassOf(err) != apierr.Conflict || m.patches > 0 {
		t.Errorf("%d patches, %v", m.patches, err)
	}
	if err := m.operator.Delete(ctx, held.Object); apierr.ClassOf(err) != apierr.Conflict || err == nil {
		t.Errorf("deleting: %v", err)
	}
}

// heldMap is a ConfigMap with finalizers, on a real control plane.
type heldMap struct {
	testing.TB
	plane     *kubetest.ControlPlane
	operator  *cleanup.Operator
	namespace string
	uid       types.UID
	patches   int
	meanwhile func(*heldMap)
}

func newHeldMap(t testing.TB, finalizers ...string) *heldMap {
	t.Helper()
	plane := kubetest.Start(t)
	m := &heldMap{TB: t, plane: plane, namespace: plane.Namespace(t),
		operator: &cleanup.Operator{Cluster: connected(t, plane), Group: "example.io"}}
	config := plane.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodPatch {
				m.patched(request)
			}
			return next.RoundTrip(request)
		})
	})
	client, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	m.operator.Metadata = client
	m.create(finalizers...)
	t.Cleanup(func() { m.finalizers() })
	return m
}

// patched checks that a patch tests identity and value, and removes one thing.
func (m *heldMap) patched(request *http.Request) {
	m.patches++
	body, err := io.ReadAll(request.Body)
	if err != nil {
		m.Error(err)
	}
	request.Body = io.NopCloser(strings.NewReader(string(body)))
	for _, want := range []string{`"op":"test","path":"/metadata/uid"`, `"op":"test","path":"/metadata/finalizers/`} {
		if !strings.Contains(string(body), want) {
			m.Errorf("%s is not in %s", want, body)
		}
	}
	if strings.Count(string(body), `"op":"remove"`) != 1 {
		m.Errorf("it removes more than one thing: %s", body)
	}
	if m.meanwhile != nil {
		m.meanwhile(m)
		m.meanwhile = nil
	}
}

func (m *heldMap) maps() interface {
	Get(context.Context, string, metav1.GetOptions) (*corev1.ConfigMap, error)
	Create(context.Context, *corev1.ConfigMap, metav1.CreateOptions) (*corev1.ConfigMap, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (*corev1.ConfigMap, error)
} {
	return m.plane.Client().CoreV1().ConfigMaps(m.namespace)
}

func (m *heldMap) create(finalizers ...string) {
	m.Helper()
	made, err := m.maps().Create(ctx,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: finalizers}}, metav1.CreateOptions{})
	if err != nil {
		m.Fatal(err)
	}
	if m.uid == "" {
		m.uid = made.UID
	}
}

func (m *heldMap) delete() {
	m.Helper()
	if err := m.maps().Delete(ctx, "held", metav1.DeleteOptions{}); err != nil {
		m.Fatal(err)
	}
}

// finalizers puts others in the place of those that are there.
func (m *heldMap) finalizers(all ...string) {
	quoted := "null"
	if len(all) > 0 {
		quoted = `["` + strings.Join(all, `","`) + `"]`
	}
	_, _ = m.maps().Patch(ctx, "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":`+quoted+`}}`), metav1.PatchOptions{}) // one that is gone has none
}

func (m *heldMap) now() []string {
	m.Helper()
	found, err := m.maps().Get(ctx, "held", metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return found.Finalizers
}
