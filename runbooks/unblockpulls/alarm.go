package unblockpulls

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"salve/internal/prow/brief"
	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
	"salve/runbook"
)

// health is whether Prow makes pods where they belong, and whether its jobs run.
type health struct {
	// Home is the pod namespace. Strays are pods of this instance's ProwJobs that wait or run elsewhere.
	Home   string   `json:"home"`
	Strays []string `json:"strays"`
	// Verdicts are those of the rules.
	Verdicts []ruleVerdict `json:"verdicts"`
}

// ruleVerdict is what a rule of salve prow watch came to.
type ruleVerdict struct {
	Rule     string           `json:"rule"`
	Severity finding.Severity `json:"severity"`
	// Reason is what it lacks; empty when it lacks nothing.
	Reason string `json:"reason"`
	// Warned and Alerted are the messages of its findings, from these severities on.
	Warned  string `json:"warned"`
	Alerted string `json:"alerted"`
}

func ruleVerdictOf(verdict finding.Verdict, found finding.List) ruleVerdict {
	return ruleVerdict{
		Rule: verdict.Rule, Severity: verdict.Severity, Reason: verdict.Reason,
		Warned: says(found, verdict.Rule, finding.Warn), Alerted: says(found, verdict.Rule, finding.Alert),
	}
}

// rules are those of salve prow watch that a run waits for: the alarms, and that all sources name one pod namespace. A5
// is not among them: it says why strays wait that A1 has counted.
func rules() []string { return append(alarms(), stray.Agree) }

func alarms() []string { return []string{stray.Stray, stray.Canary, stray.Podless, stray.Storm} }

// health asks the rules of salve prow watch, of one moment. Which plank made a pod is known by the pod alone (A2).
func (i *instance) health(ctx context.Context) (health, error) {
	seen, err := i.work(ctx)
	if err != nil {
		return health{}, err
	}
	pods, err := cluster.ReadPods(ctx, i.cluster, nil)
	if err != nil {
		return health{}, err
	}
	// Jobs of other build clusters are none of the plan: that was asked before.
	alarm := stray.New(stray.Instance{
		Cluster: cluster.DefaultCluster, ProwJobs: i.namespace, Pods: i.pods, PendingTimeout: i.pendingTimeout,
	})
	result, err := alarm.Evaluate(stray.View{
		Now: i.cluster.Clock.Now(), Pods: newObjects(pods, cluster.Pod.String), Jobs: newObjects(seen.read,
			cluster.Job.String),
		PodHealth: cluster.Health{Coverage: pods.Coverage}, JobHealth: cluster.Health{Coverage: seen.read.Coverage},
		MalformedPods: pods.Malformed, MalformedJobs: seen.read.Malformed,
	})
	if err != nil {
		return health{}, err
	}
	now := health{Home: i.pods}
	for _, verdict := range result.Verdicts {
		if slices.Contains(rules(), verdict.Rule) {
			now.Verdicts = append(now.Verdicts, ruleVerdictOf(verdict, result.Findings))
		}
	}
	for _, pod := range pods.Objects {
		if pod.Namespace != i.pods && pod.Live() && seen.ours[pod.JobName()] {
			now.Strays = append(now.Strays, pod.String())
		}
	}
	for _, malformed := range pods.Malformed { // as far as it can be read, or whatever it is
		pod := malformed.Pod
		if malformed.Namespace != i.pods && (pod == nil || pod.Phase == "" || pod.Live() && seen.ours[pod.JobName()]) {
			now.Strays = append(now.Strays, malformed.Namespace+"/"+malformed.Name)
		}
	}
	return now, nil
}

// objects are those of a reading, to be found by namespace/name.
type objects[T any] struct {
	all    []T
	byName map[string]T
}

func newObjects[T any](read cluster.Reading[T], name func(T) string) objects[T] {
	o := objects[T]{all: read.Objects, byName: make(map[string]T, len(read.Objects))}
	for _, object := range read.Objects {
		o.byName[name(object)] = object
	}
	return o
}

func (o objects[T]) Get(namespace, name string) (T, bool) {
	object, found := o.byName[namespace+"/"+name]
	return object, found
}

func (o objects[T]) All() iter.Seq[T] { return slices.Values(o.all) }

func (u *unblocking) noStrays() runbook.Guard {
	return onCluster(u, "no-strays", "are Prow's pods made where they belong, and do its jobs run (A1 to A4)?",
		func(ctx context.Context, _ runbook.Run) (health, error) {
			for _, action := range u.actions {
				if job := action.jobNamed(); job != nil && job.Cluster != cluster.DefaultCluster {
					return health{}, fmt.Errorf("job %s runs in build cluster %s, whose pods are not seen from here. hint: look "+
						"there, then --override no-strays=REASON", job.Name, job.Cluster)
				}
			}
			return u.prow.health(ctx)
		}, noStrays)
}

// alarming is how many strays are more than a mishap, however old they are.
const alarming = 3

// noStrays: jobs that are started while plank mixes namespaces up go where those went, and those that are started in a
// storm of timeouts end in it. A rule that alarms decides whatever another one lacks.
func noStrays(seen health) runbook.Finding {
	var rung []string
	lacking := map[string][]string{} // the rules by what they lack
	for _, verdict := range seen.Verdicts {
		switch {
		case verdict.Rule == stray.Agree && verdict.Severity.AtLeast(finding.Warn): // where pods belong is not known
			lacking[verdict.Warned] = append(lacking[verdict.Warned], verdict.Rule)
		case verdict.Severity.AtLeast(finding.Alert):
			rung = append(rung, verdict.Rule+" is "+string(verdict.Severity)+": "+verdict.Alerted)
		case verdict.Severity == finding.Unknown || verdict.Reason != "":
			lacking[verdict.Reason] = append(lacking[verdict.Reason], verdict.Rule)
		}
	}
	switch {
	case len(rung) > 0:
		return runbook.No("%s. hint: mend that first (salve prow watch), then salve run rescue-stranded-pods",
			strings.Join(rung, "; ")).WithOutcome(runbook.NeedsAttention)
	case len(seen.Strays) >= alarming:
		return runbook.No("%d pods of Prow are outside of namespace %s: %s. hint: mend that first, then salve run "+
			"rescue-stranded-pods", len(seen.Strays), seen.Home, brief.List(seen.Strays)).WithOutcome(runbook.NeedsAttention)
	case len(lacking) > 0:
		var lacks []string
		for _, reason := range slices.Sorted(maps.Keys(lacking)) {
			lacks = append(lacks, strings.Join(lacking[reason], ", ")+" unknown: "+reason)
		}
		return runbook.Unknownf("%s", strings.Join(lacks, "; "))
	case len(seen.Verdicts) < len(rules()):
		return runbook.Unknownf("%d of the rules %s were asked", len(seen.Verdicts), strings.Join(rules(), ", "))
	}
	return runbook.Yes("outside of namespace %s: %d; no alarm of %s", seen.Home, len(seen.Strays),
		strings.Join(alarms(), ", "))
}

// says are the messages of a rule's findings, from a severity on.
func says(list finding.List, rule string, least finding.Severity) string {
	var messages []string
	for _, found := range list {
		if found.Rule == rule && found.Severity.AtLeast(least) {
			messages = append(messages, found.Message)
		}
	}
	slices.Sort(messages)
	return brief.List(messages)
}
