package pipeline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/pipeline"
)

// TestFieldsKeepTheirForm: what an action adds to a step comes back as it was written, with values in the place of
// what says where they come from.
func TestFieldsKeepTheirForm(t *testing.T) {
	file, found := pipeline.Parse("p.yaml", []byte(`$schema: pipeline.schema.v1
serviceGroup: S
rolloutName: R
resourceGroups:
- name: fleet
  resourceGroup: rg
  subscription: sub
  steps:
  - name: health
    action: GenevaHealth
    dependsOn: [{resourceGroup: fleet, step: logs}]
    secretKeyVault: {value: kv}
    secretName: {input: {resourceGroup: fleet, step: logs, name: secret}}
    monitoringAccountName: {configRef: a.b}
    genevaConfigsArtifact: {adoProject: p, artifactName: health, buildId: "7", repository: r}
    additionalScopeBindings: {first: {value: x}, second: {value: [one, two]}}
  - {name: logs, action: Shell, command: x, shellIdentity: {value: i}, outputs: [secret]}
`))
	if found.Errors() > 0 && len(found) > 3 {
		t.Fatal(found)
	}
	step := file.Steps()[0]
	var names []string
	values := make([]any, 0, len(step.Fields))
	for _, field := range step.Fields {
		names = append(names, field.Name.Value)
		values = append(values, field.Literal)
	}
	want := []string{"secretKeyVault", "secretName", "monitoringAccountName", "genevaConfigsArtifact.adoProject",
		"genevaConfigsArtifact.artifactName", "genevaConfigsArtifact.buildId", "genevaConfigsArtifact.repository",
		"additionalScopeBindings.first", "additionalScopeBindings.second"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if input := step.Fields[1].Input; input == nil || input.Name.Value != "secret" {
		t.Errorf("secretName comes from %v", input)
	}
	if ref := step.Fields[2].ConfigRef.Value; ref != "a.b" {
		t.Errorf("monitoringAccountName comes from %q", ref)
	}
	values[1] = "s3"
	nested, err := pipeline.Nest(step.Fields, values)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{
		"secretKeyVault": "kv", "secretName": "s3", "monitoringAccountName": nil,
		"genevaConfigsArtifact": map[string]any{
			"adoProject": "p", "artifactName": "health", "buildId": "7", "repository": "r",
		},
		"additionalScopeBindings": map[string]any{"first": "x", "second": []any{"one", "two"}},
	}, nested); diff != "" {
		t.Error(diff)
	}
	if _, err := pipeline.Nest(step.Fields, values[1:]); err == nil {
		t.Error("a value was missing, and nobody said so")
	}
}
