package azuresim_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
	"github.com/google/go-cmp/cmp"

	"salve/internal/azuresim"
)

// thing is a resource of a template that nothing is known of.
func thing(name, rest string) string {
	return fmt.Sprintf(`{"type": "N.S/things", "apiVersion": "1", "name": %q%s}`, name, rest)
}

func resources(all ...string) string { return `"resources": [` + strings.Join(all, ", ") + `]` }

// withThings is a healthy world with resources.
func withThings(t *testing.T) azuresim.Scenario {
	t.Helper()
	return parsed(t, `
resourceGroups: [shared]
resources:
  - {type: N.S/things, name: old, properties: {colour: red, size: 1, list: [1, 2]}}
  - {type: N.S/things, name: kept, properties: {colour: green}}
  - {type: N.S/things/parts, name: kept/part}
  - {group: shared, type: N.S/things, name: far, tags: {a: b}, properties: {colour: blue}}
`)
}

// states are the parts of a deployment as its operations show them.
func (d *deployments) states(t *testing.T, name string) map[string]string {
	t.Helper()
	states := map[string]string{}
	pages := d.operations.NewListPager("fleet", name, nil)
	for pages.More() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, operation := range page.Value {
			states[*operation.Properties.TargetResource.ResourceName] = *operation.Properties.ProvisioningState
		}
	}
	return states
}

func TestIndependentResourcesAreDeployedAtOnce(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		poller, err := d.BeginCreateOrUpdate(t.Context(), "fleet", "all", incremental(t, resources(
			thing("last", `, "dependsOn": ["a", "b"]`), thing("a", ""), thing("b", "")), `{}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if difference := cmp.Diff(map[string]string{"a": "Running", "b": "Running"}, d.states(t, "all")); difference != "" {
			t.Error(difference)
		}
		done, err := poller.PollUntilDone(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if took := *done.Properties.Duration; took != "PT11S" {
			t.Errorf("it took %s, want a second to be accepted and twice the 5 s of a resource", took)
		}
		if needs := done.Properties.Dependencies; len(needs) != 1 || *needs[0].ResourceName != "last" ||
			len(needs[0].DependsOn) != 2 {
			t.Errorf("dependencies %+v", needs)
		}
	})
}

func TestALargestCopyIsDeployed(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		got, err := d.run(t, "many", incremental(t, resources(
			`{"type": "N.S/things", "apiVersion": "1", "name": "[format('t{0}', copyIndex())]", "copy": {"name": "loop", "count": 800}}`,
			thing("last", `, "dependsOn": ["loop"]`)), `{}`))
		if err != nil || len(got.OutputResources) != 801 {
			t.Fatalf("%d resources, %v", len(got.OutputResources), err)
		}
		page, err := d.operations.NewListPager("fleet", "many", nil).NextPage(t.Context())
		if err != nil || len(page.Value) != a.scenario.PageSize || page.NextLink == nil {
			t.Fatalf("%d operations, %v", len(page.Value), err)
		}
		one, err := d.operations.Get(t.Context(), "fleet", "many", *page.Value[7].OperationID, nil)
		if err != nil || *one.Properties.TargetResource.ResourceName != "t7" {
			t.Errorf("%+v, %v", one.Properties, err)
		}
	})
}

func TestAfterAFailureWhatRunsFinishesAndNothingBegins(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		_, err := d.run(t, "broken", incremental(t, resources(thing("runs", ""), thing("after", `, "dependsOn": ["runs"]`),
			thing("fails", `, "properties": {"x": "[reference(resourceId('N.S/things', 'nobody')).y]"}`)), `{}`))
		wantError(t, err, http.StatusOK, "DeploymentFailed")
		difference := cmp.Diff(map[string]string{"runs": "Succeeded", "fails": "Failed"}, d.states(t, "broken"))
		if difference != "" {
			t.Error(difference)
		}
		why := d.refused(t, "broken").Details[0]
		if *why.Code != "ResourceNotFound" ||
			!strings.Contains(*why.Message, "'N.S/things/nobody' under resource group 'fleet'") {
			t.Errorf("%s: %s", *why.Code, *why.Message)
		}
	})
}

func TestCanceledDeploymentsBeginNothingMore(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		poller, err := d.BeginCreateOrUpdate(t.Context(), "fleet", "gone", incremental(t, resources(thing("a", ""), thing("b", `, "dependsOn": ["a"]`)), `{}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if _, err := d.Cancel(t.Context(), "fleet", "gone", nil); err != nil {
			t.Fatal(err)
		}
		_, err = poller.PollUntilDone(t.Context(), nil)
		wantError(t, err, http.StatusOK, "DeploymentCanceled")
		time.Sleep(time.Minute)
		if difference := cmp.Diff(map[string]string{"a": "Canceled"}, d.states(t, "gone")); difference != "" {
			t.Error(difference)
		}
		_, err = d.Cancel(t.Context(), "fleet", "gone", nil)
		wantError(t, err, http.StatusConflict, "DeploymentCannotBeCancelled")
	})
}

