package managed

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/azuresim"
)

// evictions are what the last pass over each node has left there.
type evictions struct {
	mutex sync.Mutex
	left  map[string][]azuresim.PodLeft
	// asked counts the passes over a node that were asked for and are not over.
	asked map[string]int
}

func newEvictions() *evictions {
	return &evictions{left: map[string][]azuresim.PodLeft{}, asked: map[string]int{}}
}

func (e *evictions) begin(node string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.asked[node]++
}

func (e *evictions) over(node string, left []azuresim.PodLeft) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.asked[node]--
	e.left[node] = left
}

func (e *evictions) of(node string) ([]azuresim.PodLeft, bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.left[node], e.asked[node] == 0
}

// Evict asks the Eviction API about each pod of nodes but those of DaemonSets.
func (c *Cluster) Evict(nodes []string) {
	for _, node := range nodes {
		c.evictions.begin(node)
		c.queue.add("evicting the pods of node "+node, func(ctx context.Context) error {
			left, err := c.evictPods(ctx, node)
			if err == nil {
				c.evictions.over(node, left)
			}
			return err
		})
	}
}

// Left tells what the last pass over nodes has left there.
func (c *Cluster) Left(nodes []string) (pods []azuresim.PodLeft, known bool) {
	known = true
	for _, node := range nodes {
		left, seen := c.evictions.of(node)
		pods, known = append(pods, left...), known && seen
	}
	return pods, known
}

func (c *Cluster) evictPods(ctx context.Context, node string) ([]azuresim.PodLeft, error) {
	pods, err := c.podsOn(ctx, node)
	if err != nil {
		return nil, err
	}
	var left []azuresim.PodLeft
	for i := range pods {
		pod := &pods[i]
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "DaemonSet" {
			continue
		}
		one := azuresim.PodLeft{Namespace: pod.Namespace, Name: pod.Name, Node: node}
		if pod.DeletionTimestamp == nil {
			if one.Budget, err = c.evict(ctx, pod); err != nil {
				return nil, err
			}
		}
		left = append(left, one)
	}
	return left, nil
}

// evict gives the budget that forbids the eviction of a pod; empty when it was accepted. A pod that is gone, or another
// one of its name, is seen in the next pass.
func (c *Cluster) evict(ctx context.Context, pod *corev1.Pod) (budget string, _ error) {
	err := c.client.CoreV1().Pods(pod.Namespace).EvictV1(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))},
	})
	switch {
	case err == nil, apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return "", nil
	case apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause):
		cause, _ := apierrors.StatusCause(err, policyv1.DisruptionBudgetCause)
		return namedIn(cause.Message), nil
	case apierrors.IsInternalError(err) && strings.Contains(err.Error(), "more than one PodDisruptionBudget"):
		return "more than one", nil
	}
	return "", fmt.Errorf("evicting pod %s/%s: %w", pod.Namespace, pod.Name, err)
}

// namedIn is the budget that a refusal names.
func namedIn(message string) string {
	_, after, _ := strings.Cut(message, "The disruption budget ")
	name, _, found := strings.Cut(after, " ")
	if !found {
		return "unknown"
	}
	return name
}
