package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubectl/pkg/drain"

	"salve/fault"
	"salve/pace"
	"salve/runbook"
)

// DrainOptions say how nodes are emptied.
type DrainOptions struct {
	// Deadline is shared by all pods of all nodes.
	Deadline time.Duration
	// Parallel bounds how many evictions are asked for at once; zero means 32.
	Parallel int
	// Progress is called after each change, from one goroutine at a time. May be nil.
	Progress func(runbook.Progress)
}

// Drained is the result of a drain.
type Drained struct {
	// Evicted names the pods that are gone.
	Evicted []string `json:"evicted,omitempty"`
	// Skipped says which pods were left alone and why, in kubectl's words.
	Skipped string `json:"skipped,omitempty"`
	// Left are the pods that are still there.
	Left []Remaining `json:"left,omitempty"`
}

// Remaining is a pod that a drain could not remove, and who is in the way.
type Remaining struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
	// Blocker is the PodDisruptionBudget or the error; empty when the pod is
	// still ending.
	Blocker string `json:"blocker,omitempty"`
}

// Complete tells whether nothing is left.
func (d Drained) Complete() bool { return len(d.Left) == 0 }

// Blockers names each pod that is left with what is in its way.
func (d Drained) Blockers() string {
	var lines []string
	for _, pod := range d.Left {
		blocker := pod.Blocker
		if blocker == "" {
			blocker = "still ending"
		}
		lines = append(lines, pod.Pod+" ("+blocker+")")
	}
	return strings.Join(lines, ", ")
}

// Drain evicts the pods of nodes, all nodes at once: daemon sets are ignored,
// emptyDir data is deleted, unmanaged pods are evicted. It returns when all are
// gone or the deadline has passed; pods that are left are no error. The nodes
// must have been cordoned.
func (c *Cluster) Drain(ctx context.Context, permit runbook.Permit, nodes []Node, options DrainOptions) (Drained, error) {
	limited, cancel := pace.WithTimeout(ctx, c.Clock, options.Deadline)
	defer cancel()
	pods, skipped, err := c.evictable(limited, nodes)
	if err != nil {
		return Drained{}, err
	}
	work := newEviction(c, permit, pods, options)
	runErr := work.run(limited)
	result := work.result()
	result.Skipped = skipped
	if cause := context.Cause(ctx); cause != nil {
		return result, fmt.Errorf("draining: %w", cause)
	}
	if runErr != nil && !errors.Is(runErr, context.DeadlineExceeded) {
		return result, fmt.Errorf("draining: %w", runErr)
	}
	return result, nil
}

// evictable asks kubectl's filters which pods of the nodes go.
func (c *Cluster) evictable(ctx context.Context, nodes []Node) (pods []corev1.Pod, skipped string, err error) {
	var warnings []string
	for _, node := range nodes {
		err := c.read(ctx, fmt.Sprintf("listing the pods of node %q", node.Name), func(ctx context.Context) error {
			filter := &drain.Helper{
				Ctx: ctx, Client: c.Client, Force: true, GracePeriodSeconds: -1,
				IgnoreAllDaemonSets: true, DeleteEmptyDirData: true,
			}
			list, errs := filter.GetPodsForDeletion(node.Name)
			if len(errs) > 0 {
				return errors.Join(errs...)
			}
			pods = append(pods, list.Pods()...)
			if warning := list.Warnings(); warning != "" {
				warnings = append(warnings, node.Name+": "+warning)
			}
			return nil
		})
		if err != nil {
			return nil, "", err
		}
	}
	return pods, strings.Join(warnings, "; "), nil
}

// Occupied tells which pods that a drain would take are on the nodes.
func (c *Cluster) Occupied(ctx context.Context, nodes []Node) ([]string, error) {
	pods, _, err := c.evictable(ctx, nodes)
	var names []string
	for _, pod := range pods {
		names = append(names, podName(pod.Namespace, pod.Name))
	}
	slices.Sort(names)
	return names, err
}

func podName(namespace, name string) string { return namespace + "/" + name }

// blockerOf names the PodDisruptionBudget that refused an eviction, or says the
// error.
func blockerOf(err error) string {
	if budget := disruptionBudget(err); budget != "" {
		return "PodDisruptionBudget " + budget
	}
	if fault.ClassOf(classify(err)) == fault.Throttled {
		return "a PodDisruptionBudget"
	}
	return err.Error()
}
