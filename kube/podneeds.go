package kube

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// The kinds of objects that pods need from their own namespace.
const (
	Secret         = "Secret"
	ConfigMap      = "ConfigMap"
	ServiceAccount = "ServiceAccount"
	Claim          = "PersistentVolumeClaim"
)

// Reference is an object of a pod's own namespace that the pod can't start
// without.
type Reference struct {
	Kind, Name string
	// For is what of the pod needs it, such as "volume certs".
	For string
}

func (r Reference) String() string { return fmt.Sprintf("%s %s (%s)", r.Kind, r.Name, r.For) }

// needs collects references: each object once.
type needs []Reference

func (n *needs) add(kind, name, what string) {
	for _, known := range *n {
		if known.Kind == kind && known.Name == name {
			return
		}
	}
	if name != "" {
		*n = append(*n, Reference{kind, name, what})
	}
}

// addUnless adds what isn't optional.
func (n *needs) addUnless(optional *bool, kind, name, what string) {
	if optional == nil || !*optional {
		n.add(kind, name, what)
	}
}

// PodNeeds is what kubelet waits for before it starts a pod's containers. That an
// object has the keys which are asked of it is not checked: that would take
// reading it.
func PodNeeds(pod *corev1.Pod) []Reference {
	var all needs
	for i := range pod.Spec.Volumes {
		all.volume(&pod.Spec.Volumes[i], pod)
	}
	for i := range pod.Spec.InitContainers {
		all.container(&pod.Spec.InitContainers[i])
	}
	for i := range pod.Spec.Containers {
		all.container(&pod.Spec.Containers[i])
	}
	// kubelet pulls without a pull secret that is missing. Only when that fails
	// does the pod wait for it.
	if container := failsToPull(pod); container != "" {
		for _, secret := range pod.Spec.ImagePullSecrets {
			all.add(Secret, secret.Name, "to pull the image of container "+container)
		}
	}
	return all
}

func (n *needs) volume(volume *corev1.Volume, pod *corev1.Pod) {
	what := "volume " + volume.Name
	switch source := volume.VolumeSource; {
	case source.Secret != nil:
		n.addUnless(source.Secret.Optional, Secret, source.Secret.SecretName, what)
	case source.ConfigMap != nil:
		n.addUnless(source.ConfigMap.Optional, ConfigMap, source.ConfigMap.Name, what)
	case source.PersistentVolumeClaim != nil:
		n.add(Claim, source.PersistentVolumeClaim.ClaimName, what)
	case source.Projected != nil:
		for _, projected := range source.Projected.Sources {
			n.projected(projected, what, pod)
		}
	default:
		n.add(Secret, secretOf(source), what)
	}
}

// projected adds one source of a projected volume. A token of the pod's service
// account, which admission mounts into most pods, can't be had without the account.
func (n *needs) projected(source corev1.VolumeProjection, what string, pod *corev1.Pod) {
	switch {
	case source.Secret != nil:
		n.addUnless(source.Secret.Optional, Secret, source.Secret.Name, what)
	case source.ConfigMap != nil:
		n.addUnless(source.ConfigMap.Optional, ConfigMap, source.ConfigMap.Name, what)
	case source.ServiceAccountToken != nil:
		account := pod.Spec.ServiceAccountName
		if account == "" {
			account = "default"
		}
		n.add(ServiceAccount, account, what)
	}
}

// secretOf names the Secret with the credentials of a volume that is somewhere
// else; empty when there is none.
func secretOf(source corev1.VolumeSource) string {
	var ref *corev1.LocalObjectReference
	switch {
	case source.CSI != nil:
		ref = source.CSI.NodePublishSecretRef
	case source.FlexVolume != nil:
		ref = source.FlexVolume.SecretRef
	case source.ISCSI != nil:
		ref = source.ISCSI.SecretRef
	case source.RBD != nil:
		ref = source.RBD.SecretRef
	case source.CephFS != nil:
		ref = source.CephFS.SecretRef
	case source.Cinder != nil:
		ref = source.Cinder.SecretRef
	case source.ScaleIO != nil:
		ref = source.ScaleIO.SecretRef
	case source.StorageOS != nil:
		ref = source.StorageOS.SecretRef
	case source.AzureFile != nil:
		return source.AzureFile.SecretName
	}
	if ref == nil {
		return ""
	}
	return ref.Name
}

func (n *needs) container(container *corev1.Container) {
	what := "environment of container " + container.Name
	for _, from := range container.EnvFrom {
		if from.SecretRef != nil {
			n.addUnless(from.SecretRef.Optional, Secret, from.SecretRef.Name, what)
		}
		if from.ConfigMapRef != nil {
			n.addUnless(from.ConfigMapRef.Optional, ConfigMap, from.ConfigMapRef.Name, what)
		}
	}
	for _, variable := range container.Env {
		if variable.ValueFrom == nil {
			continue
		}
		if from := variable.ValueFrom.SecretKeyRef; from != nil {
			n.addUnless(from.Optional, Secret, from.Name, what)
		}
		if from := variable.ValueFrom.ConfigMapKeyRef; from != nil {
			n.addUnless(from.Optional, ConfigMap, from.Name, what)
		}
	}
}

// failsToPull names a container whose image kubelet tried to pull in vain.
func failsToPull(pod *corev1.Pod) string {
	for _, status := range ContainerStatuses(pod) {
		waits := status.State.Waiting
		if waits != nil && (waits.Reason == "ErrImagePull" || waits.Reason == "ImagePullBackOff") {
			return status.Name
		}
	}
	return ""
}

// ContainerStarted names a container of the pod that has started, now or ever; empty when none has. A pod with one that
// runs is Pending all the same while another one waits.
func ContainerStarted(pod *corev1.Pod) string {
	for _, status := range ContainerStatuses(pod) {
		past := status.LastTerminationState
		if status.State.Running != nil || status.State.Terminated != nil || past.Running != nil || past.Terminated != nil {
			return status.Name
		}
	}
	return ""
}

// ContainerStatuses are those of the init containers and of the others.
func ContainerStatuses(pod *corev1.Pod) []corev1.ContainerStatus {
	all := append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...)
	return append(all, pod.Status.ContainerStatuses...)
}
