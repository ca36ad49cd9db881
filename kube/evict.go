package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"salve/fault"
	"salve/pace"
	"salve/runbook"
)

// defaultParallel bounds the evictions asked for at once.
const defaultParallel = 32

// refusedEviction is the schedule after a budget said no.
var refusedEviction = pace.Backoff{First: time.Second, Longest: 10 * time.Second, Factor: 1.5}

// eviction is a drain at work on a fixed set of pods.
type eviction struct {
	cluster *Cluster
	permit  runbook.Permit
	options DrainOptions
	slots   chan struct{}

	mu      sync.Mutex
	pods    map[types.UID]corev1.Pod
	left    map[types.UID]string // what is in the way, by pod
	evicted []string
	changed chan struct{}
}

func newEviction(c *Cluster, permit runbook.Permit, pods []corev1.Pod, options DrainOptions) *eviction {
	parallel := options.Parallel
	if parallel == 0 {
		parallel = defaultParallel
	}
	e := &eviction{
		cluster: c, permit: permit, options: options, slots: make(chan struct{}, parallel),
		pods: map[types.UID]corev1.Pod{}, left: map[types.UID]string{}, changed: make(chan struct{}, 1),
	}
	for _, pod := range pods {
		e.pods[pod.UID], e.left[pod.UID] = pod, ""
	}
	return e
}

// run evicts every pod and follows them until all are gone, ctx ends, or an
// error says that going on is useless.
func (e *eviction) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel(nil)
	workers.Go(func() { e.follow(ctx) })
	for _, pod := range e.pods {
		workers.Go(func() {
			if err := e.evict(ctx, pod); err != nil {
				cancel(err)
			}
		})
	}
	for {
		e.report()
		if e.remaining() == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-e.changed:
		}
	}
}

// evict asks for one pod's eviction until it is granted, the pod is gone, or ctx
// ends. A pod whose eviction is refused, for whatever reason, is reported and
// asked for again; only a void permit ends the drain.
func (e *eviction) evict(ctx context.Context, pod corev1.Pod) error {
	if pod.DeletionTimestamp != nil {
		return nil // it is going already
	}
	for n := 1; ; n++ {
		err := e.ask(ctx, pod)
		if err == nil || context.Cause(ctx) != nil {
			return nil
		}
		var void *voidPermit
		switch {
		case errors.As(err, &void):
			return err
		case fault.ClassOf(err) == fault.Missing, fault.ClassOf(err) == fault.Conflict && e.replaced(ctx, pod):
			e.gone(pod.UID)
			return nil
		}
		e.blocked(pod.UID, blockerOf(err))
		if pace.Pause(ctx, e.cluster.Clock, refusedEviction.Pause(n, fault.RetryAfter(err))) != nil {
			return nil
		}
	}
}

// voidPermit marks that our own permit was refused, not the eviction.
type voidPermit struct{ err error }

func (v *voidPermit) Error() string { return v.err.Error() }
func (v *voidPermit) Unwrap() error { return v.err }

// replaced tells whether the pod that was meant is gone, though there may be
// another one of its name.
func (e *eviction) replaced(ctx context.Context, pod corev1.Pod) bool {
	var there *corev1.Pod
	err := pace.Once(ctx, e.cluster.Clock, func(ctx context.Context) error {
		var err error
		there, err = e.cluster.Client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		return err
	})
	if err != nil {
		return fault.ClassOf(classify(err)) == fault.Missing
	}
	return there.UID != pod.UID
}

func (e *eviction) ask(ctx context.Context, pod corev1.Pod) error {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := e.permit.Authorize(ctx); err != nil {
		return &voidPermit{err}
	}
	request := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))},
	}
	err := pace.Once(ctx, e.cluster.Clock, func(ctx context.Context) error {
		return e.cluster.Client.CoreV1().Pods(pod.Namespace).EvictV1(ctx, request)
	})
	if err != nil {
		return classify(err)
	}
	e.blocked(pod.UID, "")
	return nil
}

