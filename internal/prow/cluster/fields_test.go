package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"salve/kube"
)

const wholeJob = `
metadata: {namespace: prow, name: 5d0d, uid: u-1, creationTimestamp: "2026-02-05T08:47:00Z"}
spec:
  type: presubmit
  agent: kubernetes
  namespace: test-pods
  job: pull-test
  context: ci/pull-test
  report: true
  refs: {org: example, repo: infra, base_ref: main, pulls: [{number: 7, sha: 5f0e, author: a}, {number: 8, sha: 6a}]}
  decoration_config: {pod_pending_timeout: 1h0m0s, pod_unscheduled_timeout: 5m0s, pod_running_timeout: 48h0m0s}
  job_queue_name: slow
  max_concurrency: 3
  error_on_eviction: true
status:
  state: error
  startTime: "2026-02-05T08:47:00Z"
  pendingTime: "2026-02-05T08:47:01Z"
  completionTime: "2026-02-05T08:57:01Z"
  description: "Pod pending\u001b[31m timeout.\n"
  pod_name: 5d0d
  build_id: "17"
  pod_revival_count: 2
  prev_report_states: {github-reporter: pending, gcsk8sreporter: error}
`

func jobFrom(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON([]byte(`{"apiVersion":"prow.k8s.io/v1","kind":"ProwJob",` + string(raw[1:]))); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestAJobIsReadWhole(t *testing.T) {
	job, err := jobOf(jobFrom(t, wholeJob))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 2, 5, 8, 47, 0, 0, time.UTC)
	job.Created = job.Created.UTC()
	want := Job{
		Namespace: "prow", Name: "5d0d", UID: "u-1", Created: at, Type: Presubmit, Agent: KubernetesAgent,
		Cluster: DefaultCluster, PodNamespace: "test-pods", Job: "pull-test", Context: "ci/pull-test", Report: true,
		Org: "example", Repo: "infra", Base: "main", Pulls: []Pull{{7, "5f0e"}, {8, "6a"}},
		Timeouts: Timeouts{Unscheduled: 5 * time.Minute, Pending: time.Hour, Running: 48 * time.Hour},
		Queue:    "slow", MaxConcurrency: 3, ErrorOnEviction: true,
		State: Error, Started: at, PodMade: at.Add(time.Second), Completed: at.Add(10*time.Minute + time.Second),
		PodName: "5d0d", BuildID: "17", Description: "Pod pending[31m timeout.", Revivals: 2, Reported: Pending,
		Stored: Error,
	}
	if diff := cmp.Diff(want, job); diff != "" {
		t.Error(diff)
	}
	if !job.Complete() {
		t.Error("a job with a completion time is not complete")
	}
}

func TestAJobWithLittleIsReadToo(t *testing.T) {
	job, err := jobOf(jobFrom(t, `{metadata: {namespace: prow, name: a}, spec: {type: periodic, job: nightly},
	  status: {state: aborted}}`))
	if err != nil || job.Complete() || job.Cluster != DefaultCluster || job.State != Aborted || job.Pulls != nil {
		t.Errorf("%+v: %v", job, err)
	}
}

// TestAMalformedJobIsNamed with the field that can't be read.
func TestAMalformedJobIsNamed(t *testing.T) {
	for name, row := range map[string]struct{ was, is, want string }{
		"unknown state":        {"state: error", "state: done", `status.state is "done"`},
		"no state":             {"state: error", "url: x", `status.state is ""`},
		"unknown type":         {"type: presubmit", "type: cron", `spec.type is "cron"`},
		"no job":               {"job: pull-test", "hidden: true", "spec.job is empty"},
		"a number as a name":   {"job: pull-test", "job: 5", "spec.job is int64"},
		"a list as a map":      {"refs: {", "refs: [{", "spec.refs"},
		"no time":              {`completionTime: "2026-02-05T08:57:01Z"`, "completionTime: today", "status.completionTime"},
		"a time as a number":   {`completionTime: "2026-02-05T08:57:01Z"`, "completionTime: 5", "status.completionTime is int64"},
		"no duration":          {"pod_pending_timeout: 1h0m0s", "pod_pending_timeout: long", "pod_pending_timeout"},
		"a pull without shape": {"{number: 8, sha: 6a}", "seven", "spec.refs.pulls[1] is string"},
		"a negative number":    {"max_concurrency: 3", "max_concurrency: -3", "spec.max_concurrency is -3"},
		"a long name":          {"context: ci/", "context: " + strings.Repeat("long", 300), "spec.context has 12"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(wholeJob, row.was, row.is, 1)
			if name == "a list as a map" {
				text = strings.Replace(text, "sha: 6a}]}", "sha: 6a}]}]", 1)
			}
			if text == wholeJob {
				t.Fatal("nothing was changed")
			}
			if _, err := jobOf(jobFrom(t, text)); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func aPod(edit func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "test-pods", Name: "5d0d", UID: "u-2",
			Labels: map[string]string{
				"created-by-prow": "true", "prow.k8s.io/id": "5d0d", "prow.k8s.io/job": "pull-te", "prow.k8s.io/type": "presubmit",
				"prow.k8s.io/build-id": "17", "prow.k8s.io/plank-version": "v1", "prow.k8s.io/refs.org": "example",
				"prow.k8s.io/refs.repo": "infra",
			},
			Annotations: map[string]string{"prow.k8s.io/job": "pull-test"},
		},
		Spec: corev1.PodSpec{NodeName: "node-1", Volumes: []corev1.Volume{{
			Name: "account", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "account"}},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "test", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
		}}},
	}
	if edit != nil {
		edit(pod)
	}
	return pod
}

