package kube_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"salve/fault"
	"salve/internal/permit"
	"salve/kube"
	"salve/kube/kubetest"
	"salve/runbook"
)

// TestPodsAreDeletedAsTheyWereRead: each row reads a pod, lets something happen to
// it, and deletes what was read.
func TestPodsAreDeletedAsTheyWereRead(t *testing.T) {
	t.Parallel()
	plane := kubetest.Start(t)
	namespace, pods := plane.Namespace(t), plane.Client().CoreV1().Pods
	touch := func(name, patch string) {
		t.Helper()
		if _, err := pods(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create := func(name string) {
		t.Helper()
		spec := podSpec()
		spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/waits"}}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"row": name}}, Spec: spec}
		if _, err := pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	always := func(kube.Pod) bool { return true }
	expired := permit.Mint(permit.Terms{Step: "delete", Expires: time.Now().Add(-time.Second), Now: time.Now})
	for _, row := range []struct {
		name    string
		happens func(name string)
		permit  runbook.Permit
		still   func(kube.Pod) bool
		stays   bool
		fails   fault.Class
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
		}, still: kube.Pod.Untouched, stays: true},
		{name: "another-of-its-name", happens: func(name string) {
			if err := pods(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			create(name)
		}, still: always, stays: true},
		{name: "no-permit", permit: runbook.Permit{}, stays: true, fails: fault.Conflict},
		{name: "expired-permit", permit: expired, stays: true, fails: fault.Conflict},
	} {
		t.Run(row.name, func(t *testing.T) {
			cluster := connected(t, plane.Kubeconfig())
			create(row.name)
			read, err := cluster.Pods(t.Context(), namespace, "row="+row.name)
			if err != nil || len(read) != 1 {
				t.Fatal(read, err)
			}
			if row.happens != nil {
				row.happens(row.name)
			}
			given := row.permit
			if row.fails == "" {
				given = granted("run-1")
			}
			err = cluster.DeletePods(t.Context(), given, read, kube.PodDeletion{Still: row.still})
			if (err != nil) != (row.fails != "") || err != nil && fault.ClassOf(err) != row.fails {
				t.Errorf("it ended with %v", err)
			}
			pod, err := pods(namespace).Get(t.Context(), row.name, metav1.GetOptions{})
			if stays := err == nil && pod.DeletionTimestamp == nil; stays != row.stays || err != nil && !apierrors.IsNotFound(err) {
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
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: podSpec()}
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/waits"}}
		if _, err := plane.Client().CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	cluster := connected(t, plane.Kubeconfig())
	read, err := cluster.Pods(t.Context(), namespace, "")
	if err != nil {
		t.Fatal(err)
	}
	short := permit.Mint(permit.Terms{Step: "delete", Expires: time.Now().Add(500 * time.Millisecond), Now: time.Now, Lease: granted("run-1").Authorize})
	err = cluster.DeletePods(t.Context(), short, read, kube.PodDeletion{Batch: 1, Pause: time.Second})
	if fault.ClassOf(err) != fault.Transient || err == nil {
		t.Errorf("it ended with %v", err)
	}
	if left, err := cluster.Pods(t.Context(), namespace, ""); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestASecretIsNotRead: whether it exists is all that is asked for.
func TestASecretIsNotRead(t *testing.T) {
	t.Parallel()
	plane := kubetest.Start(t)
	namespace := plane.Namespace(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "there"}, StringData: map[string]string{"key": "value"}}
	if _, err := plane.Client().CoreV1().Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config, bodies := plane.Config(), 0
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err != nil {
				return nil, err
			}
			body, err := io.ReadAll(response.Body)
			if bytes.Contains(body, []byte("dmFsdWU")) || bytes.Contains(body, []byte("value")) {
				t.Errorf("the API server said %s", body)
			}
			bodies, response.Body = bodies+1, io.NopCloser(bytes.NewReader(body))
			return response, err
		})
	})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	cluster := &kube.Cluster{Client: client, Clock: clock.RealClock{}}
	for name, want := range map[string]bool{"there": true, "elsewhere": false} {
		if got, err := cluster.Exists(t.Context(), namespace, kube.Secret, name); got != want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if bodies != 2 {
		t.Errorf("%d answers were looked at", bodies)
	}
	for _, wrong := range [][3]string{{namespace, "Node", "n"}, {"", kube.Secret, "there"}, {namespace, kube.Secret, ""}} {
		if _, err := cluster.Exists(t.Context(), wrong[0], wrong[1], wrong[2]); err == nil {
			t.Errorf("%q was asked for", wrong)
		}
	}
}
