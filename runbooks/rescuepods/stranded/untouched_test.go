package stranded

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/kube"
)

// TestPodThatEverBeganIsLeft: whatever of it has run has done something, and it may be in an init container or long
// ago. Only a pod in which nothing ever began may be deleted.
func TestPodThatEverBeganIsLeft(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	for name, row := range map[string]struct {
		status    corev1.PodStatus
		deleted   bool
		untouched bool
	}{
		"waits": {status: corev1.PodStatus{Phase: corev1.PodPending,
			ContainerStatuses: []corev1.ContainerStatus{{State: waiting}}}, untouched: true},
		"has no status":  {status: corev1.PodStatus{Phase: corev1.PodPending}, untouched: true},
		"has no phase":   {status: corev1.PodStatus{}},
		"runs":           {status: corev1.PodStatus{Phase: corev1.PodRunning}},
		"is not known":   {status: corev1.PodStatus{Phase: corev1.PodUnknown}},
		"has succeeded":  {status: corev1.PodStatus{Phase: corev1.PodSucceeded}},
		"is deleted":     {status: corev1.PodStatus{Phase: corev1.PodPending}, deleted: true},
		"its init runs":  {status: pending(corev1.ContainerStatus{Name: "c", State: running}, true)},
		"its init ended": {status: pending(corev1.ContainerStatus{Name: "c", State: ended}, true)},
		"its init ended before": {
			status: pending(corev1.ContainerStatus{Name: "c", State: waiting, LastTerminationState: ended}, true)},
		"one of it runs":  {status: pending(corev1.ContainerStatus{Name: "c", State: running}, false)},
		"one of it ended": {status: pending(corev1.ContainerStatus{Name: "c", State: ended}, false)},
		"one of it ended before": {
			status: pending(corev1.ContainerStatus{Name: "c", State: waiting, LastTerminationState: ended}, false)},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: row.status}
		if row.deleted {
			pod.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		}
		if got := podOf(pod).Untouched(); got != row.untouched {
			t.Errorf("a pod that %s: untouched %v", name, got)
		}
	}
}

// pending is the status of a pod that waits for one container, beside another one.
func pending(other corev1.ContainerStatus, init bool) corev1.PodStatus {
	status := corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "waits"}}}
	if init {
		status.InitContainerStatuses = []corev1.ContainerStatus{other}
	} else {
		status.ContainerStatuses = append(status.ContainerStatuses, other)
	}
	return status
}

// TestOptionalReferencesStrandNoPod: kubelet starts a pod without them.
func TestOptionalReferencesStrandNoPod(t *testing.T) {
	yes, at := true, corev1.LocalObjectReference{Name: "a"}
	volume := func(source corev1.VolumeSource) corev1.PodSpec {
		return corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v", VolumeSource: source}}}
	}
	projected := func(source corev1.VolumeProjection) corev1.PodSpec {
		sources := &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{source}}
		return volume(corev1.VolumeSource{Projected: sources})
	}
	variable := func(from corev1.EnvVarSource) corev1.PodSpec {
		return corev1.PodSpec{InitContainers: []corev1.Container{{Env: []corev1.EnvVar{{ValueFrom: &from}}}}}
	}
	environment := func(from corev1.EnvFromSource) corev1.PodSpec {
		return corev1.PodSpec{Containers: []corev1.Container{{EnvFrom: []corev1.EnvFromSource{from}}}}
	}
	for name, podSpec := range map[string]func(optional *bool) corev1.PodSpec{
		"volume of a Secret": func(o *bool) corev1.PodSpec {
			return volume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "a", Optional: o}})
		},
		"volume of a ConfigMap": func(o *bool) corev1.PodSpec {
			return volume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: at, Optional: o}})
		},
		"projected Secret": func(o *bool) corev1.PodSpec {
			return projected(corev1.VolumeProjection{Secret: &corev1.SecretProjection{LocalObjectReference: at, Optional: o}})
		},
		"projected ConfigMap": func(o *bool) corev1.PodSpec {
			return projected(corev1.VolumeProjection{
				ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: at, Optional: o}})
		},
		"variable of a Secret": func(o *bool) corev1.PodSpec {
			return variable(corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: at, Optional: o}})
		},
		"variable of a ConfigMap": func(o *bool) corev1.PodSpec {
			return variable(corev1.EnvVarSource{
				ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: at, Optional: o}})
		},
		"environment of a Secret": func(o *bool) corev1.PodSpec {
			return environment(corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: at, Optional: o}})
		},
		"environment of a ConfigMap": func(o *bool) corev1.PodSpec {
			return environment(corev1.EnvFromSource{
				ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: at, Optional: o}})
		},
	} {
		if needed := kube.PodNeeds(&corev1.Pod{Spec: podSpec(nil)}); len(needed) != 1 || needed[0].Name != "a" {
			t.Errorf("%s: needs %v", name, needed)
		}
		if needed := kube.PodNeeds(&corev1.Pod{Spec: podSpec(&yes)}); len(needed) != 0 {
			t.Errorf("%s, optional: needs %v", name, needed)
		}
	}
}

// TestPullSecretIsNeededOnceAPullFailed, not while a container waits for something else.
func TestPullSecretIsNeededOnceAPullFailed(t *testing.T) {
	for reason, needed := range map[string]bool{
		"ErrImagePull": true, "ImagePullBackOff": true, "ContainerCreating": false, "CreateContainerConfigError": false,
		"": false,
	} {
		state := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
		pod := &corev1.Pod{
			Spec:   corev1.PodSpec{ImagePullSecrets: []corev1.LocalObjectReference{{Name: "a"}}},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "c", State: state}}},
		}
		if got := kube.PodNeeds(pod); (len(got) == 1) != needed {
			t.Errorf("%q: needs %v", reason, got)
		}
	}
}
