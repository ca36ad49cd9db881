package azuresim_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
	"github.com/google/go-cmp/cmp"
)

// whatIf is the changes that ARM predicts: the last two parts of each ID, and the type of the change.
func (d *deployments) whatIf(
	t *testing.T, what armresources.Deployment,
) (map[string]string, []*armresources.WhatIfChange) {
	t.Helper()
	poller, err := d.BeginWhatIf(t.Context(), "fleet", "preview",
		armresources.DeploymentWhatIf{Properties: &armresources.DeploymentWhatIfProperties{
			Mode: what.Properties.Mode, Template: what.Properties.Template, Parameters: what.Properties.Parameters,
		}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	done, err := poller.PollUntilDone(t.Context(), nil)
	if err != nil || *done.Status != "Succeeded" {
		t.Fatal(err)
	}
	short := map[string]string{}
	for _, change := range done.Properties.Changes {
		parts := strings.Split(*change.ResourceID, "/")
		short[strings.Join(parts[len(parts)-2:], "/")] = string(*change.ChangeType)
	}
	return short, done.Properties.Changes
}

func TestWhatIfTellsWhatWouldChangeAndChangesNothing(t *testing.T) {
	inWorld(t, withThings(t), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		what := incremental(t, resources(
			thing("old", `, "location": "westeurope", "properties": {"colour": "blue", "size": 1, "list": [1, 3], "new": true}`),
			thing("kept", `, "location": "westeurope", "properties": {"colour": "green"}`),
			thing("new", `, "properties": {"from": "[reference('later').x]"}`), thing("later", ""),
			`{"type": "Microsoft.ContainerService/managedClusters", "apiVersion": "2025-02-01", "name": "aks-1", "tags": {"owner": "us"},
				"properties": {"dnsPrefix": "aks-1", "agentPoolProfiles": [{"name": "workers", "mode": "User"}]}}`,
			`{"type": "Microsoft.Resources/deployments", "apiVersion": "2021-04-01", "name": "inside", "properties": {"mode": "Incremental",
				"template": {"$schema": "x", "contentVersion": "1.0.0.0", "resources": [`+thing("deep", "")+`]}}}`,
		), `{}`)
		before := a.world.Snapshot()
		got, changes := d.whatIf(t, what)
		want := map[string]string{
			"things/old": "Modify", "things/kept": "NoChange", "things/new": "Create", "things/later": "Create",
			"things/deep": "Create", "managedClusters/aks-1": "Modify", "parts/part": "Ignore",
		}
		if difference := cmp.Diff(want, got); difference != "" {
			t.Error(difference)
		}
		var delta []string
		for _, change := range changes[0].Delta {
			delta = append(delta, string(*change.PropertyChangeType)+" "+*change.Path)
		}
		difference := cmp.Diff([]string{"Modify properties.colour", "Array properties.list", "Create properties.new"}, delta)
		if difference != "" {
			t.Error(difference)
		}
		if after, _ := json.Marshal(changes[2].After); !strings.Contains(string(after), `"[reference('later').x]"`) {
			t.Errorf("what is not known yet must stay as it is written: %s", after)
		}
		what.Properties.Mode = to.Ptr(armresources.DeploymentModeComplete)
		what.Properties.Template = document(t, resources(thing("kept", "")))
		got, _ = d.whatIf(t, what)
		want = map[string]string{
			"things/kept": "Modify", "things/old": "Delete", "parts/part": "Ignore", "managedClusters/aks-1": "Delete",
		}
		if difference := cmp.Diff(want, got); difference != "" {
			t.Error(difference)
		}
		after := a.world.Snapshot()
		if after.At = before.At; cmp.Diff(before, after) != "" {
			t.Error(cmp.Diff(before, after))
		}
	})
}

func TestValidateHeadListAndDelete(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		what := incremental(t, vault, `{"name": {"value": "kv"}}`)
		validated, err := d.BeginValidate(t.Context(), "fleet", "one", what, nil)
		if err != nil {
			t.Fatal(err)
		}
		done, err := validated.PollUntilDone(t.Context(), nil)
		if err != nil || len(done.Properties.ValidatedResources) != 1 {
			t.Errorf("%+v, %v", done.Properties, err)
		}
		_, err = d.BeginValidate(t.Context(), "fleet", "one", incremental(t, vault, `{}`), nil)
		wantError(t, err, http.StatusBadRequest, "InvalidTemplate")
		if exists, err := d.CheckExistence(t.Context(), "fleet", "one", nil); exists.Success || err != nil {
			t.Errorf("validated ones exist: %v, %v", exists.Success, err)
		}
		for _, name := range []string{"one", "two"} {
			if _, err := d.run(t, name, what); err != nil {
				t.Fatal(err)
			}
		}
		if exists, err := d.CheckExistence(t.Context(), "fleet", "one", nil); !exists.Success || err != nil {
			t.Errorf("exists: %v, %v", exists.Success, err)
		}
		page, err := d.NewListByResourceGroupPager("fleet", nil).NextPage(t.Context())
		if err != nil || len(page.Value) != 2 || *page.Value[0].Name != "two" {
			t.Errorf("%v, %v", page.Value, err)
		}
		deleted, err := d.BeginDelete(t.Context(), "fleet", "one", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := deleted.PollUntilDone(t.Context(), nil); err != nil {
			t.Error(err)
		}
		_, err = d.Get(t.Context(), "fleet", "one", nil)
		wantError(t, err, http.StatusNotFound, "DeploymentNotFound")
	})
}

