package watch

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/kube"
)

// programs are those that plank is in: today's, and the one of before 2020.
func programs() []string { return []string{"prow-controller-manager", "plank"} }

// notOfJobs selects pods that Prow's jobs have not made: where these are in the same namespace there are thousands.
const notOfJobs = "created-by-prow!=true"

// started is when the plank that was started last could first make a pod, by the pods of its program in the namespace
// of the ProwJobs; zero where there is none. Without leader election each one works as soon as its container runs.
func (l *leader) started(ctx context.Context) (last time.Time, _ error) {
	options := metav1.ListOptions{LabelSelector: notOfJobs, Limit: 500}
	err := kube.RetryExpired(func() error {
		last = time.Time{}
		return kube.ListPages(ctx, l.cluster, "listing the pods of plank in namespace "+l.namespace, options,
			func(ctx context.Context, options metav1.ListOptions) (*corev1.PodList, error) {
				return l.cluster.Client.CoreV1().Pods(l.namespace).List(ctx, options)
			},
			func(page *corev1.PodList) error {
				for i := range page.Items {
					if at := startedIn(&page.Items[i]); at.After(last) {
						last = at
					}
				}
				return nil
			})
	})
	return last, err
}

// startedIn is when plank last started in a pod; zero where it is not in it, or never has: one whose image can't be
// pulled has replaced no other.
func startedIn(pod *corev1.Pod) (last time.Time) {
	over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	for _, container := range pod.Spec.Containers {
		if over || !isPlank(container) {
			continue
		}
		for _, status := range pod.Status.ContainerStatuses {
			if status.Name != container.Name {
				continue
			}
			for _, state := range []corev1.ContainerState{status.State, status.LastTerminationState} {
				if began := beganIn(state); began.After(last) {
					last = began
				}
			}
		}
	}
	return last
}

// beganIn is when a container began to run; zero where it didn't, of which the kubelet may say that it was in 1970.
func beganIn(state corev1.ContainerState) time.Time {
	var began time.Time
	switch {
	case state.Running != nil:
		began = state.Running.StartedAt.Time
	case state.Terminated != nil:
		began = state.Terminated.StartedAt.Time
	}
	if began.Unix() <= 0 {
		return time.Time{}
	}
	return began
}

// isPlank tells plank by its image's name, whatever the registry and the tag, or by its command. Who has its name as an
// argument talks about it.
func isPlank(container corev1.Container) bool {
	image, _, _ := strings.Cut(path.Base(strings.Split(container.Image, "@")[0]), ":")
	return slices.Contains(programs(), image) ||
		len(container.Command) > 0 && slices.Contains(programs(), path.Base(container.Command[0]))
}
