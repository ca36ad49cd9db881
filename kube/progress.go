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

// progressReporter reports progress, but not more often than anybody can read it.
// What it reports is counted as it changes.
type progressReporter struct {
	report  func(runbook.Progress)
	changed bool
	next    time.Time
}

// reportIfDue reports when it is time to, and gives the time of the next report; the
// zero time when there is nothing to report.
func (r *progressReporter) reportIfDue(d *drainer, now time.Time) (next time.Time) {
	switch {
	case r.report == nil:
		return time.Time{}
	case r.next.IsZero(), r.changed && !now.Before(r.next):
		r.changed, r.next = false, now.Add(reportEvery)
		r.report(d.progress())
	case r.changed:
		return r.next
	}
	return time.Time{}
}

// reportLast reports how it ended.
func (r *progressReporter) reportLast(d *drainer) {
	if r.report != nil {
		r.report(d.progress())
	}
}

// progress says, node by node, how many pods are left and what blocks them.
func (d *drainer) progress() runbook.Progress {
	progress := runbook.Progress{Text: fmt.Sprintf("%d of %d pods gone", len(d.evicted), len(d.pods))}
	for _, node := range d.nodes {
		if len(node.pods) > 0 {
			progress.Details = append(progress.Details, node.String())
		}
	}
	return progress
}

// String says how many pods are left on the node and what blocks them.
func (n *drainingNode) String() string {
	var blocked []string
	for q, waiting := range n.waiting {
		if q.hasBlocked {
			blocked = append(blocked, fmt.Sprintf("%d blocked by %s in %s", waiting, q.blocker, bounded(q.namespace)))
		}
	}
	slices.Sort(blocked)
	return strings.Join(append([]string{fmt.Sprintf("%s: %s left", bounded(n.name), plural(n.remaining, "pod"))},
		blocked...), ", ")
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// blocker says what prevents a pod's eviction; empty when it is terminating.
func (p *pod) blocker() string {
	switch {
	case p.stage == terminating:
		return ""
	case p.lastError != "":
		return p.lastError
	case p.queue != nil && p.queue.hasBlocked:
		return p.queue.blocker
	case p.stage == evicting:
		return "eviction not answered yet"
	}
	return "eviction not requested yet"
}

func (d *drainer) result() DrainResult {
	result := DrainResult{Evicted: d.evicted}
	slices.Sort(result.Evicted)
	for _, node := range d.nodes {
		for _, p := range node.pods {
			if p.stage != deleted {
				result.Remaining = append(result.Remaining, RemainingPod{Pod: p.String(), Node: node.name, Blocker: p.blocker()})
			}
		}
	}
	slices.SortFunc(result.Remaining, func(a, b RemainingPod) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Pod, b.Pod))
	})
	return result
}
