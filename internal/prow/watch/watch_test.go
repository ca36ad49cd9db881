package watch_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
	"salve/internal/prow/watch"
)

// inVirtualTime runs a watch of a world in which some time has passed already.
func inVirtualTime(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		test(w)
		w.end()
	})
}

// TestAChangeIsToldOnce: a level that stays is not repeated, and one that ends is said to.
func TestAChangeIsToldOnce(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.run()
		w.expect("blind C5")
		w.job("a")
		w.pod("test-pods", "a")
		w.pass(10 * time.Second)
		w.expect()
		w.job("b")
		w.pod("default", "b")
		w.pass(10 * time.Second)
		w.expect("new ALERT A2", "new WARN A1") // plank has led for an hour, and these are its first pods
		w.pass(10 * time.Second)
		w.expect()
		w.job("c")
		w.pod("default", "c")
		w.job("d")
		w.pod("default", "d")
		w.pass(10 * time.Second)
		w.expect("worse ALERT A1")
		w.pass(10 * time.Minute)
		w.expect("new WARN A3", "worse ALERT A3", "better WARN A1")
		for _, name := range []string{"b", "c", "d"} {
			w.remove("default", name)
			w.pod("test-pods", name)
		}
		w.pass(10 * time.Second)
		w.expect("gone ALERT A2", "gone ALERT A3", "gone WARN A1")
	})
}

// TestWhatChangesIsToldSoon in virtual time, which only the pauses of the watch take: without a change it looks every
// five seconds.
func TestWhatChangesIsToldSoon(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		for i := range 30 { // those that an old rollout made first
			w.job(fmt.Sprint("first-", i))
			w.pod("test-pods", fmt.Sprint("first-", i))
		}
		w.pass(20 * time.Minute)
		w.leads(30 * time.Minute)
		w.run()
		w.changes()
		w.job("a")
		w.pass(4500 * time.Millisecond) // just after it has looked
		w.pod("default", "a")
		w.pass(2 * time.Second)
		w.expect("new WARN A1") // a pod

		w.pass(3 * time.Second)
		w.remove("default", "a")
		w.pass(2 * time.Second)
		w.expect("gone WARN A1")

		w.pod("default", "b")
		w.pass(4500 * time.Millisecond)
		w.expect()
		w.job("b")
		w.pass(2 * time.Second)
		w.expect("new WARN A1") // a ProwJob

		w.pass(10 * time.Second)
		w.leads(time.Minute)
		w.pass(4 * time.Second)
		w.expect("new ALERT A2") // a rollout

		w.secret("service-account")
		w.missing("default-c")
		w.pass(5500 * time.Millisecond)
		w.job("c")
		w.pod("default", "c")
		w.pass(3500 * time.Millisecond)
		w.expect("worse ALERT A1", "new ALERT A5") // an event
	})
}

// TestRulesAreAskedOnceASecond at most, whatever changes.
func TestRulesAreAskedOnceASecond(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.run()
		before := w.tellings()
		for i := range 100 {
			w.pod("test-pods", fmt.Sprint(i))
			w.pass(100 * time.Millisecond)
		}
		if n := w.tellings() - before; n < 5 || n > 11 {
			t.Errorf("asked %d times in ten seconds", n)
		}
	})
}

// TestWhatIsCollectedIsRemembered: the ProwJob of a stray, and the strays that plank deleted.
func TestWhatIsCollectedIsRemembered(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.run()
		for _, name := range []string{"a", "b", "c"} {
			w.job(name)
			w.pod("default", name)
		}
		w.pass(5 * time.Second)
		w.expect("blind C5", "new ALERT A1", "new ALERT A2")
		w.must(w.dynamic.Resource(prowJobs).Namespace("prow").Delete(t.Context(), "a", metav1.DeleteOptions{}))
		w.remove("default", "b")
		w.remove("default", "c")
		w.pass(10 * time.Second)
		w.expect() // one stray, and three of the last minutes
	})
}

// TestRolloutsThatAreNotKnown are said, with the reason.
func TestRolloutsThatAreNotKnown(t *testing.T) {
	for name, test := range map[string]struct {
		change func(w *world)
		reason string
	}{
		"may not be read": {func(w *world) { w.refuse("get", "leases", "prow") }, "forbidden"},
		"is not there": {func(w *world) {
			w.must(w.client.CoordinationV1().Leases("prow").Delete(t.Context(), "prow-controller-manager-leader-lock",
				metav1.DeleteOptions{}))
		}, "not found"},
		"does not say": {func(w *world) {
			_, err := w.client.CoordinationV1().Leases("prow").Update(t.Context(), &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Namespace: "prow", Name: "prow-controller-manager-leader-lock"},
			}, metav1.UpdateOptions{})
			w.must(err)
		}, "its Lease doesn't say"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				test.change(w)
				w.run()
				w.pass(time.Minute)
				if reason := w.reason(stray.Canary); !strings.Contains(reason, test.reason) ||
					!strings.Contains(reason, "when plank took over is not known") {
					t.Errorf("A2 lacks %q", reason)
				}
			})
		})
	}
}

