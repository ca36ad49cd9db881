package armdeployment_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"salve/runbooks/armdeployment"
)

// TestMistakesOfTheCaller are found before ARM is asked anything.
func TestMistakesOfTheCaller(t *testing.T) {
	for says, change := range map[string]func(*scene){
		"is not the ID of one":                 func(s *scene) { s.in.Subscription = "fleet" },
		"a name has 1 to 64":                   func(s *scene) { s.in.Deployment = "a/b" },
		"is no JSON":                           func(s *scene) { s.order.Template = json.RawMessage("{") },
		"only a resource group is deployed to": func(s *scene) { s.in.ResourceGroup, s.order.Complete = "", true },
		"encoding the parameters":              func(s *scene) { s.order.Parameters["name"] = json.RawMessage("v1") },
		"its budget must be above 0":           func(s *scene) { s.order.Budget = 0 },
	} {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				change(s)
				if _, err := armdeployment.New(s.acts, s.in, s.order); !failsWith(err, says) {
					t.Errorf("the runbook: %v", err)
				}
				if said, err := armdeployment.Preview(t.Context(), s.acts, s.in, s.order); said != "" || !failsWith(err, says) {
					t.Errorf("the preview: %q, %v", said, err)
				}
				if calls := s.world.Calls(); len(calls) > 0 {
					t.Errorf("it asked ARM: %+v", calls)
				}
			})
		})
	}
}

// TestPlanNamesThePlace that is deployed to.
func TestPlanNamesThePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		for group, want := range map[string]struct{ target, changes string }{
			"fleet": {"fleet/fleet-vault-0a", "what the template describes, in resource group fleet"},
			"":      {"subscription/fleet-vault-0a", "what the template describes, in subscription " + s.in.Subscription},
		} {
			s.in.ResourceGroup = group
			book, err := armdeployment.New(s.acts, s.in, s.order)
			if err != nil {
				t.Fatal(err)
			}
			if book.Target.Name != want.target || book.Steps[1].Changes != want.changes {
				t.Errorf("target %q; changes %q", book.Target.Name, book.Steps[1].Changes)
			}
		}
	})
}

// TestContentTellsWhatIsDeployed: it changes with all that ARM is given, spaces and secrets aside.
func TestContentTellsWhatIsDeployed(t *testing.T) {
	original := func() armdeployment.Order {
		return armdeployment.Order{
			Template: json.RawMessage(vault), Secret: map[string]bool{"key": true},
			Parameters: map[string]json.RawMessage{"name": []byte(`{"value":"v1"}`), "key": []byte(`{"value":"hush"}`)},
		}
	}
	same, err := original().Content()
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		change  func(*armdeployment.Order)
		same    bool
		failure string
	}{
		"other spaces": {change: func(o *armdeployment.Order) {
			o.Template = json.RawMessage(strings.ReplaceAll(vault, "\n", "\n  "))
		}, same: true},
		"another secret": {change: func(o *armdeployment.Order) {
			o.Parameters["key"] = []byte(`{"value":"shh"}`)
		}, same: true},
		"another template":  {change: func(o *armdeployment.Order) { o.Template = elsewhere() }},
		"another parameter": {change: func(o *armdeployment.Order) { o.Parameters["name"] = []byte(`{"value":"v2"}`) }},
		"a parameter less":  {change: func(o *armdeployment.Order) { delete(o.Parameters, "name") }},
		"complete mode":     {change: func(o *armdeployment.Order) { o.Complete = true }},
		"a template cut short": {change: func(o *armdeployment.Order) {
			o.Template = o.Template[:99]
		}, failure: "reading the template"},
		"a parameter that is no JSON": {change: func(o *armdeployment.Order) {
			o.Parameters["name"] = []byte("v1")
		}, failure: "encoding the parameters"},
	} {
		t.Run(name, func(t *testing.T) {
			order := original()
			row.change(&order)
			content, err := order.Content()
			if (content == same) != row.same || !failsWith(err, row.failure) || (content == "") != (err != nil) {
				t.Errorf("content %q, %v; it was %q", content, err, same)
			}
		})
	}
}
