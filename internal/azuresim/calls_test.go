package azuresim_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// said is what ARM answered.
type said struct {
	status int
	header http.Header
	body   map[string]any
	text   string
}

// at is a text in the answer, by its keys.
func (s said) at(keys ...string) string {
	var value any = s.body
	for _, key := range keys {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	text, _ := value.(string)
	return text
}

// code is that of an error, in either envelope.
func (s said) code() string {
	if code := s.at("error", "code"); code != "" {
		return code
	}
	return s.at("code")
}

func (s said) message() string { return s.at("error", "message") + s.at("message") }

// names are those of the items of a list.
func (s said) names() (names []string) {
	list, _ := s.body["value"].([]any)
	for _, item := range list {
		object, _ := item.(map[string]any)
		name, _ := object["name"].(string)
		names = append(names, name)
	}
	return names
}

// call asks ARM. S, G, N and C in the path's beginning stand for the subscription, the cluster's resource group, that
// of its nodes, and the cluster.
func (a *azure) call(t *testing.T, method, path, body string) said {
	t.Helper()
	subscription := "/subscriptions/" + a.scenario.Subscription
	group := subscription + "/resourceGroups/" + a.scenario.ResourceGroup
	for short, long := range map[string]string{
		"S": subscription, "G": group, "N": subscription + "/resourceGroups/MC_fleet_aks-1_westeurope",
		"C": group + "/providers/Microsoft.ContainerService/managedClusters/" + a.scenario.Cluster,
	} {
		if rest, is := strings.CutPrefix(path, short); is && (rest == "" || rest[0] == '/' || rest[0] == '?') {
			path = long + rest
			break
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), method, "https://management.azure.com"+path,
		strings.NewReader(body))
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
	answer := said{status: response.StatusCode, header: response.Header, text: string(text)}
	_ = json.Unmarshal(text, &answer.body) // a HEAD has none
	return answer
}

const (
	aksVersion = "?api-version=2025-02-01"
	armVersion = "?api-version=2021-04-01"
)

func TestAPIVersionsAreThoseOfTheRealServices(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		for _, version := range []string{"2017-08-31", "2019-11-01", "2020-03-01", "2023-05-01", "2024-05-01",
			"2025-10-01", "2026-04-01"} {
			got := a.call(t, "GET", "C?api-version="+version, "")
			if got.status != http.StatusOK || got.at("properties", "provisioningState") != "Succeeded" || got.at("eTag") == "" {
				t.Errorf("%s: %d %s, want the shape of the newest version", version, got.status, got.text)
			}
		}
		for name, row := range map[string]struct {
			path, code string
			says       []string
		}{
			"one that AKS never had": {"C?api-version=2018-01-01", "NoRegisteredProviderFound", []string{
				"No registered resource provider found for location 'westeurope' and API version '2018-01-01' for type " +
					"'managedClusters'. The supported api-versions are '2017-08-31, 2018-03-31, 2019-02-01, ",
				"The supported locations are 'westeurope'.",
			}},
			"of a pool": {"C/agentPools/system?api-version=2018-01-01", "NoRegisteredProviderFound",
				[]string{"for type 'managedClusters/agentPools'"}},
			"of a scale set": {"N/providers/Microsoft.Compute/virtualMachineScaleSets?api-version=2018-01-01",
				"NoRegisteredProviderFound", []string{"for type 'virtualMachineScaleSets'"}},
			"of ARM's own types": {"G?api-version=2021-03-01", "InvalidApiVersionParameter",
				[]string{"The api-version '2021-03-01' is invalid. The supported versions are '2026-06-01,2025-04-01,"}},
			"of deployments": {"G/providers/Microsoft.Resources/deployments?api-version=2021-03-01",
				"InvalidApiVersionParameter", []string{"The api-version '2021-03-01' is invalid."}},
			"of tags": {"C/providers/Microsoft.Resources/tags/default?api-version=2021-03-01",
				"InvalidApiVersionParameter", []string{"The api-version '2021-03-01' is invalid."}},
			"of no form":      {"C?api-version=latest", "InvalidApiVersionParameter", []string{"'latest' is invalid"}},
			"none":            {"C", "MissingApiVersionParameter", []string{"required for all requests"}},
			"none, of others": {"G/providers/Microsoft.KeyVault/vaults/kv", "MissingApiVersionParameter", nil},
		} {
			got := a.call(t, "GET", row.path, "")
			if got.status != http.StatusBadRequest || got.code() != row.code {
				t.Errorf("%s: %d %s, want 400 %s", name, got.status, got.text, row.code)
			}
			for _, says := range row.says {
				if !strings.Contains(got.message(), says) {
					t.Errorf("%s: %q lacks %q", name, got.message(), says)
				}
			}
		}
	})
}

