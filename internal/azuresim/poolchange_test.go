package azuresim_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
)

// TestPoolsChangeForThoseWhoSawThem: preconditions hold for a deletion as for a write, and what no pool can change is
// refused.
func TestPoolsChangeForThoseWhoSawThem(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		deletion := func(pool, ifMatch string) error {
			_, err := a.pools.BeginDelete(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, pool,
				&armcontainerservice.AgentPoolsClientBeginDeleteOptions{IfMatch: to.Ptr(ifMatch)})
			return err
		}
		wantError(t, deletion("workers", `"another"`), http.StatusConflict, "EtagMismatch")
		wantError(t, deletion("absent", `"any"`), http.StatusPreconditionFailed, "PreconditionFailed")

		// A disk of no size is as large as its machine's.
		body := `{"properties": {"vmSize": "Standard_D4s_v5", "count": 1, "osDiskSizeGB": 0, "maxPods": 250}}`
		if got := a.call(t, "PUT", "C/agentPools/extra"+aksVersion, body); got.status != http.StatusCreated {
			t.Errorf("%d %s", got.status, got.text)
		}
		time.Sleep(10 * time.Minute)

		workers := a.pool(t, "workers")
		workers.Properties.VMSize = to.Ptr("Standard_D16s_v5")
		_, err := a.put(t.Context(), "workers", workers, nil)
		wantError(t, err, http.StatusBadRequest, "PropertyChangeNotAllowed")

		workers = a.pool(t, "workers")
		_, err = a.put(t.Context(), "workers", workers, to.Ptr(`"another"`))
		wantError(t, err, http.StatusConflict, "EtagMismatch")
		_, err = a.put(t.Context(), "absent", systemPool(1), to.Ptr(`"any"`))
		wantError(t, err, http.StatusPreconditionFailed, "PreconditionFailed")
		if state := *a.pool(t, "workers").Properties.ProvisioningState; state != "Succeeded" {
			t.Errorf("the pool is %s", state)
		}
		if err := deletion("workers", *workers.Properties.ETag); err != nil {
			t.Error(err)
		}
	})
}
