package stray

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
)

// maxWaiting bounds of how many pods it is asked why they wait.
const maxWaiting = 20

// waiting are the oldest strays that wait, and the pods of deploy jobs that do.
func (s *survey) waiting() []cluster.Pod {
	var waiting []cluster.Pod
	for _, pod := range s.deployPods() {
		if waits(pod) {
			waiting = append(waiting, pod)
		}
	}
	for _, pod := range slices.Concat(s.found, s.disputed) {
		if waits(pod) && len(waiting) < maxWaiting {
			waiting = append(waiting, pod)
		}
	}
	return waiting
}

func waits(pod cluster.Pod) bool {
	return pod.Live() && pod.Phase == corev1.PodPending && pod.Touched == ""
}

// mounts is A5: a stray, or a pod of which it is disputed whether it is one, waits for what is there where the pod
// belongs. That the namespace is the cause is all but proven then.
func (s *survey) mounts() (found finding.List, unknown finding.Lack) {
	type object struct{ namespace, kind, name string }
	pods, how := map[object][]cluster.Pod{}, map[object]string{}
	for _, pod := range slices.Concat(s.found, s.disputed) {
		for _, missing := range s.view.Missing[pod.UID] {
			at := object{pod.Namespace, missing.Kind, missing.Name}
			unknown = cmp.Or(unknown, missing.BelongsLack)
			if missing.Belongs && waits(pod) {
				pods[at], how[at] = append(pods[at], pod), missing.For
			}
		}
	}
	for at, pods := range pods {
		found = append(found, finding.Finding{
			Severity: finding.Alert, Subject: finding.Subject{Cluster: s.instance.Cluster, Namespace: at.namespace,
				Detail: at.kind + " " + at.name},
			Message: fmt.Sprintf("pods in namespace %s wait for %s %s, which is in namespace %s, where they belong",
				at.namespace, at.kind, at.name, s.instance.Pods),
			Evidence: append(named(pods), how[at]),
			Mend:     "roll plank back; don't copy the object",
		})
	}
	return found, unknown
}
