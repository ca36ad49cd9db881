package repairprotection_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"salve/runbook"
	"salve/runbooks/repairprotection"
)

// theirs is a branchprotector at work in a namespace of which nothing is known.
func (w *world) theirs() {
	w.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "theirs", Name: "p"}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Image: "registry/prow/branchprotector:v1"}}}}
	if err := w.client.Tracker().Add(pod); err != nil {
		w.Fatal(err)
	}
}

// TestABranchprotectorOfNobodyKnowsWhomCounts, until somebody says that it is another Prow's.
func TestABranchprotectorOfNobodyKnowsWhomCounts(t *testing.T) {
	in(t, func(w *world) {
		w.theirs()
		found := w.finding("no-protector-running")
		if found.Answer != runbook.AnswerDoesNotHold || !strings.Contains(found.Reason, "pod theirs/p") ||
			!strings.Contains(found.Reason, "--other-prow-namespace") {
			w.Errorf("%s: %s", found.Answer, found.Reason)
		}
		w.in.Others = []string{"theirs"}
		found = w.finding("no-protector-running")
		if found.Answer != runbook.AnswerHolds || !strings.Contains(found.Reason, "not counted: pod theirs/p") {
			w.Errorf("%s: %s", found.Answer, found.Reason)
		}
		w.ends(w.run(), runbook.Remediated)
	})
}

// configured is a branchprotector of another instance, at work with a configuration.
func (w *world) configured(namespace, protects string) {
	w.Helper()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "config"}}
	config.Data = map[string]string{
		"config.yaml": "prowjob_namespace: " + namespace + "\nbranch-protection: {orgs: " + protects + "}\n",
	}
	volume := corev1.Volume{Name: "config"}
	volume.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "config"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "p"}, Spec: corev1.PodSpec{
		Volumes: []corev1.Volume{volume}, Containers: []corev1.Container{{
			Image: "registry/prow/branchprotector:v1", Args: []string{"--config-path=/etc/config/config.yaml"},
			VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config"}},
		}},
	}}
	for _, object := range []runtime.Object{config, pod} {
		if err := w.client.Tracker().Add(object); err != nil {
			w.Fatal(err)
		}
	}
}

// TestASecondInstanceForTheSameRepositoriesCounts: it writes the same protections, wherever its ProwJobs are.
func TestASecondInstanceForTheSameRepositoriesCounts(t *testing.T) {
	for _, staging := range []string{
		"{kube: {repos: {gadgets: {protect: true}}}}", "{kube: {protect: true}}",
		"{kube: {repos: {attic: {protect: true}}}}", // its leftovers are removed, where that is asked for
	} {
		in(t, func(w *world) {
			w.configured("other", "{elsewhere: {protect: true}}")
			found := w.finding("no-protector-running")
			if found.Answer != runbook.AnswerHolds || !strings.Contains(found.Reason, "not counted: pod other/p") {
				w.Errorf("%s: %s", found.Answer, found.Reason)
			}
			w.configured("staging", staging)
			w.ends(w.run(), runbook.Deferred, "pod staging/p")
		})
	}
}

// TestAnUndoKnowsOtherProwsToo.
func TestAnUndoKnowsOtherProwsToo(t *testing.T) {
	in(t, func(w *world) {
		kept, run := w.repaired()
		w.theirs()
		asked := undoInputs(run)
		for _, others := range [][]string{nil, {"theirs"}} {
			asked.Others = others
			found, finding := repairprotection.DiscoverUndo(w.Context(), w.undoing(kept, nil), asked)
			if finding.Answer != runbook.AnswerHolds {
				w.Fatal(finding.Reason)
			}
			book, err := repairprotection.NewUndo(w.undoing(kept, nil), found)
			if err != nil {
				w.Fatal(err)
			}
			want := runbook.Remediated
			if others == nil {
				want = runbook.Deferred
			}
			w.ends(w.runBook(book), want)
		}
	})
}
