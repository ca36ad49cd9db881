package stranded

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/internal/permit"
	"salve/runbook"
)

func permitted(ctx context.Context) context.Context {
	return permit.NewContext(ctx, permit.Mint(permit.Terms{
		Run: "run-1", Step: "delete", Epoch: 1, Expires: time.Now().Add(time.Hour), Now: time.Now,
		Lease: func(context.Context) error { return nil },
	}))
}

func refuseDeletion(code int32, reason metav1.StatusReason) func(*http.Request) *http.Response {
	return func(request *http.Request) *http.Response {
		if request.Method == http.MethodDelete {
			return refusal(code, reason)
		}
		return nil
	}
}

// TestDeletionThatIsRefused: what became of the pod is asked for, and what can't be told is an error. Requests
// are those to delete it.
func TestDeletionThatIsRefused(t *testing.T) {
	always := func(Pod) bool { return true }
	conflict := refuseDeletion(http.StatusConflict, metav1.StatusReasonConflict)
	for _, row := range []struct {
		rule     string
		answer   func(*api) func(*http.Request) *http.Response
		still    func(Pod) bool
		want     apierr.Class
		says     string
		requests int
	}{
		{rule: "a denial is an error, and nothing is spared",
			answer: func(*api) func(*http.Request) *http.Response {
				return refuseDeletion(http.StatusForbidden, metav1.StatusReasonForbidden)
			}, want: apierr.Denied, says: "deleting pod away/a", requests: 1},
		{rule: "a pod that changed and can't be read is not gone",
			answer: func(*api) func(*http.Request) *http.Response {
				return func(request *http.Request) *http.Response {
					if response := conflict(request); response != nil {
						return response
					}
					return denied()
				}
			}, still: always, want: apierr.Denied, says: "reading pod away/a", requests: 1},
		{rule: "a pod that somebody else deleted is not deleted again",
			answer: func(a *api) func(*http.Request) *http.Response {
				return func(request *http.Request) *http.Response {
					now := metav1.Now()
					a.pods[0].DeletionTimestamp = &now
					return conflict(request)
				}
			}, still: always, requests: 1},
		{rule: "a pod that changes at each attempt is given up",
			answer: func(*api) func(*http.Request) *http.Response { return conflict },
			still:  always, want: apierr.Conflict, says: "it changed 8 times", requests: deleteRounds},
	} {
		t.Run(row.rule, func(t *testing.T) {
			onAPI(t, func(t *testing.T, a *api, s *Search) {
				seen := podOf(a.pod("away", "a"))
				a.answer = row.answer(a)
				err := s.DeletePods(permitted(t.Context()), []Pod{seen}, Deletion{Still: row.still})
				if (err != nil) != (row.want != "") || err != nil &&
					(apierr.ClassOf(err) != row.want || !strings.Contains(err.Error(), row.says)) {
					t.Errorf("it ended with %v", err)
				}
				if n := a.requests("DELETE"); n != row.requests {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

// TestDeletionAsksItsPermit itself, whatever the connection does.
func TestDeletionAsksItsPermit(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		seen := podOf(a.pod("away", "a"))
		if err := s.DeletePods(t.Context(), []Pod{seen}, Deletion{}); err == nil || a.requests("DELETE") != 0 {
			t.Errorf("without a permit: %v after %d requests", err, a.requests("DELETE"))
		}
	})
}

// TestDeletionPausesBetweenBatches, and says how far it is. One that ends in a pause has deleted some.
func TestDeletionPausesBetweenBatches(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		var pods []Pod
		for _, name := range []string{"a", "b", "c"} {
			pods = append(pods, podOf(a.pod("away", name)))
		}
		a.pods[1].ResourceVersion = "2"
		var said []string
		how := Deletion{Batch: 1, Pause: time.Minute, Progress: func(p runbook.Progress) { said = append(said, p.Text) }}
		began := time.Now()
		err := s.DeletePods(permitted(t.Context()), pods, how)
		if passed := time.Since(began); err != nil || passed < 2*time.Minute {
			t.Errorf("%v after %v", err, passed)
		}
		if want := []string{"1 of 3 pods deleted", "1 of 2 pods deleted", "2 of 2 pods deleted"}; !slices.Equal(said, want) {
			t.Errorf("%q", said)
		}
	})
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		pods := []Pod{podOf(a.pod("away", "a")), podOf(a.pod("away", "b"))}
		ctx, cancel := context.WithCancelCause(permitted(t.Context()))
		how := Deletion{Batch: 1, Progress: func(runbook.Progress) { cancel(apierr.New(apierr.Denied, "the lease is lost")) }}
		err := s.DeletePods(ctx, pods, how)
		if apierr.ClassOf(err) != apierr.Transient || !strings.Contains(err.Error(), "1 of 2 pods were deleted") {
			t.Errorf("it ended with %v", err)
		}
	})
}

// TestPodThatIsGoneIsAskedForOnce: a UID never comes back.
func TestPodThatIsGoneIsAskedForOnce(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		pods := []Pod{{Namespace: "away", Name: "a", UID: "1"}, podOf(a.pod("away", "b"))}
		a.pods[0].Labels = nil
		for range 3 {
			gone, unselected, err := s.unlisted(t.Context(), pods)
			if err != nil || len(gone) != 1 || len(unselected) != 1 || unselected[0].Name != "b" {
				t.Errorf("gone %v, no longer selected %v: %v", gone, unselected, err)
			}
		}
		const path = "GET /api/v1/namespaces/away/pods/"
		if a, b := a.requests(path+"a"), a.requests(path+"b"); a != 1 || b != 3 {
			t.Errorf("%d and %d requests", a, b)
		}
		a.pods[0].Labels = map[string]string{"app": "web"}
		if _, _, err := s.unlisted(t.Context(), pods); err == nil || !strings.Contains(err.Error(), "does not hold it") {
			t.Errorf("a pod that the list should hold: %v", err)
		}
	})
}
