package stray_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
)

func declares(namespace string) func(*cluster.Job) {
	return func(job *cluster.Job) { job.PodNamespace = namespace }
}

// TestAgreement is P4: what jobs declare, and what the configuration says.
func TestAgreement(t *testing.T) {
	for name, test := range map[string]struct {
		prow func() *prow
		want finding.Severity
	}{
		"all declare what is configured": {func() *prow { return aProw().healthy(5, time.Minute) }, none},
		"none declare anything": {func() *prow {
			p := aProw()
			p.job("a", time.Second, declares(""))
			return p
		}, none},
		"one that declares another is a warning": {func() *prow {
			p := aProw().healthy(5, time.Minute)
			p.job("a", time.Second, declares("x"))
			return p
		}, finding.Warn},
		"Tekton's may": {func() *prow {
			p := aProw().healthy(5, time.Minute)
			p.job("a", time.Second, declares("x"), func(job *cluster.Job) { job.Agent = "tekton-pipeline" })
			return p
		}, none},
		"three of twenty are an alarm": {func() *prow {
			p := aProw().healthy(17, time.Minute)
			for i := range 3 {
				p.job(fmt.Sprint(i), time.Second, declares(fmt.Sprint("x", i)))
			}
			return p
		}, finding.Alert},
		"three of a hundred are a warning": {func() *prow {
			p := aProw().healthy(97, time.Minute)
			for i := range 3 {
				p.job(fmt.Sprint(i), time.Second, declares("x"))
			}
			return p
		}, finding.Warn},
		"what is done, and was made long ago, is past": {func() *prow {
			return aProw().done(9, time.Minute, "before", declares("x"), func(job *cluster.Job) { job.Created = ago(time.Hour) })
		}, none},
		"what is done, and was made just now, is not": {func() *prow {
			return aProw().done(9, time.Minute, "before", declares("x"))
		}, finding.Alert},
		"another configuration in the cluster is an alarm": {func() *prow {
			p := aProw()
			p.view.Sources = stray.Sources{Lack: finding.Lack{Reason: "pod_namespace is …"}, Differs: true}
			return p
		}, finding.Alert},
	} {
		t.Run(name, func(t *testing.T) {
			result := test.prow().evaluate(t)
			if got := severity(result, stray.Agree); got != test.want {
				t.Errorf("got %q, want %q: %s", got, test.want, text(result))
			}
		})
	}
}

// TestOneForgedDeclarationBlindsNothing: plank doesn't read it, and makes the pod where all belong.
func TestOneForgedDeclarationBlindsNothing(t *testing.T) {
	for name, forge := range map[string]func(p *prow){
		"of a job that runs": func(p *prow) {
			p.job("forged", time.Minute, declares("x"))
			p.pod("test-pods", "forged", time.Minute, running)
		},
		"of one that waits for its turn": func(p *prow) {
			p.job("forged", time.Minute, declares("x"), func(job *cluster.Job) { job.State = cluster.Triggered })
		},
		"of one in another cluster": func(p *prow) {
			p.job("forged", time.Hour, declares("x"), func(job *cluster.Job) { job.Cluster = "build-2" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := aProw().deploying().healthy(5, time.Minute)
			p.view.Rollout.At = ago(2 * time.Minute)
			forge(p)
			result := p.evaluate(t)
			if unknown := unknownRules(result); unknown != nil || len(result.Findings) != 1 {
				t.Errorf("%q are UNKNOWN: %s", unknown, text(result))
			}
		})
	}
}

// TestJobsThatDeclareAnotherNamespaceAreLookedAt by all rules: what is wrong either way is found.
func TestJobsThatDeclareAnotherNamespaceAreLookedAt(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	moved := func(age time.Duration) *prow {
		p := aProw()
		p.view.Rollout.At = ago(20 * time.Minute)
		for _, name := range names {
			p.job(name, age, declares("x"))
		}
		return p
	}
	for name, test := range map[string]struct {
		prow func() *prow
		rule string
		want finding.Severity
	}{
		"without a pod in either": {func() *prow { return moved(2 * time.Minute) }, stray.Podless, finding.Alert},
		"with one where they say": {func() *prow {
			p := moved(2 * time.Minute)
			for _, name := range names {
				p.pod("x", name, time.Minute)
			}
			return p
		}, stray.Podless, none},
		"with one in a third": {func() *prow {
			p := moved(2 * time.Minute)
			for _, name := range names {
				p.pod("third", name, time.Minute)
			}
			return p
		}, stray.Stray, finding.Alert},
		"with one that waits for too long": {func() *prow {
			p := moved(9 * time.Minute)
			for _, name := range names {
				p.pod("x", name, 9*time.Minute)
			}
			return p
		}, stray.Storm, finding.Alert},
		"with one that runs": {func() *prow {
			p := moved(9 * time.Minute)
			for _, name := range names {
				p.pod("x", name, 9*time.Minute, running)
			}
			return p
		}, stray.Storm, none},
		"that time out": {func() *prow {
			return aProw().done(6, time.Minute, "bad", timedOut, declares("x"))
		}, stray.Storm, finding.Alert},
		"with one that misses what is where the configuration has pods": {func() *prow {
			p := moved(time.Minute)
			p.missing(p.pod("x", "a", time.Minute), true)
			return p
		}, stray.Mount, finding.Alert},
	} {
		t.Run(name, func(t *testing.T) {
			if result := test.prow().evaluate(t); severity(result, test.rule) != test.want {
				t.Errorf("got %q, want %q: %s", severity(result, test.rule), test.want, text(result))
			}
		})
	}
	t.Run("pods of others that are named after them are none", func(t *testing.T) {
		p := moved(2 * time.Minute)
		for _, name := range names {
			p.pod("x", name, time.Minute, func(pod *cluster.Pod) { pod.Owned = true })
		}
		if result := p.evaluate(t); severity(result, stray.Podless) != finding.Alert {
			t.Error(text(result))
		}
	})
	t.Run("their pods are asked about", func(t *testing.T) {
		p := moved(time.Minute)
		p.pod("x", "a", time.Minute)
		if waiting := p.evaluate(t).Waiting; len(waiting) != 1 {
			t.Errorf("asked about: %v", waiting)
		}
	})
	t.Run("their pods are no proof that a rollout is good", func(t *testing.T) {
		p := moved(time.Minute)
		p.pod("x", "a", time.Minute)
		if got := unknownRules(p.evaluate(t)); !slices.Equal(got, []string{stray.Stray, stray.Canary}) {
			t.Errorf("%q are UNKNOWN", got)
		}
		p.view.Rollout.At = ago(time.Second) // they are older
		if got := unknownRules(p.evaluate(t)); !slices.Equal(got, []string{stray.Stray}) {
			t.Errorf("%q are UNKNOWN", got)
		}
	})
}

// TestAJobThatDeclaresNoNamespaceHasNoOtherPod than the one where all belong.
func TestAJobThatDeclaresNoNamespaceHasNoOtherPod(t *testing.T) {
	p := aProw().healthy(5, time.Minute)
	p.job("a", 2*time.Minute, declares(""))
	p.pod("", "a", time.Minute)
	if result := p.evaluate(t); severity(result, stray.Podless) != finding.Warn {
		t.Errorf("A3 says %q: %s", severity(result, stray.Podless), text(result))
	}
}
