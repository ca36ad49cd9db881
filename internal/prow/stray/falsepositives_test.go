package stray_test

import (
	"strings"
	"testing"
	"time"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
)

// TestFalsePositives are what looks like an outage and is none: no rule says a word.
func TestFalsePositives(t *testing.T) {
	for name, make := range map[string]func(p *prow){
		"Tekton's pods are where their jobs say": func(p *prow) {
			for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
				p.job(name, time.Hour, func(job *cluster.Job) {
					job.Agent, job.PodNamespace = "tekton-pipeline", "pipelines"
				})
				p.pod("pipelines", name, time.Minute)
			}
		},
		"Tekton's pods in a third namespace are none of plank's": func(p *prow) {
			p.job("a", time.Second, func(job *cluster.Job) { job.Agent = "tekton-pipeline" })
			p.pod("pipelines", "a", time.Second)
		},
		"pods that people labelled have no ProwJob": func(p *prow) {
			for _, name := range []string{"hook-1", "deck-1", "crier-1"} {
				p.pod("prow", name, time.Minute, func(pod *cluster.Pod) { pod.ID = "" })
			}
		},
		"a copy of a pod has another name": func(p *prow) {
			p.job("a", time.Second)
			p.pod("test-pods", "a", time.Second)
			p.pod("sandbox", "a-debug", time.Second, func(pod *cluster.Pod) { pod.ID = "a" })
		},
		"a pod that has a job's name is for the one that its label says": func(p *prow) {
			p.job("a", time.Second)
			p.pod("test-pods", "a", time.Second)
			p.pod("sandbox", "a", time.Second, func(pod *cluster.Pod) { pod.ID = "b" })
		},
		"what something owns was not made by plank": func(p *prow) {
			p.job("a", time.Second)
			p.pod("test-pods", "a", time.Second)
			p.pod("sandbox", "a", time.Second, func(pod *cluster.Pod) { pod.Owned = true })
		},
		"another Prow's pods name its own jobs": func(p *prow) {
			for _, name := range []string{"x", "y", "z"} {
				p.pod("other-pods", name, time.Second, version("v9"))
				p.jobs["other-prow/"+name] = cluster.Job{Namespace: "other-prow", Name: name, PodNamespace: "third",
					Job: "pull-" + name, Cluster: "default", State: cluster.Pending, PodMade: ago(time.Hour)}
			}
		},
		"a job that failed over has its pod in another cluster": func(p *prow) {
			for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
				p.job(name, time.Hour, func(job *cluster.Job) { job.Cluster = "build-2" })
			}
		},
		"a watch that is seconds behind has not seen the pod yet": func(p *prow) {
			for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
				p.job(name, 30*time.Second)
			}
		},
		"a pod whose job was collected long ago proves nothing": func(p *prow) {
			p.pod("default", "a", 100*time.Hour)
		},
		"jobs wait for their turn": func(p *prow) {
			for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
				p.job(name, 5*time.Hour, func(job *cluster.Job) { job.State = cluster.Triggered })
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := aProw().healthy(3, time.Minute)
			p.view.Rollout.At = ago(2 * time.Minute)
			make(p)
			result := p.evaluate(t)
			if len(result.Findings) > 0 {
				t.Error(text(result))
			}
			for _, verdict := range result.Verdicts {
				if verdict.Severity != finding.OK {
					t.Errorf("%+v", verdict)
				}
			}
		})
	}
}

// TestAPlannedMoveIsAFinding: the configuration that jobs are made with is another one than ours. What hangs on it is
// UNKNOWN, and the other rules see what they see.
func TestAPlannedMoveIsAFinding(t *testing.T) {
	p := aProw().healthy(10, time.Hour)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		p.job(name, time.Hour, func(job *cluster.Job) { job.PodNamespace = "new-pods" })
		p.pod("new-pods", name, time.Minute, running)
	}
	p.view.Rollout.At = ago(2 * time.Minute)
	result := p.evaluate(t)
	if len(result.Findings) != 1 || severity(result, stray.Agree) != finding.Alert {
		t.Error(text(result))
	}
	for _, rule := range stray.Rules() {
		lack := lackOf(result, rule)
		want := rule == stray.Stray || rule == stray.Canary || rule == stray.Podless
		told := strings.Contains(lack.Reason, "6 pods in namespace new-pods of jobs that were made with another one")
		if told != want || lack.NotGiven {
			t.Errorf("rule %s lacks %+v", rule, lack)
		}
	}
	// It does not hide what is seen all the same.
	if got := severity(p.astray(time.Second, "x", "y", "z").evaluate(t), stray.Stray); got != finding.Alert {
		t.Errorf("three strays beside it are %q", got)
	}
}
