package stranded

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
	"salve/runbook/runbooktest"
)

func jobKind() JobKind {
	return JobKind{
		GroupVersionResource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "jobs"},
		Label:                "job", Completed: []string{"status", "completed"},
		Running: func(job *unstructured.Unstructured) bool { return job.GetName() == "runs" },
	}
}

func aJob(name, completed string) map[string]any {
	return map[string]any{"apiVersion": "example.com/v1", "kind": "Job", "metadata": map[string]any{"name": name},
		"status": map[string]any{"completed": completed}}
}

// TestWhatIsDeniedIsAnError: of each thing that is read, a refusal is an error that says what was read, and never an
// empty answer.
func TestWhatIsDeniedIsAnError(t *testing.T) {
	pod := Pod{Namespace: "away", Name: "a", UID: "uid-of-a", Labels: map[string]string{"job": "a"}}
	for _, row := range []struct {
		rule, denied, says string
		read               func(context.Context, *Search) error
	}{
		{"the pods", "/api/v1/pods", "listing the pods (app=web) of all namespaces",
			func(ctx context.Context, s *Search) error { _, err := s.ReadState(ctx); return err }},
		{"a pod that no list holds", "/pods/a", "reading pod away/a",
			func(ctx context.Context, s *Search) error { _, _, err := s.unlisted(ctx, []Pod{pod}); return err }},
		{"the jobs that may run", "/jobs", "listing the jobs.example.com of all namespaces",
			func(ctx context.Context, s *Search) error { _, err := s.Others(ctx, jobKind()); return err }},
		{"the pods of any label", "/home/pods", "listing the pods () of namespace home",
			func(ctx context.Context, s *Search) error { _, err := s.Others(ctx, jobKind()); return err }},
		{"the jobs of pods that are gone", "/jobs", "listing the jobs", func(ctx context.Context, s *Search) error {
			_, err := s.ReplacementOf(ctx, &runbooktest.Run{}, jobKind(), []Pod{pod})
			return err
		}},
		{"the jobs that are waited for", "/jobs", "listing the jobs", func(ctx context.Context, s *Search) error {
			return s.AwaitReplacement(ctx, &runbooktest.Run{}, jobKind(), []Pod{pod}, time.Minute)
		}},
		{"the new pods", "/home/pods", "listing the pods (job) of namespace home",
			func(ctx context.Context, s *Search) error {
				return s.AwaitReplacement(ctx, &runbooktest.Run{}, jobKind(), []Pod{pod}, time.Minute)
			}},
		{"a namespace where pods belong", "/namespaces/home", "reading namespace home",
			func(ctx context.Context, s *Search) error { _, err := s.MissingNamespace(ctx); return err }},
		{"the second count", "/home/pods", "of namespace home", func(ctx context.Context, s *Search) error {
			r := Reading{search: s, Expected: []Pod{{Phase: "Running"}}, Stranded: make([]Misplaced, 2)}
			_, err := r.Summary(ctx)
			return err
		}},
		{"the pods to be recorded", "/api/v1/pods", "listing the pods", func(ctx context.Context, s *Search) error {
			run := &runbooktest.Run{}
			err := s.Record(ctx, run, nil)
			if found, _ := run.Recall(recordNote, new(int)); found {
				err = errors.New("a record was made")
			}
			return err
		}},
	} {
		t.Run(row.rule, func(t *testing.T) {
			onAPI(t, func(t *testing.T, a *api, s *Search) {
				a.deny(row.denied)
				err := row.read(t.Context(), s)
				if apierr.ClassOf(err) != apierr.Denied || !strings.Contains(err.Error(), row.says) {
					t.Errorf("it ended with %v", err)
				}
			})
		})
	}
}

