package rescuepods_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/engine"
	"salve/internal/clock"
	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

// recalled is a run of which nothing but its notes is asked.
type recalled struct {
	runbook.Run
	notes map[string]string
}

func (r recalled) Recall(name string, into any) (bool, error) {
	text, found := r.notes[name]
	if !found {
		return false, nil
	}
	return true, json.Unmarshal([]byte(text), into)
}

// TestRecordedPodsAreChecked: a record that names a pod which the run was not asked to touch is not used.
func TestRecordedPodsAreChecked(t *testing.T) {
	s := &stranded.Search{Selector: "created-by-prow=true", Expected: []string{"test-pods"}}
	pod := func(namespace, name, uid, labels string) string {
		return fmt.Sprintf(`{"namespace":%q,"name":%q,"uid":%q,"labels":{%s}}`, namespace, name, uid, labels)
	}
	own, prow := pod("default", "a", "1", `"created-by-prow":"true"`), `"created-by-prow":"true"`
	for name, row := range map[string]struct {
		pieces, pods string
		says         string // empty: it is this run's
	}{
		"such a pod":                     {pieces: "1", pods: own},
		"a pod where pods belong":        {pieces: "1", pods: own + "," + pod("test-pods", "b", "2", prow), says: `pod "test-pods/b", in a namespace where pods belong`},
		"a pod of another selector":      {pieces: "1", pods: pod("default", "shop", "2", `"app":"shop"`), says: `pod "default/shop", which --selector`},
		"a pod of no identity":           {pieces: "1", pods: pod("default", "b", "", prow), says: `with UID ""`},
		"a pod twice":                    {pieces: "1", pods: own + "," + own, says: "twice"},
		"a namespace that nobody has":    {pieces: "1", pods: pod("../kube-system", "b", "2", prow), says: "kube-system"},
		"more pieces than a run makes":   {pieces: "1000000000", pods: own, says: "1000000000 pieces"},
		"less than nothing":              {pieces: "-1", pods: own, says: "-1 pieces"},
		"more pods than a run may touch": {pieces: "1", pods: many(stranded.MostPods + 1), says: "more than 10000 pods"},
	} {
		run := recalled{notes: map[string]string{"pods": row.pieces, "pods-0": "[" + row.pods + "]"}}
		pods, found, err := s.RecordedPods(run)
		var foreign *stranded.ForeignError
		switch {
		case !found:
			t.Errorf("%s: not found", name)
		case row.says == "" && (err != nil || len(pods) != 1 || pods[0].UID != "1"):
			t.Errorf("%s: %v, %v", name, pods, err)
		case row.says != "" && (!errors.As(err, &foreign) || !strings.Contains(err.Error(), row.says)):
			t.Errorf("%s: %v, want something about %s", name, err, row.says)
		}
	}
	lost := recalled{notes: map[string]string{"pods": "2", "pods-0": "[" + own + "]"}}
	if _, _, err := s.RecordedPods(lost); err == nil {
		t.Error("a record without its second piece was believed")
	}
}