// TestProwJobsOfOneNamespaceSuffice: no other right is needed.
func TestProwJobsOfOneNamespaceSuffice(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.refuse("list", "prowjobs", metav1.NamespaceAll)
		w.run()
		w.job("a")
		w.pod("default", "a")
		w.pass(5 * time.Second)
		w.expect("blind C5", "new ALERT A2", "new WARN A1")
	})
}

// TestEventsThatMayNotBeReadAreSaid as soon as there is a pod to ask about.
func TestEventsThatMayNotBeReadAreSaid(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.refuse("list", "events", "default")
		w.run()
		w.pass(10 * time.Second)
		w.expect("blind C5")
		w.job("a")
		w.pod("default", "a")
		w.pass(10 * time.Second)
		w.expect("new ALERT A2", "new WARN A1", "blind A5")
		w.remove("default", "a")
		w.pass(10 * time.Second)
		w.expect("gone ALERT A2", "gone WARN A1", "sees A5")
	})
}

// TestAPollerThatFailsEndsTheWatch, with an error: a watch that looks on without it would say OK.
func TestAPollerThatFailsEndsTheWatch(t *testing.T) {
	for name, poller := range map[string]watch.Poller{
		"by a panic": pollerFunc(func() (finding.List, []finding.Verdict) { panic("no") }),
		"by a finding without severity": pollerFunc(func() (finding.List, []finding.Verdict) {
			return finding.List{{Rule: "B3"}}, nil
		}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.options.Poller, w.options.Every = poller, time.Minute
				if _, err := watch.New(w.options).Run(t.Context()); err == nil {
					t.Error("it ends without one")
				}
			})
		})
	}
}

type pollerFunc func() (finding.List, []finding.Verdict)

func (p pollerFunc) Poll(context.Context) (finding.List, []finding.Verdict) { return p() }

// TestTheWatchEndsAtTheFirstAlarm, and gives what held.
func TestTheWatchEndsAtTheFirstAlarm(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.options.Until = finding.Alert
		w.run()
		w.job("a")
		w.pod("default", "a")
		w.pass(10 * time.Second)
		select {
		case <-w.done:
		default:
			t.Error("it goes on")
		}
		if !w.last.Reached(finding.Alert) || w.last.Counts.Strays != 1 {
			t.Errorf("%+v", w.last)
		}
	})
}

// TestWithoutRightsRulesAreUnknown and the named namespaces are watched.
func TestWithoutRightsRulesAreUnknown(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.refuse("list", "pods", metav1.NamespaceAll)
		w.refuse("get", "leases", "prow")
		w.refuse("list", "events", "default")
		w.run()
		w.pass(5 * time.Second)
		w.expect("blind A1", "blind A2", "blind A5", "blind C5")
		w.job("a")
		w.pod("default", "a")
		w.pass(10 * time.Second)
		w.expect("new WARN A1")
		w.pass(5 * time.Minute)
		w.expect("new WARN A3")
	})
}

// TestWhatIsNotSeenIsNotGone: a finding about what is not there any more stays while nobody looks.
func TestWhatIsNotSeenIsNotGone(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.run()
		w.job("a")
		w.pass(2 * time.Minute)
		w.expect("blind C5", "new WARN A3")
		w.refuse("list", "pods", metav1.NamespaceAll)
		w.refuse("list", "pods", "test-pods")
		w.refuse("watch", "pods", metav1.NamespaceAll)
		w.pass(time.Second)
		// Watches of a fake end by nothing but time.
		w.pass(20 * time.Minute)
		last := w.lastTold
		at := slices.IndexFunc(last.Verdicts, func(v finding.Verdict) bool { return v.Rule == stray.Podless })
		if !last.Reached(finding.Warn) || last.Verdicts[at].Severity != finding.Warn || last.Verdicts[at].Findings != 1 {
			t.Errorf("%+v", last)
		}
		for _, change := range w.changes() {
			if change == "gone WARN A3" {
				t.Error("it is said to be gone")
			}
		}
	})
}

// TestWhyAPodWaitsIsAsked of its events, and where the object is of the API server.
func TestWhyAPodWaitsIsAsked(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.run()
		w.job("a")
		w.pod("default", "a")
		w.pass(10 * time.Second)
		w.expect("blind C5", "new ALERT A2", "new WARN A1")
		w.missing("default-a")
		w.missing("default-a") // once more
		w.missing("of another pod")
		w.pass(10 * time.Second)
		w.expect() // it is nowhere
		w.secret("service-account")
		w.pass(35 * time.Second) // it is believed to be nowhere for half a minute
		w.expect("new ALERT A5")
	})
}

