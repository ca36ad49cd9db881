package unblockpulls_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"salve/internal/prow/prowtest"
	"salve/runbook"
)

// podOf is a pod as plank makes it of a job on the head of a pull request.
func (w *world) podOf(number int, namespace, version string) {
	w.Helper()
	job := of(number, "unit")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: job.Name, CreationTimestamp: metav1.Now(),
			Labels: map[string]string{
				"created-by-prow": "true", "prow.k8s.io/id": job.Name, "prow.k8s.io/plank-version": version,
			},
			Annotations: map[string]string{"prow.k8s.io/job": job.Job},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	if err := w.client.Tracker().Add(pod); err != nil {
		w.Fatal(err)
	}
}

// pending is a ProwJob whose pod was asked for a while ago.
func pending(ago time.Duration) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) {
		at := time.Now().Add(-ago).UTC().Format(time.RFC3339)
		object.Object["status"] = map[string]any{"state": "pending", "startTime": at, "pendingTime": at}
	}
}

// jobsOf makes ProwJobs of several jobs and repositories.
func (w *world) jobsOf(count int, change func(*unstructured.Unstructured)) {
	for i := range count {
		job := prowtest.Job{
			Name: fmt.Sprintf("some-%d", i), Job: fmt.Sprintf("job-%d", i%2), Type: prowtest.Presubmit,
			Repo: fmt.Sprintf("kube/repo-%d", i%2), Pull: 100 + i, SHA: headOf(100 + i),
		}
		w.job(job, change)
	}
}

// dreaming gives a pod a phase that nobody knows.
func (w *world) dreaming(namespace, name string) {
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	pod, _ := w.client.Tracker().Get(pods, namespace, name)
	pod.(*corev1.Pod).Status.Phase = "Dreaming"
	_ = w.client.Tracker().Update(pods, pod, namespace)
}

// TestNothingIsStartedWhileAnAlarmOfSalvesWatchIsRung, of A1 to A4, and nothing while one of them can't be asked.
func TestNothingIsStartedWhileAnAlarmOfSalvesWatchIsRung(t *testing.T) {
	for what, row := range map[string]struct {
		change func(*world)
		answer runbook.Answer
		says   string
	}{
		"all is well": {func(w *world) { w.job(of(20, "unit"), nil); w.podOf(20, "test-pods", "v1") }, yes, "A1, A2, A3, A4"},
		"A1": {func(w *world) {
			for number := 20; number < 23; number++ {
				w.job(of(number, "unit"), nil)
				w.podOf(number, "default", "v1")
			}
		}, no, "A1 is ALERT: 3 pods of this Prow in namespace default"},
		"A2, by one pod of a new plank": {func(w *world) {
			w.job(of(20, "unit"), nil)
			w.podOf(20, "test-pods", "v1")
			time.Sleep(time.Minute)
			w.job(of(21, "unit"), nil)
			w.podOf(21, "default", "v2")
		}, no, "A2 is ALERT: the plank that was rolled out makes pods in namespace default"},
		"A3":         {func(w *world) { w.jobsOf(3, pending(2*time.Minute)) }, no, "A3 is ALERT: 3 ProwJobs pending"},
		"A3, of one": {func(w *world) { w.job(of(20, "unit"), pending(2*time.Minute)) }, yes, ""},
		"A4": {func(w *world) {
			w.jobsOf(5, func(object *unstructured.Unstructured) {
				now := time.Now().UTC().Format(time.RFC3339)
				object.Object["status"] = map[string]any{"state": "error", "description": "Pod pending timeout.",
					"startTime": now, "pendingTime": now, "completionTime": now}
			})
		}, no, "A4 is ALERT: 5 jobs of 2 repositories gave up"},
		"a job that declares another pod namespace": {func(w *world) {
			w.job(of(20, "unit"), func(object *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(object.Object, "elsewhere", "spec", "namespace")
			})
		}, unknown,
			"P4 unknown: 1 ProwJob made for pods in namespace elsewhere; the configuration has them in test-pods"},
		"a pod that can't be read, where it belongs": {func(w *world) {
			w.job(of(20, "unit"), nil)
			w.podOf(20, "test-pods", "v1")
			w.dreaming("test-pods", "unit-20")
		}, yes, ""},
		"one that can't be read, elsewhere": {func(w *world) {
			w.job(of(20, "unit"), nil)
			w.podOf(20, "default", "v1")
			w.dreaming("default", "unit-20")
		}, yes, "outside of namespace test-pods: 1"},
		"several that can't be read, elsewhere": {func(w *world) {
			for number := 20; number < 23; number++ {
				w.job(of(number, "unit"), nil)
				w.podOf(number, "default", "v1")
				w.dreaming("default", fmt.Sprintf("unit-%d", number))
			}
		}, no, "3 pods of"},
	} {
		t.Run(what, func(t *testing.T) {
			in(t, func(w *world) {
				row.change(w)
				w.says("no-strays", row.answer, row.says)
				outcome := map[runbook.Answer]runbook.Outcome{
					yes: runbook.Remediated, no: runbook.NeedsAttention, unknown: runbook.Undecided,
				}[row.answer]
				w.ends(w.run(), outcome)
				if row.answer != yes {
					w.commented(0)
				}
			})
		})
	}
}
