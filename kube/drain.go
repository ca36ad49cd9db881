package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/internal/clock"
	"salve/runbook"
)

// DrainOptions say how nodes are emptied.
type DrainOptions struct {
	// Deadline is shared by all pods of all nodes.
	Deadline time.Duration
	// Parallel bounds how many evictions are in flight at once; zero means 64.
	Parallel int
	// Progress is called at the beginning, a few times a second while something
	// changes, and at the end; from one goroutine at a time. The drain stands
	// still while it runs. May be nil.
	Progress func(runbook.Progress)
}

// Drained is the result of a drain.
type DrainResult struct {
	// Evicted names the pods that are gone. One that came under the same name
	// afterwards, as those of a StatefulSet do, is another pod.
	Evicted []string `json:"evicted,omitempty"`
	// Skipped are the pods that were left alone.
	Skipped []SkippedPod `json:"skipped,omitempty"`
	// Left are the pods that are still there.
	Remaining []RemainingPod `json:"remaining,omitempty"`
}

// Skipped is a pod that a drain does not take, with kubectl's reason.
type SkippedPod struct {
	Pod    string `json:"pod"`
	Node   string `json:"node"`
	Reason string `json:"reason"`
}

// Remaining is a pod that a drain could not remove, and who is in the way.
type RemainingPod struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
	// Blocker is the PodDisruptionBudget or the error; empty when the pod is
	// still ending.
	Blocker string `json:"blocker,omitempty"`
}

// Complete tells whether nothing is left.
func (d DrainResult) Complete() bool { return len(d.Remaining) == 0 }

// Blockers names each pod that is left with what is in its way.
func (d DrainResult) Blockers() string {
	var lines []string
	for _, pod := range d.Remaining {
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
func (c *Cluster) Drain(ctx context.Context, nodes []Node, options DrainOptions) (DrainResult, error) {
	limited, cancel := clock.WithTimeout(ctx, c.Clock, options.Deadline)
	defer cancel()
	all, err := c.takeInventory(limited, nodes)
	if err != nil {
		return DrainResult{}, err
	}
	work := newEviction(ctx, c, all.nodes, c.readBudgets(limited), options)
	runErr := work.run(limited)
	result := work.result()
	result.Skipped = all.skipped
	if cause := context.Cause(ctx); cause != nil {
		return result, fmt.Errorf("draining: %w", cause)
	}
	if runErr != nil && !errors.Is(runErr, context.DeadlineExceeded) {
		return result, fmt.Errorf("draining: %w", runErr)
	}
	return result, nil
}

// PodsToEvict names the pods on the nodes that a drain would evict or wait for.
func (c *Cluster) PodsToEvict(ctx context.Context, nodes []Node) ([]string, error) {
	all, err := c.takeInventory(ctx, nodes)
	var names []string
	for _, node := range all.nodes {
		for _, pod := range node.pods {
			names = append(names, pod.String())
		}
	}
	slices.Sort(names)
	return names, err
}

func podName(namespace, name string) string { return namespace + "/" + name }
