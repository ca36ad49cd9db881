package stray_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
)

var errTooMuch = errors.New("it has 21 finalizers, more than 20")

// spoil has a pod be one of which only a part can be read.
func (p *prow) spoil(pod cluster.Pod) {
	delete(p.pods, pod.String())
	p.view.MalformedPods = append(p.view.MalformedPods,
		cluster.Malformed{Namespace: pod.Namespace, Name: pod.Name, Why: errTooMuch, Pod: &pod})
}

// spoilJob has a job be one that can't be read.
func (p *prow) spoilJob(name string) *prow {
	delete(p.jobs, "prow/"+name)
	p.view.MalformedJobs = append(p.view.MalformedJobs,
		cluster.Malformed{Namespace: "prow", Name: name, Why: errors.New("status.startTime is int64")})
	return p
}

func unknownRules(result stray.Result) []string {
	var rules []string
	for _, verdict := range result.Verdicts {
		if verdict.Reason != "" {
			rules = append(rules, verdict.Rule)
		}
	}
	return rules
}

// TestAStrangersPodBlindsNothing: whoever may make one pod anywhere takes no answer away.
func TestAStrangersPodBlindsNothing(t *testing.T) {
	for name, namespace := range map[string]string{"elsewhere": "evil", "where pods belong": "test-pods"} {
		t.Run(name, func(t *testing.T) {
			p := aProw().deploying().healthy(3, time.Minute)
			for i := range 100 {
				p.spoil(p.pod(namespace, fmt.Sprint("odd-\x1b[2J-", i), time.Hour))
			}
			result := p.evaluate(t)
			if unknown := unknownRules(result); unknown != nil {
				t.Errorf("%q are UNKNOWN", unknown)
			}
			if severity(result, stray.Stray) != finding.Info || len(result.Findings) != 1 {
				t.Fatal(text(result))
			}
			said := result.Findings[0]
			if want := "100 pods in namespace " + namespace; !strings.HasPrefix(said.Message, want) ||
				len(said.Evidence) > 6 || result.Counts.Malformed != 100 {
				t.Errorf("said: %+v of %d", said, result.Counts.Malformed)
			}
		})
	}
}

// TestAStrayThatCannotBeReadAsAWholeIsOne: what tells a stray is its metadata.
func TestAStrayThatCannotBeReadAsAWholeIsOne(t *testing.T) {
	p := aProw().deploying().healthy(3, time.Minute)
	p.view.Rollout.At = ago(2 * time.Minute)
	for _, name := range []string{"a", "b", "c"} {
		p.job(name, 90*time.Second)
		p.spoil(p.pod("default", name, 90*time.Second))
	}
	p.job("d", 90*time.Second, ofDeploy)
	p.spoil(p.pod("default", "d", 90*time.Second))
	p.missing(*p.view.MalformedPods[0].Pod, true)
	result := p.evaluate(t)
	for _, rule := range []string{stray.Stray, stray.Canary, stray.Podless, stray.Mount, stray.Wedged} {
		if severity(result, rule) != finding.Alert {
			t.Errorf("rule %s says %q", rule, severity(result, rule))
		}
	}
	if len(result.Waiting) != 4 || result.Counts.Strays != 4 {
		t.Errorf("%d are asked about, %d strays", len(result.Waiting), result.Counts.Strays)
	}
}

// TestPodsThatCannotBeReadDiluteNoAlarm but by being where all pods belong, as those that can be read do.
func TestPodsThatCannotBeReadDiluteNoAlarm(t *testing.T) {
	p := aProw().astray(time.Minute, "a", "b", "c")
	for i := range 100 {
		p.spoil(p.pod("evil", fmt.Sprint(i), time.Minute))
	}
	if got := severity(p.evaluate(t), stray.Stray); got != finding.Alert {
		t.Errorf("three strays are %q", got)
	}
}

// TestAPodWhosePhaseCannotBeRead may wait or run: that is said where it matters.
func TestAPodWhosePhaseCannotBeRead(t *testing.T) {
	phaseless := func(pod *cluster.Pod) { pod.Phase = corev1.PodPhase("") }
	t.Run("of a stray, for what it waits", func(t *testing.T) {
		p := aProw()
		p.job("a", time.Second)
		p.spoil(p.pod("default", "a", time.Second, phaseless))
		result := p.evaluate(t)
		got := unknownRules(result)
		if !slices.Equal(got, []string{stray.Mount}) || severity(result, stray.Stray) != finding.Warn {
			t.Errorf("%q are UNKNOWN: %s", got, text(result))
		}
	})
	t.Run("of jobs that may make a storm", func(t *testing.T) {
		p := aProw()
		for i := range 5 {
			if got := unknownRules(p.evaluate(t)); got != nil {
				t.Errorf("of %d such pods %q are UNKNOWN", i, got)
			}
			p.job(fmt.Sprint(i), 9*time.Minute)
			p.spoil(p.pod("test-pods", fmt.Sprint(i), 9*time.Minute, phaseless))
		}
		if result := p.evaluate(t); lackOf(result, stray.Storm).Reason == "" || severity(result, stray.Storm) != none {
			t.Errorf("five are none for certain: %s", text(result))
		}
	})
	t.Run("of a deploy job", func(t *testing.T) {
		p := aProw().deploying().done(5, 24*time.Hour, "before", ofDeploy)
		p.job("d", time.Second, ofDeploy)
		p.spoil(p.pod("test-pods", "d", time.Second, phaseless))
		if got := unknownRules(p.evaluate(t)); !slices.Equal(got, []string{stray.Wedged}) {
			t.Errorf("%q are UNKNOWN", got)
		}
	})
}

