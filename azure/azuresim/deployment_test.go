package azuresim_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
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
	return &deployments{factory.NewDeploymentsClient(), factory.NewDeploymentOperationsClient(), factory.NewResourceGroupsClient(), a}
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
		Mode: to.Ptr(armresources.DeploymentModeIncremental), Template: document(t, template), Parameters: document(t, parameters),
	}}
}

// run deploys to the cluster's resource group and waits for the end.
func (d *deployments) run(t *testing.T, name string, what armresources.Deployment) (*armresources.DeploymentPropertiesExtended, error) {
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
		"type": "Microsoft.KeyVault/vaults", "apiVersion": "2023-07-01", "name": "[variables('full')]", "location": "[resourceGroup().location]",
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
		if got, err = d.Get(t.Context(), "fleet", "first", nil); err != nil || *got.Properties.ProvisioningState != armresources.ProvisioningStateRunning {
			t.Fatalf("got %v, %v; want it Running", got.Properties, err)
		}
		token, err := poller.ResumeToken()
		if err != nil {
			t.Fatal(err)
		}
		resumed, err := d.BeginCreateOrUpdate(t.Context(), "fleet", "first", armresources.Deployment{}, &armresources.DeploymentsClientBeginCreateOrUpdateOptions{ResumeToken: token})
		if err != nil {
			t.Fatal(err)
		}
		done, err := resumed.PollUntilDone(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		const id = "/subscriptions/5a1e0000-0000-4000-8000-000000000001/resourceGroups/fleet/providers/Microsoft.KeyVault/vaults/kv-fleet"
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
		if status, body := a.raw(t, http.MethodGet, id+"?api-version=2023-07-01"); status != http.StatusOK || !strings.Contains(body, `"size":3`) {
			t.Errorf("%d %s", status, body)
		}
	})
}

// raw asks ARM for a path as no client of the SDK does.
func (a *azure) raw(t *testing.T, method, path string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "https://management.azure.com"+path, nil)
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
