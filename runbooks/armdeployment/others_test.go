package armdeployment_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"salve/azure"
	"salve/engine"
	"salve/internal/azuresim"
	"salve/runbook"
	"salve/runbooks/armdeployment"
)

// starters are those who deploy under our name, and how they are called.
var starters = map[string]struct {
	tags map[string]string
	says string
}{
	"another run": {map[string]string{"salve-run": "20260101-other"}, "started by run 20260101-other"},
	"a person":    {map[string]string{"owner": "nobody"}, "started by somebody else"},
}

// TestDeploymentThatOthersStartMeanwhileIsNotReplaced: the name was free when the run began, and isn't any more right
// before the step.
func TestDeploymentThatOthersStartMeanwhileIsNotReplaced(t *testing.T) {
	for name, other := range starters {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				s.world.After(first(read), func() { s.othersDeploy(other.tags) })
				result := s.ends(runbook.Deferred, "a deployment of this name is Accepted, "+other.says)
				if s.asked("PUT", "/deployments/") != 1 || result.Open {
					t.Errorf("asked for %d deployments; open %t", s.asked("PUT", "/deployments/"), result.Open)
				}
			})
		})
	}
}

// TestResourceGroupThatIsDeletedMeanwhileIsNotDeployedTo although it was there when the run began.
func TestResourceGroupThatIsDeletedMeanwhileIsNotDeployedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.ends(runbook.Remediated, "")
		groups := azuresim.Requests{Method: "GET", Path: "*/resourcegroups/" + s.in.ResourceGroup}
		s.world.After(first(groups), func() {
			s.world.Answer(groups, http.StatusNotFound, azuresim.ErrorBody("ResourceGroupNotFound", "It is gone."))
		})
		s.ends(runbook.Failed, `there is no resource group "fleet" in subscription`)
		if asked := s.asked("PUT", "/deployments/"); asked != 1 {
			t.Errorf("asked for %d deployments", asked)
		}
	})
}

// TestDeploymentThatIsTakenAwayIsMadeAgain: what others leave under our name is not taken for our success.
func TestDeploymentThatIsTakenAwayIsMadeAgain(t *testing.T) {
	for name, row := range map[string]struct {
		takeAway func(*scene)
		puts     int
	}{
		"deleted":  {func(s *scene) { s.others("DELETE", nil) }, 2},
		"replaced": {func(s *scene) { s.othersDeploy(map[string]string{"owner": "nobody"}) }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				s.onceSucceeded(func() { row.takeAway(s) })
				result := s.ends(runbook.Remediated, "all final checks hold")
				if there := s.there(); there.Tags["salve-run"] != result.Run || s.puts() != row.puts {
					t.Errorf("there is %+v after %d deployments", there, s.puts())
				}
				why := `deployment \"fleet-vault-0a\" was replaced or deleted while it was waited for`
				if raw := s.record(result.Run); !strings.Contains(raw, why) || strings.Contains(raw, "panic") {
					t.Errorf("the record doesn't say why it was made twice:\n%s", raw)
				}
			})
		})
	}
}

// TestDeploymentThatSomebodyCancelsHasFailed: it isn't active any more, and hasn't made all of it.
func TestDeploymentThatSomebodyCancelsHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.world.After(first(started), func() {
			name := azure.DeploymentName{ResourceGroup: s.in.ResourceGroup, Name: s.in.Deployment}
			s.sendTo("POST", azure.DeploymentID(s.in.Subscription, name)+"/cancel", nil)
		})
		s.ends(runbook.NeedsAttention, `deploy: deployment "fleet-vault-0a" is Canceled: `)
	})
}

