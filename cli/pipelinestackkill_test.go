package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/azuresim"
)

// stacks is a pipeline that registers what its stacks need, and updates them in a resource group that is not there.
const stacks = `$schema: pipeline.schema.v1
serviceGroup: Example.Kill
rolloutName: Kill
resourceGroups:
- name: g
  resourceGroup: new
  subscription: Embedded
  steps:
  - {name: who, action: Shell, shellIdentity: {value: none}, command: echo me=x >>$SALVE_OUTPUT, outputs: [me], idempotent: true}
  - name: register
    action: ProviderFeatureRegistration
    providerConfigRef: providers
    identityFrom: {resourceGroup: g, step: who, name: me}
`

// TestKilledStacks kills the real program at random moments. However often it dies, the resource group is made once,
// what has to be registered is, each stack is updated once, and nothing is deleted.
func TestKilledStacks(t *testing.T) {
	chance := rand.New(rand.NewPCG(2026, 16))
	for seed := range 2 {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			text := stacks
			for i := range 3 {
				text += fmt.Sprintf("  - name: s%d\n    action: ARMStack\n    template: template.json\n"+
					"    parameters: parameters.json\n    deploymentLevel: ResourceGroup\n    actionOnUnmanage: delete\n"+
					"    variables: [{name: name, value: thing-%d}]\n"+
					"    dependsOn: [{resourceGroup: g, step: register}]\n", i, i)
			}
			s := newSite(t, text)
			world, flags := s.azureOf(func(scenario *azuresim.Scenario) {
				scenario.Unregistered = []string{"Microsoft.KeyVault", "Microsoft.Cdn"}
				scenario.Durations.Register = azuresim.Duration(time.Second)
			})
			config := "region: westeurope\nproviders:\n  Microsoft.Cdn: {poll: true}\n  Microsoft.KeyVault: {poll: true}\n" +
				"  Microsoft.Compute: {poll: true, features: [{name: EncryptionAtHost, poll: true}]}\n"
			if err := os.WriteFile(filepath.Join(s.folder, "config.yaml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			command := []string{"pipeline", "run", "pipeline.yaml", "--config", "config.yaml"}
			s.killedUntilRolledOut(chance, append(command, flags...))
			times := map[string]int{}
			for _, call := range world.Calls() {
				switch {
				case call.Status/100 != 2:
				case call.Verb == "PUT":
					times[path.Base(path.Dir(call.Resource))]++
				case call.Verb == "POST" && strings.HasSuffix(call.Resource, "/features/EncryptionAtHost/register"):
					times["feature"]++
				case call.Verb == "DELETE":
					t.Errorf("it deleted %s", call.Resource)
				}
			}
			// Each stack's step makes the group where it sees none: at the same moment several may.
			if groups := times["resourceGroups"]; times["deploymentStacks"] != 3 || times["feature"] != 1 || groups < 1 ||
				groups > 3 {
				t.Errorf("%v", times)
			}
			vaults := 0
			for _, one := range world.Snapshot().Resources {
				if strings.Contains(one.ID, "/resourceGroups/new/providers/Microsoft.KeyVault/vaults/thing-") {
					vaults++
				}
			}
			if vaults != 3 {
				t.Errorf("%d vaults", vaults)
			}
		})
	}
}
