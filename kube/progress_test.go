package kube

import (
	"testing"
	"time"

	"salve/runbook"
)

// blockedPod is the only pod of a drain, and waits for a budget that refused it.
func blockedPod() (*drainer, *pod) {
	budget := &queue{blocker: "budget web", namespace: "team", hasBlocked: true}
	node := &drainingNode{name: "node-1", remaining: 1, waiting: map[*queue]int{}, stopWatch: func() {}}
	p := &pod{namespace: "team", name: "web-0", node: node, budgetQueue: budget, lastError: "refused"}
	node.pods = []*pod{p}
	d := &drainer{nodes: []*drainingNode{node}, remaining: 1, inFlight: 1}
	d.scheduler.enqueue(p, budget)
	return d, p
}

// TestAPodThatNoLongerWaitsIsNotCountedAsBlocked, whoever deletes it.
func TestAPodThatNoLongerWaitsIsNotCountedAsBlocked(t *testing.T) {
	for name, row := range map[string]struct {
		happens func(*drainer, *pod)
		node    string
		blocker string
	}{
		"it waits": {func(*drainer, *pod) {}, "node-1: 1 pod left, 1 blocked by budget web in team", "refused"},
		"its eviction was accepted": {func(d *drainer, p *pod) {
			d.handle(evictionResult{pod: p, outcome: evicted}, time.Time{})
		}, "node-1: 1 pod left", ""},
		"its eviction is being requested": {func(_ *drainer, p *pod) { p.stage, p.lastError, p.queue = evicting, "", nil },
			"node-1: 1 pod left, 1 blocked by budget web in team", "eviction not answered yet"},
		"somebody else deleted it": {func(d *drainer, p *pod) { d.markDeleted(p) }, "node-1: 0 pods left", "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			d, p := blockedPod()
			row.happens(d, p)
			if got := d.progress().Details[0]; got != row.node {
				t.Errorf("progress says %q", got)
			}
			if got := p.blocker(); got != row.blocker {
				t.Errorf("it is blocked by %q", got)
			}
		})
	}
}

// TestProgressIsReportedAtOnceAndThenWhenItChanges, four times a second at most.
func TestProgressIsReportedAtOnceAndThenWhenItChanges(t *testing.T) {
	d, _ := blockedPod()
	var told []runbook.Progress
	r := progressReporter{report: func(p runbook.Progress) { told = append(told, p) }}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, row := range []struct {
		after   time.Duration
		changed bool
		told    int
		next    time.Duration
	}{
		{0, false, 1, 0},
		{reportEvery, false, 1, 0},
		{reportEvery, true, 2, 0},
		{reportEvery + 1, true, 2, 2 * reportEvery},
		{2 * reportEvery, true, 3, 0},
	} {
		r.changed = row.changed
		next := r.reportIfDue(d, start.Add(row.after))
		if len(told) != row.told {
			t.Errorf("%d: told %d times", i, len(told))
		}
		if want := start.Add(row.next); row.next == 0 && !next.IsZero() || row.next > 0 && !next.Equal(want) {
			t.Errorf("%d: next at %v", i, next)
		}
	}
	r.reportLast(d)
	if len(told) != 4 || told[3].Text != "0 of 0 pods gone" {
		t.Errorf("at the end: %v", told)
	}
}
