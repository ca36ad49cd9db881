package pipeline_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
)

const small = `$schema: pipeline.schema.v1
serviceGroup: Example.Fleet
rolloutName: Fleet
revision: "7"
resourceGroups:
- name: fleet
  resourceGroup: '{{ .fleet.rg }}'
  subscription: sub
  steps:
  - name: heal
    action: Runbook
    runbook: aks-recreate-pool
    with:
      pool: system
      cluster:
        configRef: fleet.cluster
    timeout: 90m
  - name: cluster
    action: Shell
    command: ./cluster.sh
    idempotent: true
    shellIdentity:
      input: {resourceGroup: fleet, step: heal, name: identity}
    variables:
    - name: ZONES
      value: [a, b]
    dependsOn:
    - {resourceGroup: fleet, step: heal}
`

func TestParse(t *testing.T) {
	file, found := pipeline.Parse("p.yaml", []byte(small))
	if len(found) > 0 {
		t.Fatal(found)
	}
	steps := file.Steps()
	if len(steps) != 2 || file.Revision.Value != "7" || file.ResourceGroups[0].ResourceGroup.Value != "{{ .fleet.rg }}" {
		t.Fatalf("%+v", file)
	}
	heal, cluster := steps[0], steps[1]
	at := diagnostic.Position{File: "p.yaml", Line: 14, Column: 7}
	want := pipeline.Variable{Name: pipeline.Text{Value: "pool", At: at}, Value: pipeline.Value{
		At: diagnostic.Position{File: "p.yaml", Line: 14, Column: 13}, Literal: "system",
	}}
	if diff := cmp.Diff(want, heal.Runbook.With[0]); diff != "" {
		t.Error(diff)
	}
	if heal.Timeout.Duration != 90*time.Minute || heal.Runbook.With[1].ConfigRef.Value != "fleet.cluster" {
		t.Errorf("%+v", heal)
	}
	if cluster.ID().String() != "fleet/cluster" || !cluster.Idempotent || len(cluster.Inputs) != 1 {
		t.Errorf("%+v", cluster)
	}
	if diff := cmp.Diff([]any{"a", "b"}, cluster.Shell.Variables[0].Literal); diff != "" {
		t.Error(diff)
	}
	for _, ref := range cluster.Upstream() {
		if ref.ID() != heal.ID() {
			t.Errorf("upstream %s, want %s", ref.ID(), heal.ID())
		}
	}
}
