package azuresim_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func (a *azure) inject(t *testing.T, text string) {
	t.Helper()
	fault, err := a.scenario.ParseFault("fault", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.world.Inject(fault); err != nil {
		t.Fatal(err)
	}
}

func TestAnInjectedFaultsTimesCountFromItsInjection(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		time.Sleep(time.Hour)
		a.inject(t, "deny: {match: {method: GET, until: 1m}}")
		_, err := a.clusters.Get(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, nil)
		wantError(t, err, http.StatusForbidden, "AuthorizationFailed")
		time.Sleep(time.Minute)
		a.cluster(t)
	})
}

func TestAnInjectedFaultCanBeOfPoolsThatAreStillToCome(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		a.inject(t, `{"nodeNeverJoins": {"pool": "stand-in", "nodes": 1}}`)
		a.createStandIn(t, 3)
		time.Sleep(time.Hour)
		if ready := a.readyNodes("standin"); ready != 2 {
			t.Errorf("%d nodes joined, want 2 of 3", ready)
		}
	})
}

func TestLiftedFaultsActNoMore(t *testing.T) {
	scenario := parsed(t, "faults:\n  - {concurrentWriter: {at: 1m, for: 5m}}\n  - {pdbBlocks: {app: coredns}}\n"+
		"  - {deny: {match: {method: GET}}}\n")
	inWorld(t, scenario, func(t *testing.T, a *azure) {
		a.world.LiftFaults()
		time.Sleep(2 * time.Minute)
		if got := len(a.world.Operations()); got != 0 {
			t.Errorf("%d operations of a concurrent writer that was lifted", got)
		}
		a.cluster(t)
		pod := a.podsWith(t, "app=coredns")[0]
		if err := a.evict(t.Context(), pod, pod.UID); err != nil {
			t.Errorf("a budget still blocks: %v", err)
		}
	})
}

func TestAFaultThatCantBeMeantIsRefusedWithItsLine(t *testing.T) {
	scenario := builtIn(t, "healthy")
	for text, want := range map[string]string{
		"":                                   "line 1: there is no fault in it",
		"quota:\n  over: 3":                  "line 2: a quota needs a pool",
		"throttle: {}\nhang: {}":             "a fault has exactly one kind, this one has 2",
		"hang:\n  for: soon":                 `line 2: "soon" is not a duration`,
		"throttle:\n  match:\n    verb: PUT": `line 3: unknown field "verb"`,
	} {
		if _, err := scenario.ParseFault("fault", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
