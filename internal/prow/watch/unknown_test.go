package watch_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
	"salve/internal/prow/watch"
)

// TestRolloutsThatAreNotKnown are said, with the reason.
func TestRolloutsThatAreNotKnown(t *testing.T) {
	for name, test := range map[string]struct {
		change func(w *world)
		reason string
	}{
		"may not be read": {func(w *world) { w.refuse("get", "leases", "prow") }, "forbidden"},
		"may not be read, and the user says when": {func(w *world) {
			w.options.RolloutSince = time.Now().Add(-time.Minute)
			w.refuse("get", "leases", "prow")
		}, "forbidden"},
		"is not there, pods may not be listed, and the user says when": {func(w *world) {
			w.options.RolloutSince = time.Now().Add(-time.Minute)
			w.leaderless()
			w.refuse("list", "pods", "prow")
		}, "it holds no Lease, and listing the pods of plank in namespace prow: pods is forbidden"},
		"is not there, and its pod has never run": {func(w *world) {
			w.leaderless()
			w.plank("new", "plank", time.Minute, func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil })
		}, "none of its pods has run in namespace prow"},
		"is not there, and its pod could not be started": {func(w *world) {
			w.leaderless()
			w.plank("new", "plank", time.Minute, func(pod *corev1.Pod) {
				pod.Status.ContainerStatuses[0].State = corev1.ContainerState{
					Terminated: &corev1.ContainerStateTerminated{StartedAt: metav1.Unix(0, 0), Reason: "StartError"}}
			})
		}, "none of its pods has run in namespace prow"},
		"is not there": {func(w *world) {
			w.must(w.client.CoordinationV1().Leases("prow").Delete(t.Context(), "prow-controller-manager-leader-lock",
				metav1.DeleteOptions{}))
		}, "it holds no Lease, and none of its pods has run in namespace prow"},
		"is not there, and pods may not be listed": {func(w *world) {
			w.refuse("list", "pods", "prow")
			w.must(w.client.CoordinationV1().Leases("prow").Delete(t.Context(), "prow-controller-manager-leader-lock",
				metav1.DeleteOptions{}))
		}, "it holds no Lease, and listing the pods of plank in namespace prow: pods is forbidden"},
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
		if reason := w.reason(watch.GitHub); reason != "GitHub is not asked" {
			t.Errorf("it lacks %q", reason)
		}
		w.expect("blind C5", "blind GitHub", "new ALERT A2", "new WARN A1")
	})
}

// TestEventsThatMayNotBeReadAreSaid as soon as there is a pod to ask about.
func TestEventsThatMayNotBeReadAreSaid(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.refuse("list", "events", "default")
		w.run()
		w.pass(10 * time.Second)
		w.expect("blind C5", "blind GitHub")
		w.job("a")
		w.pod("default", "a")
		w.pass(10 * time.Second)
		w.expect("new ALERT A2", "new WARN A1", "blind A5")
		w.remove("a")
		w.pass(10 * time.Second)
		w.expect("gone ALERT A2", "gone WARN A1", "sees A5")
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
		w.expect("blind A1", "blind A2", "blind A5", "blind C5", "blind GitHub")
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
		w.expect("blind C5", "blind GitHub", "new WARN A3")
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
		w.expect("blind C5", "blind GitHub")
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
				w.expect("new ALERT P4", "blind A1", "blind A2", "blind A3", "blind A4", "blind A5")
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
		w.expect("blind A1", "blind A2", "blind A3", "blind A4", "blind A5", "blind P4", "blind C5", "blind GitHub")
		if w.lastTold.Reached(finding.Warn) {
			t.Error("something was found")
		}
	})
}

// TestWhyAPodWaitsIsNotForgotten while its events can't be read.
func TestWhyAPodWaitsIsNotForgotten(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.secret()
		w.missing("default-a")
		w.run()
		w.job("a")
		w.pod("default", "a")
		w.pass(10 * time.Second)
		w.expect("blind C5", "blind GitHub", "new ALERT A2", "new WARN A1", "new ALERT A5")
		w.refuse("list", "events", "default")
		w.pass(30 * time.Second)
		w.expect("blind A5")
	})
}
