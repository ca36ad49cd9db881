package kube

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"salve/internal/apierr"
)

var agents = appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "agent", UID: "agents"}}

// classifierOf answers for DaemonSets as get does; nil answers with the one that
// exists.
func classifierOf(get func(clienttesting.GetAction) (runtime.Object, error)) *podClassifier {
	client := fake.NewClientset(agents.DeepCopy())
	if get != nil {
		client.PrependReactor("get", "daemonsets", func(action clienttesting.Action) (bool, runtime.Object, error) {
			object, err := get(action.(clienttesting.GetAction))
			return true, object, err
		})
	}
	return newPodClassifier(&Cluster{Client: client, Clock: clock.RealClock{}})
}

type edit func(*corev1.Pod)

func podWith(edits ...edit) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web-0", UID: "1"}}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func ownedBy(apiVersion, kind, name string, uid types.UID) edit {
	return func(p *corev1.Pod) {
		controller := true
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid,
			Controller: &controller}}
	}
}

func TestFiltersDecideAsKubectlDrain(t *testing.T) {
	t.Parallel()
	replicaSet := ownedBy("apps/v1", "ReplicaSet", "web", "1")
	daemonSet := ownedBy("apps/v1", "DaemonSet", "agent", agents.UID)
	missing := ownedBy("apps/v1", "DaemonSet", "no-more", "2")
	replaced := ownedBy("apps/v1", "DaemonSet", "agent", "of-another")
	mirror := func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "file"} }
	succeeded := func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
	failed := func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
	deleting := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }
	emptyDir := func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	}
	hostPath := func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}}}
	}
	notItsController := func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }
	const evicts, skips = true, false
	for name, c := range map[string]struct {
		pod    *corev1.Pod
		filter string
		// kubectl is what kubectl drain --force --ignore-daemonsets
		// --delete-emptydir-data does with the pod.
		kubectl bool
	}{
		"of a ReplicaSet":                           {podWith(replicaSet), "managed", evicts},
		"of a ReplicaSet, with a host path":         {podWith(replicaSet, hostPath), "managed", evicts},
		"of a ReplicaSet, with emptyDir":            {podWith(replicaSet, emptyDir), "empty-dir", evicts},
		"of a ReplicaSet, being deleted":            {podWith(replicaSet, deleting), "being-deleted", evicts},
		"without a controller":                      {podWith(), "no-controller", evicts},
		"without a controller, with emptyDir":       {podWith(emptyDir), "no-controller", evicts},
		"without a controller, being deleted":       {podWith(deleting), "being-deleted", evicts},
		"succeeded":                                 {podWith(succeeded), "finished", evicts},
		"failed, with emptyDir":                     {podWith(replicaSet, failed, emptyDir), "finished", evicts},
		"mirror pod":                                {podWith(mirror), "mirror-pod", skips},
		"mirror pod that failed":                    {podWith(mirror, failed), "mirror-pod", skips},
		"mirror pod, being deleted":                 {podWith(mirror, deleting), "mirror-pod", skips},
		"of a DaemonSet":                            {podWith(daemonSet), "daemon-set", skips},
		"of a DaemonSet, with emptyDir":             {podWith(daemonSet, emptyDir), "daemon-set", skips},
		"of a DaemonSet, being deleted":             {podWith(daemonSet, deleting), "daemon-set", skips},
		"of a DaemonSet, failed":                    {podWith(daemonSet, failed), "finished", evicts},
		"of a DaemonSet that is missing":            {podWith(missing), "missing-daemon-set", evicts},
		"of a missing DaemonSet, being deleted":     {podWith(missing, deleting), "being-deleted", evicts},
		"of a DaemonSet that is not its controller": {podWith(daemonSet, notItsController), "no-controller", evicts},
		"of a DaemonSet of another API": {podWith(ownedBy("apps.example.io/v1", "DaemonSet", "agent",
			agents.UID)), "managed", evicts},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := classifierOf(nil).classify(t.Context(), c.pod)
			if err != nil || got.name != c.filter {
				t.Errorf("decided by %q, want %q (%v)", got.name, c.filter, err)
			}
			if evicts := got.action != skipPod; evicts != c.kubectl {
				t.Errorf("evicts %v, kubectl drain %v", evicts, c.kubectl)
			}
			if skips := got.action == skipPod; skips != (got.reason != "") {
				t.Errorf("skips %v, with the reason %q", skips, got.reason)
			}
		})
	}
	t.Run("of a deleted DaemonSet whose name another has: kubectl does not tell them apart", func(t *testing.T) {
		t.Parallel()
		got, err := classifierOf(nil).classify(t.Context(), podWith(replaced))
		if err != nil || got.name != "missing-daemon-set" || got.action != evictPod {
			t.Errorf("decided by %q (%v)", got.name, err)
		}
	})
	t.Run("being deleted: not asked for again", func(t *testing.T) {
		t.Parallel()
		if got, err := classifierOf(nil).classify(t.Context(), podWith(deleting)); err != nil || got.action != awaitPod {
			t.Errorf("action %v (%v)", got.action, err)
		}
	})
}

