package deploymentstack_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"salve/internal/azuresim"
	"salve/runbook"
	"salve/runbooks/deploymentstack"
)

// TestStands tells the stack that a run made, with what is to be in it now, from every other one.
func TestStands(t *testing.T) {
	for name, row := range map[string]struct {
		change  func(s *scene, run *string)
		stands  bool
		failure string
	}{
		"it is as the run made it": {change: func(*scene, *string) {}, stands: true},
		"another run made it":      {change: func(_ *scene, run *string) { *run = "20260101-other" }},
		"the template changed":     {change: func(s *scene, _ *string) { s.order.Template = vaults("c") }},
		"what is let go changed":   {change: func(s *scene, _ *string) { s.order.OnUnmanage = deploymentstack.Detach }},
		"it has failed since":      {change: func(s *scene, _ *string) { s.said("failed", "Weak") }},
		"it is under way":          {change: func(s *scene, _ *string) { s.said("deploying", "") }},
		"it was never made":        {change: func(s *scene, _ *string) { s.in.Stack = "fleet-other" }},
		"the stack can't be read":  {func(s *scene, _ *string) { s.blind() }, false, "forbidden"},
		"the template is no JSON":  {func(s *scene, _ *string) { s.order.Template = []byte("{") }, false, "template"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				run := s.ends(runbook.Remediated, "").Run
				row.change(s, &run)
				stands, err := deploymentstack.Stands(t.Context(), s.acts(s.world.ARM()), s.in, s.order, run)
				if stands != row.stands || (err != nil) != (row.failure != "") ||
					err != nil && !strings.Contains(err.Error(), row.failure) {
					t.Errorf("stands %t, %v", stands, err)
				}
			})
		})
	}
}

// TestFailed gives ARM's words for the failure of a run's own update, and none for anything else.
func TestFailed(t *testing.T) {
	for name, row := range map[string]struct {
		change        func(s *scene, run *string)
		says, failure string
	}{
		"it failed":           {change: func(s *scene, _ *string) { s.said("failed", "Weak") }, says: "is failed: Weak: no"},
		"another run made it": {change: func(s *scene, run *string) { s.said("failed", "Weak"); *run = "20260101-other" }},
		"it goes on":          {change: func(s *scene, _ *string) { s.said("deploying", "Weak") }},
		"it succeeded":        {change: func(*scene, *string) {}},
		"it was never made":   {change: func(s *scene, _ *string) { s.in.Stack = "fleet-other" }},
		"it can't be read":    {change: func(s *scene, _ *string) { s.blind() }, failure: "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				run := s.ends(runbook.Remediated, "").Run
				row.change(s, &run)
				said, err := deploymentstack.Failed(t.Context(), s.acts(s.world.ARM()), s.in, s.order, run)
				if (said != "") != (row.says != "") || !strings.Contains(said, row.says) || (err != nil) != (row.failure != "") {
					t.Errorf("said %q, %v", said, err)
				}
			})
		})
	}
}

// TestUpdateThatGoesOnIsNotAskedForAgain although nobody heard that ARM had accepted it.
func TestUpdateThatGoesOnIsNotAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.world.Lose(azuresim.Requests{Method: "PUT", Path: "*/deploymentStacks/*", Times: 1}, azuresim.DropAfter)
		// It goes on for longer than it takes to be told apart from a request that is still on its way.
		looks := 0
		s.rewriteStack(func(body map[string]any) {
			if looks++; looks < 20 {
				body["properties"].(map[string]any)["provisioningState"] = "deploying"
			}
		})
		s.ends(runbook.Remediated, "")
		if asked := s.asked(); asked != 1 {
			t.Errorf("asked for %d updates", asked)
		}
	})
}

// asked counts the updates that were asked for, accepted or not.
func (s *scene) asked() (count int) {
	for _, call := range s.world.Calls() {
		if call.Verb == "PUT" && strings.Contains(call.Resource, "/deploymentStacks/") {
			count++
		}
	}
	return count
}

// TestUpdateThatCannotBeSeenIsAQuestion when its answer was lost, and is not asked for twice.
func TestUpdateThatCannotBeSeenIsAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		put := azuresim.Requests{Method: "PUT", Path: "*/deploymentStacks/*", Times: 1}
		s.world.Lose(put, azuresim.DropAfter)
		s.world.After(put, s.blind)
		result := s.ends(runbook.NeedsAttention, "it can't be observed: ")
		if !result.Open || !strings.HasPrefix(result.Question, `Has the change of step "update-stack" happened?`) {
			t.Errorf("open %t, question %q", result.Open, result.Question)
		}
		if asked := s.asked(); asked != 1 {
			t.Errorf("asked for %d updates", asked)
		}
	})
}

// said has ARM say another state and failure of the stack from now on.
func (s *scene) said(state, code string) {
	s.rewriteStack(func(body map[string]any) {
		properties := body["properties"].(map[string]any)
		properties["provisioningState"] = state
		if code != "" {
			properties["error"] = map[string]any{"code": code, "message": "no"}
		}
	})
}

// blind has ARM answer every reading of the stack with a refusal.
func (s *scene) blind() {
	s.world.Answer(azuresim.Requests{Method: "GET", Path: "*/deploymentStacks/*"}, 403,
		azuresim.ErrorBody("AuthorizationFailed", "no rights"))
}
