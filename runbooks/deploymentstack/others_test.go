package deploymentstack_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/internal/azuresim"
	"salve/runbook"
	"salve/runbooks/deploymentstack"
)

// TestContentTellsWhatTheStackIsToHold: a run that is resumed to delete what it was to detach is not done.
func TestContentTellsWhatTheStackIsToHold(t *testing.T) {
	known := map[string]string{}
	for name, change := range map[string]func(*deploymentstack.Order){
		"as it is":         func(*deploymentstack.Order) {},
		"another template": func(o *deploymentstack.Order) { o.Template = vaults("c") },
		"what is let go":   func(o *deploymentstack.Order) { o.OnUnmanage = deploymentstack.Detach },
		"out of sync":      func(o *deploymentstack.Order) { o.BypassOutOfSync = true },
		"a parameter": func(o *deploymentstack.Order) {
			o.Parameters = map[string]json.RawMessage{"key": json.RawMessage(`{"value":"k"}`)}
		},
	} {
		order := deploymentstack.Order{OnUnmanage: deploymentstack.Delete}
		order.Template = vaults("a")
		change(&order)
		content, err := order.Content()
		if err != nil || known[content] != "" {
			t.Errorf("%s has the content of %q: %v", name, known[content], err)
		}
		known[content] = name
	}
}

// TestFailureOfTheStackTellsNoSecret: ARM may quote the value that it is about.
func TestFailureOfTheStackTellsNoSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.order.Parameters = map[string]json.RawMessage{"key": json.RawMessage(`{"value":"hush-hush"}`)}
		s.order.Secret = map[string]bool{"key": true}
		s.rewriteStack(func(body map[string]any) {
			properties := body["properties"].(map[string]any)
			properties["provisioningState"] = "failed"
			properties["error"] = map[string]any{"code": "Weak", "message": "'hush-hush' is weak"}
		})
		result := s.ends(runbook.NeedsAttention, "Weak: '***' is weak")
		said, err := deploymentstack.Failed(t.Context(), s.acts(s.world.ARM()), s.in, s.order, result.Run)
		if err != nil || strings.Contains(said, "hush-hush") || !strings.Contains(said, "***") {
			t.Errorf("said %q, %v", said, err)
		}
	})
}

// TestStackThatOthersBeginMeanwhileIsNotTouched: the name was free when the run began, and isn't any more right before
// the step.
func TestStackThatOthersBeginMeanwhileIsNotTouched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.world.After(azuresim.Requests{Method: "GET", Path: "*/deploymentStacks/*", Times: 1}, s.other)
		result := s.ends(runbook.Deferred, "the stack is deploying, by somebody else")
		if s.puts() != 1 || result.Open {
			t.Errorf("%d updates, want the others' alone; open %t", s.puts(), result.Open)
		}
	})
}

// TestStackThatOthersUpdateMeanwhileIsNotTakenForOurs, even with the same content: it is made anew.
func TestStackThatOthersUpdateMeanwhileIsNotTakenForOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.rewriteStack(func(body map[string]any) {
			if s.puts() == 1 {
				body["tags"].(map[string]any)["salve-run"] = "run-of-others"
				body["properties"].(map[string]any)["provisioningState"] = "succeeded"
			}
		})
		s.ends(runbook.Remediated, "")
		if s.puts() != 2 {
			t.Errorf("%d updates, want 2", s.puts())
		}
	})
}

// TestCorrectedTemplateReplacesWhatTheRunBegan: what the run began with another template is waited for, and not taken
// for what is asked for now.
func TestCorrectedTemplateReplacesWhatTheRunBegan(t *testing.T) {
	for name, pause := range map[string]time.Duration{"that goes on": 0, "that has ended since": time.Hour / 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				s.world.After(azuresim.Requests{Method: "PUT", Path: "*/deploymentStacks/*", Times: 1},
					func() { cancel(engine.ErrInterrupted) })
				stopped, err := s.runUntil(ctx)
				if err != nil || !stopped.Open || s.stack().State != "deploying" {
					t.Fatalf("ended %s, open %t, %v", stopped.Outcome, stopped.Open, err)
				}
				time.Sleep(pause)
				s.order.Template = vaults("c")
				result := s.ends(runbook.Remediated, "all final checks hold")
				if result.Run != stopped.Run || s.puts() != 2 || !s.has("c") || s.has("a") {
					t.Errorf("run %s, %d updates, %+v", result.Run, s.puts(), s.stack())
				}
			})
		})
	}
}

// rewriteStack changes what ARM says of the stack.
func (s *scene) rewriteStack(change func(body map[string]any)) {
	s.world.Rewrite(azuresim.Requests{Method: "GET", Path: "*/deploymentStacks/*"}, func(body map[string]any) {
		if body["properties"] != nil {
			change(body)
		}
	})
}