func TestDaemonSetThatCannotBeReadIsAnErrorAndNoDecision(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Group: "apps", Resource: "daemonsets"}
	pathNotFound := apierrors.NewGenericServerResponse(404, "get", resource, "agent", "404 page not found", 0, true)
	another := agents.DeepCopy()
	another.Name = "another"
	for name, c := range map[string]struct {
		found *appsv1.DaemonSet
		err   error
		class apierr.Class
	}{
		"forbidden":             {err: apierrors.NewForbidden(resource, "agent", errors.New("no")), class: apierr.Denied},
		"server error":          {err: apierrors.NewInternalError(errors.New("etcd")), class: apierr.Transient},
		"no answer":             {err: context.DeadlineExceeded, class: apierr.Transient},
		"its path is not found": {err: pathNotFound, class: apierr.Terminal},
		"another is not found":  {err: apierrors.NewNotFound(resource, "another"), class: apierr.Transient},
		"its namespace is absent": {err: apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "team"),
			class: apierr.Transient},
		"another was answered": {found: another, class: apierr.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failing := true
			classifier := classifierOf(func(clienttesting.GetAction) (runtime.Object, error) {
				switch {
				case failing && c.err != nil:
					return nil, c.err
				case failing:
					return c.found, nil
				}
				return agents.DeepCopy(), nil
			})
			pod := podWith(ownedBy("apps/v1", "DaemonSet", "agent", agents.UID))
			got, err := classifier.classify(t.Context(), pod)
			if err == nil || got.name != "" {
				t.Fatalf("decided by %q (%v)", got.name, err)
			}
			if class := apierr.ClassOf(err); class != c.class {
				t.Errorf("class %s, want %s: %v", class, c.class, err)
			}
			failing = false
			if got, err := classifier.classify(t.Context(), pod); err != nil || got.name != "daemon-set" {
				t.Errorf("read again: decided by %q (%v)", got.name, err)
			}
		})
	}
}

func TestDaemonSetIsReadOnceForAllOfItsPods(t *testing.T) {
	t.Parallel()
	var reads atomic.Int32
	classifier := classifierOf(func(clienttesting.GetAction) (runtime.Object, error) {
		reads.Add(1)
		return agents.DeepCopy(), nil
	})
	var pods sync.WaitGroup
	for range 50 {
		pods.Go(func() {
			got, err := classifier.classify(t.Context(), podWith(ownedBy("apps/v1", "DaemonSet", "agent", agents.UID)))
			if err != nil || got.name != "daemon-set" {
				t.Errorf("decided by %q (%v)", got.name, err)
			}
		})
	}
	pods.Wait()
	if n := reads.Load(); n != 1 {
		t.Errorf("the DaemonSet was read %d times", n)
	}
	if _, err := classifier.classify(t.Context(),
		podWith(ownedBy("apps/v1", "ReplicaSet", "agent", agents.UID))); err != nil || reads.Load() != 1 {
		t.Errorf("a pod of a ReplicaSet had a DaemonSet read (%v)", err)
	}
}
