package watch_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
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
		w.expect("blind C5", "blind GitHub")
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
			w.remove(name)
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
		w.pass(1500 * time.Millisecond) // just after it has looked
		w.pod("default", "a")
		w.pass(2 * time.Second)
		w.expect("new WARN A1") // a pod

		w.pass(3 * time.Second)
		w.remove("a")
		w.pass(2 * time.Second)
		w.expect("gone WARN A1")

		w.pod("default", "b")
		w.pass(1500 * time.Millisecond)
		w.expect()
		w.job("b")
		w.pass(2 * time.Second)
		w.expect("new WARN A1") // a ProwJob

		w.pass(10 * time.Second)
		w.leads(time.Minute)
		w.pass(4 * time.Second)
		w.expect("new ALERT A2") // a rollout

		w.secret()
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
		w.expect("blind C5", "blind GitHub", "new ALERT A1", "new ALERT A2")
		w.must(w.dynamic.Resource(prowJobs).Namespace("prow").Delete(t.Context(), "a", metav1.DeleteOptions{}))
		w.remove("b")
		w.remove("c")
		w.pass(10 * time.Second)
		w.expect() // one stray, and three of the last minutes
	})
}

// TestWhatCannotBeReadAnyMoreIsStillKnown: a stray stays one when its ProwJob, or the pod itself, turns unreadable.
func TestWhatCannotBeReadAnyMoreIsStillKnown(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.run()
		for _, name := range []string{"a", "b", "c"} {
			w.job(name)
			w.pod("default", name)
		}
		w.pass(5 * time.Second)
		w.expect("blind C5", "blind GitHub", "new ALERT A1", "new ALERT A2")
		job, err := w.dynamic.Resource(prowJobs).Namespace("prow").Get(t.Context(), "a", metav1.GetOptions{})
		w.must(err)
		job.Object["status"] = map[string]any{"state": "dancing"}
		job.SetResourceVersion("2")
		_, err = w.dynamic.Resource(prowJobs).Namespace("prow").Update(t.Context(), job, metav1.UpdateOptions{})
		w.must(err)
		pod, err := w.client.CoreV1().Pods("default").Get(t.Context(), "b", metav1.GetOptions{})
		w.must(err)
		pod.Finalizers, pod.ResourceVersion = make([]string, 21), "2"
		_, err = w.client.CoreV1().Pods("default").Update(t.Context(), pod, metav1.UpdateOptions{})
		w.must(err)
		w.pass(10 * time.Second)
		w.expect("new INFO A1", "blind A3", "blind P4")
		if n := w.lastTold.Counts; n.Strays != 3 || n.Malformed != 2 {
			t.Errorf("%+v", n)
		}
		w.remove("a")
		w.remove("b")
		w.pass(5 * time.Second)
		for _, change := range w.changes() {
			if change == "better WARN A1" {
				t.Error("what was made and can't be read is forgotten")
			}
		}
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

// TestWhyAPodWaitsIsAsked of its events, and where the object is of the API server.
func TestWhyAPodWaitsIsAsked(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.run()
		w.job("a")
		w.pod("default", "a")
		w.pass(10 * time.Second)
		w.expect("blind C5", "blind GitHub", "new ALERT A2", "new WARN A1")
		w.missing("default-a")
		w.missing("default-a") // once more
		w.missing("of another pod")
		w.pass(10 * time.Second)
		w.expect() // it is nowhere
		w.secret()
		w.pass(35 * time.Second) // it is believed to be nowhere for half a minute
		w.expect("new ALERT A5")
		for _, f := range w.lastTold.Findings {
			if f.Rule == stray.Mount && f.Evidence[0] != "default/a" {
				t.Errorf("seen: %q", f.Evidence)
			}
		}
	})
}
