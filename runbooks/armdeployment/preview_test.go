package armdeployment_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"salve/internal/apierr"
	"salve/internal/azuresim"
	"salve/runbook"
	"salve/runbooks/armdeployment"
	"salve/runbooks/resourcegroup"
)

func TestPreview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		previews := func(want string) {
			t.Helper()
			said, err := armdeployment.Preview(t.Context(), s.acts, s.in, s.order)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, said); diff != "" {
				t.Error(diff)
			}
		}
		previews("resources: 1 to create\n+ fleet/providers/Microsoft.KeyVault/vaults/v1")
		if s.puts() > 0 {
			t.Error("it deployed")
		}
		s.ends(runbook.Remediated, "")
		previews("resources: 1 to leave as they are")
		s.order.Template = elsewhere()
		previews("resources: 1 to change\n~ fleet/providers/Microsoft.KeyVault/vaults/v1: properties.vaultUri")
		s.in.ResourceGroup = "elsewhere"
		const unsaid = "\nwhat would change in it ARM can't say before it is there"
		_, err := armdeployment.Preview(t.Context(), s.acts, s.in, s.order)
		if apierr.ClassOf(err) != apierr.Missing || !strings.Contains(err.Error(), "not known where to create it") {
			t.Errorf("without a region: %v", err)
		}
		s.order.Group = resourcegroup.Wanted{Name: "elsewhere", Location: "northeurope"}
		previews("+ resource group elsewhere, in northeurope" + unsaid)
	})
}

// TestWhatARMPredictsIsShownWithASignForEachKindOfChange, the gravest first, and what stays as it is only counted.
func TestWhatARMPredictsIsShownWithASignForEachKindOfChange(t *testing.T) {
	const vaults = "/subscriptions/s/resourceGroups/fleet/providers/Microsoft.KeyVault/vaults/"
	type change = map[string]any
	changed := func(kind, id string, paths ...string) any {
		delta := []any{}
		for _, path := range paths {
			delta = append(delta, change{"path": path, "propertyChangeType": "Modify"})
		}
		return change{"resourceId": id, "changeType": kind, "delta": delta}
	}
	for name, row := range map[string]struct {
		changes []any
		want    string
	}{
		"each kind": {
			[]any{
				changed("NoChange", vaults+"same"), changed("Unsupported", vaults+"odd"), changed("Ignore", vaults+"others"),
				changed("Deploy", vaults+"unsure"), changed("Modify", vaults+"older"), changed("Create", vaults+"new"),
				changed("Delete", vaults+"old"), changed("Create", "/subscriptions/s/providers/A.B/c"),
			},
			"resources: 1 to delete, 2 to create, 1 to change, 1 that ARM can't predict, 1 that ARM can't read, " +
				`1 to leave as they are
- fleet/providers/Microsoft.KeyVault/vaults/old
+ fleet/providers/Microsoft.KeyVault/vaults/new
+ /subscriptions/s/providers/A.B/c
~ fleet/providers/Microsoft.KeyVault/vaults/older
! fleet/providers/Microsoft.KeyVault/vaults/unsure
? fleet/providers/Microsoft.KeyVault/vaults/odd`,
		},
		"properties in order, each once": {
			[]any{changed("Modify", vaults+"v1", "tags.b", "sku", "tags.b", "properties.a")},
			"resources: 1 to change\n~ fleet/providers/Microsoft.KeyVault/vaults/v1: properties.a, sku, tags.b",
		},
		"only what isn't the template's": {[]any{changed("Ignore", vaults+"others")}, "nothing to change"},
		"none":                           {[]any{}, "nothing to change"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				s.rewritePrediction(func(body map[string]any) {
					body["properties"] = map[string]any{"changes": row.changes}
				})
				said, err := armdeployment.Preview(t.Context(), s.acts, s.in, s.order)
				if diff := cmp.Diff(row.want, said); err != nil || diff != "" {
					t.Errorf("%v\n%s", err, diff)
				}
			})
		})
	}
}

// TestPreviewSaysWhyThereIsNone, and nothing is said of resources then.
func TestPreviewSaysWhyThereIsNone(t *testing.T) {
	for says, change := range map[string]func(*scene){
		"InvalidTemplate": func(s *scene) { s.order.Template = json.RawMessage(`{"resources": 1}`) },
		"encoding the parameters": func(s *scene) {
			s.order.Parameters["key"], s.order.Secret = json.RawMessage("hush"), map[string]bool{"key": true}
		},
		"forbidden": func(s *scene) { s.inject(`deny: {match: {path: '*/resourcegroups/*'}}`) },
	} {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				change(s)
				said, err := armdeployment.Preview(t.Context(), s.acts, s.in, s.order)
				if said != "" || !failsWith(err, says) {
					t.Errorf("said %q, %v", said, err)
				}
			})
		})
	}
}

// rewritePrediction changes what ARM predicts.
func (s *scene) rewritePrediction(edit func(body map[string]any)) {
	s.world.Rewrite(azuresim.Requests{Method: "GET", Path: "*/operationresults/*"}, func(body map[string]any) {
		if body["properties"] != nil {
			edit(body)
		}
	})
}
