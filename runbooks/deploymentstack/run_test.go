package deploymentstack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"salve/azure"
	"salve/engine"
	"salve/internal/azuresim"
	"salve/journal"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/armdeployment"
	"salve/runbooks/deploymentstack"
	"salve/runbooks/resourcegroup"
)

// vaults is a template with vaults of these names, and the address of the first.
func vaults(names ...string) json.RawMessage {
	const head = `{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
		"contentVersion": "1.0.0.0", "parameters": {"key": {"type": "secureString", "defaultValue": ""}}, "resources": [`
	var resources []string
	for _, name := range names {
		resources = append(resources, `{"type": "Microsoft.KeyVault/vaults", "apiVersion": "2023-07-01", "name": "`+name+
			`", "location": "westeurope", "properties": {"vaultUri": "https://`+name+`.example/"}}`)
	}
	return json.RawMessage(head + strings.Join(resources, ",") + `], "outputs": {"count": {"type": "int", "value": ` +
		fmt.Sprint(len(names)) + `}}}`)
}

// scene is the embedded Azure, a journal, and a stack to update. It belongs in a bubble of virtual time.
type scene struct {
	t       *testing.T
	world   *azuresim.World
	journal journal.Store
	in      deploymentstack.Inputs
	order   deploymentstack.Order
	watch   func(engine.Event)
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
	s := &scene{
		t: t, world: world, journal: journal.NewMemory(),
		in: deploymentstack.Inputs{Subscription: scenario.Subscription, ResourceGroup: "fleet", Stack: "fleet-vaults-0a"},
		order: deploymentstack.Order{
			Order:      armdeployment.Order{Template: vaults("a", "b"), Budget: time.Hour},
			OnUnmanage: deploymentstack.Delete,
		},
	}
	t.Cleanup(func() { runbooktest.Replayed(s.t, s.journal, deploymentstack.Name, decides) })
	return s
}

func decides(history *journal.History) (runbook.Runbook, error) {
	var in deploymentstack.Inputs
	if err := json.Unmarshal(history.Header.Inputs, &in); err != nil {
		return runbook.Runbook{}, err
	}
	return deploymentstack.Replayed(in, history.Header.Target)
}

func (s *scene) acts(transport http.RoundTripper) deploymentstack.World {
	s.t.Helper()
	client, err := azure.New(azure.Options{
		Subscription: s.in.Subscription, Credential: s.world.Credential(), Transport: transport, Clock: clock.RealClock{},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return deploymentstack.World{Azure: client, Clock: clock.RealClock{}}
}

func (s *scene) run() (engine.Result, error) { return s.runUntil(s.t.Context()) }

func (s *scene) runUntil(ctx context.Context) (engine.Result, error) {
	s.t.Helper()
	book, err := deploymentstack.New(s.acts(s.world.ARM()), s.in, s.order)
	if err != nil {
		s.t.Fatal(err)
	}
	machine := engine.Engine{Journal: s.journal, Clock: clock.RealClock{}, Watch: s.watch}
	return machine.Run(ctx, book, engine.Options{})
}

func (s *scene) ends(want runbook.Outcome, says string) engine.Result {
	s.t.Helper()
	result, err := s.run()
	if err != nil || result.Outcome != want || !strings.Contains(result.Reason, says) {
		s.t.Fatalf("ended %s: %s, %v, want %s: %s", result.Outcome, result.Reason, err, want, says)
	}
	return result
}

// stack is the stack as ARM has it.
func (s *scene) stack() azure.Stack {
	s.t.Helper()
	read, err := s.acts(s.world.ARM()).Azure.Stack(s.t.Context(),
		azure.StackName{ResourceGroup: s.in.ResourceGroup, Name: s.in.Stack})
	if err != nil {
		s.t.Fatal(err)
	}
	return read
}

// puts counts the updates of stacks that were asked for and accepted.
func (s *scene) puts() int {
	count := 0
	for _, call := range s.world.Calls() {
		if call.Verb == "PUT" && strings.Contains(call.Resource, "/deploymentStacks/") && call.Status/100 == 2 {
			count++
		}
	}
	return count
}

func (s *scene) previews(want string) {
	s.t.Helper()
	got, err := deploymentstack.Preview(s.t.Context(), s.acts(s.world.ARM()), s.in, s.order)
	if err != nil || got != want {
		s.t.Errorf("%s\n%v", got, err)
	}
}

// TestStackHoldsWhatTheTemplateSays, and what it says no more is deleted or detached, as the step wants it.
func TestStackHoldsWhatTheTemplateSays(t *testing.T) {
	for _, onUnmanage := range []string{deploymentstack.Delete, deploymentstack.Detach} {
		t.Run(onUnmanage, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				s.order.OnUnmanage = onUnmanage
				const vault = "fleet/providers/Microsoft.KeyVault/vaults/"
				s.previews("resources: 2 to create\n+ " + vault + "a\n+ " + vault + "b\n+ stack fleet-vaults-0a")
				first := s.ends(runbook.Remediated, "all final checks hold")
				if there := s.stack(); !there.Succeeded() || len(there.Resources) != 2 || there.Tags["salve-run"] != first.Run ||
					string(there.Outputs["count"].Value) != "2" {
					t.Errorf("%+v", there)
				}
				s.order.Template = vaults("a")
				s.previews("resources: 1 to leave as they are\n- " + vault + "b: the template has it no more; it would be " +
					strings.TrimSuffix(onUnmanage, "e") + "ed")
				s.ends(runbook.Remediated, "")
				there := s.stack()
				if let := append(there.Deleted, there.Detached...); len(there.Resources) != 1 || len(let) != 1 ||
					!strings.HasSuffix(let[0], vault+"b") {
					t.Errorf("%+v", there)
				}
				if stays := s.has("b"); stays != (onUnmanage == deploymentstack.Detach) {
					t.Errorf("with %s vault b is there: %t", onUnmanage, stays)
				}
			})
		})
	}
}

