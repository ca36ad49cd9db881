package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/runbook"
)

// DrainOptions say how nodes are drained.
type DrainOptions struct {
	// Deadline is shared by all pods of all nodes.
	Deadline time.Duration
	// Parallel bounds how many evictions are in flight at once; zero means 64.
	Parallel int
	// Expected is what another source says about which nodes there are. The nodes
	// are compared with it before the first eviction. Without it a drain of no
	// nodes is refused.
	Expected *ExpectedNodes
	// Precondition must hold while pods are evicted: for example, that the nodes
	// which take them are Ready. It is evaluated before the first eviction and again
	// every PreconditionInterval. Its error ends the drain: no further eviction is
	// requested, and Drain returns the error. While an evaluation takes longer than
	// the interval no eviction is requested either. It must end when its context
	// does. May be nil.
	Precondition func(context.Context) error
	// PreconditionInterval is the time between two evaluations; zero means 15 s.
	PreconditionInterval time.Duration
	// Progress is called at the start, a few times a second while something
	// changes, and at the end; from one goroutine at a time. The drain waits for it.
	// May be nil.
	Progress func(runbook.Progress)
}

// DrainResult is what a drain did, and what it could not do.
type DrainResult struct {
	// Evicted names the pods that are deleted. One that was created under the same
	// name afterwards, as those of a StatefulSet are, is another pod.
	Evicted []string `json:"evicted,omitempty"`
	// Skipped are the pods that a drain leaves where they are.
	Skipped []SkippedPod `json:"skipped,omitempty"`
	// Remaining are the pods that should be deleted and are not.
	Remaining []RemainingPod `json:"remaining,omitempty"`
}

// SkippedPod is a pod that a drain does not evict, and why.
type SkippedPod struct {
	Pod    string `json:"pod"`
	Node   string `json:"node"`
	Reason string `json:"reason"`
}

// RemainingPod is a pod that a drain could not delete, and what prevents it.
type RemainingPod struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
	// Blocker is the PodDisruptionBudget or the error; empty when the pod is still
	// terminating.
	Blocker string `json:"blocker,omitempty"`
}

// Complete tells whether no pod remains.
func (d DrainResult) Complete() bool { return len(d.Remaining) == 0 }

// maxBlockers bounds how many pods Blockers names.
const maxBlockers = 50

// Blockers names each pod that remains with what prevents its eviction.
func (d DrainResult) Blockers() string {
	var lines []string
	for i, pod := range d.Remaining {
		if i == maxBlockers {
			lines = append(lines, fmt.Sprintf("and %d more", len(d.Remaining)-i))
			break
		}
		blocker := pod.Blocker
		if blocker == "" {
			blocker = "still terminating"
		}
		lines = append(lines, pod.Pod+" ("+blocker+")")
	}
	return strings.Join(lines, ", ")
}

// Drain evicts the pods of nodes, all nodes in parallel, as `kubectl drain` does:
// pods of DaemonSets stay, emptyDir data is deleted, pods without a controller are
// evicted. It returns when all are deleted or the deadline has passed; pods that
// remain are no error. The nodes must have been cordoned.
func (c *Cluster) Drain(ctx context.Context, nodes []Node, options DrainOptions) (DrainResult, error) {
	limited, cancel := clock.WithTimeout(ctx, c.Clock, options.Deadline)
	defer cancel()
	if err := c.checkSelection(limited, nodes, options.Expected); err != nil {
		return DrainResult{}, fmt.Errorf("draining: %w", err)
	}
	all, err := c.listNodePods(limited, nodes)
	if err != nil {
		return DrainResult{}, err
	}
	work := newDrainer(ctx, c, all.nodes, c.readBudgets(limited), options)
	runErr := work.run(limited)
	result := work.result()
	result.Skipped = all.skipped
	if cause := context.Cause(ctx); cause != nil {
		return result, fmt.Errorf("draining: %w", cause)
	}
	if runErr != nil && !errors.Is(runErr, errStopped) {
		return result, fmt.Errorf("draining: %w", runErr)
	}
	return result, nil
}

// PodsToEvict names the pods on the nodes that a drain would evict or wait for.
// Like Drain it refuses an empty selection without an expectation.
func (c *Cluster) PodsToEvict(ctx context.Context, nodes []Node, expected *ExpectedNodes) ([]string, error) {
	if err := c.checkSelection(ctx, nodes, expected); err != nil {
		return nil, err
	}
	all, err := c.listNodePods(ctx, nodes)
	var names []string
	for _, node := range all.nodes {
		for _, pod := range node.pods {
			names = append(names, pod.String())
		}
	}
	slices.Sort(names)
	return names, err
}

func (c *Cluster) checkSelection(ctx context.Context, nodes []Node, expected *ExpectedNodes) error {
	switch {
	case expected != nil:
		return c.VerifyNodes(ctx, nodes, *expected)
	case len(nodes) == 0:
		return apierr.New(apierr.Terminal, "no nodes selected: an empty selection does not mean that all nodes are drained")
	}
	return nil
}

func podName(namespace, name string) string { return bounded(namespace) + "/" + bounded(name) }
