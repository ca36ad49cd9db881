package watch_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/internal/prow/finding"
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

// TestAStrayIsToldWithinTwoSeconds of virtual time, which only the pauses of the watch take.
func TestAStrayIsToldWithinTwoSeconds(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.run()
		w.pass(time.Minute)
		w.changes()
		w.leads(0)
		w.job("a")
		w.pod("default", "a")
		w.pass(2 * time.Second)
		w.expect("new ALERT A2", "new WARN A1")
	})
}

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
		if last := w.lastTold(); !last.Reached(finding.Warn) {
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
		w.must(w.metadata.Tracker().Create(schema.GroupVersionResource{Version: "v1", Resource: "secrets"},
			&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
				ObjectMeta: metav1.ObjectMeta{Namespace: "test-pods", Name: "service-account"}}, "test-pods"))
		_, err := w.client.CoreV1().Events("default").Create(t.Context(), &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: "e"}, Type: corev1.EventTypeWarning, Reason: "FailedMount",
			InvolvedObject: corev1.ObjectReference{UID: "default-a"},
			Message:        `MountVolume.SetUp failed for volume "creds" : secret "service-account" not found`,
		}, metav1.CreateOptions{})
		w.must(err)
		w.pass(10 * time.Second)
		w.expect("new ALERT A5")
	})
}

// rounds is a poller of what a test says.
type rounds struct {
	found    finding.List
	verdicts []finding.Verdict
	hangs    chan struct{}
}

func (r *rounds) Poll(ctx context.Context) (finding.List, []finding.Verdict) {
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
		w.pass(2 * time.Minute)
		w.expect()
		w.pass(5 * time.Minute)
		w.expect("blind B3")
		poller.found, poller.verdicts = nil, []finding.Verdict{{Rule: "B3", Severity: finding.OK}}
		answers <- struct{}{}
		w.pass(10 * time.Second)
		w.expect("sees B3", "gone WARN B3")
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
		made.Data["config.yaml"] = "prowjob_namespace: prow\n"
		_, err = maps.Update(t.Context(), made, metav1.UpdateOptions{})
		w.must(err)
		w.pass(70 * time.Second)
		w.expect("blind A1", "blind A2", "blind A3", "blind A4", "blind A5")
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
		if rules := w.lastTold(); rules.Reached(finding.Warn) {
			t.Error("something was found")
		}
	})
}
