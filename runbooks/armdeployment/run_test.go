package armdeployment_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"salve/azure"
	"salve/engine"
	"salve/internal/permit"
	"salve/journal"
	"salve/runbook"
	"salve/runbooks/armdeployment"
)

func TestDeploys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.order.Parameters["key"], s.order.Secret = json.RawMessage(`{"value":"hush"}`), map[string]bool{"key": true}
		result := s.ends(runbook.Remediated, "all final checks hold")
		there := s.there()
		if there.State != "Succeeded" || there.Tags["salve-run"] != result.Run || string(there.Outputs["url"].Value) != `"https://v.example/"` {
			t.Errorf("%+v", there)
		}
		if raw := s.record(result.Run); strings.Contains(raw, "hush") {
			t.Errorf("the record holds a secret:\n%s", raw)
		}
	})
}

// TestRefusedSecret: a refusal that quotes the value of a secret is shown without it,
// also in the record.
func TestRefusedSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.order.Template = json.RawMessage(strings.Replace(vault, `"type": "secureString", "defaultValue": ""`, `"type": "string", "allowedValues": ["none"]`, 1))
		s.order.Parameters["key"], s.order.Secret = json.RawMessage(`{"value":"hush-hush"}`), map[string]bool{"key": true}
		said, err := armdeployment.Preview(t.Context(), s.acts, s.in, s.order)
		if err == nil || strings.Contains(said+err.Error(), "hush") || !strings.Contains(err.Error(), "'***'") {
			t.Errorf("%s, %v", said, err)
		}
		result := s.ends(runbook.Failed, "'***'")
		if raw := s.record(result.Run); strings.Contains(raw, "hush") {
			t.Errorf("the record holds a secret:\n%s", raw)
		}
	})
}

// TestAgain: a deployment that succeeded is made anew by the next run, which wants
// the world as the template has it now.
func TestAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.ends(runbook.Remediated, "")
		s.ends(runbook.Remediated, "")
		if s.puts() != 2 {
			t.Errorf("%d deployments", s.puts())
		}
	})
}

func TestOfASubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.in.ResourceGroup, s.order.Location = "", "westeurope"
		s.order.Parameters = nil
		s.order.Template = json.RawMessage(`{"$schema": "https://schema.management.azure.com/schemas/2018-05-01/subscriptionDeploymentTemplate.json#", "contentVersion": "1.0.0.0",
			"resources": [{"type": "Microsoft.Resources/resourceGroups", "apiVersion": "2022-09-01", "name": "new", "location": "westeurope"}]}`)
		s.ends(runbook.Remediated, "")
		if location, err := s.acts.Azure.GroupLocation(t.Context(), "new"); err != nil || location != "westeurope" {
			t.Errorf("%q, %v", location, err)
		}
	})
}

// TestRefusals end before anything is deployed.
func TestRefusals(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*scene)
		want   runbook.Outcome
		says   string
	}{
		"no such resource group": {func(s *scene) { s.in.ResourceGroup = "elsewhere" }, runbook.Failed, `there is no resource group "elsewhere" in subscription`},
		"a template that ARM refuses": {
			func(s *scene) {
				s.order.Template = json.RawMessage(strings.Replace(vault, "[parameters('name')]", "[nothing('name')]", 1))
			},
			runbook.Failed, "InvalidTemplate",
		},
		"no right to read deployments": {
			func(s *scene) { s.inject(`deny: {match: {path: '*/deployments/*'}}`) },
			runbook.Undecided, "nothing-active is unknown",
		},
		"a secret parameter that is no JSON": {
			func(s *scene) {
				s.order.Parameters["key"], s.order.Secret = json.RawMessage("hush"), map[string]bool{"key": true}
			},
			runbook.Failed, "encoding the parameters",
		},
		"no right to read the resource group": {
			func(s *scene) { s.inject(`deny: {match: {path: '*/resourcegroups/*'}}`) },
			runbook.Undecided, "scope-there is unknown",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				row.change(s)
				result := s.ends(row.want, row.says)
				if s.puts() > 0 || result.Open {
					t.Errorf("%d deployments; open %t", s.puts(), result.Open)
				}
			})
		})
	}
}

// TestAFailedDeployment says what failed in it, stays open, and is gone on with when
// what failed is corrected.
func TestAFailedDeployment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		good := s.order.Template
		s.order.Template = failing()
		result := s.ends(runbook.NeedsAttention, "ResourceNotFound")
		if !result.Open || !strings.Contains(result.Reason, "ARM keeps what the deployment has made so far") {
			t.Errorf("open %t: %s", result.Open, result.Reason)
		}
		s.order.Template = good
		if again := s.ends(runbook.Remediated, ""); again.Run != result.Run {
			t.Errorf("run %s went on as %s", result.Run, again.Run)
		}
	})
}