// follow sees pods go: by a watch, begun anew from a list whenever it ends.
func (e *eviction) follow(ctx context.Context) {
	for context.Cause(ctx) == nil && e.remaining() > 0 {
		version, err := e.relist(ctx)
		if err == nil {
			e.watch(ctx, version)
		}
		if pace.Pause(ctx, e.cluster.Clock, time.Second) != nil {
			return
		}
	}
}

func (e *eviction) relist(ctx context.Context) (version string, err error) {
	var list *corev1.PodList
	err = pace.Once(ctx, e.cluster.Clock, func(ctx context.Context) error {
		list, err = e.cluster.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		return err
	})
	if err != nil {
		return "", err
	}
	present := map[types.UID]bool{}
	for i := range list.Items {
		present[list.Items[i].UID] = true
	}
	for uid := range e.pods {
		if !present[uid] {
			e.gone(uid)
		}
	}
	return list.ResourceVersion, nil
}

func (e *eviction) watch(ctx context.Context, version string) {
	limited, cancel := pace.WithTimeout(ctx, e.cluster.Clock, resync)
	defer cancel()
	watcher, err := e.cluster.Client.CoreV1().Pods(metav1.NamespaceAll).Watch(limited, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return
	}
	defer watcher.Stop()
	for {
		select {
		case <-limited.Done():
			return
		case event, open := <-watcher.ResultChan():
			pod, isPod := event.Object.(*corev1.Pod)
			if !open || !isPod {
				return
			}
			if event.Type == watch.Deleted {
				e.gone(pod.UID)
			}
		}
	}
}

func (e *eviction) gone(uid types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, waiting := e.left[uid]; !waiting {
		return
	}
	delete(e.left, uid)
	e.evicted = append(e.evicted, podName(e.pods[uid].Namespace, e.pods[uid].Name))
	e.signal()
}

func (e *eviction) blocked(uid types.UID, by string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if before, waiting := e.left[uid]; waiting && before != by {
		e.left[uid] = by
		e.signal()
	}
}

func (e *eviction) signal() {
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

func (e *eviction) remaining() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.left)
}

func (e *eviction) result() Drained {
	e.mu.Lock()
	defer e.mu.Unlock()
	result := Drained{Evicted: slices.Sorted(slices.Values(e.evicted))}
	for uid, blocker := range e.left {
		pod := e.pods[uid]
		result.Left = append(result.Left, Remaining{Pod: podName(pod.Namespace, pod.Name), Node: pod.Spec.NodeName, Blocker: blocker})
	}
	slices.SortFunc(result.Left, func(a, b Remaining) int { return strings.Compare(a.Node+a.Pod, b.Node+b.Pod) })
	return result
}

// report tells, node by node, how many pods are left and who is in the way.
func (e *eviction) report() {
	if e.options.Progress == nil {
		return
	}
	result := e.result()
	left := map[string]int{}
	blockers := map[string]string{}
	for _, pod := range e.pods {
		left[pod.Spec.NodeName] += 0
	}
	for _, pod := range result.Left {
		left[pod.Node]++
		if pod.Blocker != "" {
			blockers[pod.Node] = fmt.Sprintf(", %s blocked by %s", pod.Pod, pod.Blocker)
		}
	}
	progress := runbook.Progress{Text: fmt.Sprintf("%d of %d pods gone", len(result.Evicted), len(e.pods))}
	for _, node := range slices.Sorted(maps.Keys(left)) {
		progress.Details = append(progress.Details, fmt.Sprintf("%s: %d pods left%s", node, left[node], blockers[node]))
	}
	e.options.Progress(progress)
}

// budgetInMessage finds the budget's name in a cause of type DisruptionBudget:
// the Eviction API has no other place for it.
var budgetInMessage = regexp.MustCompile(`budget ([a-z0-9.-]+)`)

func disruptionBudget(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return ""
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != policyv1.DisruptionBudgetCause {
			continue
		}
		if found := budgetInMessage.FindStringSubmatch(cause.Message); found != nil {
			return found[1]
		}
		return cause.Message
	}
	return ""
}