func many(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"namespace":"default","name":"p","uid":"%d","labels":{"created-by-prow":"true"}}`, i))
	}
	return strings.Join(all, ",")
}

// TestForgedRecordDeletesNothing: the record is exchanged between its making and the first deletion.
func TestForgedRecordDeletesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.stranded("a", "b")
	book := s.book()
	for i, step := range book.Steps {
		if step.Name == "record" {
			apply := step.Apply
			book.Steps[i].Apply = func(ctx context.Context, run runbook.Run) error {
				if err := apply(ctx, run); err != nil {
					return err
				}
				uid := s.uids(s.home)[atHome[0]]
				return run.Note(ctx, "pods-0",
					[]map[string]any{{"namespace": s.home, "name": atHome[0], "uid": uid, "labels": map[string]string{}}})
			}
		}
	}
	result, err := s.engine().Run(t.Context(), book, engine.Options{})
	s.must(err)
	s.ends(result, runbook.NeedsAttention, "was not asked to touch")
	s.remain(s.astray, "a", "b")
	s.homeUntouched()
}

// TestPodWithoutItsLabelIsNotGone: somebody takes it away while the run is at work. The pod is left alone, and said
// to be there.
func TestPodWithoutItsLabelIsNotGone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.controller()
	s.stranded("a", "b", "c")
	s.seen = func(event engine.Event) {
		if event.Kind == engine.StepEnded && event.Step == "delete-first" {
			_, err := s.client.CoreV1().Pods(s.astray).Patch(t.Context(), "b", types.MergePatchType, []byte(`{"metadata":{"labels":{"created-by-prow":null}}}`), metav1.PatchOptions{})
			s.must(err)
		}
	}
	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray, "b")
	if said := s.findings("checks")["recorded-gone"].Reason; !strings.HasPrefix(said, "gone: 2;") ||
		!strings.HasSuffix(said, "no longer selected, and left alone: 1") {
		t.Error(said)
	}
}

// TestEmptyListIsNotGone: pods are not gone because a list does not hold them.
func TestEmptyListIsNotGone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.stranded("a", "b", "c")
	var lying atomic.Bool
	s.wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			query := request.URL.Query()
			if lying.Load() && query.Get("labelSelector") != "" && query.Get("watch") == "" {
				query.Set("labelSelector", "nobody=has-it")
				request = request.Clone(request.Context())
				request.URL.RawQuery = query.Encode()
			}
			return next.RoundTrip(request)
		})
	})
	s.hasty()
	s.seen = func(event engine.Event) {
		if event.Kind == engine.StepEnded && event.Step == "delete-first" {
			lying.Store(true)
		}
	}
	result := s.run()
	s.ends(result, runbook.NeedsAttention, "is there, and the list of")
	s.remain(s.astray, "b", "c")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// TestSelectorThatSelectsNothing is believed when nothing says that there should be pods.
func TestSelectorThatSelectsNothing(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		rule  string
		given func(*stage)
		want  runbook.Outcome
		says  string
	}{
		{"a job that runs says that its pod is there", func(s *stage) { s.job("a", "") }, runbook.Undecided,
			"1 jobs say that theirs run"},
		{"a job of another cluster says nothing", func(s *stage) {
			s.job("a", "")
			patch := []byte(`{"spec":{"cluster":"build-1"}}`)
			_, err := s.admin().Dynamic.Resource(prowJobs).Namespace(s.jobs).
				Patch(s.Context(), "a", types.MergePatchType, patch, metav1.PatchOptions{})
			s.must(err)
		}, runbook.NothingToDo, ": none; inside: 0"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			row.given(s)
			s.inputs.Selector = "created-by-prow=tru,stage=" + s.home
			s.ends(s.run(), row.want, row.says)
		})
	}
}

// TestAgeIsByTheServersClock, whatever ours says.
func TestAgeIsByTheServersClock(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.stranded("a")
	for _, ours := range []time.Duration{-26 * time.Hour, 0, 26 * time.Hour} {
		s.world.Cluster.Clock = later{by: ours}
		s.age(0)
		s.ends(s.check(), runbook.Deferred, "less than 5m0s")
		s.age(10 * time.Minute)
		s.ends(s.check(), "", "")
	}
}

// later is the real clock, some time later.
type later struct {
	clock.Real
	by time.Duration
}

func (l later) Now() time.Time { return l.Real.Now().Add(l.by) }

func (l later) Since(then time.Time) time.Duration { return l.Now().Sub(then) }

// TestSameStateSameDigest: the plan of the same world is the same, whenever it is made and whatever the time is.
func TestSameStateSameDigest(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.stranded("a", "b", "c", "d", "e", "f") // most of all, so that it is looked a second time
	s.pod(s.astray, "runs", nil)
	s.starts(s.astray, "runs")
	s.hasty()
	digests := map[string]bool{}
	for _, by := range []time.Duration{0, time.Second, 26 * time.Hour} {
		s.world.Cluster.Clock = later{by: by}
		s.age(10*time.Minute + by)
		result, err := s.engine().Plan(t.Context(), s.book(), engine.Options{})
		s.must(err)
		if result.Plan == nil {
			t.Fatal(result.Reason)
		}
		digests[result.Plan.Digest] = true
	}
	if len(digests) != 1 {
		t.Errorf("digests of the same world: %v", digests)
	}
}

// TestPodWithPasswordIsRescued: what looks like a credential, wherever it stands in a pod, is in no record and keeps no
// run from going on.
func TestPodWithPasswordIsRescued(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.job("a", "2019-02-05T09:34:00Z")
	s.pod(s.astray, "a", func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{"note": "token: hunter2"}
		pod.Spec.Containers[0].Args = []string{"--verbose", "--password=hunter2"}
		pod.Spec.Containers[0].Command = []string{"sh", "-c", `curl -u me:hunter2 "https://me:hunter2@registry.example/"`}
	})
	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray)
	runs, err := s.journal.Runs(t.Context())
	s.must(err)
	for _, run := range runs {
		lines, err := s.journal.Read(t.Context(), run)
		s.must(err)
		if bytes.Contains(bytes.Join(lines, nil), []byte("hunter2")) {
			t.Error("a password is in the record")
		}
	}
}