// TestAnothersDeployment of the same name is neither replaced while it is active nor
// taken for ours when it has succeeded.
func TestAnothersDeployment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		other := *s
		other.journal = journal.NewMemory()
		defer other.replayed()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			other.ends(runbook.Remediated, "")
		}()
		s.until(func() bool { return s.puts() == 1 })
		s.ends(runbook.Deferred, "a deployment of this name is ")
		<-ended
		s.ends(runbook.Remediated, "")
		if s.puts() != 2 {
			t.Errorf("%d deployments", s.puts())
		}
	})
}

// TestTransientErrors doesn't make two deployments of one.
func TestTransientErrors(t *testing.T) {
	for name, fault := range map[string]string{
		"the answer to the PUT is lost": `lostResponse: {match: {method: PUT}}`,
		"ARM throttles":                 `throttle: {first: 5}`,
		"ARM stumbles":                  `serverError: {first: 5}`,
		"the operation can't be polled": `deny: {match: {path: '*/operationStatuses/*'}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				s.inject(fault)
				s.ends(runbook.Remediated, "")
				if s.puts() != 1 {
					t.Errorf("%d deployments", s.puts())
				}
			})
		})
	}
}

// TestSubscriptionByName: pipelines name subscriptions as people see them.
func TestSubscriptionByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		if id, err := s.acts.Azure.SubscriptionID(t.Context(), "Embedded"); err != nil || id != s.in.Subscription {
			t.Errorf("%q, %v", id, err)
		}
		if _, err := s.acts.Azure.SubscriptionID(t.Context(), "Other"); err == nil || !strings.Contains(err.Error(), `is called "Other"`) {
			t.Error(err)
		}
		if azure.IsSubscriptionID("Embedded") || !azure.IsSubscriptionID(s.in.Subscription) {
			t.Error("an ID is not told from a name")
		}
	})
}

// TestDeploymentOfAnotherContentIsNotTakenForThis: somebody has deployed something else under the run's own tags, after
// the run has seen its deployment succeed.
func TestDeploymentOfAnotherContentIsNotTakenForThis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		book, err := armdeployment.New(s.acts, s.in, s.order)
		if err != nil {
			t.Fatal(err)
		}
		var run string
		again := func() {
			granted := permit.Mint(permit.Terms{Expires: time.Now().Add(time.Hour), Now: time.Now,
				Lease: func(context.Context) error { return nil }})
			operation, err := s.acts.Azure.Deploy(permit.NewContext(t.Context(), granted),
				azure.DeploymentName{ResourceGroup: s.in.ResourceGroup, Name: s.in.Deployment}, azure.DeploymentBody{
					Template: s.order.Template, Parameters: []byte(`{"name":{"value":"v2"}}`),
					Tags: map[string]string{"salve-run": run, "salve-content": "another"},
				})
			if err == nil {
				err = operation.Wait(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		}
		watched := engine.Engine{Journal: s.journal, Clock: s.acts.Clock, Watch: func(event engine.Event) {
			if event.Kind == engine.ChecksBegan {
				run = event.Run
				again()
			}
		}}
		result, err := watched.Run(t.Context(), book, engine.Options{})
		if err != nil || result.Outcome != runbook.NeedsAttention ||
			!strings.Contains(result.Reason, "with another content") {
			t.Errorf("ended %s: %s, %v", result.Outcome, result.Reason, err)
		}
	})
}

// TestDeploymentStandsAsLongAsItIsWhatIsAskedFor: a step whose template or parameters were corrected is not done.
func TestDeploymentStandsAsLongAsItIsWhatIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		run := s.ends(runbook.Remediated, "").Run
		for content, want := range map[string]bool{"v1": true, "v2": false} {
			s.order.Parameters["name"] = json.RawMessage(`{"value":"` + content + `"}`)
			if stands, err := armdeployment.Stands(t.Context(), s.acts, s.in, s.order, run); err != nil || stands != want {
				t.Errorf("the deployment of %s stands: %t, %v", content, stands, err)
			}
		}
	})
}

// until waits in virtual time.
func (s *scene) until(seen func() bool) {
	s.t.Helper()
	for range 600 {
		if seen() {
			return
		}
		time.Sleep(time.Second)
	}
	s.t.Fatal("it never came")
}

// TestOperationThatLeadsElsewhereIsSeenInItsDeployment: ARM accepted it, and nobody else is asked what became of it.
func TestOperationThatLeadsElsewhereIsSeenInItsDeployment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		client, err := azure.New(azure.Options{
			Subscription: s.scenario.Subscription, Credential: s.world.Credential(), Transport: astray{s.world.ARM()},
			Clock: clock.RealClock{},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.acts.Azure = client
		s.ends(runbook.Remediated, "all final checks hold")
		if s.puts() != 1 {
			t.Errorf("%d deployments", s.puts())
		}
	})
}

// astray has every answer to a change lead to somebody else's host.
type astray struct{ next http.RoundTripper }

func (a astray) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := a.next.RoundTrip(request)
	if err == nil && request.Method == http.MethodPut {
		for _, name := range []string{"Azure-AsyncOperation", "Location"} {
			answer.Header.Set(name, "https://evil.example/subscriptions/x")
		}
	}
	return answer, err
}