// has tells whether a vault is there.
func (s *scene) has(vault string) bool {
	for _, one := range s.world.Snapshot().Resources {
		if strings.HasSuffix(one.ID, "/vaults/"+vault) {
			return true
		}
	}
	return false
}

// TestStackOfASubscription makes its resource group first, where it is missing.
func TestStackOfASubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.in.ResourceGroup, s.order.Location = "", "westeurope"
		s.order.Group = resourcegroup.Wanted{Name: "new", Location: "westeurope"}
		s.order.Template = json.RawMessage(`{"$schema": "https://schema.management.azure.com/schemas/2018-05-01/subscriptionDeploymentTemplate.json#",
			"contentVersion": "1.0.0.0", "resources": [{"type": "Microsoft.Resources/resourceGroups", "apiVersion": "2022-09-01", "name": "other", "location": "westeurope"}]}`)
		s.ends(runbook.Remediated, "")
		if there := s.stack(); len(there.Resources) != 1 {
			t.Errorf("%+v", there)
		}
		if _, err := s.acts(s.world.ARM()).Azure.GroupLocation(t.Context(), "new"); err != nil {
			t.Error(err)
		}
	})
}

func TestEnds(t *testing.T) {
	for rule, row := range map[string]struct {
		change func(*scene)
		want   runbook.Outcome
		says   string
		puts   int
	}{
		"a deployment that fails": {func(s *scene) {
			s.order.Template = json.RawMessage(strings.Replace(string(vaults("a")), `"https://a.example/"`,
				`"[reference(resourceId('A.B/c', 'd')).tenant]"`, 1))
		}, runbook.NeedsAttention, "ResourceNotFound", 1},
		"a refusal that quotes a secret": {func(s *scene) {
			s.order.Template = json.RawMessage(strings.Replace(string(vaults("a")), `"type": "secureString", "defaultValue": ""`,
				`"type": "string", "allowedValues": ["none"]`, 1))
			s.order.Parameters = map[string]json.RawMessage{"key": json.RawMessage(`{"value":"hush-hush"}`)}
			s.order.Secret = map[string]bool{"key": true}
		}, runbook.Failed, "'***'", 0},
		"another run works on it": {func(s *scene) {
			s.world.Rewrite(azuresim.Requests{Method: "GET", Path: "*/deploymentStacks/*"}, func(body map[string]any) {
				body["properties"].(map[string]any)["provisioningState"] = "deploying"
				body["tags"] = map[string]any{"salve-run": "run-of-others"}
			})
			s.other()
		}, runbook.Deferred, "the stack is deploying, by run run-of-others", 1},
		"a stack that can't be read": {func(s *scene) {
			s.world.Answer(azuresim.Requests{Method: "GET", Path: "*/deploymentStacks/*"}, 403,
				azuresim.ErrorBody("AuthorizationFailed", "no rights"))
		}, runbook.Undecided, "nothing-active is unknown", 0},
		"no resource group, and no place for it": {func(s *scene) {
			s.in.ResourceGroup = "new"
		}, runbook.Failed, "it is not known where to create it", 0},
		"what can't be deleted stays its own": {func(s *scene) {
			s.order.Template = vaults("a", "b")
			s.ends(runbook.Remediated, "")
			s.world.Rewrite(azuresim.Requests{Method: "GET", Path: "*/deploymentStacks/*"}, func(body map[string]any) {
				properties := body["properties"].(map[string]any)
				if properties["provisioningState"] == "succeeded" &&
					len(properties["resources"].([]any)) == 1 {
					properties["provisioningState"] = "failed"
					properties["error"] = map[string]any{"code": "DeploymentStackDeleteResourcesFailed", "message": "not deleted"}
					properties["failedResources"] = []any{
						map[string]any{"id": "/x/b", "error": map[string]any{"code": "DeletionFailed"}},
					}
				}
			})
			s.order.Template = vaults("a")
		}, runbook.NeedsAttention, "DeploymentStackDeleteResourcesFailed: not deleted; /x/b: DeletionFailed", 2},
	} {
		t.Run(rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				row.change(s)
				s.ends(row.want, row.says)
				if s.puts() != row.puts {
					t.Errorf("%d updates, want %d", s.puts(), row.puts)
				}
			})
		})
	}
}

