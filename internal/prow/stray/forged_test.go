package stray_test

import (
	"fmt"
	"testing"
	"time"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
)

// outage is a Prow whose plank took over a minute ago, and makes pods of another version in default since.
func outage() *prow {
	p := aProw().healthy(2, 2*time.Hour)
	p.view.Rollout.At = ago(time.Minute)
	for i, name := range []string{"a", "b", "c"} {
		p.job(name, time.Duration(10+i)*time.Second)
		p.pod("default", name, time.Duration(10+i)*time.Second, version("v2"))
	}
	return p
}

// byHand is a pod of someone who may make pods where all belong. It has Prow's label, and what else it likes.
func (p *prow) byHand(name string, age time.Duration, change ...func(*cluster.Pod)) {
	unbound := func(pod *cluster.Pod) { pod.ID, pod.Annotated, pod.Job = "", false, "" }
	p.pod("test-pods", name, age, append([]func(*cluster.Pod){unbound, version("zzz")}, change...)...)
}

// TestPodsThatSomebodyMadeHideNoStray: what is tied to no ProwJob of the instance says nothing.
func TestPodsThatSomebodyMadeHideNoStray(t *testing.T) {
	leaseless := func(p *prow) { p.view.Rollout = stray.Rollout{} }
	for name, forge := range map[string]func(p *prow){
		"nobody does anything": func(*prow) {},
		"a newer version of the same second": func(p *prow) {
			p.byHand("x", 10*time.Second)
		},
		"a newer version": func(p *prow) { p.byHand("x", time.Second) },
		"a newer version, where no Lease is known": func(p *prow) {
			leaseless(p)
			p.byHand("x", time.Second)
		},
		"one that is named after a job, and says another": func(p *prow) {
			leaseless(p)
			p.job("x", time.Second)
			p.pod("test-pods", "x", time.Second, version("zzz"), func(pod *cluster.Pod) { pod.Job = "pull-other" })
		},
		"one whose annotation is of a job, and that has another name": func(p *prow) {
			leaseless(p)
			p.byHand("x", time.Second, func(pod *cluster.Pod) { pod.ID, pod.Annotated, pod.Job = "a", true, "pull-a" })
		},
		"one whose ProwJob is not there": func(p *prow) {
			leaseless(p)
			p.pod("test-pods", "x", time.Second, version("zzz"))
		},
		"one that something owns": func(p *prow) {
			leaseless(p)
			p.job("x", time.Second)
			p.pod("test-pods", "x", time.Second, version("zzz"), func(pod *cluster.Pod) { pod.Owned = true })
		},
		"a job's pod that copies all, and has another version of the same second": func(p *prow) {
			leaseless(p)
			p.job("x", time.Second)
			p.pod("test-pods", "x", 10*time.Second, version("zzz"))
		},
		"a job's pod that copies all, and has a newer version": func(p *prow) {
			p.job("x", time.Second)
			p.pod("test-pods", "x", time.Second, version("zzz"))
		},
		"many": func(p *prow) {
			for i := range 70 {
				p.byHand(fmt.Sprint("x-", i), 50*time.Second)
			}
		},
		"many that can't be read as a whole": func(p *prow) {
			for i := range 70 {
				p.spoil(p.pod("test-pods", fmt.Sprint("x-", i), 50*time.Second))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := outage()
			forge(p)
			result := p.evaluate(t)
			for _, rule := range []string{stray.Stray, stray.Canary} {
				if got := severity(result, rule); got != finding.Alert {
					t.Errorf("rule %s says %q: %s", rule, got, text(result))
				}
			}
		})
	}
	t.Run("nor fill the number of the first pods", func(t *testing.T) {
		p := aProw().astray(time.Second, "a")
		p.view.Rollout.At = ago(time.Hour)
		for i := range 70 {
			p.byHand(fmt.Sprint("x-", i), 50*time.Minute)
		}
		if got := severity(p.evaluate(t), stray.Canary); got != finding.Alert {
			t.Errorf("the first pod is %q", got)
		}
	})
}

// TestVersionsTellARollout beside the Lease, and none hides the other.
func TestVersionsTellARollout(t *testing.T) {
	for name, test := range map[string]struct {
		prow func(p *prow)
		want finding.Severity
	}{
		"a Lease of long ago hides no newer version": {func(p *prow) {
			p.pod("default", "a", time.Second, version("v2"))
		}, finding.Alert},
		"a newer version hides no stray since the Lease's change": {func(p *prow) {
			p.view.Rollout.At = ago(time.Minute)
			p.pod("default", "a", 2*time.Second)
			p.job("b", time.Second)
			p.pod("test-pods", "b", time.Second, version("v2"))
		}, finding.Alert},
		"what the old plank left in the second of the new one's first pod is none of it": {func(p *prow) {
			p.pod("default", "a", time.Second)
			p.job("b", time.Second)
			p.pod("test-pods", "b", time.Second, version("v2"))
		}, none},
		"the new one's of that second is": {func(p *prow) {
			p.pod("default", "a", time.Second, version("v2"))
			p.job("b", time.Second)
			p.pod("test-pods", "b", time.Second)
		}, finding.Alert},
		"nor is what is long past, of a version that has made no other": {func(p *prow) {
			p.pod("default", "a", 90*time.Minute, version("v0"))
		}, none},
	} {
		t.Run(name, func(t *testing.T) {
			p := aProw().healthy(3, time.Hour)
			p.job("a", time.Second)
			test.prow(p)
			if result := p.evaluate(t); severity(result, stray.Canary) != test.want {
				t.Errorf("A2 says %q: %s", severity(result, stray.Canary), text(result))
			}
		})
	}
}
