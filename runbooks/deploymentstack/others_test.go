package deploymentstack_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

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

// rewriteStack changes what ARM says of the stack.
func (s *scene) rewriteStack(change func(body map[string]any)) {
	s.world.Rewrite(azuresim.Requests{Method: "GET", Path: "*/deploymentStacks/*"}, func(body map[string]any) {
		if body["properties"] != nil {
			change(body)
		}
	})
}
