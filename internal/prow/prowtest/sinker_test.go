package prowtest_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/clock"
	"salve/internal/prow/prowtest"
)

// orphanAge is how old a pod is before sinker takes it for an orphan (cmd/sinker/main.go, isPodOrphaned).
const orphanAge = 30 * time.Second

// TestSinkerTakesPodsWithoutAVisibleJobForOrphans: what it deletes depends on the two namespaces of its
// configuration alone. With a live job "live", each row has a pod of it where pods belong and one astray, and astray
// one of a job that is gone.
func TestSinkerTakesPodsWithoutAVisibleJobForOrphans(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		configured func(s *prowtest.Stage, empty string) prowtest.Files
		deleted    []string
	}{
		"right: both strays are left for ever": {func(s *prowtest.Stage, _ string) prowtest.Files {
			return s.Good()
		}, nil},
		"ProwJobs elsewhere: the only healthy pod goes": {func(s *prowtest.Stage, empty string) prowtest.Files {
			return s.Release(empty, s.Pods)
		}, []string{"pods/live"}},
		"pods elsewhere: nothing": {func(s *prowtest.Stage, empty string) prowtest.Files {
			return s.Release(s.ProwJobs, empty)
		}, nil},
		"pods astray: the stray without a job goes": {func(s *prowtest.Stage, _ string) prowtest.Files {
			return s.Bad()
		}, []string{"astray/gone"}},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, prowtest.Sinker)
			empty := s.Plane.Namespace(t)
			live := prowtest.APresubmit("live")
			live.State = prowtest.Pending
			s.Make(live)
			labelled(s, s.Pods, "live")
			labelled(s, s.Astray, "live")
			youngest := labelled(s, s.Astray, "gone")
			// Younger pods are no orphans. A second more, for creation times have no fractions.
			s.Must(clock.Sleep(t.Context(), clock.Real{}, time.Until(youngest.Add(orphanAge+time.Second))))

			s.Must(s.SinkOnce(t.Context(), row.configured(s, empty)))
			var deleted []string
			for place, namespace := range map[string]string{"pods": s.Pods, "astray": s.Astray} {
				for _, pod := range []string{"live", "gone"} {
					if (place == "astray" || pod == "live") && s.Deleted(namespace, pod) {
						deleted = append(deleted, place+"/"+pod)
					}
				}
			}
			if slices.Sort(deleted); !slices.Equal(deleted, row.deleted) {
				t.Errorf("sinker deleted %q, and not %q", deleted, row.deleted)
			}
		})
	}
}

// labelled makes a pod as plank does, and gives its creation time.
func labelled(s *prowtest.Stage, namespace, name string) time.Time {
	s.Helper()
	pod, err := s.Plane.Client().CoreV1().Pods(namespace).Create(s.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			"created-by-prow": "true", "prow.k8s.io/id": name,
		}},
		Spec: corev1.PodSpec{NodeSelector: s.Nodes, Containers: []corev1.Container{{
			Name: "test", Image: "registry.example/test:1",
		}}},
	}, metav1.CreateOptions{})
	s.Must(err)
	return pod.CreationTimestamp.Time
}
