package stranded_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/internal/kubetest"
	"salve/internal/permit"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

// TestPodsAreDeletedAsTheyWereRead: each row reads a pod, lets something happen to
// it, and deletes what was read.
func TestPodsAreDeletedAsTheyWereRead(t *testing.T) {
	t.Parallel()
	plane := kubetest.Start(t)
	namespace, pods := plane.Namespace(t), plane.Client().CoreV1().Pods
	touch := func(name, patch string) {
		t.Helper()
		_, err := pods(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	create := func(name string) {
		t.Helper()
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"row": name}}, Spec: waiting()}
		if _, err := pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	always := func(stranded.Pod) bool { return true }
	expired := permit.Mint(permit.Terms{Step: "delete", Expires: time.Now().Add(-time.Second), Now: time.Now})
	for _, row := range []struct {
		name    string
		happens func(name string)
		permit  runbook.Permit
		still   func(stranded.Pod) bool
		stays   bool
		fails   apierr.Class
	}{
		{name: "unchanged"},
		{name: "gone", happens: func(name string) { _ = pods(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}) }},
		{name: "changed", happens: func(name string) { touch(name, `{"metadata":{"labels":{"changed":"yes"}}}`) }, stays: true},
		{name: "changed-and-still-meant", happens: func(name string) { touch(name, `{"metadata":{"labels":{"changed":"yes"}}}`) }, still: always},
		{name: "changed-to-run", happens: func(name string) {
			pod, err := pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			pod.Status.Phase = corev1.PodRunning
			if _, err := pods(namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}, still: stranded.Pod.Untouched, stays: true},
		{name: "another-of-its-name", happens: func(name string) {
			if err := pods(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			create(name)
		}, still: always, stays: true},
		{name: "no-permit", permit: runbook.Permit{}, stays: true, fails: apierr.Conflict},
		{name: "expired-permit", permit: expired, stays: true, fails: apierr.Conflict},
	} {
		t.Run(row.name, func(t *testing.T) {
			search := &stranded.Search{Cluster: connected(t, plane)}
			create(row.name)
			read, err := search.Pods(t.Context(), kube.Scope{Namespace: namespace, Selector: "row=" + row.name})
			if err != nil || len(read) != 1 {
				t.Fatal(read, err)
			}
			if row.happens != nil {
				row.happens(row.name)
			}
			given := row.permit
			if row.fails == "" {
				given = granted()
			}
			err = search.DeletePods(permit.NewContext(t.Context(), given), read, stranded.Deletion{Still: row.still})
			if (err != nil) != (row.fails != "") || err != nil && apierr.ClassOf(err) != row.fails {
				t.Errorf("it ended with %v", err)
			}
			pod, err := pods(namespace).Get(t.Context(), row.name, metav1.GetOptions{})
			stays := err == nil && pod.DeletionTimestamp == nil
			if stays != row.stays || err != nil && !apierrors.IsNotFound(err) {
				t.Errorf("the pod is there: %v (%v)", stays, err)
			}
		})
	}
}

// TestSomeDeletedIsNotNothing: a refusal in the middle is no refusal of all.
func TestSomeDeletedIsNotNothing(t *testing.T) {
	t.Parallel()
	plane := kubetest.Start(t)
	namespace := plane.Namespace(t)
	for _, name := range []string{"a", "b"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: waiting()}
		if _, err := plane.Client().CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	search := &stranded.Search{Cluster: connected(t, plane)}
	read, err := search.Pods(t.Context(), kube.Scope{Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	short := permit.Mint(permit.Terms{
		Step: "delete", Expires: time.Now().Add(500 * time.Millisecond), Now: time.Now, Lease: granted().Authorize,
	})
	err = search.DeletePods(permit.NewContext(t.Context(), short), read, stranded.Deletion{Batch: 1, Pause: time.Second})
	if apierr.ClassOf(err) != apierr.Transient || err == nil {
		t.Errorf("it ended with %v", err)
	}
	if left, err := search.Pods(t.Context(), kube.Scope{Namespace: namespace}); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// waiting is the spec of a pod that nobody schedules.
func waiting() corev1.PodSpec {
	grace := int64(0)
	return corev1.PodSpec{
		TerminationGracePeriodSeconds: &grace,
		Containers:                    []corev1.Container{{Name: "app", Image: "registry.example/app:1"}},
		SchedulingGates:               []corev1.PodSchedulingGate{{Name: "example.com/waits"}},
	}
}
