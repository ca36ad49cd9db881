package kube

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/internal/permit"
	"salve/runbook"
)

var oneNode = []Node{{Name: "node-1", UID: "uid-of-node-1"}}

// neverAllowing is a budget over the pods of web that never allows an eviction.
func neverAllowing(request *http.Request, pod string) *http.Response {
	if request.Method == http.MethodPost && strings.HasPrefix(pod, "web") {
		return blocked("web", 0)
	}
	return nil
}

func TestEveryEvictionHasTheUIDOfThePodThatWasListed(t *testing.T) {
	t.Parallel()
	onAPI(t, []string{"web-0", "web-1", "other-0"}, func(t *testing.T, a *api, c *Cluster) {
		drained, err := c.Drain(under(t.Context(), nil), oneNode, DrainOptions{Deadline: time.Minute})
		if err != nil || !drained.Complete() || len(drained.Evicted) != 3 {
			t.Errorf("%+v, %v", drained, err)
		}
		for _, eviction := range a.arrivals("") {
			if eviction.uid != types.UID("uid-of-"+eviction.pod) {
				t.Errorf("the eviction of %s is for UID %q", eviction.pod, eviction.uid)
			}
		}
	})
}

func TestNoEvictionAfterThePermitExpired(t *testing.T) {
	t.Parallel()
	onAPI(t, []string{"web-0", "web-1"}, func(t *testing.T, a *api, c *Cluster) {
		a.answer = neverAllowing
		const lasts = 20 * time.Second
		start := time.Now()
		short := under(t.Context(), func(terms *permit.Terms) { terms.Expires = start.Add(lasts) })
		drained, err := c.Drain(short, oneNode, DrainOptions{Deadline: time.Hour})
		if err == nil || apierr.ClassOf(err) != apierr.Conflict || drained.Complete() {
			t.Errorf("got %+v, %v", drained, err)
		}
		if took := time.Since(start); took < lasts || took > lasts+budgetBackoff().Longest {
			t.Errorf("it ended after %s", took)
		}
		seen := a.arrivals("")
		if len(seen) < 3 || seen[len(seen)-1].at < lasts/2 {
			t.Fatalf("it did not try on: %v", seen)
		}
		if last := seen[len(seen)-1]; last.at >= lasts {
			t.Errorf("an eviction was requested after %s", last.at)
		}
	})
}

func TestNoEvictionWithoutAPermit(t *testing.T) {
	t.Parallel()
	onAPI(t, []string{"web-0"}, func(t *testing.T, a *api, c *Cluster) {
		if _, err := c.Drain(t.Context(), oneNode,
			DrainOptions{Deadline: time.Hour}); apierr.ClassOf(err) != apierr.Conflict || err == nil {
			t.Errorf("got %v", err)
		}
		if seen := a.arrivals(""); len(seen) > 0 {
			t.Errorf("requested: %v", seen)
		}
	})
}

func TestDrainEndsWhenItsPreconditionFails(t *testing.T) {
	t.Parallel()
	onAPI(t, []string{"web-0", "other-0"}, func(t *testing.T, a *api, c *Cluster) {
		a.answer = neverAllowing
		start := time.Now()
		cordoned := errors.New("node \"stand-in-0\" is cordoned")
		evaluations := 0
		drained, err := c.Drain(under(t.Context(), nil), oneNode, DrainOptions{
			Deadline: time.Hour, PreconditionInterval: 10 * time.Second,
			Precondition: func(context.Context) error {
				if evaluations++; time.Since(start) >= 35*time.Second {
					return cordoned
				}
				return nil
			},
		})
		if !errors.Is(err, cordoned) || !strings.Contains(err.Error(), "precondition failed") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took != 40*time.Second || evaluations != 5 {
			t.Errorf("it ended after %s and %d evaluations", took, evaluations)
		}
		if !slices.Equal(drained.Evicted, []string{"team/other-0"}) || len(drained.Remaining) != 1 {
			t.Errorf("what was done is not told: %+v", drained)
		}
		seen := a.arrivals("web")
		if len(seen) < 3 {
			t.Fatalf("it did not try on: %v", seen)
		}
		time.Sleep(time.Hour)
		if after := a.arrivals(""); len(after) != len(seen)+1 || seen[len(seen)-1].at > 40*time.Second {
			t.Errorf("evictions were requested after the end: %v", after)
		}
	})
}