func TestRefusalsOfDeployments(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		empty := incremental(t, resources(), `{}`)
		change := func(change func(*armresources.DeploymentProperties)) armresources.Deployment {
			properties := *empty.Properties
			change(&properties)
			return armresources.Deployment{Properties: &properties}
		}
		for name, row := range map[string]struct {
			what armresources.Deployment
			code string
		}{
			"location": {
				armresources.Deployment{Location: to.Ptr("westeurope"), Properties: empty.Properties}, "InvalidDeployment",
			},
			"properties": {armresources.Deployment{}, "InvalidDeployment"},
			"template":   {change(func(p *armresources.DeploymentProperties) { p.Template = nil }), "InvalidDeployment"},
			"link": {change(func(p *armresources.DeploymentProperties) {
				p.TemplateLink = &armresources.TemplateLink{URI: to.Ptr("https://x")}
			}), "InvalidTemplateLink"},
			"mode":      {change(func(p *armresources.DeploymentProperties) { p.Mode = nil }), "InvalidDeploymentMode"},
			"function":  {incremental(t, resources(thing("[nobody()]", "")), `{}`), "InvalidTemplate"},
			"parameter": {incremental(t, resources(), `{"x": {"value": 1}}`), "InvalidTemplate"},
		} {
			_, err := d.BeginCreateOrUpdate(t.Context(), "fleet", name, row.what, nil)
			wantError(t, err, http.StatusBadRequest, row.code)
		}
		_, err := d.BeginCreateOrUpdate(t.Context(), "nowhere", "x", empty, nil)
		wantError(t, err, http.StatusNotFound, "ResourceGroupNotFound")
		status, body := a.raw(t, "/subscriptions/"+a.scenario.Subscription+
			"/resourceGroups/fleet/providers/Microsoft.Resources/deployments?api-version=2025-04-01")
		if status != http.StatusOK || body != `{"value":[]}` {
			t.Errorf("refused ones are listed: %d %s", status, body)
		}
	})
}

