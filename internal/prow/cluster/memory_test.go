package cluster

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"salve/internal/clock"
	"salve/internal/kubetest"
	"salve/kube"
)

// The size of a large Prow.
const (
	manyPods = 50_000
	manyJobs = 20_000
)

// TestMirrorsOfALargeProwAreSmall: what is kept of each object is its few fields.
func TestMirrorsOfALargeProwAreSmall(t *testing.T) {
	c := &kube.Cluster{Clock: clock.Real{}}
	peak := kubetest.WatchHeap()
	podMirror := newMirror(c, paged(pods(c), manyPods, func(i int) metav1.Object { return largePod(i) }), nil, nil)
	jobMirror := newMirror(c, paged(jobs(c), manyJobs, func(i int) metav1.Object { return largeJob(i) }), nil, nil)
	fill(t, podMirror)
	fill(t, jobMirror)
	// 300 MiB is what the whole program may have.
	if used := peak(); used > 200<<20 {
		t.Errorf("mirrors of %d pods and %d ProwJobs had up to %.0f MiB", podMirror.Len(), jobMirror.Len(), used/(1<<20))
	} else {
		t.Logf("up to %.0f MiB", used/(1<<20))
	}
	malformed := append(podMirror.Malformed(), jobMirror.Malformed()...)
	if podMirror.Len() != manyPods || jobMirror.Len() != manyJobs || len(malformed) > 0 {
		t.Errorf("%d pods, %d ProwJobs, malformed %v", podMirror.Len(), jobMirror.Len(), malformed)
	}
}

// fill runs a mirror until it watches.
func fill[T any](t testing.TB, m *Mirror[T]) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	m.kind.watch = func(context.Context, string, metav1.ListOptions) (watch.Interface, error) {
		stop()
		return watch.NewFake(), nil
	}
	_ = m.Run(ctx) // ends with ctx
	if m.Len() == 0 {
		t.Fatalf("nothing was listed: %+v", m.Health())
	}
}

// paged lists objects that are made when they are asked for.
func paged[T any](k kind[T], n int, at func(i int) metav1.Object) kind[T] {
	k.list = func(_ context.Context, _ string, options metav1.ListOptions) (page, error) {
		first, _ := strconv.Atoi(options.Continue) // empty is the first
		meta := &metav1.ListMeta{ResourceVersion: "1"}
		found := page{ListInterface: meta}
		for i := first; i < n && i < first+int(options.Limit); i++ {
			found.objects = append(found.objects, at(i))
		}
		if next := first + len(found.objects); next < n {
			meta.Continue = strconv.Itoa(next)
		}
		return found, nil
	}
	return k
}

func uuid(i int) string { return fmt.Sprintf("5d0d5d0d-0000-4000-8000-%012d", i) }

// largePod is a pod as Prow makes them, a tenth of which wait. What is never kept of it is left out.
func largePod(i int) *corev1.Pod {
	pod := aPod(nil)
	pod.Name, pod.UID, pod.ResourceVersion = uuid(i), types.UID(uuid(i+1)), strconv.Itoa(i)
	pod.Labels["prow.k8s.io/id"], pod.Labels["prow.k8s.io/build-id"] = uuid(i), fmt.Sprintf("19%017d", i)
	pod.Labels["prow.k8s.io/refs.repo"] = fmt.Sprintf("repo-%d", i%50)
	pod.Annotations["prow.k8s.io/job"] = fmt.Sprintf("pull-repo-%d-integration-tests", i%1000)
	pod.Spec.NodeName = fmt.Sprintf("node-%d", i%5000)
	if i%10 != 0 {
		pod.Status.Phase = corev1.PodRunning
	}
	return pod
}

// largeJob is a ProwJob that is done. What is never kept of it is left out.
func largeJob(i int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"namespace": "prow", "name": uuid(i), "uid": uuid(i + 1), "resourceVersion": strconv.Itoa(i),
		},
		"spec": map[string]any{
			"type": "presubmit", "agent": "kubernetes", "namespace": "test-pods", "report": true,
			"job": fmt.Sprintf("pull-repo-%d-integration-tests", i%1000), "context": fmt.Sprintf("pull-repo-%d", i%1000),
			"refs": map[string]any{"org": "example", "repo": fmt.Sprintf("repo-%d", i%50), "base_ref": "main",
				"pulls": []any{map[string]any{"number": int64(i), "sha": fmt.Sprintf("%040d", i)}}},
		},
		"status": map[string]any{
			"state": "success", "startTime": "2026-02-05T08:47:00Z", "pendingTime": "2026-02-05T08:47:01Z",
			"completionTime": "2026-02-05T08:57:01Z", "description": "Job succeeded.", "pod_name": uuid(i),
			"build_id": fmt.Sprintf("19%017d", i), "prev_report_states": map[string]any{"github-reporter": "success"},
		},
	}}
}

// BenchmarkChange is one change of a pod as a watch brings it, read and kept.
func BenchmarkChange(b *testing.B) {
	m := newMirror(&kube.Cluster{Clock: clock.Real{}}, pods(&kube.Cluster{}), nil, nil)
	changes := make(chan Change[Pod], 1)
	f := m.feed(metav1.NamespaceAll, changes)
	pod := largePod(1)
	n := 0
	for b.Loop() {
		n++
		pod.ResourceVersion = strconv.Itoa(n)
		f.seen(b.Context(), pod)
		<-changes
	}
}
