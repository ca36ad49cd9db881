package armdeployment_test

import (
	"encoding/json"
	"path"
	"strings"
	"testing"
	"testing/synctest"

	"salve/engine"
	"salve/internal/azuresim"
	"salve/runbook"
	"salve/runbooks/resourcegroup"
)

// inNewGroup has the deployment go to a resource group that is not there.
func (s *scene) inNewGroup() {
	s.in.ResourceGroup, s.order.Group = "new", resourcegroup.Wanted{Name: "new", Location: "northeurope"}
}

// groupsMade counts the writes of resource groups that were accepted.
func (s *scene) groupsMade() int {
	count := 0
	for _, call := range s.world.Calls() {
		if call.Verb == "PUT" && path.Base(path.Dir(call.Resource)) == "resourceGroups" && call.Status/100 == 2 {
			count++
		}
	}
	return count
}

// TestMissingResourceGroupIsCreatedFirst: with an intent and an outcome of its own, and only where it is missing.
func TestMissingResourceGroupIsCreatedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.inNewGroup()
		first := s.ends(runbook.Remediated, "all final checks hold")
		if location, err := s.acts.Azure.GroupLocation(t.Context(), "new"); err != nil || location != "northeurope" {
			t.Errorf("%q, %v", location, err)
		}
		if raw := s.record(first.Run); !strings.Contains(raw, `"location":"northeurope"`) {
			t.Errorf("the record has no intent to create it:\n%s", raw)
		}
		s.ends(runbook.Remediated, "")
		if made := s.groupsMade(); made != 1 {
			t.Errorf("it was made %d times", made)
		}
	})
}

// TestResourceGroupOfASubscriptionsDeploymentIsCreatedToo, as rollout tools do.
func TestResourceGroupOfASubscriptionsDeploymentIsCreatedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.inNewGroup()
		s.in.ResourceGroup, s.order.Location, s.order.Parameters = "", "westeurope", nil
		s.order.Template = json.RawMessage(`{"$schema": "https://schema.management.azure.com/schemas/2018-05-01/subscriptionDeploymentTemplate.json#", "contentVersion": "1.0.0.0", "resources": []}`)
		s.ends(runbook.Remediated, "")
		if made := s.groupsMade(); made != 1 {
			t.Errorf("it was made %d times", made)
		}
	})
}

// TestResourceGroupIsNotCreated where that is not known to be right: nothing is written then.
func TestResourceGroupIsNotCreated(t *testing.T) {
	for rule, row := range map[string]struct {
		change func(*scene)
		want   runbook.Outcome
		says   string
	}{
		"without a location": {
			func(s *scene) { s.order.Group.Location = "" }, runbook.Failed,
			"it is not known where to create it: create it, ask for the right to see it, or name its location by --region",
		},
		"whether it is there can't be seen": {
			func(s *scene) { s.inject(`deny: {match: {path: '*/resourcegroups/*'}}`) }, runbook.Undecided,
			"scope-there is unknown",
		},
		"no group can be called so": {
			func(s *scene) { s.in.ResourceGroup, s.order.Group.Name = "new.", "new." }, runbook.Failed, "none can be called so",
		},
	} {
		t.Run(rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				s.inNewGroup()
				row.change(s)
				s.ends(row.want, row.says)
				if s.puts() > 0 || s.groupsMade() > 0 {
					t.Errorf("%d deployments, %d groups", s.puts(), s.groupsMade())
				}
			})
		})
	}
}

// TestResourceGroupThatAppearsIsLeftAsItIs: ARM would replace the tags that somebody has given it.
func TestResourceGroupThatAppearsIsLeftAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.inNewGroup()
		s.watch = func(e engine.Event) {
			if e.Kind == engine.StepBegan && e.Step == "create-group" {
				s.sendTo("PUT", "/subscriptions/"+s.in.Subscription+"/resourceGroups/new",
					map[string]any{"location": "westeurope", "tags": map[string]any{"owner": "them"}})
			}
		}
		s.ends(runbook.Remediated, "")
		if made := s.groupsMade(); made != 1 {
			t.Errorf("it was written %d times", made)
		}
	})
}

// TestNothingIsDeployedIntoAGroupThatHasGone between its step and the deployment.
func TestNothingIsDeployedIntoAGroupThatHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.inNewGroup()
		gone := false
		s.watch = func(e engine.Event) { gone = gone || e.Kind == engine.StepEnded && e.Step == "create-group" }
		s.world.Intercept(func(call azuresim.Call) azuresim.Verdict {
			if gone && call.Verb == "GET" && strings.HasSuffix(call.Resource, "/resourceGroups/new") {
				s.world.Answer(azuresim.Requests{Method: "GET", Path: "*/resourceGroups/new", Times: 1}, 404,
					azuresim.ErrorBody("ResourceGroupNotFound", "Resource group 'new' could not be found."))
			}
			return azuresim.Proceed
		})
		result, err := s.run(t.Context())
		if err != nil || result.Outcome == runbook.Remediated || s.puts() != 0 {
			t.Errorf("ended %s: %s, %v, after %d deployments", result.Outcome, result.Reason, err, s.puts())
		}
	})
}
