package armdeployment_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"salve/engine"
	"salve/internal/azuresim"
	"salve/runbook"
)

// TestInterruptedDeploymentIsPolledOnWhereARMSaid: the operation is in the record, and nothing is asked for again.
func TestInterruptedDeploymentIsPolledOnWhereARMSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		stopped := s.interrupted(polled)
		before := s.asked("GET", "/operationStatuses/")
		result := s.ends(runbook.Remediated, "all final checks hold")
		if result.Run != stopped.Run || s.asked("PUT", "/deployments/") != 1 {
			t.Errorf("run %s; asked for %d deployments", result.Run, s.asked("PUT", "/deployments/"))
		}
		if s.asked("GET", "/operationStatuses/") == before {
			t.Error("the operation was not polled on")
		}
	})
}

// TestDeploymentThatGoesOnIsNotAskedForAgain although nobody heard that ARM had accepted it.
func TestDeploymentThatGoesOnIsNotAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.world.Lose(first(started), azuresim.DropAfter)
		// The deployment goes on for longer than it takes to be told apart from a request that is still on its way.
		s.world.Rewrite(azuresim.Requests{Method: "GET", Path: read.Path, Times: 20}, func(body map[string]any) {
			if properties, is := body["properties"].(map[string]any); is {
				properties["provisioningState"] = "Running"
			}
		})
		s.ends(runbook.Remediated, "")
		if asked := s.asked("PUT", "/deployments/"); asked != 1 {
			t.Errorf("asked for %d deployments", asked)
		}
	})
}

// TestCorrectedTemplateReplacesWhatTheRunBegan: a template that changed since is not taken for the one that was
// deployed, however that one ends.
func TestCorrectedTemplateReplacesWhatTheRunBegan(t *testing.T) {
	for name, row := range map[string]struct {
		begun json.RawMessage
		waits bool // it has ended when the run is resumed
	}{
		"that goes on and succeeds": {json.RawMessage(vault), false},
		"that has succeeded since":  {json.RawMessage(vault), true},
		"that goes on and fails":    {failing(), false},
		"that has failed since":     {failing(), true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				s.order.Template = row.begun
				stopped := s.interrupted(started)
				s.until(func() bool { return !row.waits || !s.there().Active() })
				s.order.Template = elsewhere()
				result := s.ends(runbook.Remediated, "all final checks hold")
				url := string(s.there().Outputs["url"].Value)
				if result.Run != stopped.Run || s.puts() != 2 || url != `"https://w.example/"` {
					t.Errorf("run %s, %d deployments, %s", result.Run, s.puts(), url)
				}
			})
		})
	}
}

// TestDeploymentThatCannotBeReadIsAQuestion, and is not begun twice.
func TestDeploymentThatCannotBeReadIsAQuestion(t *testing.T) {
	for name, row := range map[string]struct {
		since    azuresim.Requests // from then on
		lost     bool
		reason   string
		question string
	}{
		"when its answer was lost": {
			started, true, "it can't be observed: ", `Has the change of step "deploy" happened? It can't be observed: `,
		},
		"while it is waited for": {polled, false, `waiting for deployment "fleet-vault-0a": `, "Is what stopped it mended?"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				if row.lost {
					s.world.Lose(first(started), azuresim.DropAfter)
				}
				s.world.After(first(row.since), func() { s.blind(http.StatusBadRequest) })
				result := s.ends(runbook.NeedsAttention, row.reason)
				if !result.Open || !strings.HasPrefix(result.Question, row.question) {
					t.Errorf("open %t, question %q", result.Open, result.Question)
				}
				if asked := s.asked("PUT", "/deployments/"); asked != 1 {
					t.Errorf("asked for %d deployments", asked)
				}
			})
		})
	}
}

// TestProgressNamesTheDeployment that ARM is at work on.
func TestProgressNamesTheDeployment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		var said []string
		s.watch = func(e engine.Event) {
			if e.Kind == engine.StepMoved {
				said = append(said, e.Step+": "+e.Progress.Text)
			}
		}
		s.ends(runbook.Remediated, "")
		if len(said) != 1 || said[0] != "deploy: ARM is deploying fleet-vault-0a" {
			t.Errorf("%q", said)
		}
	})
}