// TestAProwJobThatCannotBeRead takes an answer away only from the rules to which it could matter.
func TestAProwJobThatCannotBeRead(t *testing.T) {
	for name, test := range map[string]struct {
		prow    func() *prow
		unknown []string
	}{
		"with its pod where it belongs is not without one": {func() *prow {
			return aProw().healthy(1, time.Hour).spoilJob("healthy-0-1h0m0s")
		}, []string{stray.Agree}},
		"may be without a pod": {func() *prow { return aProw().spoilJob("x") }, []string{stray.Podless, stray.Agree}},
		"may be of a pod elsewhere": {func() *prow { return aProw().astray(time.Minute, "a").spoilJob("a") },
			[]string{stray.Stray, stray.Canary, stray.Podless, stray.Mount, stray.Agree}},
		"is none of a copy of its pod": {func() *prow {
			p := aProw().healthy(1, time.Hour).spoilJob("healthy-0-1h0m0s")
			p.pod("x", "healthy-0-1h0m0s", time.Hour, func(pod *cluster.Pod) { pod.Owned = true })
			return p
		}, []string{stray.Agree}},
		"may deploy": {func() *prow { return aProw().deploying().spoilJob("x") },
			[]string{stray.Podless, stray.Agree, stray.Wedged}},
		"may make a storm of what is almost one": {func() *prow {
			return aProw().done(4, time.Minute, "bad", timedOut).spoilJob("x")
		}, []string{stray.Podless, stray.Storm, stray.Agree}},
		"may make a storm of jobs that almost hang as one": {func() *prow {
			p := aProw().spoilJob("x")
			for _, name := range []string{"a", "b", "c", "d"} {
				p.job(name, 6*time.Minute)
				p.pod("test-pods", name, 6*time.Minute)
			}
			return p
		}, []string{stray.Podless, stray.Storm, stray.Agree}},
		"makes no storm of three": {func() *prow { return aProw().done(3, time.Minute, "bad", timedOut).spoilJob("x") },
			[]string{stray.Podless, stray.Agree}},
	} {
		t.Run(name, func(t *testing.T) {
			result := test.prow().evaluate(t)
			if got := unknownRules(result); !slices.Equal(got, test.unknown) {
				t.Errorf("%q are UNKNOWN, want %q", got, test.unknown)
			}
		})
	}
	t.Run("hides no alarm of others", func(t *testing.T) {
		p := aProw().astray(time.Minute, "a", "b", "c", "x").spoilJob("x")
		p.view.Rollout.At = ago(2 * time.Minute)
		result := p.evaluate(t)
		lack := lackOf(result, stray.Stray).Reason
		if severity(result, stray.Stray) != finding.Alert || severity(result, stray.Canary) != finding.Alert ||
			!strings.HasPrefix(lack, "1 pod in namespace default may be astray") {
			t.Errorf("lacks %q: %s", lack, text(result))
		}
	})
	t.Run("and could be read before is still known", func(t *testing.T) {
		p := aProw().astray(time.Minute, "a")
		alarm := stray.New(p.instance)
		alarm.JobGone(p.jobs["prow/a"])
		p.spoilJob("a")
		result := p.evaluateBy(t, alarm)
		if severity(result, stray.Stray) != finding.Warn || lackOf(result, stray.Stray).Reason != "" {
			t.Error(text(result))
		}
	})
}

// TestAPodThatMayBeAJobsIsNobodysElse: what it says of its job can't be read.
func TestAPodThatMayBeAJobsIsNobodysElse(t *testing.T) {
	jobless := func(pod *cluster.Pod) { pod.Job = "" }
	p := aProw().healthy(3, time.Minute)
	p.job("a", time.Second)
	p.spoil(p.pod("default", "a", time.Second, jobless))
	result := p.evaluate(t)
	want := "1 pod in namespace default may be astray: they or their ProwJobs can't be read, such as default/a: it has"
	for _, rule := range []string{stray.Stray, stray.Canary, stray.Mount} {
		if lack := lackOf(result, rule).Reason; !strings.HasPrefix(lack, want) {
			t.Errorf("rule %s lacks %q", rule, lack)
		}
	}
	p = aProw().healthy(3, time.Minute)
	p.spoil(p.pod("default", "no-job", time.Second, jobless))
	p.job("owned", time.Second)
	p.spoil(p.pod("default", "owned", time.Second, jobless, func(pod *cluster.Pod) { pod.Owned = true }))
	p.job("b", time.Second)
	p.spoil(p.pod("test-pods", "b", time.Second, jobless))
	if got := unknownRules(p.evaluate(t)); got != nil {
		t.Errorf("%q are UNKNOWN", got)
	}
}
