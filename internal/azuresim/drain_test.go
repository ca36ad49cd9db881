package azuresim_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
)

// deletion asks for a pool's deletion and waits for its end.
func (a *azure) deletion(t *testing.T, pool string, ignoreBudgets *bool) error {
	t.Helper()
	poller, err := a.pools.BeginDelete(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, pool,
		&armcontainerservice.AgentPoolsClientBeginDeleteOptions{IgnorePodDisruptionBudget: ignoreBudgets})
	if err != nil {
		t.Fatal(err)
	}
	_, err = poller.PollUntilDone(t.Context(), nil)
	return err
}

// TestADeletionThatABudgetBlocksFails after the time of its drain, and has evicted what it could.
func TestADeletionThatABudgetBlocksFails(t *testing.T) {
	inWorld(t, builtIn(t, "pdb-blocked"), func(t *testing.T, a *azure) {
		a.createStandIn(t, 3)
		began := time.Now()
		err := a.deletion(t, "system", nil)
		wantError(t, err, http.StatusOK, "PodDrainFailure") // the status of its operation says it
		if took := time.Since(began); took < 10*time.Minute || took > 11*time.Minute {
			t.Errorf("it failed after %s, want the 10 minutes of its drain and what came before", took)
		}
		if !strings.Contains(err.Error(), "blocked by pdb coredns") {
			t.Errorf("%v does not say by what", err)
		}
		pool := a.pool(t, "system")
		if *pool.Properties.ProvisioningState != "Failed" || len(a.nodesOf(t, "system")) != 3 {
			t.Errorf("the pool is %s with %d nodes, want it Failed and there", *pool.Properties.ProvisioningState,
				len(a.nodesOf(t, "system")))
		}
		left := 0
		for _, pod := range a.world.Snapshot().Pods {
			if strings.HasPrefix(pod.Node, "aks-system") && !strings.HasPrefix(pod.Name, "kube-proxy") &&
				!strings.HasPrefix(pod.Name, "azure-cns") {
				left++
				if !strings.HasPrefix(pod.Name, "coredns") {
					t.Errorf("%s is left, which no budget protects", pod.Name)
				}
			}
		}
		if left != 2 {
			t.Errorf("%d pods are left, want the two that the budget protects", left)
		}
		if err := a.deletion(t, "system", to.Ptr(true)); err != nil {
			t.Errorf("ignoring budgets: %v", err)
		}
	})
}

func TestADeletionWaitsForABudgetThatLetsGo(t *testing.T) {
	inWorld(t, parsed(t, "faults:\n  - pdbBlocks: {app: coredns, until: 8m}\n"), func(t *testing.T, a *azure) {
		a.createStandIn(t, 3) // 2m30s
		began := time.Now()
		if err := a.deletion(t, "system", nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 5*time.Minute || took > 7*time.Minute {
			t.Errorf("it took %s, want until the budget lets go after 5m30s", took)
		}
	})
}

// TestADrainOfADeletionGivesPodsTheirGrace: what ends slowly is waited for.
func TestADrainOfADeletionGivesPodsTheirGrace(t *testing.T) {
	slow := parsed(t, "apps:\n  - {namespace: shop, name: slow, replicas: 5, grace: 5m}\n")
	inWorld(t, slow, func(t *testing.T, a *azure) {
		began := time.Now()
		if err := a.deletion(t, "workers", nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 5*time.Minute || took > 6*time.Minute {
			t.Errorf("it took %s, want the pods' grace of 5 minutes", took)
		}
	})
}

func TestADrainThatIsAbortedStops(t *testing.T) {
	inWorld(t, builtIn(t, "pdb-blocked"), func(t *testing.T, a *azure) {
		a.createStandIn(t, 3)
		if got := a.call(t, "DELETE", "C/agentPools/system"+aksVersion+"&IGNORE-pod-disruption-budget=false",
			""); got.status != http.StatusAccepted {
			t.Fatalf("%d %s", got.status, got.text)
		}
		time.Sleep(3 * time.Minute)
		if got := a.call(t, "POST", "C/agentPools/system/abort"+aksVersion, ""); got.status != http.StatusAccepted {
			t.Fatalf("%d %s", got.status, got.text)
		}
		time.Sleep(30 * time.Minute)
		if state := *a.pool(t, "system").Properties.ProvisioningState; state != "Canceled" {
			t.Errorf("the pool is %s", state)
		}
		got := a.call(t, "DELETE", "C/agentPools/system"+aksVersion+"&ignore-pod-disruption-budget=perhaps", "")
		if got.status != http.StatusBadRequest || got.code() != "InvalidParameter" {
			t.Errorf("%d %s", got.status, got.text)
		}
	})
}
