package helmrelease_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/engine"
	"salve/internal/clock"
	"salve/runbook"
)

// TestValuesThatWereCorrectedAreApplied: what the run's process had deployed before it died has the same chart, with
// other values.
func TestValuesThatWereCorrectedAreApplied(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	kept := s.journal
	s.journal = &dying{Store: kept}
	if result := s.run(t.Context()); !result.Unrecorded {
		t.Fatalf("ended %+v", result)
	}
	s.journal = kept
	s.order.Values["greeting"] = "good morning"
	s.ends(runbook.Remediated, "")
	s.revisions("deployed", "superseded")
	there, err := s.plane.Client().CoreV1().ConfigMaps(s.in.Namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || there.Data["greeting"] != "good morning" {
		t.Errorf("%v, %v", there.Data, err)
	}
}

// leavePending has another run begin the release and die within.
func (s *scene) leavePending() {
	s.Helper()
	other := *s
	other.journal = journalOfItsOwn()
	ctx, cancel := context.WithCancel(s.Context())
	other.through = cutAt("/deployments/web", cancel)
	if result := other.run(ctx); result.Outcome == runbook.Remediated {
		s.Error("the other run ended well without its connection")
	}
	s.revisions("pending-install")
}

// TestWhatWasBegunWithoutSalveIsLeftAlone: its revision says of no run that it made it.
func TestWhatWasBegunWithoutSalveIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.leavePending()
	secrets := s.plane.Client().CoreV1().Secrets(s.in.Namespace)
	all, err := secrets.List(t.Context(), metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil || len(all.Items) != 1 {
		t.Fatal(all, err)
	}
	delete(all.Items[0].Labels, "salve-run")
	if _, err := secrets.Update(t.Context(), &all.Items[0], metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.ends(runbook.Deferred, "begun by somebody else, not by Salve")
	s.revisions("pending-install")
}

// TestWhatOthersBeginMeanwhileIsLeftAlone: the release was free when the run began, and isn't any more right before the
// step.
func TestWhatOthersBeginMeanwhileIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	own := labelled
	own.Name = s.in.Namespace
	s.order.Namespaces = []corev1.Namespace{own}
	mine := *s
	var begun atomic.Bool
	mine.through = func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodPatch && strings.HasSuffix(request.URL.Path, "/namespaces/"+s.in.Namespace) &&
				!begun.Swap(true) {
				s.leavePending()
			}
			return next.RoundTrip(request)
		})
	}
	mine.ends(runbook.NeedsAttention, "nothing-pending does not hold: revision 1 of release web is pending-install since ")
	if !begun.Load() {
		t.Error("nobody began anything meanwhile")
	}
	s.revisions("pending-install")
}

// TestAnAPIServerThatRefusesSaysNothingOfTheChart: it is unknown whether it renders, and nobody is sent to look for a
// mistake in it.
func TestAnAPIServerThatRefusesSaysNothingOfTheChart(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"what kinds there are": "/apis", "what is there already": "/configmaps/web", "its version": "/version",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.through = func(next http.RoundTripper) http.RoundTripper {
				return roundTrip(func(request *http.Request) (*http.Response, error) {
					if request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, path) {
						return forbidden(request), nil
					}
					return next.RoundTrip(request)
				})
			}
			s.ends(runbook.Undecided, "chart-renders is unknown")
			s.revisions()
		})
	}
}

// TestAReleaseThatChangesWhileItIsLookedAtIsNotDone: the revision that was checked is not the one whose objects are
// ready.
func TestAReleaseThatChangesWhileItIsLookedAtIsNotDone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	other := *s
	other.journal, other.order.Values = journalOfItsOwn(), map[string]any{"greeting": "theirs"}
	var checking atomic.Bool
	var looks atomic.Int32
	s.through = func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			if checking.Load() && strings.HasSuffix(request.URL.Path, "/secrets") && looks.Add(1) == 2 {
				other.ends(runbook.Remediated, "")
			}
			return next.RoundTrip(request)
		})
	}
	// The engine asks again what it could not see: that takes a tenth of the time.
	machine := &engine.Engine{Journal: s.journal, Clock: clock.NewScaled(10), Watch: func(event engine.Event) {
		if event.Kind == engine.ChecksBegan {
			checking.Store(true)
		}
	}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	result, err := machine.Run(ctx, s.book(), engine.Options{})
	if err != nil || result.Outcome == runbook.Remediated || looks.Load() < 2 {
		t.Errorf("ended %s: %s, %v, after %d looks", result.Outcome, result.Reason, err, looks.Load())
	}
}

// TestWhatHelmSaysIsBounded: it may quote a whole manifest, and the record holds what anybody reads.
func TestWhatHelmSaysIsBounded(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.chart(map[string]string{"Chart.yaml": chart["Chart.yaml"], "templates/a.yaml": `{{ fail (repeat 5000 "long ") }}`})
	result := s.run(t.Context())
	if result.Outcome != runbook.Failed || !strings.Contains(result.Reason, "long long") || len(result.Reason) > 2000 {
		t.Errorf("ended %s with %d bytes: %.100s", result.Outcome, len(result.Reason), result.Reason)
	}
}

// TestSecretsThatTheAPIServerQuotesStayOut of the record: of the error, and of what Helm has kept of it.
func TestSecretsThatTheAPIServerQuotesStayOut(t *testing.T) {
	t.Parallel()
	const secret = "hunter2/new" // no value of a label
	s := newScene(t)
	s.order.Mask = func(text string) string { return strings.ReplaceAll(text, secret, "***") }
	s.order.Values["password"] = secret
	s.chart(map[string]string{
		"Chart.yaml": chart["Chart.yaml"],
		"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\n" +
			"metadata: {name: a, labels: {a: {{ .Values.password | quote }}}}\n",
	})
	s.ends(runbook.NeedsAttention, "***")
	s.ends(runbook.NeedsAttention, "***") // which reads what Helm has kept
	if all := s.recorded(); strings.Contains(all, secret) || !strings.Contains(all, "***") {
		at := strings.Index(all, secret)
		t.Errorf("the record shows a secret: %s", all[max(0, at-900):min(len(all), at+300)])
	}
}

func forbidden(request *http.Request) *http.Response {
	const status = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,` +
		`"message":"no rights"}`
	answer := &http.Response{
		StatusCode: http.StatusForbidden, Status: "403 Forbidden", Request: request,
		Header: http.Header{"Content-Type": {"application/json"}},
	}
	answer.Body = http.NoBody
	if request.Method != http.MethodHead {
		answer.Body = io.NopCloser(strings.NewReader(status))
	}
	return answer
}
