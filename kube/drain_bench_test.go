//go:build unix

package kube_test

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"salve/internal/kubetest"
	"salve/internal/permit"
	"salve/kube"
	"salve/runbook"
)

// long bounds one drain of a benchmark.
const long = 10 * time.Minute

// BenchmarkDrainAgainstKubectl drains the same 600 pods from the same 20 nodes
// twice: by kubectl, and by us.
func BenchmarkDrainAgainstKubectl(b *testing.B) {
	f := newFleet(b, 20)
	f.workloads("app", 20, 30, 1)
	var kubectl, ours time.Duration
	for b.Loop() {
		f.spread(600)
		kubectl += f.timed(func() {
			command := exec.CommandContext(b.Context(), f.plane.Program("kubectl"), "--kubeconfig", f.plane.Kubeconfig(),
				"drain", "-l", f.selector, "--ignore-daemonsets", "--delete-emptydir-data", "--force")
			if said, err := command.CombinedOutput(); err != nil {
				b.Fatalf("kubectl drain: %v\n%s", err, said[max(0, len(said)-2000):])
			}
		})
		f.spread(600)
		ours += f.timed(func() { f.drained(600) })
	}
	rounds := float64(b.N)
	b.ReportMetric(kubectl.Seconds()/rounds, "kubectl-s")
	b.ReportMetric(ours.Seconds()/rounds, "salve-s")
	b.ReportMetric(kubectl.Seconds()/ours.Seconds(), "times-faster")
}

// BenchmarkDrainOfManyPods drains 3,000 pods from 100 nodes, and beside it lets as
// many clients as we have evictions in flight evict the same pods in a bare loop:
// what the API server gives on this machine.
func BenchmarkDrainOfManyPods(b *testing.B) {
	const pods = 3000
	f := newFleet(b, 100)
	f.workloads("app", 30, pods/30, 0)
	var bare, ours time.Duration
	var peak, cpu float64
	// An API server that has just started is a third faster than it is ever again: that round is nobody's.
	f.spread(pods)
	f.evictBarely(64)
	for b.Loop() {
		// It grows slower still with each round: either way stands first once.
		for _, barely := range []bool{true, false, false, true} {
			f.spread(pods)
			if barely {
				bare += f.timed(func() { f.evictBarely(64) })
				continue
			}
			heap, before := kubetest.WatchHeap(), cpuSeconds(b)
			ours += f.timed(func() { f.drained(pods) })
			cpu += cpuSeconds(b) - before
			peak = max(peak, heap())
		}
	}
	evicted := float64(2 * b.N * pods)
	b.ReportMetric(peak/(1<<20), "peak-heap-MB")
	b.ReportMetric(cpu/float64(2*b.N), "client-cpu-s")
	b.ReportMetric(evicted/bare.Seconds(), "limit-pods/s")
	b.ReportMetric(evicted/ours.Seconds(), "pods/s")
	b.ReportMetric(bare.Seconds()/ours.Seconds(), "share-of-limit")
}

// BenchmarkDrainBesideBudgets drains 300 pods alone, and again beside 300 others
// whose ten budgets allow one at a time.
func BenchmarkDrainBesideBudgets(b *testing.B) {
	const half = 300
	f := newFleet(b, 20)
	f.workloads("free", 10, half/10, 1)
	for b.Loop() {
		f.spread(half)
		alone := f.timeUntilGone("free", half)
		f.workloads("budgeted", 10, half/10, 1)
		f.spread(2 * half)
		f.budgets("budgeted", 10)
		beside := f.timeUntilGone("free", half)
		b.ReportMetric(alone.Seconds(), "alone-s")
		b.ReportMetric(beside.Seconds(), "beside-budgets-s")
		b.ReportMetric(beside.Seconds()/alone.Seconds(), "times-as-long")
	}
}

// fleet is a site for benchmarks: workloads that run on its nodes and nowhere else,
// so that what replaces an evicted pod waits until a node is uncordoned.
type fleet struct {
	*site
	b *testing.B
}

func newFleet(b *testing.B, nodes int) *fleet { return &fleet{onNodes(b, nodes), b} }

// workloads makes ReplicaSets.
func (f *fleet) workloads(half string, sets, replicas int, grace int64) {
	for i := range sets {
		labels := map[string]string{"half": half, "app": fmt.Sprintf("%s-%d", half, i)}
		spec := podSpec()
		spec.NodeSelector, spec.TerminationGracePeriodSeconds = map[string]string{"site": f.namespace}, &grace
		count := int32(replicas)
		_, err := f.client.AppsV1().ReplicaSets(f.namespace).Create(f.Context(), &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: labels["app"], Labels: labels},
			Spec: appsv1.ReplicaSetSpec{
				Replicas: &count, Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
			},
		}, metav1.CreateOptions{})
		f.must(err)
	}
}

// budgets makes a budget for each ReplicaSet that allows one pod at a time.
func (f *fleet) budgets(half string, sets int) {
	one := intstr.FromInt(1)
	for i := range sets {
		app := fmt.Sprintf("%s-%d", half, i)
		_, err := f.client.PolicyV1().PodDisruptionBudgets(f.namespace).Create(f.Context(), &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: app},
			Spec: policyv1.PodDisruptionBudgetSpec{
				MaxUnavailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
			},
		}, metav1.CreateOptions{})
		f.must(err)
	}
	f.until("the budgets are counted", func() bool {
		list, err := f.client.PolicyV1().PodDisruptionBudgets(f.namespace).List(f.Context(), metav1.ListOptions{})
		counted := 0
		for _, budget := range list.Items {
			counted += int(budget.Status.DisruptionsAllowed)
		}
		return err == nil && counted == sets
	})
}