// other has somebody else's stack there under the name.
func (s *scene) other() {
	s.t.Helper()
	body := `{"tags": {}, "properties": {"template": ` + string(vaults("z")) + `, "actionOnUnmanage": {"resources": "detach"},
		"denySettings": {"mode": "none"}}}`
	address := "https://management.azure.com" + azure.StackID(s.in.Subscription,
		azure.StackName{ResourceGroup: s.in.ResourceGroup, Name: s.in.Stack}) + "?api-version=2024-03-01"
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPut, address, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer any")
	answer, err := s.world.ARM().RoundTrip(request)
	if err != nil || answer.StatusCode != http.StatusCreated {
		s.t.Fatalf("%v, %v", answer, err)
	}
	_ = answer.Body.Close() // nothing of it is read
}

// TestCorrectedTemplateReplacesWhatFailed in the same run.
func TestCorrectedTemplateReplacesWhatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.order.Template = json.RawMessage(strings.Replace(string(vaults("a")), `"https://a.example/"`,
			`"[reference(resourceId('A.B/c', 'd')).tenant]"`, 1))
		failed := s.ends(runbook.NeedsAttention, "ResourceNotFound")
		s.order.Template = vaults("a")
		if again := s.ends(runbook.Remediated, ""); again.Run != failed.Run {
			t.Errorf("run %s went on as %s", failed.Run, again.Run)
		}
	})
}

// TestCrashAnywhere: killed at any request and any write and resumed, no run updates the stack twice.
func TestCrashAnywhere(t *testing.T) {
	runbooktest.CrashAnywhere(t, func(t *testing.T) runbooktest.World {
		s := newScene(t)
		s.in.ResourceGroup, s.order.Group = "new", resourcegroup.Wanted{Name: "new", Location: "westeurope"}
		return runbooktest.World{
			Start: func(process *runbooktest.Process) runbook.Runbook {
				book, err := deploymentstack.New(s.acts(process.Transport(s.world.ARM())), s.in, s.order)
				if err != nil {
					t.Fatal(err)
				}
				return book
			},
			Verify: func() {
				if there := s.stack(); !there.Succeeded() || len(there.Resources) != 2 {
					t.Errorf("the stack is %s, and manages %q", there.State, there.Resources)
				}
			},
		}
	}, runbooktest.VirtualTime())
}

func TestInputsValidate(t *testing.T) {
	for says, change := range map[string]func(*scene){
		"is not the ID of one":        func(s *scene) { s.in.Subscription = "embedded" },
		"a name has 1 to 64":          func(s *scene) { s.in.Stack = "a/b" },
		"is delete or detach, not \"": func(s *scene) { s.order.OnUnmanage = "" },
		"the template is no JSON":     func(s *scene) { s.order.Template = nil },
		"the budget must be above 0":  func(s *scene) { s.order.Budget = 0 },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScene(t)
			change(s)
			_, err := deploymentstack.New(s.acts(s.world.ARM()), s.in, s.order)
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("want %q: %v", says, err)
			}
		})
	}
}

func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	book, err := deploymentstack.Replayed(deploymentstack.Inputs{
		Subscription: "5a1e0000-0000-4000-8000-000000000001", ResourceGroup: "fleet", Stack: "vaults",
	}, runbook.Target{})
	if err != nil {
		t.Fatal(err)
	}
	reading := func(state, by string) string {
		return fmt.Sprintf(`{"found":true,"state":%q,"correlationID":"c","updatedBy":%q,"content":"a","resources":2,"run":"run-1",`+
			`"wanted":"a","seen":"2026-11-24T12:00:00Z"}`, state, by)
	}
	runbooktest.SweepGuards(t, runbooktest.Rows{
		"scope-there": {
			Readings: []string{
				`{"name":"new","found":true,"location":"westeurope"}`, `{"name":"new","found":false,"location":"","createIn":"westeurope"}`,
				`{"name":"new","found":false,"location":""}`,
			},
			Said: []string{"location"},
		},
		"group-there": {
			Readings: []string{
				`{"name":"new","found":true,"location":"westeurope","createIn":"westeurope"}`,
				`{"name":"new","found":false,"location":"","createIn":"westeurope"}`,
			},
			Said: []string{"name"}, Unused: map[string]string{"location": "for operators", "createIn": "for the guard before"},
		},
		"nothing-active": {
			Readings: []string{
				reading("succeeded", "run-1"), reading("deploying", "run-1"), reading("deploying", "run-2"),
				reading("deploying", ""),
			},
			Evidence: []string{"correlationID", "content", "seen"}, Said: []string{"resources"},
			Unused: map[string]string{"wanted": "for the check"},
		},
		"updated": {
			Readings: []string{reading("succeeded", "run-1"), reading("failed", "run-1"), reading("succeeded", "")},
			Evidence: []string{"correlationID", "seen"}, Said: []string{"resources"},
		},
	}, book)
}