// TestQueryNamesAreReadInAnyCase: ARM takes api-version, $filter and their like as they come.
func TestQueryNamesAreReadInAnyCase(t *testing.T) {
	inWorld(t, builtIn(t, "wedged"), func(t *testing.T, a *azure) {
		if got := a.call(t, "GET", "C?API-Version=2025-02-01", ""); got.status != http.StatusOK {
			t.Errorf("%d %s", got.status, got.text)
		}
		got := a.call(t, "GET", "S/providers/Microsoft.Insights/eventtypes/management/values?Api-Version=2015-04-01&"+
			"$FILTER=eventTimestamp%20ge%20'1999-12-31T00:00:00Z'&$Select=eventDataId,LEVEL", "")
		list, _ := got.body["value"].([]any)
		if len(list) == 0 {
			t.Fatalf("%d %s", got.status, got.text)
		}
		for _, item := range list {
			event, _ := item.(map[string]any)
			if len(event) != 2 || event["eventDataId"] == nil || event["level"] == nil {
				t.Fatalf("event %v, want what was selected alone", event)
			}
		}
		got = a.call(t, "GET", "S/providers/Microsoft.Insights/eventtypes/management/values?api-version=2015-04-01&"+
			"$filter=eventTimestamp%20ge%20'1999-12-31T00:00:00Z'&$select=secret", "")
		if got.status != http.StatusBadRequest || !strings.Contains(got.message(), "'secret'") {
			t.Errorf("%d %s", got.status, got.text)
		}
	})
}

// TestAbsentIsOnlySaidOfWhatCouldBeSeen: 404 is an answer about a thing of a kind that is known, under a parent that is
// there. Of all else the embedded Azure says that it does not know the call.
func TestAbsentIsOnlySaidOfWhatCouldBeSeen(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		const someVersion = "?api-version=2024-01-01"
		set := a.world.Snapshot().Pools[0].ScaleSet
		for path, code := range map[string]string{
			"C/agentPools/none" +
				aksVersion: "NotFound",
			"C/agentPools/none/upgradeProfiles/default" +
				aksVersion: "NotFound",
			"C/agentPools/none/machines" +
				aksVersion: "NotFound",
			"C/agentPools/system/machines/none" +
				aksVersion: "NotFound",
			"G/providers/Microsoft.ContainerService/managedClusters/none" +
				aksVersion: "ResourceNotFound",
			"G/providers/Microsoft.KeyVault/vaults/none" +
				someVersion: "ResourceNotFound",
			"G/providers/Microsoft.KeyVault/vaults/none/secrets/none" +
				someVersion: "ResourceNotFound",
			"G/providers/Microsoft.Network/virtualNetworks/none/subnets" +
				someVersion: "ResourceNotFound",
			"S/resourceGroups/none" +
				armVersion: "ResourceGroupNotFound",
			"S/resourceGroups/none/providers/Microsoft.KeyVault/vaults/x" +
				someVersion: "ResourceGroupNotFound",
			"/subscriptions/0/resourceGroups/fleet" +
				armVersion: "SubscriptionNotFound",
			"G/providers/Microsoft.Resources/deployments/none" +
				armVersion: "DeploymentNotFound",
			"N/providers/Microsoft.Compute/virtualMachineScaleSets/none?api-version=2024-07-01": "ResourceNotFound",
			"N/providers/Microsoft.Compute/virtualMachineScaleSets/" + set +
				"/virtualMachines/99?api-version=2024-07-01": "NotFound",
			"G/providers/Microsoft.KeyVault/vaults/none/providers/Microsoft.Resources/tags/default" +
				armVersion: "ResourceNotFound",
			"C/providers/Microsoft.Authorization/roleAssignments/none" +
				someVersion: "ResourceNotFound",
		} {
			if got := a.call(t, "GET", path, ""); got.status != http.StatusNotFound || got.code() != code {
				t.Errorf("%s: %d %s, want 404 %s", path, got.status, got.text, code)
			}
		}
		for path, method := range map[string]string{
			"G/providers/Microsoft.KeyVault/vautls/none" + someVersion:                                       "GET",
			"G/providers/Microsoft.KeyVault/vautls" + someVersion:                                            "GET",
			"G/providers/Contoso.Things/things/none" + someVersion:                                           "GET",
			"G/providers/Contoso.Things/things/some" + someVersion:                                           "PUT",
			"S/providers/Contoso.Things" + armVersion:                                                        "GET",
			"S/quantum" + armVersion:                                                                         "GET",
			"C" + aksVersion:                                                                                 "DELETE",
			"C/maintenanceConfigurations/default" + aksVersion:                                               "GET",
			"C/agentPools/system/upgradeNodeImageVersion" + aksVersion:                                       "POST",
			"C/stop" + aksVersion:                                                                            "POST",
			"G" + armVersion:                                                                                 "DELETE",
			"N/providers/Microsoft.Compute/virtualMachineScaleSets/" + set + "?api-version=2024-07-01":       "PUT",
			"/providers/Microsoft.ContainerService/operations" + aksVersion:                                  "GET",
			"G/providers/Contoso.Things/things/none/providers/Microsoft.Resources/tags/default" + armVersion: "GET",
		} {
			got := a.call(t, method, path, "{}")
			if got.status != http.StatusNotImplemented || !strings.HasPrefix(got.message(),
				"the embedded Azure does not know this call: "+method) {
				t.Errorf("%s %s: %d %s, want 501", method, path, got.status, got.text)
			}
		}
	})
}
