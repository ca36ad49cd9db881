package azuresim_test

import (
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/azuresim"
)

func accelerated(t *testing.T, scenario azuresim.Scenario, factor float64) azuresim.Scenario {
	t.Helper()
	faster, err := scenario.Accelerated(factor)
	if err != nil {
		t.Fatal(err)
	}
	return faster
}

func TestAnAcceleratedRecoveryIsThatMuchShorter(t *testing.T) {
	inWorld(t, accelerated(t, builtIn(t, "wedged"), 60), func(t *testing.T, a *azure) {
		a.createStandIn(t, 3)
		if took := time.Since(a.start); took < 2500*time.Millisecond || took > 4*time.Second {
			t.Errorf("creating a pool took %s, want 2m30s / 60 and at most one poll", took)
		}
		if ready := a.readyNodes("standin"); ready != 3 {
			t.Errorf("%d nodes are Ready, want 3", ready)
		}
	})
}

func TestAccelerationLeavesThePastAsItWas(t *testing.T) {
	inWorld(t, accelerated(t, builtIn(t, "stuck-operation"), 60), func(t *testing.T, a *azure) {
		if got := failedWrites(a.events(t, a.start.Add(-15*time.Minute))); got != 20 {
			t.Errorf("%d failed writes in the 15 minutes before the start, want 20: "+
				"all but those of the last 1.5 s can be read", got)
		}
		time.Sleep(30 * time.Second) // as half an hour
		if got := failedWrites(a.events(t, a.start)); got < 36 || got > 42 {
			t.Errorf("%d failed writes in 30 seconds, want one every 0.75 s", got)
		}
	})
}

func TestAccelerationReachesWhatFaultsDoAndNoOtherScenario(t *testing.T) {
	const faults = "faults: [{rbacLag: {for: 1m}}, {hang: {match: {method: GET, after: 10m}, for: 30s}}, " +
		"{throttle: {retryAfter: 20s}}]\n"
	scenario, before := parsed(t, faults), parsed(t, faults)
	faster := accelerated(t, scenario, 10)
	if difference := cmp.Diff(before, scenario); difference != "" {
		t.Errorf("the scenario itself changed:\n%s", difference)
	}
	lag, hang, throttle := faster.Faults[0].RBACLag, faster.Faults[1].Hang, faster.Faults[2].Throttle
	if time.Duration(lag.For) != 6*time.Second || time.Duration(hang.Match.After) != time.Minute ||
		time.Duration(throttle.RetryAfter) != 2*time.Second {
		t.Errorf("got %v, %v, %v", lag, hang, throttle)
	}
	if time.Duration(hang.For) != 30*time.Second {
		t.Errorf("a call hangs for %v, want as long as its client's patience expects", time.Duration(hang.For))
	}
}

func TestAFactorThatCantBeMeantIsRefused(t *testing.T) {
	for _, factor := range []float64{0, 0.99, -1, 10_001, math.NaN(), math.Inf(1)} {
		if _, err := builtIn(t, "wedged").Accelerated(factor); err == nil {
			t.Errorf("factor %v is taken", factor)
		}
	}
}

func TestAHeldWorldBeginsWhenItIsLet(t *testing.T) {
	scenario := parsed(t, "clusterState: Updating\noperation: {age: 1h, ends: 5m}\nfaults:\n"+
		"  - {deny: {match: {method: GET, path: '*/aks-1', until: 1m}}}\n")
	synctest.Test(t, func(t *testing.T) {
		world, err := azuresim.New(scenario, azuresim.Options{Paused: true})
		if err != nil {
			t.Fatal(err)
		}
		defer world.Close()
		time.Sleep(time.Hour)
		world.Begin()
		a := newAzure(t, world, scenario)
		_, err = a.clusters.Get(t.Context(), scenario.ResourceGroup, scenario.Cluster, nil)
		wantError(t, err, http.StatusForbidden, "AuthorizationFailed")
		time.Sleep(4 * time.Minute)
		if state := *a.cluster(t).Properties.ProvisioningState; state != "Updating" {
			t.Errorf("after 4 minutes the cluster is %s, want Updating", state)
		}
		time.Sleep(time.Minute)
		if state := *a.cluster(t).Properties.ProvisioningState; state != "Succeeded" {
			t.Errorf("after 5 minutes the cluster is %s, want Succeeded", state)
		}
	})
}
