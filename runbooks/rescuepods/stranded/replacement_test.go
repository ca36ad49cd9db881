package stranded

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/runbook/runbooktest"
)

// TestJobsAreAccountedFor: each by what is known of it; those without a pod when the time is over are listed.
func TestJobsAreAccountedFor(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		a.jobs = []any{aJob("replaced", ""), aJob("complete", "2019-02-05T09:34:00Z"), aJob("waits", "")}
		a.pod("home", "replaced")
		var gone []Pod
		for _, name := range []string{"replaced", "complete", "waits", "unknown"} {
			gone = append(gone, Pod{Namespace: "away", Name: name, Labels: map[string]string{"job": name}})
		}
		gone = append(gone, Pod{Namespace: "away", Name: "alone"})
		run, began := &runbooktest.Run{}, time.Now()
		if err := s.AwaitReplacement(t.Context(), run, jobKind(), gone, time.Minute); err != nil {
			t.Fatal(err)
		}
		if passed := time.Since(began); passed != time.Minute || len(run.Progress()) < 2 ||
			run.Progress()[0].Text != "1 jobs have new pods, 1 have none yet" {
			t.Errorf("after %v: %v", passed, run.Progress())
		}
		if n := a.requests("GET /apis/example.com/v1/jobs"); n != 2 {
			t.Errorf("the jobs were read %d times", n)
		}
		want := "to be started again: away/alone (it belongs to no job); waits (no new pod within 1m0s); " +
			"unknown (there is no such job)"
		if !slices.Equal(run.Warnings(), []string{want}) {
			t.Errorf("%q", run.Warnings())
		}
		after, err := s.ReplacementOf(t.Context(), run, jobKind(), gone)
		if err != nil || len(after.Waiting) != 0 ||
			after.String() != "jobs with new pods: 1, complete: 1, to be started again: 3" {
			t.Errorf("%v, %v", after, err)
		}
		if after, err := s.ReplacementOf(t.Context(), &runbooktest.Run{}, jobKind(), gone); err != nil ||
			!slices.Equal(after.Waiting, []string{"waits"}) {
			t.Errorf("without what was noted: %+v, %v", after, err)
		}
	})
}

// TestJobThatIsCompleteInTheEndIsNotStartedAgain.
func TestJobThatIsCompleteInTheEndIsNotStartedAgain(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		a.jobs = []any{aJob("a", "")}
		time.AfterFunc(30*time.Second, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.jobs = []any{aJob("a", "2019-02-05T09:34:00Z")}
		})
		run, gone := &runbooktest.Run{}, []Pod{{Name: "a", Labels: map[string]string{"job": "a"}}}
		err := s.AwaitReplacement(t.Context(), run, jobKind(), gone, time.Minute)
		if err != nil || len(run.Warnings()) != 0 || run.Progress()[0].Text != "0 jobs have new pods, 1 have none yet" {
			t.Errorf("%v, %q", err, run.Warnings())
		}
	})
}

// TestNoJobIsAskedForWithoutNeed: pods that belong to none wait for none.
func TestNoJobIsAskedForWithoutNeed(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		run := &runbooktest.Run{}
		if err := s.AwaitReplacement(t.Context(), run, jobKind(), []Pod{{Name: "a"}}, time.Minute); err != nil {
			t.Fatal(err)
		}
		if n := a.requests("GET /apis"); n != 0 {
			t.Errorf("%d requests", n)
		}
	})
}

// TestJobsOfAnotherClusterAreNone: where the kind is not served there is no such job.
func TestJobsOfAnotherClusterAreNone(t *testing.T) {
	onAPI(t, func(t *testing.T, _ *api, s *Search) {
		gone := []Pod{{Name: "a", Labels: map[string]string{"job": "a"}}}
		after, err := s.ReplacementOf(t.Context(), &runbooktest.Run{}, jobKind(), gone)
		if err != nil || !slices.Equal(after.StartAgain["there is no such job"], []string{"a"}) {
			t.Errorf("%+v, %v", after, err)
		}
	})
}

// TestReplacementIsKeptOrAnError: what has to be started again was said and noted.
func TestReplacementIsKeptOrAnError(t *testing.T) {
	for rule, run := range map[string]*faulty{
		"the warning is refused": {warn: "to be started again"}, "the note is refused": {note: replacementNote},
	} {
		onAPI(t, func(t *testing.T, _ *api, s *Search) {
			err := s.AwaitReplacement(t.Context(), run, jobKind(), []Pod{{Name: "a"}}, time.Minute)
			if !errors.Is(err, errFull) {
				t.Errorf("%s: %v", rule, err)
			}
		})
	}
}

// TestJobThatCanNotBeReadInTheEndIsAnError, and no job to be started again.
func TestJobThatCanNotBeReadInTheEndIsAnError(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		a.jobs = []any{aJob("a", "")}
		time.AfterFunc(30*time.Second, func() { a.deny("/jobs") })
		run, gone := &runbooktest.Run{}, []Pod{{Name: "a", Labels: map[string]string{"job": "a"}}}
		err := s.AwaitReplacement(t.Context(), run, jobKind(), gone, time.Minute)
		if err == nil || !strings.Contains(err.Error(), "listing the jobs") || len(run.Warnings()) != 0 {
			t.Errorf("%v, %q", err, run.Warnings())
		}
	})
}
