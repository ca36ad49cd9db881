package removeoperator_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/engine"
	"salve/internal/kubetest"
	"salve/runbook"
)

const (
	manyKinds, manyNamespaces = 5, 200
	// every which object is stuck on a finalizer of the group.
	stuckEvery = 10
)

// BenchmarkRemoveOperator removes 5,000 custom resources of 5 CRDs in 200
// namespaces, 500 of them stuck, beside kubectl delete --all for each CRD, which
// does not wait and leaves those that are stuck; and half of them, to tell how memory
// grows.
func BenchmarkRemoveOperator(b *testing.B) {
	const small, large = 2500, 5000
	plane, err := kubetest.Launch(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := plane.Close(); err != nil {
			b.Error(err)
		}
	})
	f := newField(b, plane)
	for b.Loop() {
		b.StopTimer()
		o := f.operator()
		kinds := f.sow(o, large)
		kubectl := f.kubectl(kinds)
		f.left(kinds, large/stuckEvery)
		for _, kind := range kinds {
			o.unhold(b.Context(), kind)
			o.undefine(kind.GroupResource().String())
		}
		few := f.operator()
		f.sow(few, small)
		_, lowest := f.removed(few, small)
		many := f.operator()
		f.sow(many, large)
		b.StartTimer()
		took, peak := f.removed(many, large)
		b.ReportMetric(kubectl.Seconds(), "kubectl-delete-s")
		b.ReportMetric(took.deleting.Seconds(), "salve-delete-s")
		b.ReportMetric(kubectl.Seconds()/took.deleting.Seconds(), "times-faster")
		b.ReportMetric(took.releasing.Seconds(), "salve-release-500-s")
		b.ReportMetric(took.whole.Seconds(), "salve-whole-run-s")
		b.ReportMetric(peak/(1<<20), "peak-heap-MB")
		b.ReportMetric(peak/lowest, "heap-at-5000-to-2500")
	}
}

// BenchmarkRemoveOperatorBesidePods asks the guards in a cluster with 10,000 pods in
// a namespace, one of which an object of the group owns: each is looked at.
func BenchmarkRemoveOperatorBesidePods(b *testing.B) {
	const pods = 10000
	plane, err := kubetest.Launch(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := plane.Close(); err != nil {
			b.Error(err)
		}
	})
	o := retiredOn(b, plane)
	owner := o.widget("owner")
	few, lowest := o.asked(runbook.Outcome(""))
	each(pods, func(n int) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pod-%05d", n)},
			Spec: corev1.PodSpec{
				SchedulerName: "nobody", Containers: []corev1.Container{{Name: "app", Image: "registry.example/app:1"}},
			},
		}
		if n == pods/2 {
			pod.OwnerReferences = []metav1.OwnerReference{referenceTo(owner)}
		}
		if _, err := plane.Client().CoreV1().Pods(o.team).Create(b.Context(), pod, metav1.CreateOptions{}); err != nil {
			b.Error(err)
		}
	})
	for b.Loop() {
		many, peak := o.asked(runbook.NeedsAttention)
		b.ReportMetric(few.Seconds(), "guards-without-pods-s")
		b.ReportMetric(many.Seconds(), "guards-beside-10000-pods-s")
		b.ReportMetric(lowest/(1<<20), "heap-without-pods-MB")
		b.ReportMetric(peak/(1<<20), "peak-heap-MB")
	}
}

// asked asks the guards, and tells how long that took and what it kept.
func (o *operator) asked(want runbook.Outcome) (time.Duration, float64) {
	o.Helper()
	heap, began := kubetest.WatchHeap(), time.Now()
	result, err := o.engine().Check(o.Context(), o.book(), engine.Options{})
	took, peak := time.Since(began), heap()
	o.must(err)
	o.ends(result, want)
	return took, peak
}

