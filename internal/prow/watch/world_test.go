package watch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kwatch "k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	ktesting "k8s.io/client-go/testing"

	"salve/internal/clock"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
	"salve/internal/prow/watch"
	"salve/kube"
)

var prowJobs = schema.GroupVersionResource{Group: "prow.k8s.io", Version: "v1", Resource: "prowjobs"}

// world is a Prow of which a test decides what happens, in virtual time.
type world struct {
	*testing.T
	client   *fake.Clientset
	dynamic  *dynamicfake.FakeDynamicClient
	metadata *metadatafake.FakeMetadataClient
	options  watch.Options
	refused  sync.Map
	// told are the reports, the last one last.
	mu       sync.Mutex
	told     []watch.Report
	lastTold watch.Report
	count    int
	events   int
	stop     context.CancelFunc
	done     chan struct{}
	last     watch.Report
}

func newWorld(t *testing.T) *world {
	t.Helper()
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, client: fake.NewClientset(), metadata: metadatafake.NewSimpleMetadataClient(scheme),
		dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
			map[schema.GroupVersionResource]string{prowJobs: "ProwJobList"}),
		done: make(chan struct{}),
	}
	for _, client := range []*ktesting.Fake{&w.client.Fake, &w.dynamic.Fake, &w.metadata.Fake} {
		w.guard(client)
	}
	c := &kube.Cluster{Client: w.client, Dynamic: w.dynamic, Metadata: w.metadata, Clock: clock.Real{}}
	w.options = watch.Options{
		Instance: stray.Instance{Cluster: "default", ProwJobs: "prow", Pods: "test-pods", PendingTimeout: 10 * time.Minute,
			DeploysLack: finding.Lack{Reason: "needs --manifests", NotGiven: true}},
		ProwJobs: c, Pods: c, Clock: clock.Real{}, Named: []string{"default", "test-pods", "prow"}, Sinks: []watch.Sink{w},
		Warn: func(text string) { t.Error(text) },
	}
	w.leads(time.Hour)
	return w
}

// Tell keeps a report.
func (w *world) Tell(_ context.Context, report watch.Report) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told, w.lastTold = append(w.told, report), report
	w.count++
	return nil
}

// run starts the watch, which the test ends at its end at the latest.
func (w *world) run() {
	ctx, stop := context.WithCancel(w.Context())
	w.stop = stop
	go func() {
		defer close(w.done)
		var err error
		if w.last, err = watch.New(w.options).Run(ctx); err != nil {
			w.Error(err)
		}
	}()
	w.pass(time.Second)
}

func (w *world) end() {
	w.stop()
	<-w.done
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	time.Sleep(d) // virtual
	synctest.Wait()
}

// leads has plank lead for some time.
func (w *world) leads(since time.Duration) {
	w.Helper()
	at := metav1.NewMicroTime(time.Now().Add(-since))
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "prow",
		Name: "prow-controller-manager-leader-lock"}, Spec: coordinationv1.LeaseSpec{AcquireTime: &at}}
	leases := w.client.CoordinationV1().Leases("prow")
	_, err := leases.Create(w.Context(), lease, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = leases.Update(w.Context(), lease, metav1.UpdateOptions{})
	}
	w.must(err)
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// job makes a pending job.
func (w *world) job(name string) {
	w.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	_, err := w.dynamic.Resource(prowJobs).Namespace("prow").Create(w.Context(), &unstructured.Unstructured{
		Object: map[string]any{
			"apiVersion": "prow.k8s.io/v1", "kind": "ProwJob",
			"metadata": map[string]any{"name": name, "namespace": "prow", "uid": "job-" + name, "resourceVersion": "1",
				"creationTimestamp": now},
			"spec": map[string]any{"type": "periodic", "agent": "kubernetes", "namespace": "test-pods",
				"job": "ci-" + name},
			"status": map[string]any{"state": "pending", "startTime": now, "pendingTime": now},
		}}, metav1.CreateOptions{})
	w.must(err)
}

// pod makes a pod that waits.
func (w *world) pod(namespace, name string) {
	w.Helper()
	_, err := w.client.CoreV1().Pods(namespace).Create(w.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "-" + name),
			ResourceVersion: "1", CreationTimestamp: metav1.Now(),
			Labels:      map[string]string{"created-by-prow": "true", "prow.k8s.io/id": name},
			Annotations: map[string]string{"prow.k8s.io/job": "ci-" + name}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}, metav1.CreateOptions{})
	w.must(err)
}

// remove removes a pod from namespace default.
func (w *world) remove(name string) {
	w.Helper()
	w.must(w.client.CoreV1().Pods("default").Delete(w.Context(), name, metav1.DeleteOptions{}))
}

// refuse has the API server refuse a verb on a resource of a namespace from now on; an empty one is all.
func (w *world) refuse(verb, resource, namespace string) {
	w.refused.Store(verb+" "+resource+" "+namespace, true)
}

// guard refuses what is to be refused.
func (w *world) guard(client *ktesting.Fake) {
	refused := func(action ktesting.Action) error {
		resource := action.GetResource().Resource
		if _, no := w.refused.Load(action.GetVerb() + " " + resource + " " + action.GetNamespace()); no {
			return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("no"))
		}
		return nil
	}
	client.PrependReactor("*", "*", func(action ktesting.Action) (bool, runtime.Object, error) {
		err := refused(action)
		return err != nil, nil, err
	})
	client.PrependWatchReactor("*", func(action ktesting.Action) (bool, kwatch.Interface, error) {
		err := refused(action)
		return err != nil, nil, err
	})
}

// changes are what was told since the last call, such as "new WARN A1".
func (w *world) changes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, report := range w.told {
		for _, change := range report.Changes {
			if change.Verdict.Rule != "" {
				all = append(all, fmt.Sprintf("%s %s", change.What, change.Verdict.Rule))
				continue
			}
			all = append(all, fmt.Sprintf("%s %s %s", change.What, change.Finding.Severity, change.Finding.Rule))
		}
	}
	w.told = nil
	return all
}

// expect is what was told since the last time.
func (w *world) expect(want ...string) {
	w.Helper()
	if got := w.changes(); strings.Join(got, "; ") != strings.Join(want, "; ") {
		w.Errorf("told %q, want %q", got, want)
	}
}

// tellings is how often was told.
func (w *world) tellings() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}

// reason is what a rule lacked at last.
func (w *world) reason(rule string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, verdict := range w.lastTold.Verdicts {
		if verdict.Rule == rule {
			return verdict.Reason
		}
	}
	return ""
}

// secret makes the Secret that pods miss, where they belong.
func (w *world) secret() {
	w.Helper()
	w.must(w.metadata.Tracker().Create(schema.GroupVersionResource{Version: "v1", Resource: "secrets"},
		&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "test-pods", Name: "service-account"}}, "test-pods"))
}

// missing makes an event about a pod in default that misses a Secret.
func (w *world) missing(pod types.UID) {
	w.Helper()
	w.events++
	_, err := w.client.CoreV1().Events("default").Create(w.Context(), &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("e", w.events)}, Type: corev1.EventTypeWarning,
		Reason: "FailedMount", InvolvedObject: corev1.ObjectReference{UID: pod},
		Message: `MountVolume.SetUp failed for volume "creds" : secret "service-account" not found`,
	}, metav1.CreateOptions{})
	w.must(err)
}