func TestSecretsAreNeverShown(t *testing.T) {
	const secret = "correct-horse"
	what := func(t *testing.T) armresources.Deployment {
		return incremental(t, `"parameters": {"password": {"type": "secureString"}, "keys": {"type": "secureObject"}},
			"resources": [
				`+thing("safe", `, "properties": {"plain": "[concat('pw=', parameters('password'))]", "coded": "[base64(parameters('password'))]", "inner": "[parameters('keys').a[0]]"}`)+`,
				{"type": "Microsoft.Resources/deployments", "apiVersion": "2021-04-01", "name": "inner",
				 "properties": {"mode": "Incremental",
					"template": {"$schema": "x", "contentVersion": "1.0.0.0", "resources": [`+thing("deep", `, "properties": {"p": "[parameters('password')]"}`)+`]}}},
				`+thing("fails", `, "dependsOn": ["safe"], "properties": {"x": "[reference(resourceId('N.S/things', parameters('password'))).y]"}`)+`],
			"outputs": {"hidden": {"type": "secureString", "value": "[parameters('password')]"}, "leak": {"type": "string", "value": "[parameters('password')]"}}`,
			`{"password": {"value": "`+secret+`"}, "keys": {"value": {"a": ["another-secret"]}}}`)
	}
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		_, err := d.run(t, "secret", what(t))
		wantError(t, err, http.StatusOK, "DeploymentFailed")
		_, preview := d.whatIf(t, what(t))
		group := "/subscriptions/" + a.scenario.Subscription + "/resourceGroups/fleet"
		said := []string{err.Error()}
		for _, path := range []string{
			"/providers/Microsoft.Resources/deployments/secret", "/providers/Microsoft.Resources/deployments/inner",
			"/deployments/secret/operations", "/providers/N.S/things/safe", "/providers/N.S/things/deep",
		} {
			version := "?api-version=2021-04-01"
			status, body := a.raw(t, group+path+version)
			if status != http.StatusOK {
				t.Errorf("%s: %d %s", path, status, body)
			}
			said = append(said, body)
		}
		for _, value := range []any{preview, a.world.Calls(), a.world.Snapshot()} {
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, string(text))
		}
		for _, text := range said {
			if strings.Contains(text, secret) || strings.Contains(text, "Y29ycmVjdC1ob3JzZQ") ||
				strings.Contains(text, "another-secret") {
				t.Errorf("a secret is shown: %s", text)
			}
		}
		if !strings.Contains(said[1], `"password":{"type":"SecureString"}`) {
			t.Errorf("the parameter's type is not shown: %s", said[1])
		}
	})
}

func TestFaultsMeetDeploymentsToo(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		d, what := a.deployments(t), incremental(t, vault, `{"name": {"value": "kv"}}`)
		a.inject(t, `throttle: {match: {method: PUT, path: "*/deployments/*"}, first: 1}`)
		_, err := d.BeginCreateOrUpdate(t.Context(), "fleet", "one", what, nil)
		wantError(t, err, http.StatusTooManyRequests, "TooManyRequests")
		a.inject(t, `lostResponse: {match: {path: "*/deployments/*"}}`)
		if _, err = d.BeginCreateOrUpdate(t.Context(), "fleet", "one", what, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("got %v, want a network error", err)
		}
		_, err = d.BeginCreateOrUpdate(t.Context(), "fleet", "one", what, nil)
		wantError(t, err, http.StatusConflict, "DeploymentActive")
		a.inject(t, `serverError: {match: {path: "*/operationStatuses/*"}, status: 503}`)
		time.Sleep(time.Minute)
		poller, err := d.BeginCreateOrUpdate(t.Context(), "fleet", "one", what, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = poller.PollUntilDone(t.Context(), nil)
		wantError(t, err, http.StatusServiceUnavailable, "InternalServerError")
		mutating := 0
		for _, call := range a.world.Calls() {
			if call.Mutating && call.Verb == http.MethodPut && strings.HasSuffix(call.Resource, "/deployments/one") {
				mutating++
			}
		}
		if mutating != 4 {
			t.Errorf("%d calls that change something are recorded, want 4", mutating)
		}
	})
}

func TestAnAcceleratedDeploymentIsThatMuchShorter(t *testing.T) {
	inWorld(t, accelerated(t, withThings(t), 60), func(t *testing.T, a *azure) {
		d := a.deployments(t)
		if _, err := d.BeginCreateOrUpdate(t.Context(), "fleet", "cluster", incremental(t, rollout, `{}`), nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Second)
		got, err := d.Get(t.Context(), "fleet", "cluster", nil)
		if err != nil || *got.Properties.ProvisioningState != armresources.ProvisioningStateSucceeded {
			t.Errorf("%v, %v", got.Properties, err)
		}
	})
}

func TestASnapshotHasDeploymentsAndResources(t *testing.T) {
	inWorld(t, withThings(t), func(t *testing.T, a *azure) {
		if _, err := a.deployments(t).run(t, "one", incremental(t, vault, `{"name": {"value": "kv"}}`)); err != nil {
			t.Fatal(err)
		}
		state := a.world.Snapshot()
		if !slices.Contains(state.ResourceGroups, "shared") || len(state.Resources) != 5 ||
			!strings.HasSuffix(state.Resources[4].ID, "/vaults/kv-fleet") {
			t.Errorf("groups %v, resources %v", state.ResourceGroups, state.Resources)
		}
		if len(state.Deployments) != 1 || state.Deployments[0].Name != "one" ||
			state.Deployments[0].ProvisioningState != "Succeeded" {
			t.Errorf("deployments %v", state.Deployments)
		}
	})
}
