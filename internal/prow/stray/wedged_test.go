package stray_test

import (
	"strings"
	"testing"
	"time"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
)

const deployJob = "post-infra-deploy-prow"

func ofDeploy(job *cluster.Job) { job.Job = deployJob }

// deploying has a job that deploys the controller that makes its pod.
func (p *prow) deploying() *prow {
	p.instance.Deploys = []stray.Deploy{{Job: deployJob, Components: []string{"prow-controller-manager"}}}
	return p
}

// TestWedged is C5: what is said of a deploy job that is pending.
func TestWedged(t *testing.T) {
	for name, test := range map[string]struct {
		prow  func() *prow
		want  finding.Severity
		says  string
		lacks string
	}{
		"nothing is deployed": {prow: func() *prow { return aProw().deploying() }},
		"its pod is astray": {func() *prow {
			p := aProw().deploying()
			p.job("d", time.Second, ofDeploy)
			p.pod("default", "d", time.Second)
			return p
		}, finding.Alert, "its pod is in namespace default", ""},
		"its pod misses a Secret": {func() *prow {
			p := aProw().deploying()
			p.job("d", time.Second, ofDeploy)
			p.missing(p.pod("test-pods", "d", time.Second), false)
			return p
		}, finding.Alert, "its pod waits for Secret service-account", ""},
		"it waits for longer than it ever took": {func() *prow {
			p := aProw().deploying().done(5, 24*time.Hour, "before", ofDeploy) // a minute each
			p.job("d", 2*time.Minute, ofDeploy)
			p.pod("test-pods", "d", 2*time.Minute)
			return p
		}, finding.Alert, "longer than 99 of 100 earlier runs", ""},
		"it runs for longer than it ever took": {func() *prow {
			p := aProw().deploying().done(5, 24*time.Hour, "before", ofDeploy)
			p.job("d", 2*time.Minute, ofDeploy)
			p.pod("test-pods", "d", 2*time.Minute, running)
			return p
		}, finding.Warn, "longer than 99 of 100 earlier runs", ""},
		"it takes as long as it does": {prow: func() *prow {
			p := aProw().deploying().done(5, 24*time.Hour, "before", ofDeploy)
			p.job("d", 50*time.Second, ofDeploy)
			p.pod("test-pods", "d", 50*time.Second)
			return p
		}},
		"one run took long before": {prow: func() *prow {
			p := aProw().deploying().done(20, 24*time.Hour, "before", ofDeploy)
			p.jobs["prow/before-7"] = p.job("before-7", 25*time.Hour, ofDeploy, func(job *cluster.Job) {
				job.State, job.Completed = cluster.Success, ago(24*time.Hour)
			})
			p.job("d", 30*time.Minute, ofDeploy)
			p.pod("test-pods", "d", 30*time.Minute)
			return p
		}},
		"runs that failed say nothing about how long it takes": {prow: func() *prow {
			p := aProw().deploying().done(5, 24*time.Hour, "before", ofDeploy, timedOut)
			p.job("d", 2*time.Minute, ofDeploy)
			p.pod("test-pods", "d", 2*time.Minute)
			return p
		}, lacks: "how long job post-infra-deploy-prow may take is not known: 0 earlier runs"},
		"one run says little about how long it takes": {prow: func() *prow {
			p := aProw().deploying().done(1, 24*time.Hour, "before", ofDeploy)
			p.job("d", 2*time.Minute, ofDeploy)
			p.pod("test-pods", "d", 2*time.Minute)
			return p
		}, lacks: "how long job post-infra-deploy-prow may take is not known: 1 earlier run"},
		"two runs say little too": {func() *prow {
			p := aProw().deploying().done(2, 24*time.Hour, "before", ofDeploy)
			p.job("d", 2*time.Minute, ofDeploy)
			p.pod("test-pods", "d", 2*time.Minute)
			return p
		}, none, "", "how long job post-infra-deploy-prow may take is not known: 2 earlier runs"},
		"two of its runs are said once, by the older one": {func() *prow {
			p := aProw().deploying()
			for name, age := range map[string]time.Duration{"d": time.Minute, "e": time.Second} {
				p.job(name, age, ofDeploy)
				p.pod("default", name, age)
			}
			return p
		}, finding.Alert, "ProwJob prow/d, pending", ""},
		"another job's pod is astray": {prow: func() *prow { return aProw().deploying().astray(time.Second, "a") }},
		"it is queued behind itself": {prow: func() *prow {
			p := aProw().deploying().done(5, 24*time.Hour, "before", ofDeploy)
			p.job("d", time.Hour, ofDeploy, func(job *cluster.Job) { job.State = cluster.Triggered })
			return p
		}},
		"nobody said which jobs deploy": {prow: func() *prow {
			p := aProw()
			p.view.JobHealth.Err = errRefused // that would be no use either
			p.instance.DeploysLack = finding.Lack{Reason: "needs --manifests", NotGiven: true}
			return p
		}, lacks: "needs --manifests"},
	} {
		t.Run(name, func(t *testing.T) {
			result := test.prow().evaluate(t)
			got := severity(result, stray.Wedged)
			if got != test.want || !strings.Contains(text(result), test.says) {
				t.Errorf("got %q, want %q and %q:\n%s", got, test.want, test.says, text(result))
			}
			if n := strings.Count(text(result), "roll back by hand"); n > 1 {
				t.Errorf("it is said %d times", n)
			}
			if got == finding.Alert && (!strings.Contains(text(result), "roll back by hand") ||
				!strings.Contains(text(result), "salve prow break-glass")) {
				t.Errorf("it doesn't say what to do: %s", text(result))
			}
			if lack := lackOf(result, stray.Wedged); lack.Reason != test.lacks {
				t.Errorf("it lacks %q, want %q", lack.Reason, test.lacks)
			}
		})
	}
}

// TestThePodOfADeployJobIsAskedAbout where it belongs too; other pods are only where they don't.
func TestThePodOfADeployJobIsAskedAbout(t *testing.T) {
	p := aProw().deploying().astray(time.Second, "a")
	p.job("d", time.Second, ofDeploy)
	deploy := p.pod("test-pods", "d", time.Second)
	p.job("b", time.Second)
	p.pod("test-pods", "b", time.Second)
	waiting := p.evaluate(t).Waiting
	if len(waiting) != 2 || waiting[0].UID != deploy.UID || waiting[1].Name != "a" {
		t.Errorf("it is asked about %v", waiting)
	}
}
