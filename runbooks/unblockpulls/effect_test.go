package unblockpulls_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	testclient "k8s.io/client-go/testing"

	"salve/internal/prow/githubsim"
	"salve/runbook"
)

// later does something while a run waits.
func (w *world) later(do func()) {
	go func() {
		time.Sleep(30 * time.Second)
		do()
	}()
}

// lagging hides a comment for a while after it was made.
func lagging() func(http.RoundTripper) http.RoundTripper {
	var shown time.Time
	return func(next http.RoundTripper) http.RoundTripper {
		return trip(func(request *http.Request) (*http.Response, error) {
			made := request.Method == http.MethodPost && commentPath.MatchString(request.URL.Path)
			response, err := next.RoundTrip(request)
			switch {
			case made:
				shown = time.Now().Add(20 * time.Second)
			case err == nil && time.Now().Before(shown) && commentPath.MatchString(request.URL.Path):
				response.StatusCode, response.Body = http.StatusOK, io.NopCloser(strings.NewReader("[]"))
				response.Header.Del("ETag")
			}
			return response, err
		})
	}
}

// TestACommentThatIsNotListedYetIsWaitedFor: GitHub shows a new comment late, and Prow takes a while.
func TestACommentThatIsNotListedYetIsWaitedFor(t *testing.T) {
	in(t, func(w *world) {
		w.noHook = true
		w.later(func() { w.status(headOf(7), "unit", "success") })
		w.ends(w.disturbed(lagging()), runbook.Remediated)
		w.commented(1)
	})
}

// TestACommentWhoseAnswerWasLostIsNotMadeAgain, though GitHub lists it late.
func TestACommentWhoseAnswerWasLostIsNotMadeAgain(t *testing.T) {
	in(t, func(w *world) {
		w.noHook = true
		found := w.discovered()
		w.sim.Inject(githubsim.Fault{Method: http.MethodPost, Path: "/comments", Cut: githubsim.CutAfter})
		w.later(func() { w.later(func() { w.status(headOf(7), "unit", "success") }) })
		w.ends(w.runBook(w.made(w.of(lagging()), found)), runbook.Remediated)
		w.commented(1)
	})
}

// TestAPendingStatusWithoutAJobIsNoEnd: what says that it runs does not, and will not say anything else.
func TestAPendingStatusWithoutAJobIsNoEnd(t *testing.T) {
	in(t, func(w *world) {
		w.noHook = true
		w.later(func() { w.status(headOf(7), "unit", "pending") })
		w.ends(w.run(), runbook.NeedsAttention, "contexts-there", "is pending, and no job runs")
	})
}

// TestAPullRequestThatStaysBlockedSaysWhy: the status came, and approvals are missing.
func TestAPullRequestThatStaysBlockedSaysWhy(t *testing.T) {
	in(t, func(w *world) {
		w.sim.Update(func(github *githubsim.World) {
			live := github.Repo("kube/widgets").Branch("main").Protection
			live.RequiredPullRequestReviews = &githubsim.Reviews{Approvals: 2}
		})
		result := w.run()
		w.ends(result, runbook.Remediated)
		for _, finding := range result.Findings {
			if finding.Guard == "pulls-free" && !strings.Contains(finding.Reason, "2 approvals are required") {
				w.Errorf("it says %q", finding.Reason)
			}
		}
	})
}

// TestAProwJobThatWasReplacedIsLeft: another one has the name of the one that was listed.
func TestAProwJobThatWasReplacedIsLeft(t *testing.T) {
	in(t, func(w *world) {
		endedUnheard(w)
		found := w.discovered()
		w.dynamic.PrependReactor("get", "prowjobs", func(testclient.Action) (bool, runtime.Object, error) {
			other := w.prowJob("unit-7")
			other.SetUID("another")
			return true, other, nil
		})
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.Failed, "is not as it was seen")
		if w.patched() != 0 {
			w.Error("it was changed")
		}
	})
}

// TestADiscoveryTakesTwoCallsForAPullRequestThatWaitsForNothing.
func TestADiscoveryTakesTwoCallsForAPullRequestThatWaitsForNothing(t *testing.T) {
	in(t, func(w *world) {
		for number := 100; number < 400; number++ {
			w.pull(number, nil)
			w.status(headOf(number), "unit", "success")
		}
		w.discovered()
		counted := 0
		for _, call := range w.sim.Calls() {
			if call.Counted {
				counted++
			}
		}
		if counted > 2*301+15 {
			w.Errorf("%d calls", counted)
		}
	})
}
