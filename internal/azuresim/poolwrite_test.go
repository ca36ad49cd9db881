package azuresim_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestPoolsAreReadStrictly: AKS refuses what it does not know, where older api-versions drop it.
func TestPoolsAreReadStrictly(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		const unmarshal, parameter = "UnmarshalError", "InvalidParameter"
		for name, row := range map[string]struct{ body, code, says string }{
			"an unknown property": {`{"properties": {"vmSize": "Standard_D4s_v5", "count": 1, "vmSise": "y"}}`, unmarshal,
				`UnmarshalEntity encountered error: json: unknown field "vmSise" Check that the field is in the right location`},
			"a property in the wrong place": {`{"count": 1, "properties": {"vmSize": "Standard_D4s_v5", "count": 1}}`, unmarshal,
				`json: unknown field "count"`},
			"an unknown property of a property": {`{"properties": {"vmSize": "Standard_D4s_v5", "count": 1, "upgradeSettings": {"surge": "1"}}}`,
				unmarshal, `json: unknown field "surge"`},
			"a text for a number": {`{"properties": {"vmSize": "Standard_D4s_v5", "count": "1"}}`, unmarshal, "cannot unmarshal string"},
			"half a node": {`{"properties": {"vmSize": "Standard_D4s_v5", "count": 1.5}}`, unmarshal,
				"cannot unmarshal number 1.5"},
			"no JSON": {`{"properties": `, "InvalidRequestContent", "could not be deserialized"},
			"too many nodes": {`{"properties": {"vmSize": "Standard_D4s_v5", "count": 5000}}`, parameter,
				"agentPoolProfile.count was 5000. It must be greater or equal to minCount:0 and less than or equal to " +
					"maxCount:1000."},
			"fewer than none": {`{"properties": {"vmSize": "Standard_D4s_v5", "count": -1}}`, parameter,
				"agentPoolProfile.count was -1"},
			"no node for the system": {`{"properties": {"vmSize": "Standard_D4s_v5", "count": 0, "mode": "System"}}`, parameter, "minCount:1"},
			"a range that is too wide": {`{"properties": {"vmSize": "Standard_D4s_v5", "count": 1, "enableAutoScaling": true, "minCount": 0, "maxCount": 1001}}`,
				parameter, "not between 0 and 1000"},
			"a range of none for the system": {`{"properties": {"vmSize": "Standard_D4s_v5", "count": 1, "mode": "System", ` +
				`"enableAutoScaling": true, "minCount": 0, "maxCount": 3}}`, parameter, "not between 1 and 1000"},
			"a range without autoscaling": {`{"properties": {"vmSize": "Standard_D4s_v5", "count": 1, "minCount": 1, "maxCount": 3}}`, parameter,
				"minCount and maxCount need enableAutoScaling"},
			"a disk that is too small": {`{"properties": {"vmSize": "Standard_D4s_v5", "count": 1, "osDiskSizeGB": 29}}`, parameter,
				"The OSDiskSize for Agent extra cannot be less than 30GB or larger than 2048GB."},
			"a disk that is too large": {`{"properties": {"vmSize": "Standard_D4s_v5", "count": 1, "osDiskSizeGB": 2049}}`, parameter,
				"larger than 2048GB."},
			"too few pods": {`{"properties": {"vmSize": "Standard_D4s_v5", "count": 1, "maxPods": 9}}`, parameter,
				"maxPods 9 is not between 10 and 250"},
			"too many pods": {`{"properties": {"vmSize": "Standard_D4s_v5", "count": 1, "maxPods": 251}}`, parameter, "maxPods 251"},
			"a version above the control plane's": {versioned("1.99.0"), "NodePoolMcVersionIncompatible",
				"Node pool version 1.99.0 and control plane version 1.33.4 are incompatible. Minor version of node pool version " +
					"99 is bigger than control plane version 33."},
			"a patch above the control plane's": {versioned("1.33.5"), "NodePoolMcVersionIncompatible", "Patch version"},
			"a version that is not offered": {versioned("1.20.5"), "AgentPoolK8sVersionNotSupported",
				"Version 1.20.5 is not supported"},
			"a version of no form": {versioned("newest"), parameter,
				"orchestratorProfile.OrchestratorVersion is invalid"},
		} {
			got := a.call(t, "PUT", "C/agentPools/extra"+aksVersion, row.body)
			if got.status != http.StatusBadRequest || got.code() != row.code || !strings.Contains(got.message(), row.says) {
				t.Errorf("%s: %d %s, want 400 %s: %s", name, got.status, got.text, row.code, row.says)
			}
		}
		if pools := a.world.Snapshot().Pools; len(pools) != 2 {
			t.Errorf("pools %+v", pools)
		}
	})
}

