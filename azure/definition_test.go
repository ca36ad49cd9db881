package azure_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/azure"
	"salve/internal/azuresim"
)

const poolBody = `{
  "id": "/subscriptions/s/resourcegroups/fleet/providers/` +
	`Microsoft.ContainerService/managedClusters/aks-1/agentPools/system",
  "name": "system", "type": "Microsoft.ContainerService/managedClusters/agentPools",
  "properties": {
    "provisioningState": "Failed", "eTag": "abc", "count": 3, "vmSize": "Standard_D4s_v5", "mode": "System",
    "vnetSubnetID": "/subscriptions/s/x", "orchestratorVersion": "1.30.1", "currentOrchestratorVersion": "1.30.1",
    "nodeImageVersion": "AKSUbuntu-1", "powerState": {"code": "Running"}, "creationData": {"sourceResourceId": "x"},
    "tags": {"team": "infra", "aks-managed-x": "1"}, "nodeLabels": {}, "maxPods": 110,
    "propertyOfTheFuture": {"depth": 9007199254740993, "list": [1, null, "x"]}
  }
}`

func properties(t *testing.T, definition azure.Definition) map[string]any {
	t.Helper()
	var body map[string]map[string]any
	if err := json.Unmarshal(definition, &body); err != nil {
		t.Fatal(err)
	}
	return body["properties"]
}

func TestSanitizedBodyCanBeCreated(t *testing.T) {
	before := azure.Definition(poolBody)
	clean, err := before.Sanitized("1.31.4")
	if err != nil {
		t.Fatal(err)
	}
	p := properties(t, clean)
	for _, name := range []string{
		"provisioningState", "eTag", "currentOrchestratorVersion", "nodeImageVersion", "powerState", "creationData",
	} {
		if _, found := p[name]; found {
			t.Errorf("%s is left", name)
		}
	}
	if p["orchestratorVersion"] != "1.31.4" {
		t.Errorf("version %v: a downgrade could be asked for", p["orchestratorVersion"])
	}
	tags := p["tags"].(map[string]any)
	if tags["team"] != "infra" || len(tags) != 1 {
		t.Errorf("tags %v", tags)
	}
	for _, name := range []string{`"id"`, `"name"`, `"type"`} {
		if strings.Contains(string(clean), name+`:"`) {
			t.Errorf("%s is left in %s", name, clean)
		}
	}
	if !strings.Contains(string(clean), `"propertyOfTheFuture":{"depth":9007199254740993,"list":[1,null,"x"]}`) {
		t.Errorf("what this program doesn't know did not survive: %s", clean)
	}
	if string(before) != poolBody {
		t.Error("the snapshot itself was changed")
	}
}

func TestDifferences(t *testing.T) {
	for name, row := range map[string]struct {
		old, new string
		want     string
	}{
		"the same":                               {`"vmSize": "Standard_D4s_v5"`, `"vmSize": "Standard_D4s_v5"`, ""},
		"another size":                           {`"Standard_D4s_v5"`, `"Standard_D8s_v5"`, "vmSize: Standard_D8s_v5, not Standard_D4s_v5"},
		"what ARM computes":                      {`"abc"`, `"def"`, ""},
		"the state":                              {`"Failed"`, `"Succeeded"`, ""},
		"a tag that AKS sets":                    {`"aks-managed-x": "1"`, `"aks-managed-y": "2"`, ""},
		"a tag of the user":                      {`"team": "infra"`, `"team": "web"`, "tags: map[team:web], not map[team:infra]"},
		"an empty map is an absent one":          {`"nodeLabels": {}`, `"nodeTaints": []`, ""},
		"a property of the future":               {`"x"]`, `"y"]`, "propertyOfTheFuture"},
		"the count of a pool without autoscaler": {`"count": 3`, `"count": 4`, "count: 4, not 3"},
		"a newer version":                        {`"orchestratorVersion": "1.30.1"`, `"orchestratorVersion": "1.31.4"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			other := azure.Definition(strings.Replace(poolBody, row.old, row.new, 1))
			different, err := azure.Definition(poolBody).Differences(other)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(different, "; "); (row.want == "") != (got == "") || !strings.Contains(got, row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestDefinitionThatIsNone(t *testing.T) {
	for name, text := range map[string]string{"no JSON": `<html>`, "no properties": `{"name":"x"}`, "null": `null`, "a list": `[]`} {
		t.Run(name, func(t *testing.T) {
			if _, err := azure.Definition(text).Sanitized("1.31.4"); err == nil {
				t.Error("it was sanitized")
			}
			if _, err := azure.Definition(text).Model(); err == nil {
				t.Error("it has a model")
			}
		})
	}
}

// TestDefinitionSaysWhatTheClusterSays of each pool.
func TestDefinitionSaysWhatTheClusterSays(t *testing.T) {
	const world = `
pools:
  - {name: system, mode: System, count: 3, state: Failed, tags: {team: infra}, labels: {role: infra}}
  - {name: workers, count: 5, autoscale: {min: 2, max: 6}}
`
	inWorld(t, world, func(t *testing.T, client *azure.Client, in azuresim.Scenario, _ *azuresim.World) {
		cluster, err := client.Cluster(t.Context(), in.ResourceGroup, in.Cluster)
		if err != nil || len(cluster.Pools) != 2 {
			t.Fatalf("%d pools, %v", len(cluster.Pools), err)
		}
		for _, listed := range cluster.Pools {
			name := azure.PoolName{ResourceGroup: in.ResourceGroup, Cluster: in.Cluster, Pool: listed.Name}
			definition, err := client.Definition(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := definition.Pool()
			if difference := cmp.Diff(listed, got); difference != "" || err != nil {
				t.Errorf("%v (-cluster +definition):\n%s", err, difference)
			}
			if definition.State() != listed.State || definition.ETag() != listed.ETag || listed.ETag == "" {
				t.Errorf("%s is %s, ETag %q", listed.Name, definition.State(), definition.ETag())
			}
			if least := map[string]int{"system": 3, "workers": 2}[listed.Name]; listed.MinCount != least {
				t.Errorf("pool %s may have %d nodes, want %d", listed.Name, listed.MinCount, least)
			}
		}
	})
}

// TestDefinitionIsReadBackAsItWas: a record keeps it, unknown properties and large numbers too, and none stays none.
func TestDefinitionIsReadBackAsItWas(t *testing.T) {
	for name, was := range map[string]azure.Definition{
		"none": nil, "a body": azure.Definition(`{"name":"p","properties":{"new":{"a":12345678901234567890},"b":1.0}}`),
	} {
		raw, err := json.Marshal(map[string]azure.Definition{"pool": was})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]azure.Definition
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		if got := back["pool"]; string(got) != string(was) || (got == nil) != (was == nil) {
			t.Errorf("%s: read back as %s", name, got)
		}
	}
}
