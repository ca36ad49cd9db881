package instance

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
)

// Moving is what is under way now: plank or sinker restarts, or the configuration in the cluster is not that of git.
// It is empty when nothing is.
func (d *Deployed) Moving(git Configuration) string {
	for _, deployment := range d.Plank {
		if wanted(deployment) == 0 {
			return fmt.Sprintf("plank, Deployment %s, is scaled to 0", nameOf(deployment))
		}
	}
	for _, deployment := range slices.Concat(d.Plank, d.Sinker) {
		if why := restarting(deployment); why != "" {
			return fmt.Sprintf("restart: Deployment %s %s", nameOf(deployment), why)
		}
	}
	if !same(d.Content, git.Content) {
		return fmt.Sprintf("a change of the configuration is in flight: %s is not what %s is", d.Mount, git.File)
	}
	return ""
}

// Missing names that of plank and sinker of which no Deployment was found; empty when both were.
func (d *Deployed) Missing() string {
	switch {
	case len(d.Plank) == 0:
		return "plank"
	case len(d.Sinker) == 0:
		return "sinker"
	}
	return ""
}

func nameOf(deployment appsv1.Deployment) string { return deployment.Namespace + "/" + deployment.Name }

// wanted is how many pods a Deployment is to have.
func wanted(deployment appsv1.Deployment) int32 {
	if deployment.Spec.Replicas == nil {
		return 1
	}
	return *deployment.Spec.Replicas
}

// restarting is why a Deployment's rollout is not over, as kubectl rollout status tells it
// (https://github.com/kubernetes/kubectl/blob/master/pkg/polymorphichelpers/rollout_status.go).
func restarting(deployment appsv1.Deployment) string {
	status, pods := deployment.Status, wanted(deployment)
	switch {
	case deployment.DeletionTimestamp != nil:
		return "is being deleted"
	case status.ObservedGeneration < deployment.Generation:
		return "was changed just now"
	case status.UpdatedReplicas < pods:
		return fmt.Sprintf("has %d of %d pods of its new version", status.UpdatedReplicas, pods)
	case status.Replicas > status.UpdatedReplicas:
		return fmt.Sprintf("still has %d pods of its old version", status.Replicas-status.UpdatedReplicas)
	case status.AvailableReplicas < status.UpdatedReplicas:
		return fmt.Sprintf("has %d of %d pods available", status.AvailableReplicas, status.UpdatedReplicas)
	}
	return ""
}