// TestDeploymentThatIsNotOursIsAQuestionInTheEnd: whatever happens to it between the step and the final checks.
func TestDeploymentThatIsNotOursIsAQuestionInTheEnd(t *testing.T) {
	type row struct {
		happens func(s *scene, run string)
		says    string
	}
	rows := map[string]row{
		"it is deleted": {func(s *scene, _ string) { s.others("DELETE", nil) }, "ARM has no deployment of this name"},
		"it is made again with another content": {func(s *scene, run string) {
			s.othersDeploy(map[string]string{"salve-run": run, "salve-content": "f00d"})
		}, "the deployment is Succeeded with another content"},
		"it is made again and doesn't say with what": {func(s *scene, run string) {
			s.othersDeploy(map[string]string{"salve-run": run})
		}, "the deployment is Succeeded with another content"},
		"it fails when it is made again": {func(s *scene, _ string) {
			s.world.Rewrite(read, func(body map[string]any) {
				body["properties"].(map[string]any)["provisioningState"] = "Failed"
			})
		}, "the deployment is Failed"},
	}
	for name, other := range starters {
		rows["it is replaced by "+name] = row{func(s *scene, _ string) { s.othersDeploy(other.tags) },
			"the deployment of this name was " + other.says}
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				s.watch = func(e engine.Event) {
					if e.Kind == engine.ChecksBegan {
						row.happens(s, e.Run)
					}
				}
				result := s.ends(runbook.NeedsAttention, "a final check failed: deployed does not hold: "+row.says)
				if !result.Open || result.Question == "" {
					t.Errorf("open %t, question %q", result.Open, result.Question)
				}
			})
		})
	}
}

// TestStands tells the deployment that a run made, with what is to be deployed now, from every other one.
func TestStands(t *testing.T) {
	for name, row := range map[string]struct {
		change  func(s *scene, run *string)
		stands  bool
		failure string
	}{
		"it is as the run made it":     {change: func(*scene, *string) {}, stands: true},
		"it was deleted":               {change: func(s *scene, _ *string) { s.others("DELETE", nil) }},
		"another run made it":          {change: func(_ *scene, run *string) { *run = "20260101-other" }},
		"the template changed since":   {change: func(s *scene, _ *string) { s.order.Template = elsewhere() }},
		"it is under way again":        {change: func(s *scene, _ *string) { s.othersDeploy(s.there().Tags) }},
		"the template is no JSON":      {func(s *scene, _ *string) { s.order.Template = []byte("{") }, false, "template"},
		"the deployment can't be read": {func(s *scene, _ *string) { s.blind(403) }, false, "forbidden"},
		"a parameter has another value": {
			change: func(s *scene, _ *string) { s.order.Parameters["name"] = []byte(`{"value":"v2"}`) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				run := s.ends(runbook.Remediated, "").Run
				row.change(s, &run)
				stands, err := armdeployment.Stands(t.Context(), s.acts, s.in, s.order, run)
				if stands != row.stands || !failsWith(err, row.failure) {
					t.Errorf("stands %t, %v", stands, err)
				}
			})
		})
	}
}

// TestFailed gives ARM's words for the failure of a run's own deployment, and none for anything else.
func TestFailed(t *testing.T) {
	for name, row := range map[string]struct {
		change        func(s *scene, run *string)
		says, failure string
	}{
		"it failed": {change: func(*scene, *string) {},
			says: failed("the name v1 is taken")},
		"it was deleted":      {change: func(s *scene, _ *string) { s.others("DELETE", nil) }},
		"another run made it": {change: func(_ *scene, run *string) { *run = "20260101-other" }},
		"it goes on":          {change: func(s *scene, _ *string) { s.rewrite("Running", "") }},
		"it succeeded":        {change: func(s *scene, _ *string) { s.rewrite("Succeeded", "") }},
		"it can't be read":    {change: func(s *scene, _ *string) { s.blind(403) }, failure: "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				run := s.ends(runbook.Remediated, "").Run
				s.rewrite("Failed", "the name v1 is taken")
				row.change(s, &run)
				said, err := armdeployment.Failed(t.Context(), s.acts, s.in, s.order, run)
				if said != row.says || !failsWith(err, row.failure) {
					t.Errorf("said %q, %v", said, err)
				}
			})
		})
	}
}
