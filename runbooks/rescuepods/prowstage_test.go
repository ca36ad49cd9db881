package rescuepods_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/engine"
	"salve/internal/prow/prowtest"
	"salve/runbooks/rescuepods/instance"
)

// newProwStage is a stage of a Prow instance: ProwJobs in a namespace of their own, plank and sinker rolled out, and a
// configuration in git and in the cluster. That no program of Prow is at work plays no part: the pods are there.
func newProwStage(t testing.TB) *stage {
	t.Helper()
	s := newStage(t)
	s.jobs = s.plane.Namespace(t)
	nodes := map[string]string{"rescuepods": s.jobs}
	s.plane.Nodes(t, 1, nodes)
	file := filepath.Join(t.TempDir(), "config.yaml")
	s.must(os.WriteFile(file, []byte(s.configuration(s.home)), 0o600))
	_, err := s.client.CoreV1().ConfigMaps(s.jobs).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "config"}, Data: map[string]string{"config.yaml": s.configuration(s.home)},
	}, metav1.CreateOptions{})
	s.must(err)
	s.deploy("prow-controller-manager", nodes)
	s.deploy("sinker", nodes)
	s.inputs.ProwJobs, s.inputs.Expected, s.inputs.Prow.Config = "", nil, file
	s.world.Prow, err = instance.ReadConfiguration(file)
	s.must(err)
	s.world.Apart = 100 * time.Millisecond
	s.eventually("plank and sinker are rolled out", func() bool {
		list, err := s.client.AppsV1().Deployments(s.jobs).List(t.Context(), metav1.ListOptions{})
		s.must(err)
		return !slices.ContainsFunc(list.Items, func(d appsv1.Deployment) bool { return d.Status.AvailableReplicas < 1 })
	})
	return s
}

func (s *stage) configuration(pods string) string {
	return fmt.Sprintf("prowjob_namespace: %s\npod_namespace: %s\n", s.jobs, pods)
}

// deploy rolls a program of Prow out. What its container runs is told by its image and its flags.
func (s *stage) deploy(program string, nodes map[string]string) {
	s.Helper()
	about := map[string]string{"app": program}
	_, err := s.client.AppsV1().Deployments(s.jobs).Create(s.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: program},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: about}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: about}, Spec: corev1.PodSpec{
				NodeSelector: nodes,
				Containers: []corev1.Container{{
					Name: "main", Image: "registry.example/prow/" + program + ":v20190205-1",
					Args:         []string{"--config-path=/etc/config/config.yaml"},
					VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config"}},
				}},
				Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
					ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "config"}},
				}}},
			},
		}},
	}, metav1.CreateOptions{})
	s.must(err)
}

// ids are the names of the stage's jobs and pods: no two Prows of a cluster have a job of one name, nor have two
// stages.
func (s *stage) ids(names ...string) []string {
	ids := make([]string, len(names))
	for i, name := range names {
		ids[i] = name + s.jobs[strings.LastIndex(s.jobs, "-"):]
	}
	return ids
}

func (s *stage) id(name string) string { return s.ids(name)[0] }

// prowJob makes a job as Prow does.
func (s *stage) prowJob(job prowtest.Job) {
	s.Helper()
	job.Name = s.id(job.Name)
	once, _ := known.LoadOrStore(s.plane, sync.OnceValue(func() error { return knowsProw(s.plane) }))
	s.must(once.(func() error)())
	object := job.Object(s.jobs, s.home)
	s.eventually("ProwJob "+job.Name+" is made", func() bool {
		_, err := s.admin().Dynamic.Resource(prowJobs).Namespace(s.jobs).Create(s.Context(), object, metav1.CreateOptions{})
		return err == nil
	})
}

// plankPod makes a pod as plank does for a job of the stage.
func (s *stage) plankPod(namespace, name string) *corev1.Pod {
	s.Helper()
	return s.pod(namespace, s.id(name), func(pod *corev1.Pod) {
		pod.Labels["prow.k8s.io/plank-version"] = "v20190205-1"
		pod.Annotations = map[string]string{"prow.k8s.io/job": prowtest.APresubmit(name).Job}
	})
}

// pending is a job of plank's that is not complete.
func pending(name string) prowtest.Job {
	job := prowtest.APresubmit(name)
	job.State = prowtest.Pending
	return job
}

// strays makes jobs that are not complete, each with a stray and a pod where it belongs.
func (s *stage) strays(names ...string) {
	s.Helper()
	for _, name := range names {
		s.prowJob(pending(name))
		s.plankPod(s.astray, name)
		s.plankPod(s.home, name)
	}
}

// fixed makes jobs that prove the fix: younger than all that is there, by the whole seconds that the API server keeps.
func (s *stage) fixed(names ...string) {
	s.Helper()
	began := s.plankPod(s.home, "before-"+names[0]).CreationTimestamp
	s.eventually("a second is over", func() bool { return time.Since(began.Time) > 1100*time.Millisecond })
	for _, name := range names {
		s.prowJob(pending(name))
		s.plankPod(s.home, name)
	}
}

// proven are as many jobs as prove a fix.
var proven = []string{"new-1", "new-2", "new-3"}

// left are the reasons why pods are left alone, by their names.
func (s *stage) left(result engine.Result) map[string]string {
	s.Helper()
	reasons := map[string]string{}
	for _, finding := range result.Findings {
		for _, seen := range finding.Evidence {
			var value struct {
				Because string
				Pods    []string
			}
			if finding.Guard == "cannot-start" && json.Unmarshal(seen.Value, &value) == nil {
				for _, pod := range value.Pods {
					reasons[pod] = value.Because
				}
			}
		}
	}
	return reasons
}
