package removeoperator_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"salve/engine"
	internalclock "salve/internal/clock"
	"salve/kube"
	"salve/runbook"
)

// empties answers lists below a path with nothing, from when it is told to.
type empties struct {
	path string
	on   atomic.Bool
}

func (e *empties) pass(request *http.Request, next http.RoundTripper) (*http.Response, error) {
	lists := request.Method == http.MethodGet && request.URL.Query().Get("watch") == "" &&
		strings.HasSuffix(request.URL.Path, e.path)
	if !e.on.Load() || !lists {
		return next.RoundTrip(request)
	}
	body := `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[]}`
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/2.0", ProtoMajor: 2, Request: request,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewBufferString(body)),
	}, nil
}

// TestEmptyListOfCRDsIsNotNothing: what is served was defined, whatever a list says.
func TestEmptyListOfCRDsIsNotNothing(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.widget("plain")
	lying := &empties{path: "/customresourcedefinitions"}
	o.cluster = o.through(lying.pass)
	o.cluster.Clock = internalclock.NewScaled(30)
	lying.on.Store(true)
	result := o.run()
	o.ends(result, runbook.Undecided)
	if !strings.Contains(result.Reason, "the list of CRDs does not hold it") || !o.there(o.widgets, o.team, "plain") {
		t.Error(result.Reason)
	}
}

// TestEmptyListOfObjectsIsNotNothing: a CRD is kept while a watch shows an object that no list does. Nothing of that
// object was exported, and the API server would delete it with its CRD.
func TestEmptyListOfObjectsIsNotNothing(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.widget("hidden")
	lying := &empties{path: "/widgets"}
	lying.on.Store(true)
	o.cluster = o.through(lying.pass)
	result := o.run()
	o.ends(result, runbook.Undecided)
	if !strings.Contains(result.Reason, "/hidden is there, and the list") || !o.there(o.widgets, o.team, "hidden") {
		t.Error(result.Reason)
	}
}

// TestSelectorThatSelectsNothingIsUnknown: its label was taken away, or it was mistyped.
func TestSelectorThatSelectsNothingIsUnknown(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.widget("plain")
	o.inputs.Selectors = []string{"app.kubernetes.io/name=" + o.namespace}
	result := o.run()
	o.ends(result, runbook.Undecided)
	if !strings.Contains(result.Reason, "nothing has --selector") || !o.there(o.widgets, o.team, "plain") {
		t.Error(result.Reason)
	}
}

// TestWhatChangedSinceItWasReadIsNotDeleted: a binding that was the operator's alone gets a subject of somebody else
// right before it is deleted.
func TestWhatChangedSinceItWasReadIsNotDeleted(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.inputs.CascadeWait.Duration = untilNamespacesGo
	o.rights()
	other := rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "somebody"}
	var joined atomic.Bool
	o.cluster = o.through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		own := request.Method == http.MethodDelete && strings.HasSuffix(request.URL.Path, "/rolebindings/own")
		if own && joined.CompareAndSwap(false, true) {
			bindings := o.admin.Client.RbacV1().RoleBindings(o.team)
			binding, err := bindings.Get(request.Context(), "own", metav1.GetOptions{})
			o.must(err)
			binding.Subjects = append(binding.Subjects, other)
			_, err = bindings.Update(request.Context(), binding, metav1.UpdateOptions{})
			o.must(err)
		}
		return next.RoundTrip(request)
	})
	o.ends(o.run(), runbook.Remediated)
	_, err := o.admin.Client.RbacV1().RoleBindings(o.team).Get(t.Context(), "own", metav1.GetOptions{})
	if err != nil || !joined.Load() {
		t.Errorf("the binding that somebody has a part in: %v", err)
	}
}

// TestNamespaceIsKeptForWhatWasNotExported: it came after the export, and would be lost.
func TestNamespaceIsKeptForWhatWasNotExported(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.inputs.CascadeWait.Duration = untilNamespacesGo
	o.widget("plain")
	late := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "late"}}
	o.when(engine.StepEnded, "export", func() {
		_, err := o.admin.Client.CoreV1().Secrets(o.namespace).Create(t.Context(), late, metav1.CreateOptions{})
		o.must(err)
	})
	result := o.run()
	o.ends(result, runbook.NeedsAttention)
	if _, err := o.admin.Client.CoreV1().Secrets(o.namespace).Get(t.Context(), "late", metav1.GetOptions{}); err != nil {
		t.Errorf("the Secret: %v", err)
	}
	if !strings.Contains(o.named(result.Reason), "not in the bundle: secrets OPERATOR/late") {
		t.Error(result.Reason)
	}
	o.must(o.admin.Client.CoreV1().Secrets(o.namespace).Delete(t.Context(), "late", metav1.DeleteOptions{}))
	o.ends(o.run(), runbook.Remediated)
	o.removed()
}

// TestSameStateSameDigest: the plan of the same world is the same, whenever it is made and whatever the time is.
func TestSameStateSameDigest(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.inputs.StopOperator = true
	o.deployment(1)
	o.rights()
	o.hooks()
	o.configMap(o.team, "owned", o.widget("owner"))
	o.inputs.AllowCascade = "asked for"
	o.lease("leader", "somebody", time.Minute)
	digests := map[string]bool{}
	for _, later := range []time.Duration{0, time.Second, 26 * time.Hour} {
		o.cluster = &kube.Cluster{
			Client: o.admin.Client, Dynamic: o.admin.Dynamic, Metadata: o.admin.Metadata, Clock: shifted{by: later},
		}
		result := o.plan()
		if result.Plan == nil {
			t.Fatal(result.Reason)
		}
		digests[result.Plan.Digest] = true
	}
	if len(digests) != 1 {
		t.Errorf("digests of the same world: %v", digests)
	}
}

// shifted is the real clock, some time later.
type shifted struct {
	clock.RealClock
	by time.Duration
}

func (s shifted) Now() time.Time { return s.RealClock.Now().Add(s.by) }

func (s shifted) Since(then time.Time) time.Duration { return s.Now().Sub(then) }