// spread opens the nodes and waits until all pods run on them.
func (f *fleet) spread(pods int) {
	f.b.StopTimer()
	defer f.b.StartTimer()
	for _, name := range f.names {
		_, err := f.client.CoreV1().Nodes().Patch(f.Context(), name, types.MergePatchType,
			[]byte(`{"spec":{"unschedulable":null}}`), metav1.PatchOptions{})
		f.must(err)
	}
	f.until(fmt.Sprintf("%d pods run", pods), func() bool {
		running := 0
		for _, pod := range f.list("").Items {
			if pod.DeletionTimestamp == nil && isReady(&pod) {
				running++
			}
		}
		return running == pods
	})
}

func (f *fleet) list(half string) *corev1.PodList {
	options := metav1.ListOptions{ResourceVersion: "0"}
	if half != "" {
		options.LabelSelector = labels.Set{"half": half}.String()
	}
	list, err := f.client.CoreV1().Pods(f.namespace).List(f.Context(), options)
	f.must(err)
	return list
}

func (f *fleet) until(what string, holds func() bool) {
	f.Helper()
	for limit := time.Now().Add(long); !holds(); time.Sleep(time.Second) {
		if time.Now().After(limit) {
			f.Fatalf("never seen: %s", what)
		}
	}
}

func (f *fleet) timed(work func()) time.Duration {
	start := time.Now()
	work()
	return time.Since(start)
}

// drained cordons and drains all nodes, as a runbook does.
func (f *fleet) drained(pods int) {
	drained, err := f.drain(kube.DrainOptions{Deadline: long, Progress: func(runbook.Progress) {}})
	f.must(err)
	if !drained.Complete() || len(drained.Evicted) != pods {
		f.Fatalf("%d evicted, %d left", len(drained.Evicted), len(drained.Remaining))
	}
}

// evictBarely evicts all pods by clients that know nothing of one another. The
// pods have no grace time: when the last answer is there, all are gone.
func (f *fleet) evictBarely(clients int) {
	f.cordoned()
	config := f.plane.Config() // without the permits that Salve's own clients ask for
	config.QPS, config.ContentType = -1, "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	f.must(err)
	work := make(chan string)
	var team sync.WaitGroup
	var failed atomic.Pointer[error]
	for range clients {
		team.Go(func() {
			for name := range work {
				err := client.CoreV1().Pods(f.namespace).EvictV1(f.Context(),
					&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: f.namespace}})
				if err != nil {
					failed.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	for _, name := range f.inTurn() {
		work <- name
	}
	close(work)
	team.Wait()
	if first := failed.Load(); first != nil {
		f.Fatal(*first)
	}
}

// inTurn names all pods, one of each node in turn: the order costs controllers, and
// thereby the API server, more than one after the other of the same ReplicaSet,
// and is the one that a drain takes.
func (f *fleet) inTurn() []string {
	onNode := map[string][]string{}
	pods := f.list("").Items
	for _, pod := range pods {
		onNode[pod.Spec.NodeName] = append(onNode[pod.Spec.NodeName], pod.Name)
	}
	var names []string
	for i := 0; len(names) < len(pods); i++ {
		for _, node := range f.names {
			if i < len(onNode[node]) {
				names = append(names, onNode[node][i])
			}
		}
	}
	return names
}

// timeUntilGone drains, and tells after what time the pods of one half were gone.
func (f *fleet) timeUntilGone(half string, pods int) time.Duration {
	there := f.list(half)
	left := map[types.UID]bool{}
	for _, pod := range there.Items {
		left[pod.UID] = true
	}
	if len(left) != pods {
		f.Fatalf("%d pods of the half %q", len(left), half)
	}
	ctx, stop := context.WithCancel(f.Context())
	var draining sync.WaitGroup
	nodes := f.cordoned()
	start := time.Now()
	draining.Go(func() {
		// it is stopped
		_, _ = f.cluster.Drain(permit.NewContext(ctx, granted("run-1")), nodes, kube.DrainOptions{Deadline: long})
	})
	defer draining.Wait()
	defer stop()
	f.awaitGone(half, there.ResourceVersion, left)
	return time.Since(start)
}

// awaitGone watches until the pods are gone. The API server ends a watch that is
// not read quickly enough, as happens on a busy machine; then it is gone on with.
func (f *fleet) awaitGone(half, version string, left map[types.UID]bool) {
	options := metav1.ListOptions{LabelSelector: labels.Set{"half": half}.String()}
	for len(left) > 0 {
		options.ResourceVersion = version
		events, err := f.cluster.Client.CoreV1().Pods(f.namespace).Watch(f.Context(), options)
		f.must(err)
		for event := range events.ResultChan() {
			pod, isPod := event.Object.(*corev1.Pod)
			if !isPod {
				f.Fatal(apierrors.FromObject(event.Object))
			}
			version = pod.ResourceVersion
			if event.Type == watch.Deleted {
				delete(left, pod.UID)
			}
			if len(left) == 0 {
				break
			}
		}
		events.Stop()
	}
}

// cpuSeconds is the time of processors that this process has used.
func cpuSeconds(b *testing.B) float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
}
