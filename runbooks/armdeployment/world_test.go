package armdeployment_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"salve/azure"
	"salve/engine"
	"salve/internal/azuresim"
	"salve/journal"
	"salve/runbook"
	"salve/runbooks/armdeployment"
)

const schema = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"

// vault is a template that makes one vault, and gives its address.
const vault = `{"$schema": "` + schema + `", "contentVersion": "1.0.0.0",
	"parameters": {"name": {"type": "string"}, "key": {"type": "secureString", "defaultValue": ""}},
	"resources": [{"type": "Microsoft.KeyVault/vaults", "apiVersion": "2023-07-01",
		"name": "[parameters('name')]", "location": "westeurope", "properties": {"vaultUri": "https://v.example/"}}],
	"outputs": {"url": {"type": "string", "value": "[reference(resourceId('Microsoft.KeyVault/vaults', parameters('name'))).vaultUri]"}}}`

// scene is the embedded world, a journal, and a deployment to make. It belongs in a
// bubble of virtual time.
type scene struct {
	t        *testing.T
	scenario azuresim.Scenario
	world    *azuresim.World
	acts     armdeployment.World
	journal  journal.Store
	in       armdeployment.Inputs
	order    armdeployment.Order
}

func newScene(t *testing.T) *scene {
	t.Helper()
	scenario, err := azuresim.Load("healthy")
	if err != nil {
		t.Fatal(err)
	}
	world, err := azuresim.New(scenario, azuresim.Options{Clock: clock.RealClock{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	client, err := azure.New(azure.Options{
		Subscription: scenario.Subscription, Credential: world.Credential(), Transport: world.ARM(), Clock: clock.RealClock{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &scene{
		t: t, scenario: scenario, world: world, acts: armdeployment.World{Azure: client, Clock: clock.RealClock{}},
		journal: journal.NewMemory(),
		in: armdeployment.Inputs{
			Subscription: scenario.Subscription, ResourceGroup: scenario.ResourceGroup, Deployment: "fleet-vault-0a",
		},
		order: armdeployment.Order{
			Template: json.RawMessage(vault), Parameters: map[string]json.RawMessage{"name": json.RawMessage(`{"value":"v1"}`)}, Budget: time.Hour,
		},
	}
}

// run deploys, or goes on with the open run.
func (s *scene) run(ctx context.Context) (engine.Result, error) {
	s.t.Helper()
	book, err := armdeployment.New(s.acts, s.in, s.order)
	if err != nil {
		s.t.Fatal(err)
	}
	return (&engine.Engine{Journal: s.journal, Clock: s.acts.Clock}).Run(ctx, book, engine.Options{})
}

// target is what the lease is on.
func (s *scene) target() string {
	s.t.Helper()
	book, err := armdeployment.New(s.acts, s.in, s.order)
	if err != nil {
		s.t.Fatal(err)
	}
	return book.Target.ID
}

// closed tells whether a run has been closed, so that another one would begin anew.
func (s *scene) closed() bool {
	s.t.Helper()
	runs, err := journal.Find(s.t.Context(), s.journal, func(h *journal.History) bool {
		return h.Closed != nil && h.Closed.Outcome == runbook.Remediated
	}, func(_ string, err error) { s.t.Error(err) })
	if err != nil {
		s.t.Fatal(err)
	}
	return len(runs) > 0
}

// ends checks how a run ends, and what it says.
func (s *scene) ends(want runbook.Outcome, says string) engine.Result {
	s.t.Helper()
	result, err := s.run(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	if result.Outcome != want || !strings.Contains(result.Reason, says) {
		s.t.Fatalf("ended %s: %s, want %s: %s", result.Outcome, result.Reason, want, says)
	}
	return result
}

// there is the deployment as ARM has it.
func (s *scene) there() azure.Deployment {
	s.t.Helper()
	read, err := s.acts.Azure.Deployment(s.t.Context(),
		azure.DeploymentName{ResourceGroup: s.in.ResourceGroup, Name: s.in.Deployment})
	if err != nil {
		s.t.Fatal(err)
	}
	return read
}

// inject has something go wrong from now on.
func (s *scene) inject(text string) {
	s.t.Helper()
	fault, err := s.scenario.ParseFault("fault", []byte(text))
	if err == nil {
		err = s.world.Inject(fault)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// record is all that the journal holds of a run.
func (s *scene) record(run string) string {
	s.t.Helper()
	kept, err := journal.Load(s.t.Context(), s.journal, run)
	if err != nil {
		s.t.Fatal(err)
	}
	raw, err := json.Marshal(kept.Entries)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(raw)
}

// puts counts the deployments that were asked for and accepted.
func (s *scene) puts() int {
	count := 0
	for _, call := range s.world.Calls() {
		if call.Verb == "PUT" && strings.Contains(call.Resource, "/deployments/") && call.Status/100 == 2 {
			count++
		}
	}
	return count
}
