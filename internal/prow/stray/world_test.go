package stray_test

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
	"salve/kube"
)

// now is when the deploy of 5 February 2019 would be looked at today.
var now = time.Date(2026, time.February, 5, 8, 50, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

// objects are those of a kind, by namespace/name.
type objects[T fmt.Stringer] map[string]T

func (o objects[T]) Get(namespace, name string) (T, bool) {
	one, found := o[namespace+"/"+name]
	return one, found
}

func (o objects[T]) All() iter.Seq[T] { return maps.Values(o) }

// prow is what is seen of a Prow at a moment.
type prow struct {
	instance stray.Instance
	view     stray.View
	pods     objects[cluster.Pod]
	jobs     objects[cluster.Job]
}

func aProw() *prow {
	p := &prow{
		instance: stray.Instance{Cluster: "default", ProwJobs: "prow", Pods: "test-pods", PendingTimeout: 10 * time.Minute},
		pods:     objects[cluster.Pod]{}, jobs: objects[cluster.Job]{},
	}
	p.view = stray.View{Now: now, Pods: p.pods, Jobs: p.jobs, Rollout: stray.Rollout{At: ago(48 * time.Hour)}}
	return p
}

// job adds a job that has been pending for some time. Each is of a job and of a repository of its own.
func (p *prow) job(name string, pending time.Duration, change ...func(*cluster.Job)) cluster.Job {
	job := cluster.Job{Namespace: "prow", Name: name, UID: types.UID("job-" + name), Created: ago(pending),
		Type: cluster.Presubmit, Agent: cluster.KubernetesAgent, Cluster: "default", PodNamespace: "test-pods",
		Job: "pull-" + name, Org: "example", Repo: "repo-" + name, State: cluster.Pending, PodMade: ago(pending)}
	for _, change := range change {
		change(&job)
	}
	p.jobs[job.String()] = job
	return job
}

// pod adds a pod that waits.
func (p *prow) pod(namespace, name string, age time.Duration, change ...func(*cluster.Pod)) cluster.Pod {
	pod := cluster.Pod{Namespace: namespace, Name: name, ID: name, UID: types.UID(namespace + "-" + name),
		Created: ago(age), PlankVersion: "v1", Phase: corev1.PodPending, Job: "pull-" + name, Annotated: true}
	if job, known := p.jobs["prow/"+name]; known {
		pod.Job = job.Job
	}
	for _, change := range change {
		change(&pod)
	}
	p.pods[pod.String()] = pod
	return pod
}

// healthy adds jobs whose pods run where they belong.
func (p *prow) healthy(n int, age time.Duration) *prow {
	for i := range n {
		name := fmt.Sprintf("healthy-%d-%s", i, age)
		p.job(name, age)
		p.pod("test-pods", name, age, running)
	}
	return p
}

// astray adds pending jobs whose pods wait in default.
func (p *prow) astray(age time.Duration, names ...string) *prow {
	for _, name := range names {
		p.job(name, age)
		p.pod("default", name, age)
	}
	return p
}

// unversioned adds strays without a version since plank took over.
func (p *prow) unversioned(n int) *prow {
	p.view.Rollout.At = ago(5 * time.Second)
	for i := range n {
		name := fmt.Sprint("unversioned-", i)
		p.job(name, time.Second)
		p.pod("default", name, time.Second, version(""))
	}
	return p
}

// done adds jobs that ended some time ago.
func (p *prow) done(n int, ended time.Duration, prefix string, change ...func(*cluster.Job)) *prow {
	for i := range n {
		p.job(fmt.Sprintf("%s-%d", prefix, i), ended+time.Minute, append([]func(*cluster.Job){func(job *cluster.Job) {
			job.State, job.Completed = cluster.Success, ago(ended)
		}}, change...)...)
	}
	return p
}

func running(pod *cluster.Pod) { pod.Phase, pod.Touched = corev1.PodRunning, "test" }

func timedOut(job *cluster.Job) {
	job.State, job.Description = cluster.Error, "Pod pending timeout."
}

func version(v string) func(*cluster.Pod) { return func(pod *cluster.Pod) { pod.PlankVersion = v } }

// evaluate asks all rules of a new alarm.
func (p *prow) evaluate(t *testing.T) stray.Result {
	t.Helper()
	return p.evaluateBy(t, stray.New(p.instance))
}

func (p *prow) evaluateBy(t *testing.T, alarm *stray.Alarm) stray.Result {
	t.Helper()
	result, err := alarm.Evaluate(p.view)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Verdicts) != len(stray.Rules()) {
		t.Fatalf("the verdicts are %v", result.Verdicts)
	}
	return result
}

// severity is that of what a rule found; empty when it found nothing.
func severity(result stray.Result, rule string) finding.Severity {
	var found finding.List
	for _, f := range result.Findings {
		if f.Rule == rule {
			found = append(found, f)
		}
	}
	worst, _ := found.Worst()
	return worst
}

func lackOf(result stray.Result, rule string) finding.Lack {
	at := slices.IndexFunc(result.Verdicts, func(v finding.Verdict) bool { return v.Rule == rule })
	return result.Verdicts[at].Lack
}

func text(result stray.Result) string {
	var lines []string
	for _, f := range result.Findings {
		lines = append(lines, fmt.Sprint(f))
	}
	return strings.Join(lines, "\n")
}

var errRefused = errors.New("forbidden: cluster-wide")

// missing has a pod wait for a Secret.
func (p *prow) missing(pod cluster.Pod, belongs bool) {
	if p.view.Missing == nil {
		p.view.Missing = map[types.UID][]stray.Missing{}
	}
	p.view.Missing[pod.UID] = []stray.Missing{{
		Reference: kube.Reference{Kind: kube.Secret, Name: "service-account", For: "event: not found"}, Belongs: belongs,
	}}
}
