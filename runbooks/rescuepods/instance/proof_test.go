package instance

import (
	"errors"
	"slices"
	"testing"

	"salve/internal/prow/cluster"
)

var errBroken = errors.New("broken")

// TestProofOfTheFix counts jobs that are younger than the youngest stray and whose pods plank made where they belong.
func TestProofOfTheFix(t *testing.T) {
	for rule, row := range map[string]struct {
		job  func(*cluster.Job)
		pod  func(*cluster.Pod)
		more func(*world)
		want []string
	}{
		"two new jobs": {want: []string{"new", "other"}},
		"a job that is older than the youngest stray": {job: func(job *cluster.Job) { job.Created = at(0) },
			want: []string{"other"}},
		"its pod is elsewhere":          {pod: func(pod *cluster.Pod) { pod.Namespace, pod.Created = "default", at(23) }},
		"its pod was made by hand":      {pod: func(pod *cluster.Pod) { pod.PlankVersion = "" }, want: []string{"other"}},
		"its pod is of another job":     {pod: func(pod *cluster.Pod) { pod.Job = "pull-b" }, want: []string{"other"}},
		"its pod is older than the job": {pod: func(pod *cluster.Pod) { pod.Created = at(1) }, want: []string{"other"}},
		"it has no pod": {more: func(w *world) {
			w.pods.Objects = slices.DeleteFunc(w.pods.Objects, func(pod cluster.Pod) bool { return pod.Name == "new" })
		}, want: []string{"other"}},
		"a Tekton job":             {job: func(job *cluster.Job) { job.Agent = "tekton-pipeline" }, want: []string{"other"}},
		"a job of another cluster": {job: func(job *cluster.Job) { job.Cluster = "build-1" }, want: []string{"other"}},
		"a running stray that is younger": {more: func(w *world) {
			w.job("late", 25)
			w.pod("default", "late", 25)
		}, want: nil},
		"a younger pod that somebody labelled": {more: func(w *world) {
			w.pod("default", "by-hand", 50, func(pod *cluster.Pod) { pod.ID = "" })
		}, want: []string{"new", "other"}},
		"a younger pod of another Prow": {more: func(w *world) { w.pod("other-pods", "theirs", 50) },
			want: []string{"new", "other"}},
	} {
		w := aStray()
		w.job("new", 20, orNothing(row.job))
		w.pod("test-pods", "new", 21, orNothing(row.pod))
		w.job("other", 22)
		w.pod("test-pods", "other", 23)
		if row.more != nil {
			row.more(w)
		}
		if proof := w.state().Proof(rules); !slices.Equal(proof.Jobs, row.want) || proof.Youngest.UID == "" {
			t.Errorf("%s: %v after %s", rule, proof.Jobs, proof.Youngest)
		}
	}
}

func orNothing[T any](edit func(*T)) func(*T) {
	if edit == nil {
		return func(*T) {}
	}
	return edit
}

// TestWherePodsLand by the newest of those that plank made.
func TestWherePodsLand(t *testing.T) {
	w := aStray() // minute 0 elsewhere, minute 10 where it belongs
	w.job("b", 20)
	w.pod("test-pods", "b", 20)
	w.pod("other-pods", "theirs", 30)
	w.pod("default", "by-hand", 30, func(pod *cluster.Pod) { pod.ID = "" })
	if got, pods := w.state().Landed(); !slices.Equal(got, []string{"test-pods"}) || pods != 1 {
		t.Errorf("the newest: %v of %d", got, pods)
	}
	w.pods.Objects[1].Created = at(20) // of the same second as the newest
	if got, pods := w.state().Landed(); !slices.Equal(got, []string{"default", "test-pods"}) || pods != 2 {
		t.Errorf("of one second: %v of %d", got, pods)
	}
	if got, pods := (&world{}).state().Landed(); got != nil || pods != 0 {
		t.Errorf("none: %v of %d", got, pods)
	}
}
