package instance

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/prow/cluster"
)

// day is 5 February 2019, 09:00 UTC.
var day = time.Date(2019, 2, 5, 9, 0, 0, 0, time.UTC)

// at is a minute of the day.
func at(minute int) time.Time { return day.Add(time.Duration(minute) * time.Minute) }

var rules = Rules{
	Namespaces: Namespaces{ProwJobs: "prow", Pods: "test-pods"}, Expected: []string{"test-pods"}, Proven: 2,
}

// world is a Prow instance in memory.
type world struct {
	jobs cluster.Reading[cluster.Job]
	pods cluster.Reading[cluster.Pod]
}

// job adds a job of plank's that was made in a minute.
func (w *world) job(name string, minute int, edit ...func(*cluster.Job)) {
	job := cluster.Job{
		Namespace: "prow", Name: name, Created: at(minute), Agent: cluster.KubernetesAgent,
		Cluster: cluster.DefaultCluster, Job: "pull-" + name, State: cluster.Pending,
	}
	for _, edit := range edit {
		edit(&job)
	}
	w.jobs.Objects = append(w.jobs.Objects, job)
}

// pod adds a pod that plank made in a minute for the job of its name. Its UID is namespace/name.
func (w *world) pod(namespace, name string, minute int, edit ...func(*cluster.Pod)) {
	pod := cluster.Pod{
		Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name), Created: at(minute), ID: name,
		Job: "pull-" + name, Annotated: true, PlankVersion: "v1", Phase: corev1.PodPending,
	}
	for _, edit := range edit {
		edit(&pod)
	}
	w.pods.Objects = append(w.pods.Objects, pod)
}

func (w *world) state() *State { return stateOf("prow", w.jobs, w.pods) }

// aStray is a world with job a, which has a pod where it belongs, and a stray made in minute 0.
func aStray(edit ...func(*cluster.Pod)) *world {
	w := &world{}
	w.job("a", -1)
	w.pod("test-pods", "a", 10)
	w.pod("default", "a", 0, edit...)
	return w
}

// deployment is one of a program that is rolled out.
func deployment(name, image string, edit ...func(*appsv1.Deployment)) appsv1.Deployment {
	one := int32(1)
	made := appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prow", Name: name, Generation: 3},
		Spec: appsv1.DeploymentSpec{Replicas: &one, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example/prow/" + image + ":v1",
				Args:         []string{"--dry-run=false", "--config-path=/etc/config/config.yaml"},
				VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config"}},
			}},
			Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "config"}},
			}}},
		}}},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1},
	}
	for _, edit := range edit {
		edit(&made)
	}
	return made
}