// rounds is a poller of what a test says.
type rounds struct {
	found    finding.List
	verdicts []finding.Verdict
	hangs    chan struct{}
	asked    int
}

func (r *rounds) Poll(ctx context.Context) (finding.List, []finding.Verdict) {
	r.asked++
	select {
	case <-r.hangs:
	case <-ctx.Done():
	}
	return r.found, r.verdicts
}

// TestWhatIsPolledIsToldToo, and is UNKNOWN when the poll doesn't come back.
func TestWhatIsPolledIsToldToo(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		answers := make(chan struct{}, 10)
		poller := &rounds{hangs: answers,
			found:    finding.List{{Rule: "B3", Severity: finding.Warn, Message: "drift", Subject: finding.Subject{Org: "o"}}},
			verdicts: []finding.Verdict{{Rule: "B3", Severity: finding.Warn, Findings: 1}}}
		w.options.Poller, w.options.Every = poller, time.Minute
		w.run()
		w.expect("blind C5")
		answers <- struct{}{}
		w.pass(5 * time.Second)
		w.expect("new WARN B3")
		answers <- struct{}{}
		w.pass(90 * time.Second)
		w.expect()
		w.pass(5 * time.Minute)
		w.expect("blind B3")
		poller.found, poller.verdicts = nil, []finding.Verdict{{Rule: "B3", Severity: finding.OK}}
		answers <- struct{}{}
		w.pass(10 * time.Second)
		w.expect("sees B3", "gone WARN B3")
		if poller.asked != 3 { // the next one would begin in a minute
			t.Errorf("asked %d times", poller.asked)
		}
	})
}

// TestAPollThatSeesNothingTakesNothingBack.
func TestAPollThatSeesNothingTakesNothingBack(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		failing := false
		w.options.Poller, w.options.Every = pollerFunc(func() (finding.List, []finding.Verdict) {
			if failing {
				return nil, []finding.Verdict{{Rule: "B3", Severity: finding.Unknown, Lack: finding.Lack{Reason: "rate limit"}}}
			}
			failing = true
			return finding.List{{Rule: "B3", Severity: finding.Warn, Message: "drift"}}, []finding.Verdict{{Rule: "B3",
				Severity: finding.Warn, Findings: 1}}
		}), time.Minute
		w.run()
		w.pass(5 * time.Second)
		w.expect("new WARN B3", "blind C5")
		w.pass(2 * time.Minute)
		w.expect("blind B3")
		if last := w.lastTold; !last.Reached(finding.Warn) {
			t.Errorf("%+v", last)
		}
	})
}

// TestTheConfigurationInTheClusterIsCompared, where it is named.
func TestTheConfigurationInTheClusterIsCompared(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.options.ConfigMap = "config/config.yaml"
		maps := w.client.CoreV1().ConfigMaps("prow")
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"},
			Data: map[string]string{"config.yaml": "prowjob_namespace: prow\npod_namespace: test-pods\nplank: {}\n"}}
		_, err := maps.Create(t.Context(), made, metav1.CreateOptions{})
		w.must(err)
		w.run()
		w.expect("blind C5")
		for i, test := range []struct{ key, text, reason string }{
			{"config.yaml", "prowjob_namespace: prow\n", "pod_namespace is test-pods in the configuration and default in key"},
			{"config.yaml", "pod_namespace: test-pods\n", "prowjob_namespace is prow in the configuration and default in"},
			{"other", "", "not found: key config.yaml of ConfigMap prow/config"},
			{"config.yaml", "prowjob_namespace: [", "reading key config.yaml of ConfigMap prow/config: "},
		} {
			made.Data = map[string]string{test.key: test.text}
			_, err = maps.Update(t.Context(), made, metav1.UpdateOptions{})
			w.must(err)
			w.pass(61 * time.Second)
			if reason := w.reason(stray.Stray); !strings.Contains(reason, test.reason) {
				t.Errorf("A1 lacks %q, want %q", reason, test.reason)
			}
			if i == 0 {
				w.expect("blind A1", "blind A2", "blind A3", "blind A4", "blind A5")
			}
		}
		w.must(maps.Delete(t.Context(), "config", metav1.DeleteOptions{}))
		w.pass(61 * time.Second)
		if reason := w.reason(stray.Stray); !strings.Contains(reason, `configmaps "config" not found`) {
			t.Errorf("A1 lacks %q", reason)
		}
	})
}

// TestTheFirstListsAreWaitedFor, and no longer than some seconds.
func TestTheFirstListsAreWaitedFor(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.refuse("list", "pods", metav1.NamespaceAll)
		for _, namespace := range []string{"default", "test-pods", "prow"} {
			w.refuse("list", "pods", namespace)
		}
		w.run()
		w.expect()
		w.pass(15 * time.Second)
		w.expect("blind A1", "blind A2", "blind A3", "blind A4", "blind A5", "blind C5")
		if w.lastTold.Reached(finding.Warn) {
			t.Error("something was found")
		}
	})
}
