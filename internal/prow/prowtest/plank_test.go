package prowtest_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/prow/prowtest"
)

// account is the Secret that the jobs of these tests mount.
const account = "service-account"

func jobs(names ...string) []prowtest.Job {
	made := make([]prowtest.Job, len(names))
	for i, name := range names {
		made[i] = prowtest.APresubmit(name)
		made[i].Secrets = []string{account}
	}
	return made
}

// newStage is a Prow whose jobs find what they mount where they belong.
func newStage(t *testing.T, programs ...string) *prowtest.Stage {
	t.Helper()
	prowtest.Need(t, programs...)
	s := prowtest.NewStage(t)
	s.Secret(s.Pods, account)
	s.Secret(s.Pods, prowtest.UploadSecret)
	return s
}

func TestAGoodPlankMakesPodsOfItsAgentWhereTheyBelong(t *testing.T) {
	t.Parallel()
	s := newStage(t, prowtest.Plank)
	s.StartPlank(s.Good())
	decorated := prowtest.APresubmit("decorated")
	decorated.Decorated = true
	tekton := prowtest.APeriodic("tekton")
	tekton.Agent, tekton.Pods = prowtest.Tekton, s.Astray
	s.Make(append(jobs("one"), prowtest.APostsubmit("two"), prowtest.APeriodic("three"), decorated, tekton)...)
	s.AwaitPods(s.Pods, corev1.PodRunning, "one", "two", "three", "decorated")
	s.AwaitPods(s.Astray, corev1.PodRunning) // none
	pod := s.Pod(s.Pods, "decorated")
	if len(pod.Spec.InitContainers) == 0 {
		t.Error("Prow added no container to the decorated job's pod")
	}
	for _, label := range []string{
		"created-by-prow", "prow.k8s.io/id", "prow.k8s.io/build-id", "prow.k8s.io/plank-version",
	} {
		if pod.Labels[label] == "" {
			t.Errorf("the pod has no label %s: %v", label, pod.Labels)
		}
	}
	for _, name := range []string{"one", "two", "three", "decorated"} {
		s.AwaitJob(name, func(state string, complete bool) bool { return state == "pending" && !complete })
	}
	s.AwaitJob("tekton", func(state string, complete bool) bool { return state == "triggered" && !complete })
}

// TestTheDay is 5 February 2019 with today's plank: the release, the rollback, and what is left of it.
func TestTheDay(t *testing.T) {
	t.Parallel()
	s := newStage(t, prowtest.Plank)
	before, during, after := []string{"a", "b"}, []string{"c", "d", "e"}, []string{"f"}
	plank := s.StartPlank(s.Good())
	s.Make(jobs(before...)...)
	s.AwaitPods(s.Pods, corev1.PodRunning, before...)
	running := s.Pod(s.Pods, "a").UID

	plank = s.Roll(plank, s.Bad())
	s.Make(jobs(during...)...)
	// New jobs go astray, and jobs that run get a second pod there.
	strays := append([]string{}, append(before, during...)...)
	s.AwaitPods(s.Astray, corev1.PodPending, strays...)
	s.AwaitPods(s.Pods, corev1.PodRunning, before...)
	expectStuck(s, "c")

	s.Roll(plank, s.Good())
	s.Make(jobs(after...)...)
	// Stuck jobs recover by themselves. The strays are nobody's.
	s.AwaitPods(s.Pods, corev1.PodRunning, append(strays, after...)...)
	s.AwaitPods(s.Astray, corev1.PodPending, strays...)
	if s.Pod(s.Pods, "a").UID != running {
		t.Error("the pod that ran all the time was replaced")
	}

	// The stray of an aborted job survives.
	s.Abort("c")
	s.AwaitJob("c", func(state string, complete bool) bool { return state == "aborted" && complete })
	if !s.Deleted(s.Pods, "c") || s.Deleted(s.Astray, "c") {
		t.Error("plank deleted another pod of the aborted job than the one where it makes them")
	}

	// What waits starts as soon as what it waits for exists.
	s.Secret(s.Astray, account)
	s.AwaitPods(s.Astray, corev1.PodRunning, strays...)
}

// expectStuck expects a pod that comes to wait as it does for a kubelet that can't mount its Secret: it is pending
// before it has a node.
func expectStuck(s *prowtest.Stage, name string) {
	s.Helper()
	var pod *corev1.Pod
	s.Eventually("pod "+name+" waits on its node", func(context.Context) error {
		pod = s.Pod(s.Astray, name)
		containers := pod.Status.ContainerStatuses
		if pod.Spec.NodeName == "" || pod.Status.StartTime == nil || len(containers) != 1 {
			return fmt.Errorf("it is not on its way: %+v", pod.Status)
		}
		if waiting := containers[0].State.Waiting; waiting == nil || waiting.Reason != "ContainerCreating" {
			return fmt.Errorf("its container is %+v", containers[0].State)
		}
		return nil
	})
	s.Eventually("there is an event about "+pod.Name, func(ctx context.Context) error {
		events, err := s.Plane.Client().CoreV1().Events(pod.Namespace).List(ctx, metav1.ListOptions{
			FieldSelector: "involvedObject.uid=" + string(pod.UID) + ",reason=FailedMount",
		})
		want := fmt.Sprintf(`MountVolume.SetUp failed for volume %q : secret %q not found`, account, account)
		if err == nil && (len(events.Items) != 1 || events.Items[0].Message != want) {
			err = fmt.Errorf("the events are %+v", events.Items)
		}
		return err
	})
}
