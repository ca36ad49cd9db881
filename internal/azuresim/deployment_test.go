package azuresim_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
	"github.com/google/go-cmp/cmp"
)

// deployments are the SDK's own clients on a world.
type deployments struct {
	*armresources.DeploymentsClient
	operations *armresources.DeploymentOperationsClient
	groups     *armresources.ResourceGroupsClient
	world      *azure
}

func (a *azure) deployments(t *testing.T) *deployments {
	t.Helper()
	factory, err := armresources.NewClientFactory(a.scenario.Subscription, a.world.Credential(), armOptions(a.world))
	if err != nil {
		t.Fatal(err)
	}
	return &deployments{
		factory.NewDeploymentsClient(), factory.NewDeploymentOperationsClient(), factory.NewResourceGroupsClient(), a,
	}
}

// document reads JSON, and gives a template what every template has.
func document(t *testing.T, text string) any {
	t.Helper()
	if strings.HasPrefix(strings.TrimSpace(text), `"`) {
		text = `{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", "contentVersion": "1.0.0.0", ` + text + `}`
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

func incremental(t *testing.T, template, parameters string) armresources.Deployment {
	t.Helper()
	return armresources.Deployment{Properties: &armresources.DeploymentProperties{
		Mode: to.Ptr(armresources.DeploymentModeIncremental), Template: document(t, template),
		Parameters: document(t, parameters),
	}}
}

// run deploys to the cluster's resource group and waits for the end.
func (d *deployments) run(
	t *testing.T, name string, what armresources.Deployment,
) (*armresources.DeploymentPropertiesExtended, error) {
	t.Helper()
	poller, err := d.BeginCreateOrUpdate(t.Context(), d.world.scenario.ResourceGroup, name, what, nil)
	if err != nil {
		return nil, err
	}
	got, err := poller.PollUntilDone(t.Context(), nil)
	return got.Properties, err
}

const vault = `"parameters": {"name": {"type": "string"}, "size": {"type": "int", "defaultValue": 3}},
	"variables": {"full": "[concat(parameters('name'), '-', resourceGroup().name)]"},
	"resources": [{
		"type": "Microsoft.KeyVault/vaults", "apiVersion": "2023-07-01",
		"name": "[variables('full')]", "location": "[resourceGroup().location]",
		"properties": {"size": "[parameters('size')]", "sku": {"name": "standard"}}
	}],
	"outputs": {
		"id": {"type": "string", "value": "[resourceId('Microsoft.KeyVault/vaults', variables('full'))]"},
		"sku": {"type": "object", "value": "[reference(variables('full')).sku]"},
		"size": {"type": "int", "value": "[reference(variables('full')).size]"}
	}`

func TestADeploymentMakesItsResourcesAndAnswersWithItsOutputs(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		poller, err := d.BeginCreateOrUpdate(t.Context(), "fleet", "first", incremental(t, vault, `{"name": {"value": "kv"}}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Get(t.Context(), "fleet", "first", nil)
		if err != nil || *got.Properties.ProvisioningState != armresources.ProvisioningStateAccepted {
			t.Fatalf("got %v, %v; want it Accepted", got.Properties, err)
		}
		time.Sleep(2 * time.Second)
		got, err = d.Get(t.Context(), "fleet", "first", nil)
		if err != nil || *got.Properties.ProvisioningState != armresources.ProvisioningStateRunning {
			t.Fatalf("got %v, %v; want it Running", got.Properties, err)
		}
		token, err := poller.ResumeToken()
		if err != nil {
			t.Fatal(err)
		}
		resumed, err := d.BeginCreateOrUpdate(t.Context(), "fleet", "first", armresources.Deployment{},
			&armresources.DeploymentsClientBeginCreateOrUpdateOptions{ResumeToken: token})
		if err != nil {
			t.Fatal(err)
		}
		done, err := resumed.PollUntilDone(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		id := "/subscriptions/" + a.scenario.Subscription +
			"/resourceGroups/fleet/providers/Microsoft.KeyVault/vaults/kv-fleet"
		want := map[string]any{
			"id":   map[string]any{"type": "String", "value": id},
			"sku":  map[string]any{"type": "Object", "value": map[string]any{"name": "standard"}},
			"size": map[string]any{"type": "Int", "value": 3.0},
		}
		if difference := cmp.Diff(want, done.Properties.Outputs); difference != "" {
			t.Error(difference)
		}
		if made := done.Properties.OutputResources; len(made) != 1 || *made[0].ID != id {
			t.Errorf("output resources %v", made)
		}
		status, body := a.raw(t, id+"?api-version=2023-07-01")
		if status != http.StatusOK || !strings.Contains(body, `"size":3`) {
			t.Errorf("%d %s", status, body)
		}
	})
}

// raw gets a path from ARM as no client of the SDK does.
func (a *azure) raw(t *testing.T, path string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://management.azure.com"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer any")
	response, err := a.world.Transport().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestADeploymentThatIsActiveCantBeReplaced(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		what := incremental(t, vault, `{"name": {"value": "kv"}}`)
		if _, err := d.BeginCreateOrUpdate(t.Context(), "fleet", "one", what, nil); err != nil {
			t.Fatal(err)
		}
		_, err := d.BeginCreateOrUpdate(t.Context(), "fleet", "one", what, nil)
		wantError(t, err, http.StatusConflict, "DeploymentActive")
		time.Sleep(time.Minute)
		if _, err := d.run(t, "one", what); err != nil {
			t.Fatalf("one that has ended was not replaced: %v", err)
		}
	})
}

// refused is the error that a deployment shows.
func (d *deployments) refused(t *testing.T, name string) *armresources.ErrorResponse {
	t.Helper()
	got, err := d.Get(t.Context(), d.world.scenario.ResourceGroup, name, nil)
	if err != nil || *got.Properties.ProvisioningState != armresources.ProvisioningStateFailed ||
		got.Properties.Error == nil {
		t.Fatalf("got %+v, %v; want it Failed with an error", got.Properties, err)
	}
	return got.Properties.Error
}

// rollout is a cluster and what comes after it.
const rollout = `"resources": [
		{"type": "Microsoft.ContainerService/managedClusters", "apiVersion": "2025-02-01", "name": "aks-1",
		 "location": "westeurope", "tags": {"revision": "7"}, "properties": {}},
		{"type": "Microsoft.Insights/diagnosticSettings", "apiVersion": "2021-05-01-preview", "name": "audit",
		 "scope": "Microsoft.ContainerService/managedClusters/aks-1", "dependsOn": ["aks-1"], "properties": {}}],
	"outputs": {"fqdn": {"type": "string", "value": "[reference('aks-1').fqdn]"}}`

func TestADeploymentOfTheClusterIsStuckBehindAWedgedPoolUntilThatIsReplaced(t *testing.T) {
	inWorld(t, builtIn(t, "wedged"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		poller, err := d.BeginCreateOrUpdate(t.Context(), "fleet", "cluster", incremental(t, rollout, `{}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(150 * time.Second)
		_, err = a.put(t.Context(), "standin", systemPool(1), nil)
		wantError(t, err, http.StatusConflict, "OperationNotAllowed")
		if got := failedWrites(a.events(t, a.start)); got == 0 {
			t.Error("none of the failed writes can be read")
		}
		_, err = poller.PollUntilDone(t.Context(), nil)
		wantError(t, err, http.StatusOK, "DeploymentFailed")
		why := d.refused(t, "cluster")
		if inner := why.Details[0]; len(why.Details) != 1 || *inner.Code != "ResourceDeploymentFailure" ||
			*inner.Details[0].Code != "ReconcileVMSSAgentPoolFailed" {
			t.Errorf("the error is %+v", why)
		}
		if state := a.world.Snapshot(); state.Cluster.ProvisioningState != "Failed" ||
			state.Pools[0].ProvisioningState != "Failed" {
			t.Fatalf("cluster %s, pool %s; want both Failed", state.Cluster.ProvisioningState, state.Pools[0].ProvisioningState)
		}
		definition := a.pool(t, "system")
		a.createStandIn(t, 3)
		a.deletePool(t, "system")
		recreated, err := a.put(t.Context(), "system", armcontainerservice.AgentPool{Properties: definition.Properties}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := recreated.PollUntilDone(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		done, err := d.run(t, "cluster", incremental(t, rollout, `{}`))
		if err != nil {
			t.Fatal(err)
		}
		fqdn, _ := done.Outputs.(map[string]any)["fqdn"].(map[string]any)
		state := a.world.Snapshot().Cluster
		if fqdn["value"] != *a.cluster(t).Properties.Fqdn || state.ProvisioningState != "Succeeded" ||
			state.Tags["revision"] != "7" {
			t.Errorf("outputs %v, cluster %+v", done.Outputs, state)
		}
	})
}

func TestADeploymentToABusyClusterIsRefusedAsAnyWriteIs(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		if _, err := a.put(t.Context(), "standin", systemPool(1), nil); err != nil {
			t.Fatal(err)
		}
		_, err := d.run(t, "cluster", incremental(t, rollout, `{}`))
		wantError(t, err, http.StatusOK, "DeploymentFailed")
		if why := d.refused(t, "cluster"); *why.Details[0].Code != "OperationNotAllowed" {
			t.Errorf("the error is %s", *why.Details[0].Code)
		}
		status, _ := a.raw(t, *a.cluster(t).ID+
			"/providers/Microsoft.Insights/diagnosticSettings/audit?api-version=2021-05-01-preview")
		if status != http.StatusNotFound {
			t.Errorf("%d: what depends on the cluster was deployed all the same", status)
		}
	})
}

func TestAbortOfTheClusterEndsItsDeployment(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		poller, err := d.BeginCreateOrUpdate(t.Context(), "fleet", "cluster", incremental(t, rollout, `{}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		a.abort(t)
		_, err = poller.PollUntilDone(t.Context(), nil)
		wantError(t, err, http.StatusOK, "DeploymentFailed")
		if why := d.refused(t, "cluster"); *why.Details[0].Details[0].Code != "Canceled" {
			t.Errorf("the error is %+v", why)
		}
	})
}

func TestAPoolIsDeployedByTheRulesOfPools(t *testing.T) {
	pool := func(properties string) string {
		return `"resources": [{"type": "Microsoft.ContainerService/managedClusters/agentPools", "apiVersion": "2025-02-01", "name": "aks-1/extra", "properties": ` + properties + `}]`
	}
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		_, err := d.run(t, "bad", incremental(t, pool(`{"count": 1}`), `{}`))
		wantError(t, err, http.StatusOK, "DeploymentFailed")
		why := d.refused(t, "bad")
		if *why.Details[0].Code != "InvalidParameter" || !strings.HasSuffix(*why.Details[0].Target, "/agentPools/extra") {
			t.Errorf("the error is %+v", why.Details[0])
		}
		if _, err := d.run(t, "good", incremental(t, pool(`{"count": 2, "vmSize": "Standard_D4ds_v5"}`), `{}`)); err != nil {
			t.Fatal(err)
		}
		if got := a.readyNodes("extra"); got != 2 {
			t.Errorf("%d nodes are Ready, want 2", got)
		}
	})
}

func TestTheScenariosClusterCanBeMade(t *testing.T) {
	made := func(name, profiles string) string {
		return `"resources": [{"type": "Microsoft.ContainerService/managedClusters", "apiVersion": "2025-02-01", "name": "` + name + `",
			"properties": {"agentPoolProfiles": [` + profiles + `]}}]`
	}
	inWorld(t, builtIn(t, "greenfield"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		const workers = `{"name": "workers", "count": 2, "vmSize": "Standard_D4s_v5", "mode": "User"}`
		for name, row := range map[string]struct{ template, code string }{
			"no-system-pool": {made("aks-1", workers), "MustDefineAtLeastOneSystemPool"},
			"another":        {made("aks-2", workers), "NotSupported"},
			"bad-pool":       {made("aks-1", `{"name": "System"}`), "InvalidParameter"},
		} {
			_, err := d.run(t, name, incremental(t, row.template, `{}`))
			wantError(t, err, http.StatusOK, "DeploymentFailed")
			if why := d.refused(t, name); *why.Details[0].Code != row.code {
				t.Errorf("%s: the error is %s", name, *why.Details[0].Code)
			}
		}
		if _, err := d.run(t, "cluster", incremental(t, made("aks-1", workers+`, {"name": "system", "count": 3, "vmSize": "Standard_D4s_v5", "mode": "System"}`), `{}`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if cluster := a.cluster(t); *cluster.Properties.ProvisioningState != "Succeeded" ||
			len(cluster.Properties.AgentPoolProfiles) != 2 {
			t.Errorf("the cluster is %+v", cluster.Properties)
		}
		if system, workers := a.readyNodes("system"), a.readyNodes("workers"); system != 3 || workers != 2 {
			t.Errorf("%d and %d nodes are Ready, want 3 and 2", system, workers)
		}
		for _, pod := range a.world.Snapshot().Pods {
			if pod.Node == "" {
				t.Errorf("%s runs nowhere", pod.Name)
			}
		}
		if pods := len(a.world.Snapshot().Pods); pods != 5*2+2+2+2+5 {
			t.Errorf("%d pods", pods)
		}
	})
}
