package cli

import (
	"regexp"
	"testing"

	"salve/internal/pipeline"
)

// TestStepsHaveNamesInAzureOfTheirOwn: the same each time, for ARM lets one deployment of a name be active, and never
// that of another step.
func TestStepsHaveNamesInAzureOfTheirOwn(t *testing.T) {
	named := func(group, name, apart string) string {
		step := &pipeline.Step{Name: pipeline.Text{Value: name}}
		step.Group = &pipeline.ResourceGroup{Name: pipeline.Text{Value: group}}
		return stepName(step, apart)
	}
	if first, again := named("svc", "deploy", "Example.Fleet"), named("svc", "deploy", "example.fleet"); first != again {
		t.Errorf("one step has the names %s and %s", first, again)
	}
	valid, seen := regexp.MustCompile(`^svc-deploy-svc-[0-9a-f]{8}$`), map[string]string{}
	for _, one := range [][3]string{
		{"svc", "deploy-svc", "Example.Fleet"}, {"svc", "deploy svc", "Example.Fleet"},
		{"svc", "deploy_svc", "Example.Fleet"}, {"svc", "deploy.svc", "Example.Fleet"},
		{"svc", "deploy-svc", "Example.Other"}, {"svc", "deploy svc", "Example.Other"},
	} {
		name := named(one[0], one[1], one[2])
		if other, taken := seen[name]; taken || !valid.MatchString(name) {
			t.Errorf("step %q of %s has the name %s, as %s", one[1], one[2], name, other)
		}
		seen[name] = one[1] + " of " + one[2]
	}
}
