package instance

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"salve/kube"
)

var agreeing = Sources{
	Git: rules.Namespaces, Mounted: rules.Namespaces, Mount: Key{"prow", "config", "config.yaml"},
	Landed: []string{"test-pods"}, Pods: 2,
}

// TestSourcesThatDisagree are all named.
func TestSourcesThatDisagree(t *testing.T) {
	for rule, row := range map[string]struct {
		edit func(*Sources)
		says string
	}{
		"the cluster's configuration": {func(s *Sources) { s.Mounted.Pods = "default" },
			"git says pods in test-pods, ProwJobs in prow; ConfigMap prow/config, key config.yaml says pods in default"},
		"the namespace of the ProwJobs": {func(s *Sources) { s.Mounted.ProwJobs = "default" }, "ProwJobs in default"},
		"git":                           {func(s *Sources) { s.Git.Pods = "pods" }, "git says pods in pods"},
		"plank":                         {func(s *Sources) { s.Landed = []string{"default"} }, "plank are in default"},
		"plank, of which some are right": {func(s *Sources) { s.Landed = []string{"default", "test-pods"} },
			"default, test-pods"},
		"what ProwJobs declare": {func(s *Sources) { s.Declared = []string{"default"} }, "ProwJobs declare default"},
		"what some of them declare": {func(s *Sources) { s.Declared = []string{"default", "test-pods"} },
			"declare default, test-pods"},
	} {
		seen := agreeing
		row.edit(&seen)
		if seen.Agree() || !strings.Contains(seen.String(), row.says) {
			t.Errorf("%s: %v, %s", rule, seen.Agree(), seen)
		}
	}
	if !agreeing.Agree() || agreeing.Unknown() != "" {
		t.Error("sources that agree do not")
	}
	declared := agreeing
	if declared.Declared = []string{"test-pods"}; !declared.Agree() {
		t.Error("sources that ProwJobs confirm do not agree")
	}
	none := agreeing
	none.Landed, none.Pods = nil, 0
	if none.Unknown() == "" {
		t.Error("no pod of plank's is known to be somewhere")
	}
}

// TestSourcesAreReadTwice, a minute apart; what agreed before counts, until it does not.
func TestSourcesAreReadTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &Instance{Cluster: &kube.Cluster{Clock: clock.RealClock{}}}
		other := agreeing
		other.Landed = []string{"default"}
		next, reads := []Sources{agreeing, other, agreeing, agreeing, agreeing}, 0
		read := func(ctx context.Context) (Sources, error) { reads++; return next[reads-1], context.Cause(ctx) }
		ask := func(want bool, afterReads int, took time.Duration) {
			t.Helper()
			began := time.Now()
			seen, err := i.Twice(t.Context(), read)
			if err != nil || seen.Agree() != want || reads != afterReads || time.Since(began) != took {
				t.Errorf("agree %v after %d reads and %v: %v", seen.Agree(), reads, time.Since(began), err)
			}
		}
		ask(false, 2, time.Minute) // the second reading differs
		ask(true, 4, time.Minute)  // nothing of the first two counts
		ask(true, 5, 0)            // the fourth was a minute after the third
	})
}

// TestAnAgreementOnSomethingElseBeginsAnew: both readings agree, and not on the same namespaces.
func TestAnAgreementOnSomethingElseBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &Instance{Cluster: &kube.Cluster{Clock: clock.RealClock{}}}
		moved := agreeing
		moved.Git.Pods, moved.Mounted.Pods, moved.Landed = "pods", "pods", []string{"pods"}
		next, reads, began := []Sources{agreeing, moved, moved}, 0, time.Now()
		seen, err := i.Twice(t.Context(), func(ctx context.Context) (Sources, error) {
			reads++
			return next[reads-1], context.Cause(ctx)
		})
		if err != nil || seen.Git.Pods != "pods" || reads != 3 || time.Since(began) != 2*time.Minute {
			t.Errorf("%s after %d reads and %s: %v", seen, reads, time.Since(began), err)
		}
	})
}

// TestSourceThatCanNotBeRead is unknown, and takes the earlier readings with it.
func TestSourceThatCanNotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, reads := &Instance{Cluster: &kube.Cluster{Clock: clock.RealClock{}}}, 0
		read := func(context.Context) (Sources, error) {
			if reads++; reads == 3 {
				return Sources{}, errBroken
			}
			return agreeing, nil
		}
		for _, want := range []bool{true, false, true} {
			if _, err := i.Twice(t.Context(), read); (err == nil) != want {
				t.Errorf("after %d reads: %v", reads, err)
			}
		}
		if reads != 5 { // two, one that fails, and two again
			t.Errorf("%d reads", reads)
		}
	})
}

// TestTwiceEndsWithItsContext.
func TestTwiceEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		i := &Instance{Cluster: &kube.Cluster{Clock: clock.RealClock{}}}
		if _, err := i.Twice(ctx, func(context.Context) (Sources, error) { return agreeing, nil }); err == nil {
			t.Error("one reading was enough")
		}
	})
}
