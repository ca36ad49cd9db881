package armdeployment_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"k8s.io/utils/clock"

	"salve/azure"
	"salve/engine"
	"salve/internal/azuresim"
	"salve/journal"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/armdeployment"
)

const schema = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"

// vault is a template that makes one vault, and gives its address.
const vault = `{"$schema": "` + schema + `", "contentVersion": "1.0.0.0",
	"parameters": {"name": {"type": "string"}, "key": {"type": "secureString", "defaultValue": ""}},
	"resources": [{"type": "Microsoft.KeyVault/vaults", "apiVersion": "2023-07-01",
		"name": "[parameters('name')]", "location": "westeurope", "properties": {"vaultUri": "https://v.example/"}}],
	"outputs": {"url": {"type": "string", "value": "[reference(resourceId('Microsoft.KeyVault/vaults', parameters('name'))).vaultUri]"}}}`

// elsewhere is the vault's template with another address.
func elsewhere() json.RawMessage {
	return json.RawMessage(strings.Replace(vault, "https://v.example/", "https://w.example/", 1))
}

// failing is the vault's template with a cluster that can't be made.
func failing() json.RawMessage {
	return json.RawMessage(strings.Replace(vault, `"resources": [`, `"resources": [{
		"type": "Microsoft.ContainerService/managedClusters", "apiVersion": "2025-02-01", "name": "none",
		"location": "westeurope", "properties": {"tenant": "[reference(resourceId('A.B/c', 'd')).tenant]"}},`, 1))
}

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
	// watch is told what happens in a run; may be nil.
	watch func(engine.Event)
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
	made := &scene{
		t: t, scenario: scenario, world: world, acts: armdeployment.World{Azure: client, Clock: clock.RealClock{}},
		journal: journal.NewMemory(),
		in: armdeployment.Inputs{
			Subscription: scenario.Subscription, ResourceGroup: scenario.ResourceGroup, Deployment: "fleet-vault-0a",
		},
		order: armdeployment.Order{
			Template: json.RawMessage(vault), Parameters: map[string]json.RawMessage{"name": json.RawMessage(`{"value":"v1"}`)}, Budget: time.Hour,
		},
	}
	t.Cleanup(func() { made.replayed() })
	return made
}

// replayed makes the decisions of all runs again, without ARM.
func (s *scene) replayed() {
	s.t.Helper()
	runbooktest.Replayed(s.t, s.journal, armdeployment.Name, decides)
}

// decides makes the runbook of a record without ARM.
func decides(history *journal.History) (runbook.Runbook, error) {
	var in armdeployment.Inputs
	if err := json.Unmarshal(history.Header.Inputs, &in); err != nil {
		return runbook.Runbook{}, err
	}
	return armdeployment.Replayed(in, history.Header.Target)
}

// run deploys, or goes on with the open run.
func (s *scene) run(ctx context.Context) (engine.Result, error) {
	s.t.Helper()
	book, err := armdeployment.New(s.acts, s.in, s.order)
	if err != nil {
		s.t.Fatal(err)
	}
	return (&engine.Engine{Journal: s.journal, Clock: s.acts.Clock, Watch: s.watch}).Run(ctx, book, engine.Options{})
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

// asked counts the requests of a method to a path, whatever became of them.
func (s *scene) asked(method, part string) int {
	count := 0
	for _, call := range s.world.Calls() {
		if call.Verb == method && strings.Contains(call.Resource, part) {
			count++
		}
	}
	return count
}

// The requests about deployments that a test may choose.
var (
	started = azuresim.Requests{Method: "PUT", Path: "*/deployments/*"}
	polled  = azuresim.Requests{Method: "GET", Path: "*/operationStatuses/*"}
	read    = azuresim.Requests{Method: "GET", Path: "*/deployments/fleet-vault-0a"}
)

// first is the first of some requests.
func first(of azuresim.Requests) azuresim.Requests {
	of.Times = 1
	return of
}

// others sends a request about the deployment, not through Salve: as somebody with az does.
func (s *scene) others(method string, body any) {
	s.t.Helper()
	if err := s.send(method, body); err != nil {
		s.t.Errorf("%s of the deployment: %v", method, err)
	}
}

func (s *scene) send(method string, body any) error {
	name := azure.DeploymentName{ResourceGroup: s.in.ResourceGroup, Name: s.in.Deployment}
	return s.request(method, azure.DeploymentID(s.in.Subscription, name), body)
}

// sendTo sends a request about anything else, as somebody with az does.
func (s *scene) sendTo(method, id string, body any) {
	s.t.Helper()
	if err := s.request(method, id, body); err != nil {
		s.t.Errorf("%s of %s: %v", method, id, err)
	}
}

func (s *scene) request(method, id string, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	token, err := s.world.Credential().GetToken(s.t.Context(), policy.TokenRequestOptions{})
	if err != nil {
		return err
	}
	address := "https://management.azure.com" + id + "?api-version=2021-04-01"
	request, err := http.NewRequestWithContext(s.t.Context(), method, address, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token.Token)
	answer, err := s.world.ARM().RoundTrip(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%d: %s", answer.StatusCode, said)
	}
	return err
}

// othersDeploy the same under the same name, with tags of theirs.
func (s *scene) othersDeploy(tags map[string]string) {
	s.t.Helper()
	s.others("PUT", map[string]any{"tags": tags, "properties": map[string]any{
		"mode": "Incremental", "template": s.order.Template, "parameters": s.order.Parameters,
	}})
}

// onceSucceeded does something as soon as the deployment has succeeded, before the run learns of it.
func (s *scene) onceSucceeded(do func()) {
	done := false
	s.world.After(polled, func() {
		if !done && s.there().State == "Succeeded" {
			done = true
			do()
		}
	})
}

// interrupted runs until something has happened, and is then asked to stop: the run stays open.
func (s *scene) interrupted(after azuresim.Requests) engine.Result {
	s.t.Helper()
	ctx, cancel := context.WithCancelCause(s.t.Context())
	defer cancel(nil)
	s.world.After(first(after), func() { cancel(engine.ErrInterrupted) })
	result, err := s.run(ctx)
	if err != nil || result.Outcome != runbook.NeedsAttention || !result.Open {
		s.t.Fatalf("ended %s: %s, open %t, %v", result.Outcome, result.Reason, result.Open, err)
	}
	return result
}

// failed is what a person is told of a failed deployment.
func failed(why string) string {
	return "deployment fleet-vault-0a is Failed: Conflict: " + why + "; ARM keeps what the deployment has made so far"
}

func failsWith(err error, says string) bool {
	if says == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), says)
}

// blind has ARM answer every reading of the deployment with a refusal.
func (s *scene) blind(status int) {
	s.world.Answer(read, status, azuresim.ErrorBody("AuthorizationFailed", "no rights to read deployments"))
}

// rewrite has ARM say another state and failure of the deployment from now on.
func (s *scene) rewrite(state, failure string) {
	s.world.Rewrite(read, func(body map[string]any) {
		properties, is := body["properties"].(map[string]any)
		if !is {
			return
		}
		properties["provisioningState"] = state
		delete(properties, "error")
		if failure != "" {
			properties["error"] = map[string]any{"code": "Conflict", "message": failure}
		}
	})
}
