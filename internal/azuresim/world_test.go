package azuresim_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"salve/internal/azuresim"
)

// inWorld runs a test on virtual time in a world of a scenario.
func inWorld(t *testing.T, scenario azuresim.Scenario, test func(t *testing.T, a *azure)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		world, err := azuresim.New(scenario, azuresim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer world.Close()
		test(t, newAzure(t, world, scenario))
	})
}

// parsed is a scenario from text, with the lines that every scenario needs.
func parsed(t *testing.T, text string) azuresim.Scenario {
	t.Helper()
	scenario, err := azuresim.Parse("test.yaml", []byte("shows: a test\nexpect: remediated\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return scenario
}

func builtIn(t *testing.T, name string) azuresim.Scenario {
	t.Helper()
	scenario, err := azuresim.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return scenario
}

// azure is the SDK's clients on a world. They do not retry: tests see every answer.
type azure struct {
	world    *azuresim.World
	scenario azuresim.Scenario
	clusters *armcontainerservice.ManagedClustersClient
	pools    *armcontainerservice.AgentPoolsClient
	start    time.Time
}

func armOptions(world *azuresim.World) *arm.ClientOptions {
	return &arm.ClientOptions{ClientOptions: policy.ClientOptions{
		Transport: world.Transport(), Retry: policy.RetryOptions{MaxRetries: -1},
	}}
}

func newAzure(t *testing.T, world *azuresim.World, scenario azuresim.Scenario) *azure {
	t.Helper()
	factory, err := armcontainerservice.NewClientFactory(scenario.Subscription, world.Credential(), armOptions(world))
	if err != nil {
		t.Fatal(err)
	}
	return &azure{
		world: world, scenario: scenario, start: time.Now(),
		clusters: factory.NewManagedClustersClient(), pools: factory.NewAgentPoolsClient(),
	}
}

func (a *azure) cluster(t *testing.T) armcontainerservice.ManagedCluster {
	t.Helper()
	got, err := a.clusters.Get(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got.ManagedCluster
}

func (a *azure) pool(t *testing.T, name string) armcontainerservice.AgentPool {
	t.Helper()
	got, err := a.pools.Get(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got.AgentPool
}

type createPoller = *runtime.Poller[armcontainerservice.AgentPoolsClientCreateOrUpdateResponse]

func (a *azure) put(
	ctx context.Context, name string, pool armcontainerservice.AgentPool, ifMatch *string,
) (createPoller, error) {
	return a.pools.BeginCreateOrUpdate(ctx, a.scenario.ResourceGroup, a.scenario.Cluster, name, pool,
		&armcontainerservice.AgentPoolsClientBeginCreateOrUpdateOptions{IfMatch: ifMatch})
}

// createStandIn creates the system pool standin of that many nodes and waits for it.
func (a *azure) createStandIn(t *testing.T, count int32) {
	t.Helper()
	poller, err := a.put(t.Context(), "standin", systemPool(count), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := poller.PollUntilDone(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func (a *azure) deletePool(t *testing.T, name string) {
	t.Helper()
	poller, err := a.pools.BeginDelete(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := poller.PollUntilDone(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func systemPool(count int32) armcontainerservice.AgentPool {
	return armcontainerservice.AgentPool{Properties: &armcontainerservice.ManagedClusterAgentPoolProfileProperties{
		Mode: to.Ptr(armcontainerservice.AgentPoolModeSystem), Count: to.Ptr(count), VMSize: to.Ptr("Standard_D4ds_v5"),
	}}
}

// wantError expects ARM's refusal with a status and a code.
func wantError(t *testing.T, err error, status int, code string) {
	t.Helper()
	var refused *azcore.ResponseError
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want a refusal %d %s", err, status, code)
	}
	if refused.StatusCode != status || refused.ErrorCode != code {
		t.Fatalf("got %d %s, want %d %s", refused.StatusCode, refused.ErrorCode, status, code)
	}
}

func TestCreatingAPoolTakesItsTimeAndEndsWithReadyNodes(t *testing.T) {
	inWorld(t, builtIn(t, "wedged"), func(t *testing.T, a *azure) {
		poller, err := a.put(t.Context(), "standin", systemPool(2), nil)
		if err != nil {
			t.Fatal(err)
		}
		if state := *a.pool(t, "standin").Properties.ProvisioningState; state != "Creating" {
			t.Fatalf("the new pool is %s, want Creating", state)
		}
		got, err := poller.PollUntilDone(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if state := *got.Properties.ProvisioningState; state != "Succeeded" {
			t.Fatalf("the pool is %s, want Succeeded", state)
		}
		if took := time.Since(a.start); took < 150*time.Second || took > 154*time.Second {
			t.Fatalf("it took %s, want 2m30s and at most one poll", took)
		}
		if ready := a.readyNodes("standin"); ready != 2 {
			t.Fatalf("%d nodes are Ready, want 2", ready)
		}
	})
}

func (a *azure) readyNodes(pool string) int {
	ready := 0
	for _, node := range a.world.Snapshot().Nodes {
		if node.Pool == pool && node.Ready {
			ready++
		}
	}
	return ready
}

func TestAWholeRecoveryTakesNineToTenMinutes(t *testing.T) {
	inWorld(t, builtIn(t, "wedged"), func(t *testing.T, a *azure) {
		before := a.world.Snapshot().Pools[0]
		a.createStandIn(t, 3)
		source := a.pool(t, "system")
		a.deletePool(t, "system")
		source.Properties.ProvisioningState = nil
		poller, err := a.put(t.Context(), "system", source, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := poller.PollUntilDone(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		a.deletePool(t, "standin")
		a.mergeTags(t, map[string]string{"settled": "now"})
		time.Sleep(20 * time.Second)

		if took := time.Since(a.start); took < 9*time.Minute || took > 10*time.Minute {
			t.Fatalf("it took %s, want 9 to 10 minutes", took)
		}
		after := a.world.Snapshot()
		if after.Cluster.ProvisioningState != "Succeeded" || after.Pools[len(after.Pools)-1].ScaleSet == before.ScaleSet {
			t.Fatalf("the cluster is %s on scale set %s, want Succeeded on a new one",
				after.Cluster.ProvisioningState, before.ScaleSet)
		}
		if ready := a.readyNodes("system"); ready != 5 {
			t.Fatalf("%d nodes are Ready, want 5", ready)
		}
		var definition map[string]any
		if err := json.Unmarshal(before.Definition, &definition); err != nil || definition["minCount"] != 3.0 {
			t.Fatalf("definition %v (%v), want minCount 3", definition, err)
		}
	})
}

func TestAResumeTokenGoesOnPollingTheSameOperation(t *testing.T) {
	inWorld(t, builtIn(t, "wedged"), func(t *testing.T, a *azure) {
		first, err := a.put(t.Context(), "standin", systemPool(1), nil)
		if err != nil {
			t.Fatal(err)
		}
		token, err := first.ResumeToken()
		if err != nil {
			t.Fatal(err)
		}
		second, err := a.pools.BeginCreateOrUpdate(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, "standin",
			armcontainerservice.AgentPool{},
			&armcontainerservice.AgentPoolsClientBeginCreateOrUpdateOptions{ResumeToken: token})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := second.PollUntilDone(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if created := len(a.world.Operations()); created != 1 {
			t.Fatalf("%d operations, want the one that was resumed", created)
		}
	})
}

func TestOneOperationAtATime(t *testing.T) {
	inWorld(t, builtIn(t, "wedged"), func(t *testing.T, a *azure) {
		if _, err := a.put(t.Context(), "standin", systemPool(1), nil); err != nil {
			t.Fatal(err)
		}
		_, err := a.put(t.Context(), "other", systemPool(1), nil)
		wantError(t, err, http.StatusConflict, "OperationNotAllowed")
		_, err = a.pools.BeginDelete(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, "system", nil)
		wantError(t, err, http.StatusConflict, "OperationNotAllowed")
	})
}
