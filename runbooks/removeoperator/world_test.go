package removeoperator_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/kubetest"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/removeoperator"
)

// patience is far more than anything here takes.
const patience = 10 * time.Minute

// untilNamespacesGo is a cascade wait that a namespace goes in: its controller lets
// it be for five seconds.
const untilNamespacesGo = 7 * time.Second

// operator is one that was retired, on a real control plane: its namespace, and a CRD
// of its group with objects in the namespaces of others. A second CRD, of a group
// below it, whose objects are in no namespace, is made with the first of them.
type operator struct {
	testing.TB
	plane     *kubetest.ControlPlane
	admin     *kube.Cluster // the test's own
	cluster   *kube.Cluster // what is tested
	namespace string
	// team is a namespace of somebody else.
	team    string
	group   string
	widgets schema.GroupVersionResource
	gadgets schema.GroupVersionResource
	inputs  removeoperator.Inputs
	// user is the one whom as has made.
	user    string
	journal journal.Store
	// told are the events of the newest run.
	told []engine.Event
	mu   sync.Mutex
	// meanwhile is done once, when a step comes to a point.
	meanwhile func(engine.Event)
}

// when does something once, when a step of the run comes to a point; the run waits
// for it.
func (o *operator) when(kind engine.EventKind, step string, do func()) {
	var once sync.Once
	o.meanwhile = func(event engine.Event) {
		if event.Kind == kind && event.Step == step {
			once.Do(do)
		}
	}
}

// retired makes the namespaces and the CRDs. The group's name is of the test's own.
func retired(t testing.TB) *operator {
	t.Helper()
	return retiredOn(t, kubetest.Start(t))
}

func retiredOn(t testing.TB, plane *kubetest.ControlPlane) *operator {
	t.Helper()
	o := &operator{
		TB: t, plane: plane, namespace: plane.Namespace(t), team: plane.Namespace(t), journal: journal.NewMemory(),
	}
	o.admin = unguarded(t, plane)
	o.cluster = connected(t, plane.Kubeconfig())
	o.group = o.namespace + ".example"
	o.widgets = o.define(o.group, "widgets", "Widget", "Namespaced")
	o.gadgets = schema.GroupVersionResource{Group: "sub." + o.group, Version: "v1", Resource: "gadgets"}
	o.inputs = removeoperator.Defaults()
	o.inputs.Group, o.inputs.Namespace = o.group, o.namespace
	o.inputs.CascadeWait = metav1.Duration{Duration: time.Second}
	t.Cleanup(func() { runbooktest.Replayed(t, o.journal, removeoperator.Name, decides) })
	return o
}

// decides makes the runbook of a record without a cluster.
func decides(history *journal.History) (runbook.Runbook, error) {
	var in removeoperator.Inputs
	if err := json.Unmarshal(history.Header.Inputs, &in); err != nil {
		return runbook.Runbook{}, err
	}
	return removeoperator.Replayed(in, history.Header.Target)
}

func connected(t testing.TB, kubeconfig string) *kube.Cluster {
	t.Helper()
	cluster, err := kube.Open(kubeconfig, "", clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

// unguarded is a cluster as others change it: without permits.
func unguarded(t testing.TB, plane *kubetest.ControlPlane) *kube.Cluster {
	t.Helper()
	custom, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	only, err := metadata.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	return &kube.Cluster{Client: plane.Client(), Dynamic: custom, Metadata: only, Clock: clock.RealClock{}}
}

func (o *operator) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

var crds = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// define makes a CRD and waits until its objects are served. What a test leaves of
// it is cleared.
func (o *operator) define(group, plural, kind, scope string) schema.GroupVersionResource {
	o.Helper()
	anything := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	version := func(name string, stored bool) map[string]any {
		return map[string]any{
			"name": name, "served": true, "storage": stored, "schema": map[string]any{"openAPIV3Schema": anything},
		}
	}
	crd := map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + "." + group},
		"spec": map[string]any{
			"group": group, "scope": scope, "names": map[string]any{"plural": plural, "kind": kind},
			"versions": []any{version("v1alpha1", false), version("v1", true)},
		},
	}
	_, err := o.admin.Dynamic.Resource(crds).
		Create(o.Context(), &unstructured.Unstructured{Object: crd}, metav1.CreateOptions{})
	o.must(err)
	served := schema.GroupVersionResource{Group: group, Version: "v1", Resource: plural}
	o.Cleanup(func() { o.clear(plural+"."+group, served) })
	o.eventually(plural+" are served", func(ctx context.Context) bool {
		_, err := o.admin.Dynamic.Resource(served).List(ctx, metav1.ListOptions{})
		return err == nil
	})
	return served
}