// TestServersClockIsReadOrUnknown: an answer without a date of its own says nothing, and neither does none.
func TestServersClockIsReadOrUnknown(t *testing.T) {
	for name, edit := range map[string]func(http.Header){
		"no date":        func(h http.Header) { h.Del("Date") },
		"no time":        func(h http.Header) { h.Set("Date", "noon") },
		"an answer kept": func(h http.Header) { h.Set("Age", "7") },
	} {
		onAPI(t, func(t *testing.T, a *api, s *Search) {
			a.answer = func(*http.Request) *http.Response {
				response := said(http.StatusOK, nil)
				edit(response.Header)
				return response
			}
			if _, err := s.ReadState(t.Context()); apierr.ClassOf(err) != apierr.Terminal {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		body := &watched{}
		reader, writer := io.Pipe()
		_ = writer.Close()
		body.PipeReader, body.written = reader, writer
		a.answer = func(*http.Request) *http.Response {
			response := said(http.StatusOK, nil)
			response.Body = body
			return response
		}
		if now, err := s.serverTime(t.Context()); err != nil || !now.Equal(time.Now()) || !body.closed.Load() {
			t.Errorf("%v, %v, closed %v", now, err, body.closed.Load())
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.serverTime(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("of no answer: %v", err)
		}
	})
	s := &Search{Cluster: &kube.Cluster{Client: fake.NewClientset(), Clock: clock.RealClock{}}}
	if _, err := s.serverTime(t.Context()); apierr.ClassOf(err) != apierr.Terminal {
		t.Errorf("without a client: %v", err)
	}
}

// TestInvalidSelectorAnswersNothing, even where no pod is to be compared with it.
func TestInvalidSelectorAnswersNothing(t *testing.T) {
	s := &Search{Selector: "a b"}
	if _, _, err := s.unlisted(t.Context(), nil); err == nil {
		t.Error("of no pod it was told whether it is gone")
	}
	if err := s.checkRecorded(nil); err == nil {
		t.Error("no pod was compared with it")
	}
}

// TestReadingsEndWithTheirContext, also those that have nothing to ask.
func TestReadingsEndWithTheirContext(t *testing.T) {
	lost := apierr.New(apierr.Conflict, "the lease is lost")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(lost)
	s := &Search{}
	elsewhere := Pod{Phase: "Pending"}
	if err := (&Reading{}).evaluate(ctx, s.references(), []Pod{elsewhere}); !errors.Is(err, lost) {
		t.Errorf("a reading ended with %v", err)
	}
	w := &watcher{search: s, say: func(string) {}}
	w.forget()
	w.current, w.waiting["1"] = true, elsewhere
	if err := w.evaluate(ctx); !errors.Is(err, lost) {
		t.Errorf("a watch ended with %v", err)
	}
	asked := 0
	s = &Search{Cluster: &kube.Cluster{Clock: clock.RealClock{}}}
	err := s.Until(ctx, time.Hour, func(context.Context) (bool, error) {
		if asked++; asked > 1 {
			return false, errors.New("it was asked again")
		}
		return false, nil
	})
	if !errors.Is(err, lost) {
		t.Errorf("waiting ended with %v", err)
	}
	r := Reading{search: &Search{Cluster: &kube.Cluster{Clock: clock.RealClock{}}}, Expected: []Pod{{Phase: "Running"}},
		Stranded: make([]Misplaced, 2)}
	if _, err := r.Summary(ctx); !errors.Is(err, lost) {
		t.Errorf("a summary ended with %v", err)
	}
}

// TestOthersAreCounted: the jobs that say that their pods run or, where there are no jobs, the live pods.
func TestOthersAreCounted(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		a.pod("home", "waits")
		a.pod("home", "over").Status.Phase = "Succeeded"
		if seen, err := s.Others(t.Context(), jobKind()); err != nil || seen != (Others{LivePods: 1}) {
			t.Errorf("without jobs: %+v, %v", seen, err)
		}
		a.jobs = []any{aJob("runs", ""), aJob("over", "")}
		if seen, err := s.Others(t.Context(), jobKind()); err != nil || seen != (Others{Jobs: true, RunningJobs: 1}) {
			t.Errorf("with jobs: %+v, %v", seen, err)
		}
	})
}

// TestListsThatExpireBeginAnew: what was counted of the first pages is void.
func TestListsThatExpireBeginAnew(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		a.jobs = []any{aJob("runs", "")}
		a.pod("home", "a")
		expire := 0
		a.answer = func(request *http.Request) *http.Response {
			switch {
			case request.URL.Query().Get("continue") != "":
				expire--
				return refusal(http.StatusGone, "Expired")
			case expire > 0 && strings.HasSuffix(request.URL.Path, "/jobs"):
				return said(http.StatusOK, map[string]any{"kind": "JobList", "apiVersion": "example.com/v1",
					"metadata": map[string]any{"continue": "more"}, "items": []any{aJob("runs", ""), aJob("b", "")}})
			case expire > 0:
				return said(http.StatusOK, map[string]any{"kind": "PodList", "apiVersion": "v1",
					"metadata": map[string]any{"continue": "more", "resourceVersion": "7"}, "items": a.pods})
			}
			return nil
		}
		expire = 1
		if seen, err := s.Others(t.Context(), jobKind()); err != nil || seen.RunningJobs != 1 {
			t.Errorf("others: %+v, %v", seen, err)
		}
		expire = 1
		gone := []Pod{{Name: "b", Labels: map[string]string{"job": "b"}}}
		jobs, err := s.completeJobs(t.Context(), jobKind(), gone)
		if len(jobs) != 0 || err != nil {
			t.Errorf("jobs that were there before: %v, %v", jobs, err)
		}
		expire = 1
		if pods, err := s.Pods(t.Context(), kube.Scope{Namespace: "home"}); err != nil || len(pods) != 1 {
			t.Errorf("pods: %v, %v", pods, err)
		}
	})
}

// TestNotesThatAreLostAreUnknown: what can't be recalled was not "not done".
func TestNotesThatAreLostAreUnknown(t *testing.T) {
	lost := errors.New("not readable")
	run := &runbooktest.Run{Lost: map[string]error{recordNote: lost, replacementNote: lost}}
	for name, seen := range map[string]runbook.Observation{
		"the record": Recorded(t.Context(), run), "the jobs": ReplacementKnown(t.Context(), run),
	} {
		if !errors.Is(seen.Err, lost) {
			t.Errorf("%s: %+v", name, seen)
		}
	}
	if _, err := (&Search{}).ReplacementOf(t.Context(), run, jobKind(), nil); !errors.Is(err, lost) {
		t.Errorf("the jobs: %v", err)
	}
	if _, _, err := (&Search{}).RecordedPods(run); !errors.Is(err, lost) {
		t.Errorf("the pods: %v", err)
	}
}

// TestVisitThatFailsEndsTheList with its error.
func TestVisitThatFailsEndsTheList(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		a.pod("home", "a")
		a.pod("home", "b")
		full, visits := errors.New("full"), 0
		_, err := s.EachPod(t.Context(), kube.Scope{}, func() {}, func(*corev1.Pod) error { visits++; return full })
		if !errors.Is(err, full) || visits != 1 {
			t.Errorf("%v after %d visits", err, visits)
		}
	})
}
