package stray_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
)

const none = finding.Severity("")

// TestRules are moments, and what one rule says about each.
func TestRules(t *testing.T) {
	for _, test := range []struct {
		name string
		rule string
		prow func() *prow
		want finding.Severity
	}{
		// A1
		{"a healthy Prow has no stray", stray.Stray, func() *prow { return aProw().healthy(50, time.Minute) }, none},
		{"one stray is a warning", stray.Stray, func() *prow {
			return aProw().healthy(10, time.Minute).astray(time.Minute, "a")
		}, finding.Warn},
		{"two strays of few pods are a warning", stray.Stray, func() *prow {
			return aProw().astray(time.Minute, "a", "b")
		}, finding.Warn},
		{"three strays of twenty pods are an alarm", stray.Stray, func() *prow {
			return aProw().healthy(17, time.Minute).astray(time.Minute, "a", "b", "c")
		}, finding.Alert},
		{"three strays of a hundred pods are a warning", stray.Stray, func() *prow {
			return aProw().healthy(97, time.Minute).astray(time.Minute, "a", "b", "c")
		}, finding.Warn},
		{"strays of an hour ago are a warning", stray.Stray, func() *prow {
			return aProw().astray(time.Hour, "a", "b", "c", "d").healthy(3, time.Minute)
		}, finding.Warn},
		{"healthy pods of an hour ago don't hide the strays of now", stray.Stray, func() *prow {
			return aProw().healthy(1000, time.Hour).astray(time.Minute, "a", "b", "c")
		}, finding.Alert},
		{"pods of others don't hide strays", stray.Stray, func() *prow {
			p := aProw().astray(time.Minute, "a", "b", "c")
			for i := range 100 {
				p.pod("others", fmt.Sprint(i), time.Minute)
			}
			return p
		}, finding.Alert},
		{"a stray that ran to its end is one", stray.Stray, func() *prow {
			p := aProw()
			p.job("a", time.Hour, func(job *cluster.Job) { job.State, job.Completed = cluster.Success, ago(time.Minute) })
			p.pod("default", "a", time.Hour, running)
			return p
		}, finding.Warn},

		// A2
		{"the first stray after plank took over is an alarm", stray.Canary, func() *prow {
			p := aProw().healthy(50, time.Minute).astray(time.Second, "a")
			p.view.Rollout.At = ago(5 * time.Second)
			return p
		}, finding.Alert},
		{"a stray from before plank took over is not its", stray.Canary, func() *prow {
			p := aProw().astray(time.Minute, "a").healthy(1, time.Second)
			p.view.Rollout.At = ago(5 * time.Second)
			return p
		}, none},
		{"the first stray of another version is an alarm", stray.Canary, func() *prow {
			p := aProw().healthy(50, time.Minute)
			p.view.Rollout = stray.Rollout{}
			p.job("a", time.Second)
			p.pod("default", "a", time.Second, version("v2"))
			return p
		}, finding.Alert},
		{"strays of the version that was rolled back are not the present one's", stray.Canary, func() *prow {
			p := aProw().healthy(5, time.Hour).healthy(1, time.Second)
			p.view.Rollout = stray.Rollout{}
			p.job("a", time.Minute)
			p.pod("default", "a", time.Minute, version("v2"))
			return p
		}, none},
		{"without a rollout there is no canary", stray.Canary, func() *prow {
			p := aProw().healthy(5, time.Hour).astray(time.Second, "a")
			p.view.Rollout = stray.Rollout{}
			return p
		}, none},
		{"of a quiet night the first pod comes hours after the rollout", stray.Canary, func() *prow {
			p := aProw().astray(time.Second, "a")
			p.view.Rollout.At = ago(5 * time.Hour)
			return p
		}, finding.Alert},
		{"the hundredth pod is no canary", stray.Canary, func() *prow {
			p := aProw().healthy(100, time.Hour).astray(time.Second, "a")
			p.view.Rollout.At = ago(2 * time.Hour)
			return p
		}, none},
		{"the fiftieth pod is none, whatever came after it", stray.Canary, func() *prow {
			p := aProw().healthy(50, 100*time.Minute).healthy(70, 10*time.Minute).astray(time.Hour, "a")
			p.view.Rollout.At = ago(2 * time.Hour)
			return p
		}, none},
		{"a pod of the second in which plank took over is one", stray.Canary, func() *prow {
			p := aProw().healthy(100, time.Hour).astray(5*time.Second, "a")
			p.view.Rollout.At = ago(5*time.Second - 900*time.Millisecond)
			return p
		}, finding.Alert},
		{"the hundredth pod is one while the rollout is fresh", stray.Canary, func() *prow {
			p := aProw().healthy(100, 3*time.Minute).astray(time.Second, "a")
			p.view.Rollout.At = ago(4 * time.Minute)
			return p
		}, finding.Alert},

		// What others can forge
		{"pods that are named after jobs and say another job are nobody's", stray.Stray, func() *prow {
			p := aProw()
			for _, name := range []string{"a", "b", "c"} {
				p.job(name, time.Minute)
				p.pod("evil", name, time.Second, func(pod *cluster.Pod) { pod.Job = "pull-evil" })
			}
			return p
		}, none},
		{"pods without Prow's annotation were labelled by hand", stray.Stray, func() *prow {
			p := aProw()
			for _, name := range []string{"a", "b", "c"} {
				p.job(name, time.Minute)
				p.pod("by-hand", name, time.Second, func(pod *cluster.Pod) { pod.Annotated = false })
			}
			return p
		}, none},

		// A3
		{"a job that is pending for a minute may have no pod yet", stray.Podless, func() *prow {
			p := aProw()
			p.job("a", time.Minute)
			return p
		}, none},
		{"a job that is pending for longer may not", stray.Podless, func() *prow {
			p := aProw().healthy(5, time.Minute)
			p.job("a", 61*time.Second)
			return p
		}, finding.Warn},
		{"many such jobs are an alarm", stray.Podless, func() *prow {
			return aProw().healthy(5, 2*time.Minute).astray(2*time.Minute, "a", "b", "c")
		}, finding.Alert},
		{"many runs of one job are a warning", stray.Podless, func() *prow {
			p := aProw()
			for i := range 5 {
				p.job(fmt.Sprintf("a%d", i), 2*time.Minute, func(job *cluster.Job) { job.Job = "pull-a" })
			}
			return p
		}, finding.Warn},
		{"a pod that ran to its end is one", stray.Podless, func() *prow {
			return aProw().healthy(1, time.Hour)
		}, none},
		{"a job that waited for its turn has been pending since its pod was asked for", stray.Podless, func() *prow {
			p := aProw()
			p.job("a", 5*time.Hour, func(job *cluster.Job) { job.Started, job.PodMade = ago(4*time.Hour), ago(time.Second) })
			return p
		}, none},
		{"a job whose status doesn't say that has been since its start", stray.Podless, func() *prow {
			p := aProw()
			p.job("a", 5*time.Hour, func(job *cluster.Job) { job.PodMade, job.Started = time.Time{}, ago(time.Second) })
			return p
		}, none},
		{"or since it was made", stray.Podless, func() *prow {
			p := aProw()
			p.job("a", 5*time.Hour, func(job *cluster.Job) { job.PodMade = time.Time{} })
			return p
		}, finding.Warn},
		{"triggered jobs have no pod", stray.Podless, func() *prow {
			p := aProw()
			p.job("a", time.Hour, func(job *cluster.Job) { job.State = cluster.Triggered })
			return p
		}, none},

		// A4
		{"a burst of jobs that time out is a storm", stray.Storm, func() *prow {
			return aProw().done(100, 5*time.Hour, "before").done(5, time.Minute, "good").done(6, time.Minute, "bad", timedOut)
		}, finding.Alert},
		{"scheduling timeouts are one too", stray.Storm, func() *prow {
			return aProw().done(6, time.Minute, "bad", timedOut, func(job *cluster.Job) {
				job.Description = "Pod scheduling timeout."
			})
		}, finding.Alert},
		{"other errors are none", stray.Storm, func() *prow {
			return aProw().done(6, time.Minute, "bad", timedOut, func(job *cluster.Job) { job.Description = "evicted" })
		}, none},
		{"four are not many", stray.Storm, func() *prow {
			return aProw().done(4, time.Minute, "bad", timedOut)
		}, none},
		{"of one job they are that job's", stray.Storm, func() *prow {
			return aProw().done(9, time.Minute, "bad", timedOut, func(job *cluster.Job) { job.Job = "pull-a" })
		}, none},
		{"of one repository they are that repository's", stray.Storm, func() *prow {
			return aProw().done(9, time.Minute, "bad", timedOut, func(job *cluster.Job) { job.Repo = "a" })
		}, none},
		{"a small share is none", stray.Storm, func() *prow {
			return aProw().done(95, time.Minute, "good").done(6, time.Minute, "bad", timedOut)
		}, none},
		{"the usual share is none", stray.Storm, func() *prow {
			return aProw().done(50, 5*time.Hour, "before").done(50, 5*time.Hour, "bad-before", timedOut).
				done(5, time.Minute, "good").done(6, time.Minute, "bad", timedOut)
		}, none},
		{"the usual share of this hour is none", stray.Storm, func() *prow {
			return aProw().done(500, 5*time.Hour, "before").done(30, 24*time.Hour, "bad-yesterday", timedOut).
				done(5, time.Minute, "good").done(6, time.Minute, "bad", timedOut)
		}, none},
		{"what is usual at another hour is not usual now", stray.Storm, func() *prow {
			return aProw().done(500, 12*time.Hour, "bad-before", timedOut).done(30, 24*time.Hour, "yesterday").
				done(5, time.Minute, "good").done(6, time.Minute, "bad", timedOut)
		}, finding.Alert},
		{"jobs that hang for over half of their timeout are a storm", stray.Storm, func() *prow {
			return aProw().healthy(5, time.Hour).astray(6*time.Minute, "a", "b", "c", "d", "e")
		}, finding.Alert},
		{"jobs that hang for less are none", stray.Storm, func() *prow {
			return aProw().healthy(5, time.Hour).astray(4*time.Minute, "a", "b", "c", "d", "e")
		}, none},
		{"a job may have a longer timeout", stray.Storm, func() *prow {
			p := aProw()
			for i := range 9 {
				p.job(fmt.Sprint(i), 6*time.Minute, func(job *cluster.Job) { job.Timeouts.Pending = time.Hour })
			}
			return p
		}, none},
		{"jobs that run for hours don't hang", stray.Storm, func() *prow { return aProw().healthy(50, 5*time.Hour) }, none},

		// A5
		{"a stray that misses what is where it belongs is an alarm", stray.Mount, func() *prow {
			p := aProw().astray(time.Second, "a")
			p.missing(p.pods["default/a"], true)
			return p
		}, finding.Alert},
		{"a stray that misses what is nowhere is not", stray.Mount, func() *prow {
			p := aProw().astray(time.Second, "a")
			p.missing(p.pods["default/a"], false)
			return p
		}, none},
		{"a pod where it belongs is not", stray.Mount, func() *prow {
			p := aProw()
			p.job("a", time.Second)
			p.missing(p.pod("test-pods", "a", time.Second), true)
			return p
		}, none},
		{"a stray that runs doesn't miss anything any more", stray.Mount, func() *prow {
			p := aProw()
			p.job("a", time.Second)
			p.missing(p.pod("default", "a", time.Second, running), true)
			return p
		}, none},
	} {
		t.Run(test.rule+" "+test.name, func(t *testing.T) {
			result := test.prow().evaluate(t)
			if got := severity(result, test.rule); got != test.want {
				t.Errorf("got %q, want %q:\n%s", got, test.want, text(result))
			}
			if lack := lackOf(result, test.rule); lack.Reason != "" {
				t.Errorf("it lacks %q", lack.Reason)
			}
		})
	}
}

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

// TestAPlannedMoveIsUnknown: the configuration that jobs are made with is another one than ours.
func TestAPlannedMoveIsUnknown(t *testing.T) {
	p := aProw().healthy(10, time.Hour)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		p.job(name, time.Hour, func(job *cluster.Job) { job.PodNamespace = "new-pods" })
		p.pod("new-pods", name, time.Minute)
	}
	result := p.evaluate(t)
	if len(result.Findings) > 0 {
		t.Error(text(result))
	}
	for _, rule := range []string{stray.Stray, stray.Canary, stray.Podless, stray.Storm, stray.Mount} {
		if lack := lackOf(result, rule); !strings.Contains(lack.Reason, "was made with new-pods") || lack.NotGiven {
			t.Errorf("rule %s lacks %+v", rule, lack)
		}
	}
	// It does not hide what is seen all the same.
	if got := severity(p.astray(time.Second, "x", "y", "z").evaluate(t), stray.Stray); got != finding.Alert {
		t.Errorf("three strays beside it are %q", got)
	}
}