// clear takes every finalizer off, which is what a test may do.
func (o *operator) clear(name string, served schema.GroupVersionResource) {
	ctx, cancel := o.afterwards()
	defer cancel()
	o.unhold(ctx, served)
	err := o.admin.Dynamic.Resource(crds).Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		o.Errorf("clearing up: %v", err)
	}
}

// afterwards is a context for what is done when the test is over.
func (o *operator) afterwards() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

// unhold takes the finalizers off every object.
func (o *operator) unhold(ctx context.Context, served schema.GroupVersionResource) {
	list, err := o.admin.Dynamic.Resource(served).List(ctx, metav1.ListOptions{})
	if err != nil {
		return // it is gone, as it should be
	}
	for _, item := range list.Items {
		if len(item.GetFinalizers()) > 0 {
			_, _ = o.admin.Dynamic.Resource(served).Namespace(item.GetNamespace()).Patch(ctx, item.GetName(),
				types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}) // one that is gone is gone
		}
	}
}

// widget makes an object of the group in the team's namespace.
func (o *operator) widget(name string, edit ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	o.Helper()
	return o.object(o.widgets, "Widget", o.team, name, edit...)
}

func (o *operator) object(
	resource schema.GroupVersionResource, kind, namespace, name string, edit ...func(*unstructured.Unstructured),
) *unstructured.Unstructured {
	o.Helper()
	object := &unstructured.Unstructured{
		Object: map[string]any{"spec": map[string]any{"size": int64(3), "note": "of " + name}},
	}
	object.SetAPIVersion(resource.GroupVersion().String())
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	for _, change := range edit {
		change(object)
	}
	made, err := o.admin.Dynamic.Resource(resource).Namespace(namespace).
		Create(o.Context(), object, metav1.CreateOptions{})
	o.must(err)
	return made
}

// gadget makes an object of the group below, and its CRD before it.
func (o *operator) gadget(name string, edit ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	o.Helper()
	o.define(o.gadgets.Group, "gadgets", "Gadget", "Cluster")
	return o.object(o.gadgets, "Gadget", "", name, edit...)
}

// held is an object with finalizers.
func held(by ...string) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) { object.SetFinalizers(by) }
}

// ownedBy is an object with an owner.
func ownedBy(owner *unstructured.Unstructured) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) {
		object.SetOwnerReferences([]metav1.OwnerReference{referenceTo(owner)})
	}
}

func referenceTo(owner *unstructured.Unstructured) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(),
	}
}

// finalizer is one of the group's.
func (o *operator) finalizer() string { return o.group + "/cleanup" }

// deployment makes the operator's own.
func (o *operator) deployment(replicas int32) {
	o.Helper()
	labels, grace := map[string]string{"app": "operator"}, int64(0)
	_, err := o.admin.Client.AppsV1().Deployments(o.namespace).Create(o.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "operator"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				TerminationGracePeriodSeconds: &grace,
				Containers:                    []corev1.Container{{Name: "operator", Image: "registry.example/operator:1"}},
			}},
		},
	}, metav1.CreateOptions{})
	o.must(err)
}

func (o *operator) book() runbook.Runbook {
	o.Helper()
	book, err := removeoperator.New(removeoperator.World{Cluster: o.cluster, ClusterID: "test"}, o.inputs)
	o.must(err)
	return book
}

func (o *operator) engine() *engine.Engine {
	o.told = nil
	return &engine.Engine{Journal: o.journal, Clock: clock.RealClock{}, Watch: func(event engine.Event) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.told = append(o.told, event)
		if o.meanwhile != nil {
			o.meanwhile(event)
		}
	}}
}

func (o *operator) run() engine.Result {
	o.Helper()
	ctx, cancel := context.WithTimeout(o.Context(), patience)
	defer cancel()
	result, err := o.engine().Run(ctx, o.book(), engine.Options{})
	o.must(err)
	return result
}

func (o *operator) plan() engine.Result {
	o.Helper()
	result, err := o.engine().Plan(o.Context(), o.book(), engine.Options{})
	o.must(err)
	return result
}

// through is the cluster as a client sees it whose requests go through a test's
// hands.
func (o *operator) through(hands func(*http.Request, http.RoundTripper) (*http.Response, error)) *kube.Cluster {
	o.Helper()
	config := o.plane.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) { return hands(request, next) })
	})
	client, err := kubernetes.NewForConfig(config)
	o.must(err)
	dynamically, err := dynamic.NewForConfig(config)
	o.must(err)
	meta, err := metadata.NewForConfig(config)
	o.must(err)
	return &kube.Cluster{Client: client, Dynamic: dynamically, Metadata: meta, Clock: clock.RealClock{}}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func (o *operator) delete(resource schema.GroupVersionResource, namespace, name string) {
	o.Helper()
	o.must(o.admin.Dynamic.Resource(resource).Namespace(namespace).Delete(o.Context(), name, metav1.DeleteOptions{}))
}
