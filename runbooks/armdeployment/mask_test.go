package armdeployment_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"salve/runbook"
	"salve/runbooks/armdeployment"
)

// TestSecretsAreNotShownInWhatARMSays: a failure may quote the value that it is about.
func TestSecretsAreNotShownInWhatARMSays(t *testing.T) {
	secret := map[string]bool{"key": true, "more": true}
	for name, row := range map[string]struct {
		key, more string // parameters as ARM takes them
		secret    map[string]bool
		said      string
		shown     string
	}{
		"a text":           {key: `{"value":"hush-hush"}`, said: "hush-hush is weak", shown: "*** is weak"},
		"each time":        {key: `{"value":"hush"}`, said: "'hush' and 'hush'", shown: "'***' and '***'"},
		"in an object":     {key: `{"value":{"a":[{"b":"hush"},7]}}`, said: "hush, 7", shown: "***, 7"},
		"too short":        {key: `{"value":"abc"}`, said: "abc", shown: "abc"},
		"of the vault":     {key: `{"reference":{"keyVault":{"id":"id-of-it"}}}`, said: "id-of-it", shown: "id-of-it"},
		"not a secret":     {key: `{"value":"hush"}`, secret: map[string]bool{"key": false}, said: "hush", shown: "hush"},
		"one in the other": {key: `{"value":["hush","hush-money"]}`, said: "hush-money, hush", shown: "***, ***"},
		"one in another's": {
			key: `{"value":"hush"}`, more: `{"value":"hush-money"}`, said: "hush-money, hush", shown: "***, ***",
		},
		"of several lines": {
			key: `{"value":"-- KEY\nhush\n\n--\n"}`, said: "bad key: -- KEY\nhush\n\n--\n", shown: "bad key: ***",
		},
		"quoted as JSON":             {key: `{"value":"hu\"sh\n"}`, said: `{"key":"hu\"sh\n"}`, shown: `{"key":"***"}`},
		"quoted as JSON in one line": {key: `{"value":"hu\"sh  \"!"}`, said: `{"key":"hu\"sh  \"!"}`, shown: `{"key":"***"}`},
		"cut short": {
			key: `{"value":"hush` + strings.Repeat("-hush", 500) + `"}`, said: "weak: hush" + strings.Repeat("-hush", 500),
			shown: "weak: ***…",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				run := s.ends(runbook.Remediated, "").Run
				s.rewrite("Failed", row.said)
				s.order.Parameters["key"], s.order.Secret = json.RawMessage(row.key), secret
				if row.more != "" {
					s.order.Parameters["more"] = json.RawMessage(row.more)
				}
				if row.secret != nil {
					s.order.Secret = row.secret
				}
				said, err := armdeployment.Failed(t.Context(), s.acts, s.in, s.order, run)
				if err != nil || said != failed(row.shown) {
					t.Errorf("said %q, %v", said, err)
				}
			})
		})
	}
}

// TestPreviewThatFailsShowsNoSecret: ARM's words are given line by line, as they are.
func TestPreviewThatFailsShowsNoSecret(t *testing.T) {
	for name, row := range map[string]struct{ said, shown string }{
		"as it is":       {"bad key: --  \"KEY\"\nhush --", "bad key: ***"},
		"quoted as JSON": {`{"key":"--  \"KEY\"\nhush --"}`, `{"key":"***"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				s.order.Secret = map[string]bool{"key": true}
				s.order.Parameters["key"] = json.RawMessage(`{"value":"--  \"KEY\"\nhush --"}`)
				s.rewritePrediction(func(body map[string]any) {
					body["error"] = map[string]any{"code": "BadKey", "message": row.said}
				})
				said, err := armdeployment.Preview(t.Context(), s.acts, s.in, s.order)
				if said != "" || !failsWith(err, "BadKey: "+row.shown) {
					t.Errorf("said %q, %v", said, err)
				}
			})
		})
	}
}