// each calls do for 0 to n-1, some at a time.
func each(n int, do func(int)) {
	numbers := make(chan int)
	var team sync.WaitGroup
	for range 16 {
		team.Go(func() {
			for i := range numbers {
				do(i)
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	team.Wait()
}

// field is the namespaces that custom resources are in.
type field struct {
	*testing.B
	plane      *kubetest.ControlPlane
	namespaces []string
}

func newField(b *testing.B, plane *kubetest.ControlPlane) *field {
	f := &field{B: b, plane: plane}
	for i := range manyNamespaces {
		name := fmt.Sprintf("field-%03d", i)
		_, err := plane.Client().CoreV1().Namespaces().
			Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil {
			b.Fatal(err)
		}
		f.namespaces = append(f.namespaces, name)
	}
	return f
}

func (f *field) operator() *operator {
	o := retiredOn(f.B, f.plane)
	o.inputs.CascadeWait.Duration = 10 * time.Second
	o.inputs.Bundle = filepath.Join(f.TempDir(), "bundle.json.gz")
	return o
}

// sow makes CRDs of an operator and objects of them, all namespaces in turn.
func (f *field) sow(o *operator, objects int) []schema.GroupVersionResource {
	kinds := make([]schema.GroupVersionResource, manyKinds)
	for i := range kinds {
		kinds[i] = o.define(o.group, fmt.Sprintf("things%d", i), fmt.Sprintf("Thing%d", i), "Namespaced")
	}
	each(objects, func(n int) {
		kind := n % manyKinds
		object := &unstructured.Unstructured{
			Object: map[string]any{"spec": map[string]any{"number": int64(n), "text": fmt.Sprintf("%0512d", n)}},
		}
		object.SetAPIVersion(kinds[kind].GroupVersion().String())
		object.SetKind(fmt.Sprintf("Thing%d", kind))
		object.SetName(fmt.Sprintf("thing-%05d", n))
		if n/manyKinds%stuckEvery == 0 {
			object.SetFinalizers([]string{o.finalizer()})
		}
		_, err := o.admin.Dynamic.Resource(kinds[kind]).Namespace(f.namespaces[n%manyNamespaces]).
			Create(f.Context(), object, metav1.CreateOptions{})
		if err != nil {
			f.Error(err)
		}
	})
	return kinds
}

// kubectl deletes all objects of each CRD.
func (f *field) kubectl(kinds []schema.GroupVersionResource) time.Duration {
	began := time.Now()
	for _, kind := range kinds {
		command := exec.CommandContext(f.Context(), f.plane.Program("kubectl"), "--kubeconfig", f.plane.Kubeconfig(),
			"delete", kind.GroupResource().String(), "--all", "--all-namespaces", "--wait=false")
		if said, err := command.CombinedOutput(); err != nil {
			f.Fatalf("kubectl: %v: %s", err, said[max(0, len(said)-2000):])
		}
	}
	return time.Since(began)
}

// left checks how many objects there are.
func (f *field) left(kinds []schema.GroupVersionResource, want int) {
	f.Helper()
	got := 0
	cluster := connected(f.B, f.plane.Kubeconfig())
	for _, kind := range kinds {
		list, err := cluster.Metadata.Resource(kind).List(f.Context(), metav1.ListOptions{})
		if err != nil {
			f.Fatal(err)
		}
		got += len(list.Items)
	}
	if got != want {
		f.Fatalf("%d objects are left, want %d", got, want)
	}
}

// times are those of a run and of its parts.
type times struct{ whole, deleting, releasing time.Duration }

// removed runs the runbook, and checks that nothing is left and that a bar could be
// drawn.
func (f *field) removed(o *operator, objects int) (took times, peak float64) {
	f.Helper()
	heap := kubetest.WatchHeap()
	began := time.Now()
	ctx, cancel := context.WithTimeout(f.Context(), 10*time.Minute)
	defer cancel()
	result, err := o.engine().Run(ctx, o.book(), engine.Options{})
	took.whole, peak = time.Since(began), heap()
	o.must(err)
	o.ends(result, runbook.Remediated)
	o.removed()
	starts, bars := map[string]time.Time{}, map[string]int{}
	for _, event := range o.told {
		switch {
		case event.Kind == engine.StepBegan:
			starts[event.Step] = event.At
		case event.Progress != nil:
			bars[event.Step]++
			if event.Step == "delete-objects" &&
				event.Progress.Text == fmt.Sprintf("%d of %d objects deleted", objects, objects) {
				took.deleting = event.At.Sub(starts[event.Step])
			}
		case event.Kind == engine.StepEnded && event.Step == "release-finalizers":
			took.releasing = event.At.Sub(starts[event.Step])
		}
	}
	for _, step := range []string{"export", "delete-objects", "release-finalizers"} {
		if bars[step] == 0 {
			f.Errorf("%s told no progress", step)
		}
	}
	if took.deleting == 0 || took.releasing == 0 {
		f.Errorf("the parts took %+v", took)
	}
	return took, peak
}
