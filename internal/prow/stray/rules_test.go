package stray_test

import (
	"fmt"
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
		{"of several versions of one second any may be the one that was rolled out", stray.Canary, func() *prow {
			p := aProw()
			p.view.Rollout = stray.Rollout{}
			for _, v := range []string{"v1", "v2", "v3", "v4"} {
				p.job(v, time.Second)
				p.pod("test-pods", v, time.Second, version(v))
			}
			p.job("a", time.Second)
			p.pod("default", "a", time.Second, version("v4"))
			return p
		}, finding.Alert},
		{"whatever its name", stray.Canary, func() *prow {
			p := aProw()
			p.view.Rollout = stray.Rollout{}
			for _, v := range []string{"v1", "v2", "v3", "v4"} {
				p.job(v, time.Second)
				p.pod("test-pods", v, time.Second, version(v))
			}
			p.job("a", time.Second)
			p.pod("default", "a", time.Second, version("v3"))
			return p
		}, finding.Alert},
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

		{"pods without a version tell no rollout", stray.Canary, func() *prow {
			p := aProw().healthy(5, time.Hour)
			p.view.Rollout = stray.Rollout{}
			p.pod("test-pods", "by-hand", time.Second, version(""))
			p.job("a", time.Minute)
			p.pod("default", "a", 2*time.Second)
			return p
		}, none},
		{"where plank took over in the second of the last old pod, its Lease counts", stray.Canary, func() *prow {
			p := aProw().healthy(5, time.Minute)
			p.job("new", time.Second)
			p.pod("test-pods", "new", time.Second, version("v2"))
			p.view.Rollout.At = ago(time.Minute)
			p.job("a", 30*time.Second)
			p.pod("default", "a", 30*time.Second)
			return p
		}, finding.Alert},
		{"a pod without a version is weak evidence while others have one", stray.Canary, func() *prow {
			return aProw().unversioned(2).healthy(5, time.Minute)
		}, none},
		{"three of them are none any more", stray.Canary, func() *prow {
			return aProw().unversioned(3).healthy(5, time.Minute)
		}, finding.Alert},
		{"nor is one beside one that has a version", stray.Canary, func() *prow {
			return aProw().unversioned(1).healthy(5, time.Minute).astray(time.Second, "a")
		}, finding.Alert},
		{"or where no plank puts any on pods", stray.Canary, func() *prow {
			p := aProw().unversioned(1)
			p.job("a", time.Minute)
			p.pod("test-pods", "a", time.Minute, version(""))
			return p
		}, finding.Alert},
		{"A1 counts it", stray.Stray, func() *prow {
			return aProw().unversioned(1).healthy(5, time.Minute)
		}, finding.Warn},
		{"a pod of the next day is none, however few came before it", stray.Canary, func() *prow {
			p := aProw().astray(time.Second, "a")
			p.view.Rollout.At = ago(25 * time.Hour)
			return p
		}, none},
		{"nor is one that makes the number full then", stray.Canary, func() *prow {
			p := aProw().healthy(19, 2*time.Hour).astray(time.Second, "a")
			p.view.Rollout.At = ago(25 * time.Hour)
			return p
		}, none},

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
		{"three of a hundred are a warning", stray.Podless, func() *prow {
			return aProw().healthy(97, 2*time.Minute).astray(2*time.Minute, "a", "b", "c")
		}, finding.Warn},
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
		{"one of twenty minutes ago is over", stray.Storm, func() *prow {
			return aProw().done(6, 20*time.Minute, "bad", timedOut)
		}, none},
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
		{"a stray of which a container started doesn't wait for it", stray.Mount, func() *prow {
			p := aProw()
			p.job("a", time.Second)
			p.missing(p.pod("default", "a", time.Second, func(pod *cluster.Pod) { pod.Touched = "init" }), true)
			return p
		}, none},
		{"a stray that is being deleted doesn't either", stray.Mount, func() *prow {
			p := aProw()
			p.job("a", time.Second)
			p.missing(p.pod("default", "a", time.Second, func(pod *cluster.Pod) { pod.Deleting = true }), true)
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