func TestNoEvictionBeforeThePreconditionHeldOnce(t *testing.T) {
	t.Parallel()
	onAPI(t, []string{"web-0"}, func(t *testing.T, a *api, c *Cluster) {
		drained, err := c.Drain(under(t.Context(), nil), oneNode, DrainOptions{
			Deadline: time.Hour, Precondition: func(context.Context) error { time.Sleep(time.Minute); return nil },
		})
		if err != nil || !drained.Complete() {
			t.Errorf("%+v, %v", drained, err)
		}
		if seen := a.arrivals(""); len(seen) != 1 || seen[0].at < time.Minute {
			t.Errorf("requested: %v", seen)
		}
	})
}

func TestNoEvictionWhileThePreconditionIsNotKnown(t *testing.T) {
	t.Parallel()
	onAPI(t, []string{"web-0"}, func(t *testing.T, a *api, c *Cluster) {
		a.answer = neverAllowing
		evaluations := 0
		_, err := c.Drain(under(t.Context(), nil), oneNode, DrainOptions{
			Deadline: 3 * time.Minute, PreconditionInterval: 10 * time.Second,
			Precondition: func(ctx context.Context) error {
				if evaluations++; evaluations == 2 { // it starts after 10s and hangs
					<-ctx.Done()
				}
				return nil
			},
		})
		if err != nil {
			t.Error(err)
		}
		seen := a.arrivals("")
		if last := seen[len(seen)-1].at; last < 5*time.Second || last > 20*time.Second {
			t.Errorf("the last eviction was requested after %s", last)
		}
	})
}

func TestTimeoutOfThePreconditionIsNotTheDrainsDeadline(t *testing.T) {
	t.Parallel()
	onAPI(t, []string{"web-0"}, func(t *testing.T, _ *api, c *Cluster) {
		_, err := c.Drain(under(t.Context(), nil), oneNode, DrainOptions{
			Deadline: time.Hour, Precondition: func(context.Context) error { return context.DeadlineExceeded },
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	throttled := plain(http.StatusTooManyRequests, "text/plain", "Too many requests, please try again later.")
	throttled.Header.Set("Retry-After", "3")
	for name, c := range map[string]struct {
		refusal    *http.Response
		othersWait bool
	}{
		"by a budget: its pods alone wait": {blocked("web", 3), false},
		"by the API server: all wait":      {throttled, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onAPI(t, []string{"web-0", "web-1", "other-0", "other-1", "other-2"}, func(t *testing.T, a *api, cluster *Cluster) {
				a.budgets = []policyv1.PodDisruptionBudget{{
					ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web"},
					Spec: policyv1.PodDisruptionBudgetSpec{
						Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
					},
				}}
				var refused atomic.Bool
				a.answer = func(request *http.Request, pod string) *http.Response {
					if request.Method != http.MethodPost || pod != "web-0" || refused.Swap(true) {
						return nil
					}
					return c.refusal
				}
				drained, err := cluster.Drain(under(t.Context(), nil), oneNode, DrainOptions{Deadline: time.Hour, Parallel: 1})
				if err != nil || !drained.Complete() || len(drained.Evicted) != 5 {
					t.Errorf("%+v, %v", drained, err)
				}
				web, others := a.arrivals("web"), a.arrivals("other")
				if web[0].at >= 3*time.Second || web[1].at != web[0].at+3*time.Second {
					t.Errorf("the pods of web were asked for at %v", web)
				}
				if last := others[len(others)-1].at; (last >= 3*time.Second) != c.othersWait {
					t.Errorf("the last other pod was asked for at %s", last)
				}
			})
		})
	}
}

func TestNoMoreEvictionsInFlightThanAllowed(t *testing.T) {
	t.Parallel()
	var pods []string
	for i := range 12 {
		pods = append(pods, "web-"+string(rune('a'+i)), "free-"+string(rune('a'+i)))
	}
	onAPI(t, pods, func(t *testing.T, a *api, c *Cluster) {
		a.budgets = []policyv1.PodDisruptionBudget{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web"},
			Spec: policyv1.PodDisruptionBudgetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			},
		}}
		a.answer = func(request *http.Request, _ string) *http.Response {
			if request.Method == http.MethodPost {
				time.Sleep(time.Second)
			}
			return nil
		}
		drained, err := c.Drain(under(t.Context(), nil), oneNode, DrainOptions{Deadline: time.Hour, Parallel: 3})
		if err != nil || len(drained.Evicted) != 24 {
			t.Errorf("%+v, %v", drained, err)
		}
		if a.mostAtOne != 3 {
			t.Errorf("%d evictions in flight, 3 are allowed", a.mostAtOne)
		}
		web := a.arrivals("web")
		for i := 1; i < len(web); i++ {
			if web[i].at < web[i-1].at+time.Second {
				t.Errorf("two pods under one budget were asked for at once: %v", web[i-1:i+1])
			}
		}
	})
}

func TestEmptyListDoesNotMeanThatPodsAreDeleted(t *testing.T) {
	t.Parallel()
	onAPI(t, []string{"web-0", "other-0"}, func(t *testing.T, a *api, c *Cluster) {
		var ended atomic.Bool
		a.answer = func(request *http.Request, pod string) *http.Response {
			query := request.URL.Query()
			switch {
			case query.Get("watch") != "": // too old: the pods are listed again
				ended.Store(true)
				return refusal(http.StatusGone, metav1.StatusReasonExpired, nil)
			case ended.Load() && pod == "" && query.Get("fieldSelector") != "":
				return said(http.StatusOK, corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
					ListMeta: metav1.ListMeta{ResourceVersion: "9"}})
			}
			return neverAllowing(request, pod)
		}
		drained, err := c.Drain(under(t.Context(), nil), oneNode, DrainOptions{Deadline: time.Minute})
		if err != nil || !slices.Equal(drained.Evicted, []string{"team/other-0"}) {
			t.Errorf("evicted %v, %v", drained.Evicted, err)
		}
		if len(drained.Remaining) != 1 || drained.Remaining[0].Pod != "team/web-0" {
			t.Errorf("remaining %v", drained.Remaining)
		}
	})
}

