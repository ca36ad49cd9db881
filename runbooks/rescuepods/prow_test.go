package rescuepods_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/prow/prowtest"
	"salve/runbook"
)

// TestOnlyStraysOfTheInstanceGo: whatever else has Prow's label is left alone, with the rule that says why, and live
// pods are the same afterwards, by UID.
func TestOnlyStraysOfTheInstanceGo(t *testing.T) {
	t.Parallel()
	s := newProwStage(t)
	s.strays("a", "b")
	done := prowtest.APresubmit("done")
	done.State = prowtest.Success
	s.prowJob(done)
	s.plankPod(s.astray, "done")

	s.strays("runs")
	s.starts(s.astray, s.id("runs"))
	s.prowJob(pending("waits"))
	s.plankPod(s.astray, "waits")
	s.pod(s.astray, s.id("by-hand"), func(pod *corev1.Pod) { delete(pod.Labels, "prow.k8s.io/id") })
	s.strays("copied")
	s.pod(s.astray, s.id("copy"), func(pod *corev1.Pod) { pod.Labels["prow.k8s.io/id"] = s.id("copied") })
	tekton := pending("tekton")
	tekton.Agent, tekton.Pods = prowtest.Tekton, s.astray
	s.prowJob(tekton)
	s.plankPod(s.astray, "tekton")
	s.plankPod(s.astray, "theirs") // of another Prow: no ProwJob of ours has its name
	s.pod(s.jobs, s.id("service"), func(pod *corev1.Pod) { delete(pod.Labels, "prow.k8s.io/id") })
	made := s.pod(s.astray, s.id("mkpod"), func(pod *corev1.Pod) { delete(pod.Labels, "created-by-prow") })
	s.fixed(proven...)
	home := s.uids(s.home)

	look := s.check()
	s.ends(look, "", "")
	reasons := s.left(look)
	for pod, says := range map[string]string{
		"runs": "container test has started", "waits": "G4:", "by-hand": "G3: its label prow.k8s.io/id",
		"copy": "G3: its label prow.k8s.io/id", "tekton": "G3: its ProwJob declares namespace", "theirs": "G3: no ProwJob",
		"service": "G6:",
	} {
		if !strings.HasPrefix(reasons[s.id(pod)], says) {
			t.Errorf("pod %s: %q, want %q", pod, reasons[s.id(pod)], says)
		}
	}
	if _, shown := reasons[s.id("mkpod")]; shown {
		t.Error("a pod without the label was looked at")
	}

	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray, s.ids("by-hand", "copy", "mkpod", "runs", "tekton", "theirs", "waits")...)
	if uids := s.uids(s.astray); uids[s.id("mkpod")] != made.UID {
		t.Error("a pod that nobody asked about was touched")
	}
	if there := s.uids(s.jobs); there[s.id("service")] == "" {
		t.Error("a pod in the namespace of the ProwJobs was touched")
	}
	for name, uid := range home {
		if s.uids(s.home)[name] != uid {
			t.Errorf("pod %s where it belongs is another one, or gone", name)
		}
	}
}

func (s *stage) patch(namespace, pod, patch string) {
	s.Helper()
	_, err := s.client.CoreV1().Pods(namespace).
		Patch(s.Context(), pod, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	s.must(err)
}

// TestProwGuardsRefuse: each by itself is enough, and nothing is deleted.
func TestProwGuardsRefuse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		given func(*stage)
		want  runbook.Outcome
		says  string
	}{
		{"the fix is not proven", func(s *stage) { s.fixed("new-1") }, runbook.Deferred,
			"G1: the fix is not proven, and plank may recreate what you delete"},
		{"the cluster's configuration disagrees", func(s *stage) {
			s.fixed(proven...)
			s.configure(s.configuration(s.astray))
		}, runbook.NeedsAttention, "G2: the sources disagree"},
		{"plank's pods land elsewhere", func(s *stage) {
			s.fixed(proven...)
			s.prowJob(pending("late"))
			s.plankPod(s.astray, "late")
		}, runbook.NeedsAttention, "G2: the sources disagree"},
		{"a change of the configuration is in flight", func(s *stage) {
			s.fixed(proven...)
			s.configure(s.configuration(s.home) + "log_level: debug\n")
		}, runbook.Deferred, "G9: a change of the configuration is in flight"},
		{"sinker restarts", func(s *stage) {
			s.fixed(proven...)
			_, err := s.client.AppsV1().Deployments(s.jobs).Patch(s.Context(), "sinker", types.MergePatchType,
				[]byte(`{"spec":{"template":{"spec":{"nodeSelector":{"no":"such-node"}}}}}`), metav1.PatchOptions{})
			s.must(err)
		}, runbook.Deferred, "G9: restart: Deployment"},
		{"sinker can't be seen", func(s *stage) {
			s.fixed(proven...)
			s.must(s.client.AppsV1().Deployments(s.jobs).Delete(s.Context(), "sinker", metav1.DeleteOptions{}))
		}, runbook.Undecided, "G9: no Deployment of sinker"},
		{"too large a share", func(s *stage) {
			s.fixed(proven...)
			s.inputs.Prow.MaxShare = 10
		}, runbook.NeedsAttention, "G7: to be deleted: 2 of the instance's"},
		{"the version of another plank", func(s *stage) {
			s.fixed(proven...)
			s.inputs.Prow.PlankVersion = "v20190204-1"
		}, runbook.NothingToDo, "none lacks"},
		{"the configuration of another instance", func(s *stage) {
			s.fixed(proven...)
			s.world.Prow.ProwJobs = s.astray
			s.inputs.Prow.Namespace = s.jobs
		}, runbook.NothingToDo, "none lacks"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newProwStage(t)
			s.strays("a", "b")
			row.given(s)
			before := s.there(s.astray)
			s.ends(s.run(), row.want, row.says)
			s.remain(s.astray, before...)
		})
	}
}

// configure changes the configuration in the cluster.
func (s *stage) configure(content string) {
	s.Helper()
	maps := s.client.CoreV1().ConfigMaps(s.jobs)
	found, err := maps.Get(s.Context(), "config", metav1.GetOptions{})
	s.must(err)
	found.Data["config.yaml"] = content
	_, err = maps.Update(s.Context(), found, metav1.UpdateOptions{})
	s.must(err)
}

// TestAnotherProwIsAtWork in the cluster, and makes pods all the time: they say nothing about ours.
func TestAnotherProwIsAtWork(t *testing.T) {
	t.Parallel()
	s := newProwStage(t)
	s.strays("a")
	s.fixed(proven...) // more than a second later
	s.inputs.MinAge.Duration = 10*time.Minute + time.Second
	s.plankPod(s.astray, "theirs")
	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray, s.ids("theirs")...)
}
