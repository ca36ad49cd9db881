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
	// home is the pod namespace. Strays are pods of this instance's ProwJobs that wait or run elsewhere.
	home   string
	strays []string
	// verdicts are those of the rules, and found what they found.
	verdicts []finding.Verdict
	found    finding.List
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
	now := health{home: i.pods, found: result.Findings}
	for _, verdict := range result.Verdicts {
		if slices.Contains(rules(), verdict.Rule) {
			now.verdicts = append(now.verdicts, verdict)
		}
	}
	for _, pod := range pods.Objects {
		if pod.Namespace != i.pods && pod.Live() && seen.ours[pod.JobName()] {
			now.strays = append(now.strays, pod.String())
		}
	}
	for _, malformed := range pods.Malformed { // as far as it can be read, or whatever it is
		pod := malformed.Pod
		if malformed.Namespace != i.pods && (pod == nil || pod.Phase == "" || pod.Live() && seen.ours[pod.JobName()]) {
			now.strays = append(now.strays, malformed.Namespace+"/"+malformed.Name)
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
	for _, verdict := range seen.verdicts {
		switch {
		case verdict.Rule == stray.Agree && verdict.Severity.AtLeast(finding.Warn): // where pods belong is not known
			says := seen.says(verdict.Rule, finding.Warn)
			lacking[says] = append(lacking[says], verdict.Rule)
		case verdict.Severity.AtLeast(finding.Alert):
			rung = append(rung, verdict.Rule+" is "+string(verdict.Severity)+": "+seen.says(verdict.Rule, finding.Alert))
		case verdict.Severity == finding.Unknown || verdict.Reason != "":
			lacking[verdict.Reason] = append(lacking[verdict.Reason], verdict.Rule)
		}
	}
	switch {
	case len(rung) > 0:
		return runbook.No("%s. hint: mend that first (salve prow watch), then salve run rescue-stranded-pods",
			strings.Join(rung, "; ")).WithOutcome(runbook.NeedsAttention)
	case len(seen.strays) >= alarming:
		return runbook.No("%d pods of Prow are outside of namespace %s: %s. hint: mend that first, then salve run "+
			"rescue-stranded-pods", len(seen.strays), seen.home, brief.List(seen.strays)).WithOutcome(runbook.NeedsAttention)
	case len(lacking) > 0:
		var lacks []string
		for _, reason := range slices.Sorted(maps.Keys(lacking)) {
			lacks = append(lacks, strings.Join(lacking[reason], ", ")+" unknown: "+reason)
		}
		return runbook.Unknownf("%s", strings.Join(lacks, "; "))
	case len(seen.verdicts) < len(rules()):
		return runbook.Unknownf("%d of the rules %s were asked", len(seen.verdicts), strings.Join(rules(), ", "))
	}
	return runbook.Yes("outside of namespace %s: %d; no alarm of %s", seen.home, len(seen.strays),
		strings.Join(alarms(), ", "))
}

// says are the messages of a rule's findings, from a severity on.
func (h health) says(rule string, least finding.Severity) string {
	var messages []string
	for _, found := range h.found {
		if found.Rule == rule && found.Severity.AtLeast(least) {
			messages = append(messages, found.Message)
		}
	}
	slices.Sort(messages)
	return brief.List(messages)
}