func TestNotFoundOfTheNamespaceOrThePathIsNotADeletedPod(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func() *http.Response{
		"of the namespace": func() *http.Response { return notFound("namespaces", "team") },
		"of another pod":   func() *http.Response { return notFound("pods", "web-1") },
		"of the path":      func() *http.Response { return plain(http.StatusNotFound, "text/plain", "404 page not found") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onAPI(t, []string{"web-0"}, func(t *testing.T, a *api, c *Cluster) {
				a.answer = func(request *http.Request, _ string) *http.Response {
					if request.Method == http.MethodPost {
						return answer()
					}
					return nil
				}
				drained, err := c.Drain(under(t.Context(), nil), oneNode, DrainOptions{Deadline: time.Minute})
				if err != nil || len(drained.Evicted) > 0 || len(drained.Remaining) != 1 || drained.Remaining[0].Blocker == "" {
					t.Errorf("%+v, %v", drained, err)
				}
			})
		})
	}
}

func TestPodsOfAnotherNodeAreNotEvicted(t *testing.T) {
	t.Parallel()
	onAPI(t, []string{"web-0", "web-1"}, func(t *testing.T, a *api, c *Cluster) {
		a.pods[1].Spec.NodeName = "node-2"
		all := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
			Items: []corev1.Pod{*a.pods[0], *a.pods[1]}}
		a.answer = func(request *http.Request, _ string) *http.Response {
			if request.URL.Query().Get("fieldSelector") != "" { // whoever answers ignores it
				return said(http.StatusOK, all)
			}
			return nil
		}
		drained, err := c.Drain(under(t.Context(), nil), oneNode, DrainOptions{Deadline: 5 * time.Minute})
		if err == nil || !strings.Contains(err.Error(), "unexpected object") || len(a.arrivals("")) > 0 {
			t.Errorf("%+v, %v; evictions %v", drained, err, a.arrivals(""))
		}
	})
}

func TestTextsOfTheClusterAreBounded(t *testing.T) {
	t.Parallel()
	onAPI(t, []string{"web-0"}, func(t *testing.T, a *api, c *Cluster) {
		long := strings.Repeat("very long ", 10_000)
		a.answer = func(request *http.Request, _ string) *http.Response {
			if request.Method == http.MethodPost {
				return refusal(http.StatusInternalServerError, metav1.StatusReason(long), nil)
			}
			return nil
		}
		longest := 0
		drained, err := c.Drain(under(t.Context(), nil), oneNode,
			DrainOptions{Deadline: time.Minute, Progress: func(p runbook.Progress) {
				longest = max(longest, len(strings.Join(p.Details, "")))
			}})
		if err != nil || len(drained.Remaining) != 1 {
			t.Fatalf("%+v, %v", drained, err)
		}
		if n := len(drained.Blockers()); n > 500 || longest > 1000 {
			t.Errorf("blockers of %d bytes, progress of %d", n, longest)
		}
	})
}
