package kube

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"
)

// TestBudgetsThatCannotBeReadCostNothingButTime: the Eviction API decides.
func TestBudgetsThatCannotBeReadCostNothingButTime(t *testing.T) {
	t.Parallel()
	onAPI(t, []string{"web-0", "web-1"}, func(t *testing.T, a *api, c *Cluster) {
		a.answer = func(request *http.Request, _ string) *http.Response {
			if strings.HasSuffix(request.URL.Path, "/poddisruptionbudgets") {
				return plain(http.StatusForbidden, "text/plain", "no")
			}
			return nil
		}
		drained, err := c.Drain(under(t.Context(), nil), oneNode, DrainOptions{Deadline: time.Minute})
		if err != nil || !drained.Complete() || len(drained.Evicted) != 2 {
			t.Errorf("%+v, %v", drained, err)
		}
	})
}

// TestARefusalThatComesWithCode200IsARefusal: a pod under two budgets is answered so.
func TestARefusalThatComesWithCode200IsARefusal(t *testing.T) {
	t.Parallel()
	onAPI(t, []string{"web-0"}, func(t *testing.T, a *api, c *Cluster) {
		a.answer = func(request *http.Request, _ string) *http.Response {
			if request.Method != http.MethodPost {
				return nil
			}
			return plain(http.StatusOK, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure",`+
				`"message":"This pod has more than one PodDisruptionBudget","code":500}`)
		}
		drained, err := c.Drain(under(t.Context(), nil), oneNode, DrainOptions{Deadline: time.Minute})
		if err != nil || len(drained.Evicted) != 0 || len(drained.Remaining) != 1 ||
			!strings.Contains(drained.Remaining[0].Blocker, "more than one PodDisruptionBudget") {
			t.Errorf("%+v, %v", drained, err)
		}
	})
}

// TestAtTheEndOnlyEvictionsThatWereMadeCount: an error then may be due to the end itself.
func TestAtTheEndOnlyEvictionsThatWereMadeCount(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, row := range map[string]struct {
		outcome outcome
		err     error
		stage   stage
	}{
		"evicted":     {evicted, nil, terminating},
		"unavailable": {unavailable, errStopped, pending},
		"unpermitted": {unpermitted, errStopped, pending},
	} {
		t.Run(name, func(t *testing.T) {
			d, p := blockedPod()
			d.cluster = &Cluster{Clock: clock.RealClock{}}
			err := d.receive(ended, evictionResult{pod: p, outcome: row.outcome, err: errors.New("cut off")})
			if !errors.Is(err, row.err) || p.stage != row.stage {
				t.Errorf("got %v; the pod is in stage %v", err, p.stage)
			}
		})
	}
}