// TestPoolsHaveMachinesThatThereAre: AKS refuses a size of machine that it does not have, or not for everybody.
func TestPoolsHaveMachinesThatThereAre(t *testing.T) {
	scenario := builtIn(t, "healthy")
	scenario.NotAllowedSizes = []string{"Standard_M128ms"}
	scenario.Pools[0].VMSize = "Standard_Tomorrow"
	inWorld(t, scenario, func(t *testing.T, a *azure) {
		put := func(size string) said {
			return a.call(t, "PUT", "C/agentPools/extra"+aksVersion, fmt.Sprintf(`{"properties": {"vmSize": %q, "count": 1}}`, size))
		}
		for _, size := range []string{
			"Standard_Nonsense", "Standard_", "D4s_v5", "Standard_D4s_v5 ", "Standard_D4s_v9", "Standard_D0s_v5",
			"Standard_Q4_v3", "Basic_A1", "Standard_D4sooo_v5", "Standard_D4s_v5\nStandard_D4s_v5",
			"Standard_M128ms", "standard_m128MS",
		} {
			got := put(size)
			want := "The VM size of AgentPoolProfile:extra is not allowed in your subscription in location 'westeurope'.  " +
				"For more details, please visit https://aka.ms/aks/quotas-skus-regions"
			if got.status != http.StatusBadRequest || got.code() != "BadRequest" || got.message() != want {
				t.Errorf("%s: %d %s", size, got.status, got.text)
			}
		}
		for _, size := range []string{
			"Standard_D4ds_v5", "standard_d4DS_V5", "Standard_DS2_v2", "Standard_D11_v2", "Standard_DS11-1_v2", "Standard_B2ms",
			"Standard_B2ats_v2", "Standard_D2plds_v6", "Standard_E4-2s_v5", "Standard_E96ias_v4", "Standard_F8s_v2",
			"Standard_F8s",
			"Standard_FX4mds", "Standard_L8as_v3", "Standard_M416s_8_v2", "Standard_M96ds_1_v3", "Standard_NC24ads_A100_v4",
			"Standard_NC4as_T4_v3", "Standard_ND96isr_H100_v5", "Standard_NV36ads_A10_v5", "Standard_HB120-16rs_v3",
			"Standard_DC4as_v5", "Standard_Tomorrow",
		} {
			if got := put(size); got.status != http.StatusCreated {
				t.Errorf("%s: %d %s", size, got.status, got.text)
			}
			time.Sleep(5 * time.Minute)
			if got := a.call(t, "DELETE", "C/agentPools/extra"+aksVersion, ""); got.status != http.StatusAccepted {
				t.Errorf("deletion: %d %s", got.status, got.text)
			}
			time.Sleep(30 * time.Minute)
		}
	})
}

func versioned(version string) string {
	return fmt.Sprintf(`{"properties": {"vmSize": "Standard_D4s_v5", "count": 1, "orchestratorVersion": %q}}`, version)
}

func TestPoolsTakeWhatAKSTakes(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		wait := func() { time.Sleep(5 * time.Minute) }
		for name, row := range map[string]struct{ version, body, shows string }{
			"minor": {"2025-02-01", versioned("1.33"), `"currentOrchestratorVersion":"1.33.4"`},
			"older": {"2025-02-01", versioned("1.32.4"), `"currentOrchestratorVersion":"1.32.4"`},
			"newest": {"2026-04-01", `{"properties": {"vmSize": "Standard_D4s_v5", "count": 1, "localDNSProfile": {"mode": "Disabled"}}}`,
				`"localDNSProfile"`},
			"anycase": {"2025-02-01", `{"properties": {"VMSIZE": "Standard_D4s_v5", "Count": 1}}`, `"vmSize":"Standard_D4s_v5"`},
			"readonly": {"2025-02-01",
				`{"id": "x", "name": "y", "properties": {"vmSize": "Standard_D4s_v5", "count": 1, "provisioningState": "Failed", "powerState": {"code": "Running"}}}`, `"Creating"`},
		} {
			got := a.call(t, "PUT", "C/agentPools/"+name+"?api-version="+row.version, row.body)
			if got.status != http.StatusCreated || !strings.Contains(got.text, row.shows) {
				t.Errorf("%s: %d %s, want %s", name, got.status, got.text, row.shows)
			}
			wait()
		}
		got := a.call(t, "PUT", "C/agentPools/old?api-version=2023-11-01",
			`{"properties": {"vmSize": "Standard_D4s_v5", "count": 1, "vmSise": "y"}}`)
		if got.status != http.StatusCreated || strings.Contains(got.text, "vmSise") {
			t.Errorf("an unknown property at an older version: %d %s, want it dropped", got.status, got.text)
		}
		wait()
		got = a.call(t, "PUT", "C/agentPools/system"+aksVersion,
			`{"properties": {"vmSize": "Standard_D4ds_v5", "count": 3, "mode": "System", "orchestratorVersion": "1.32.4"}}`)
		if got.status != http.StatusBadRequest || got.code() != "AgentPoolUpgradeVersionNotAllowed" {
			t.Errorf("a downgrade: %d %s", got.status, got.text)
		}
	})
}

// TestAPoolOfAThousandKeepsNobodyWaiting: what comes at one time is looked at once.
func TestAPoolOfAThousandKeepsNobodyWaiting(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		if got := a.call(t, "PUT", "C/agentPools/big"+aksVersion,
			`{"properties": {"vmSize": "Standard_D4s_v5", "count": 1000}}`); got.status != http.StatusCreated {
			t.Fatalf("%d %s", got.status, got.text)
		}
		time.Sleep(10 * time.Minute)
		if ready := a.readyNodes("big"); ready != 1000 {
			t.Fatalf("%d nodes are ready", ready)
		}
		a.deletePool(t, "big")
		if left := len(a.nodesOf(t, "big")); left != 0 {
			t.Fatalf("%d nodes are left", left)
		}
	})
}