func TestAPodIsReadWhole(t *testing.T) {
	pod, err := podOf(aPod(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := Pod{
		Namespace: "test-pods", Name: "5d0d", UID: "u-2", ID: "5d0d", Job: "pull-test", Type: "presubmit", BuildID: "17",
		Annotated: true,
		Org:       "example", Repo: "infra", PlankVersion: "v1", Phase: corev1.PodPending, Node: "node-1",
		Waiting: "ContainerCreating", Needs: []kube.Reference{{Kind: kube.Secret, Name: "account", For: "volume account"}},
	}
	if diff := cmp.Diff(want, pod); diff != "" {
		t.Error(diff)
	}
	if !pod.Live() {
		t.Error("a waiting pod is not live")
	}
}

func TestWhatAPodSaysOfItself(t *testing.T) {
	now := metav1.Now()
	for name, row := range map[string]struct {
		edit  func(*corev1.Pod)
		holds func(Pod) bool
	}{
		"without an id it is named after its job": {func(p *corev1.Pod) { delete(p.Labels, "prow.k8s.io/id") },
			func(p Pod) bool { return p.ID == "" && p.JobName() == "5d0d" }},
		"with another id it is that job's": {func(p *corev1.Pod) { p.Labels["prow.k8s.io/id"] = "other" },
			func(p Pod) bool { return p.JobName() == "other" }},
		"without an annotation the job is the label": {func(p *corev1.Pod) { p.Annotations = nil },
			func(p Pod) bool { return p.Job == "pull-te" }},
		"a container that started makes it touched": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		}, func(p Pod) bool { return p.Touched == "test" && p.Needs == nil }},
		"deleted, it is not live": {func(p *corev1.Pod) { p.DeletionTimestamp = &now },
			func(p Pod) bool { return p.Deleting && !p.Live() && p.Needs == nil }},
		"an owner": {func(p *corev1.Pod) { p.OwnerReferences = make([]metav1.OwnerReference, 1) },
			func(p Pod) bool { return p.Owned }},
		"finalizers": {func(p *corev1.Pod) { p.Finalizers = []string{"a/b"} },
			func(p Pod) bool { return p.Finalizers[0] == "a/b" }},
		"its kubelet": {func(p *corev1.Pod) { p.Status.StartTime = &now },
			func(p Pod) bool { return p.Started.Equal(now.Time) }},
		"why it failed": {func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted" },
			func(p Pod) bool { return p.Reason == "Evicted" && !p.Live() }},
	} {
		t.Run(name, func(t *testing.T) {
			if pod, err := podOf(aPod(row.edit)); err != nil || !row.holds(pod) {
				t.Errorf("%+v: %v", pod, err)
			}
		})
	}
}

func TestAMalformedPodIsNamed(t *testing.T) {
	for want, edit := range map[string]func(*corev1.Pod){
		`status.phase is "Dancing"`: func(p *corev1.Pod) { p.Status.Phase = "Dancing" },
		"21 finalizers":             func(p *corev1.Pod) { p.Finalizers = make([]string, 21) },
		"2000 bytes":                func(p *corev1.Pod) { p.Annotations["prow.k8s.io/job"] = strings.Repeat("x", 2000) },
		"201 objects": func(p *corev1.Pod) {
			for i := range 200 {
				name := strings.Repeat("x", i+1)
				p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
					Secret: &corev1.SecretVolumeSource{SecretName: name},
				}})
			}
		},
	} {
		part, err := podOf(aPod(edit))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s: %v", want, err)
		}
		whole, _ := podOf(aPod(func(*corev1.Pod) {}))
		if part.Name != whole.Name || part.ID != whole.ID || part.Created != whole.Created || !part.Annotated ||
			len(part.Needs) > maxNeeds || len(part.Finalizers) > maxFinalizers ||
			part.Job != "" && part.Job != whole.Job || part.Phase != "" && part.Phase != whole.Phase {
			t.Errorf("%s: of it %+v can be read", want, part)
		}
		if kept := malformed(aPod(edit), part, err); kept.Pod == nil || kept.Pod.Name != whole.Name {
			t.Errorf("%s: kept is %+v", want, kept)
		}
	}
}