func TestCancelReachesNestedDeployments(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		_, err := d.BeginCreateOrUpdate(t.Context(), "fleet", "outer", incremental(t, resources(`{"type": "Microsoft.Resources/deployments", "apiVersion": "2021-04-01",
			"name": "inner", "properties": {"mode": "Incremental", "template": {"$schema": "x", "contentVersion": "1.0.0.0", "resources": [`+thing("a", "")+`]}}}`), `{}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if _, err := d.Cancel(t.Context(), "fleet", "outer", nil); err != nil {
			t.Fatal(err)
		}
		if difference := cmp.Diff(map[string]string{"inner": "Canceled"}, d.states(t, "outer")); difference != "" {
			t.Error(difference)
		}
		for _, name := range []string{"outer", "inner"} {
			got, err := d.Get(t.Context(), "fleet", name, nil)
			if err != nil || *got.Properties.ProvisioningState != armresources.ProvisioningStateCanceled {
				t.Errorf("%s: %+v, %v", name, got.Properties, err)
			}
		}
	})
}

func TestCompleteModeDeletesWhatTheTemplateDoesNotHave(t *testing.T) {
	inWorld(t, withThings(t), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		what := incremental(t, resources(thing("kept", ""), `{"type": "Microsoft.ContainerService/managedClusters", "apiVersion": "2025-02-01", "name": "aks-1", "properties": {}}`), `{}`)
		what.Properties.Mode = to.Ptr(armresources.DeploymentModeComplete)
		if _, err := d.run(t, "all", what); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]int{
			"fleet/providers/N.S/things/kept": 200, "fleet/providers/N.S/things/kept/parts/part": 200,
			"fleet/providers/N.S/things/old": 404, "shared/providers/N.S/things/far": 200,
		} {
			status, _ := a.raw(t, "/subscriptions/"+a.scenario.Subscription+"/resourceGroups/"+id+"?api-version=2024-01-01")
			if status != want {
				t.Errorf("%s: %d, want %d", id, status, want)
			}
		}
		what = incremental(t, resources(thing("kept", "")), `{}`)
		what.Properties.Mode = to.Ptr(armresources.DeploymentModeComplete)
		_, err := d.run(t, "without-cluster", what)
		wantError(t, err, http.StatusOK, "DeploymentFailed")
		if !a.world.Snapshot().Cluster.Exists {
			t.Error("the cluster is gone")
		}
	})
}

func TestADeploymentToTheSubscriptionMakesGroupsAndDeploysIntoThem(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		what := incremental(t, `"resources": [
			{"type": "Microsoft.Resources/resourceGroups", "apiVersion": "2021-04-01", "name": "regional",
			 "location": "northeurope", "tags": {"kind": "[deployment().location]"}},
			{"type": "Microsoft.Resources/deployments", "apiVersion": "2021-04-01", "name": "inside",
			 "resourceGroup": "regional", "dependsOn": ["regional"],
			 "properties": {"mode": "Incremental", "expressionEvaluationOptions": {"scope": "inner"},
				"parameters": {"name": {"value": "kv"}},
				"template": {"$schema": "x", "contentVersion": "1.0.0.0", `+vault+`}}}],
			"outputs": {"id": {"type": "string", "value": "[reference('inside').outputs.id.value]"}}`, `{}`)
		_, err := d.BeginCreateOrUpdateAtSubscriptionScope(t.Context(), "all", what, nil)
		wantError(t, err, http.StatusBadRequest, "InvalidDeployment")
		what.Location = to.Ptr("westeurope")
		preview, err := d.BeginWhatIfAtSubscriptionScope(t.Context(), "all", armresources.DeploymentWhatIf{
			Location:   what.Location,
			Properties: &armresources.DeploymentWhatIfProperties{Mode: what.Properties.Mode, Template: what.Properties.Template},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if result, err := preview.PollUntilDone(t.Context(), nil); err != nil || len(result.Properties.Changes) != 2 ||
			*result.Properties.Changes[1].ChangeType != armresources.ChangeTypeCreate {
			t.Errorf("%+v, %v", result.Properties, err)
		}
		poller, err := d.BeginCreateOrUpdateAtSubscriptionScope(t.Context(), "all", what, nil)
		if err != nil {
			t.Fatal(err)
		}
		done, err := poller.PollUntilDone(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := "/subscriptions/" + a.scenario.Subscription +
			"/resourceGroups/regional/providers/Microsoft.KeyVault/vaults/kv-regional"
		if id, _ := done.Properties.Outputs.(map[string]any)["id"].(map[string]any); id["value"] != want {
			t.Errorf("outputs %v, want %s", done.Properties.Outputs, want)
		}
		if made := done.Properties.OutputResources; len(made) != 2 || *made[1].ID != want {
			t.Errorf("output resources %v", made)
		}
		got, err := d.groups.Get(t.Context(), "regional", nil)
		if err != nil || *got.Location != "northeurope" || *got.Tags["kind"] != "westeurope" {
			t.Errorf("group %+v, %v", got, err)
		}
		if _, err := d.Get(t.Context(), "regional", "inside", nil); err != nil {
			t.Error(err)
		}
		created, err := d.groups.CreateOrUpdate(t.Context(), "another",
			armresources.ResourceGroup{Location: to.Ptr("westeurope")}, nil)
		if err != nil || *created.Name != "another" {
			t.Errorf("%v, %v", created.Name, err)
		}
	})
}

func TestANestedFailureIsToldWithItsCause(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		_, err := d.run(t, "outer", incremental(t, resources(`{"type": "Microsoft.Resources/deployments", "apiVersion": "2021-04-01", "name": "inner",
			"properties": {"mode": "Incremental", "template": {"$schema": "x", "contentVersion": "1.0.0.0", "resources": [
				{"existing": true, "type": "N.S/things", "apiVersion": "1", "name": "nobody"}]}}}`), `{}`))
		wantError(t, err, http.StatusOK, "DeploymentFailed")
		why := d.refused(t, "outer")
		if inner := why.Details[0].Details[0]; *why.Details[0].Code != "ResourceDeploymentFailure" ||
			*inner.Code != "DeploymentFailed" || *inner.Details[0].Code != "ResourceNotFound" {
			t.Errorf("the error is %+v", why)
		}
	})
}
