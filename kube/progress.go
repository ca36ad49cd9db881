package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/runbook"
)

// reportEvery is the shortest time between two reports of progress.
const reportEvery = 250 * time.Millisecond

// reporter tells progress, but not more often than anybody can read it. What it
// tells is counted as it changes.
type reporter struct {
	tell    func(runbook.Progress)
	changed bool
	next    time.Time
}

// due reports when it is time to, and tells when it is next; the zero time when
// there is nothing to report.
func (r *reporter) due(e *eviction, now time.Time) (next time.Time) {
	switch {
	case r.tell == nil:
		return time.Time{}
	case r.next.IsZero(), r.changed && !now.Before(r.next):
		r.changed, r.next = false, now.Add(reportEvery)
		r.tell(e.progress())
	case r.changed:
		return r.next
	}
	return time.Time{}
}

// last reports how it ended.
func (r *reporter) last(e *eviction) {
	if r.tell != nil {
		r.tell(e.progress())
	}
}

// progress says, node by node, how many pods are left and who is in the way.
func (e *eviction) progress() runbook.Progress {
	told := runbook.Progress{Text: fmt.Sprintf("%d of %d pods gone", len(e.evicted), len(e.pods))}
	for _, node := range e.nodes {
		if len(node.pods) > 0 {
			told.Details = append(told.Details, node.String())
		}
	}
	return told
}

// String says how many pods are left on the node and who is in the way.
func (n *emptying) String() string {
	var blocked []string
	for q, waiting := range n.waiting {
		if q.blocks {
			blocked = append(blocked, fmt.Sprintf("%d blocked by %s in %s", waiting, q.blocker, q.namespace))
		}
	}
	slices.Sort(blocked)
	return strings.Join(append([]string{fmt.Sprintf("%s: %s left", n.name, count(n.left, "pod"))}, blocked...), ", ")
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// blocker says what keeps a pod; empty when it only has to end.
func (p *pod) blocker() string {
	switch {
	case p.stage == ending:
		return ""
	case p.trouble != "":
		return p.trouble
	case p.in != nil && p.in.blocks:
		return p.in.blocker
	case p.stage == asked:
		return "its eviction was not answered yet"
	}
	return "its eviction was not asked for yet"
}

func (e *eviction) result() DrainResult {
	result := DrainResult{Evicted: e.evicted}
	slices.Sort(result.Evicted)
	for _, node := range e.nodes {
		for _, p := range node.pods {
			if p.stage != gone {
				result.Remaining = append(result.Remaining, RemainingPod{Pod: p.String(), Node: node.name, Blocker: p.blocker()})
			}
		}
	}
	slices.SortFunc(result.Remaining, func(a, b RemainingPod) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Pod, b.Pod))
	})
	return result
}
