package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/azuresim"
	"salve/internal/pipeline"
	"salve/journal"
	"salve/runbooks/armdeployment"
)

// fleetGroups are the resource groups of the fleet's pipeline besides the cluster's.
var fleetGroups = []string{"shared", "control", "area", "audit", "logs"}

// fleetResources are what other pipelines have made, and the lookups find.
var fleetResources = []azuresim.Resource{
	identity("shared", "rollout"), identity("shared", "dashboard"),
	identity("control", "hub"), identity("control", "broker"), identity("control", "exporter"),
	{Group: "logs", Type: "Microsoft.Kusto/clusters", Name: "logs",
		Properties: map[string]any{"uri": "https://logs.example", "dataIngestionUri": "https://ingest.logs.example"}},
}

func identity(group, name string) azuresim.Resource {
	return azuresim.Resource{
		Group: group, Type: "Microsoft.ManagedIdentity/userAssignedIdentities", Name: name,
		Properties: map[string]any{"principalId": "principal-of-" + name},
	}
}

// fleet is a bench whose Azure has what the fleet's pipeline looks up, and the
// arguments that run that pipeline on it. What is left out acts on what is neither
// Azure's nor Kubernetes' own API.
func fleet(t *testing.T, scenario string, leftOut ...string) (*bench, []string) {
	t.Helper()
	b := newBenchOf(t, scenario, func(s *azuresim.Scenario) {
		s.ResourceGroups, s.Resources = fleetGroups, fleetResources
	})
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../examples/fleet")); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"upgrade.sh", "clean-volumes.sh", "probe.sh"} {
		if err := os.Chmod(filepath.Join(folder, "scripts", script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return b, []string{
		"run", filepath.Join(folder, "pipeline.yaml"), "--config", filepath.Join(folder, "config.yaml"), "--journal",
		b.journal, "--skip-actions",
		strings.Join(append(leftOut, "SetCertificateIssuer", "Helm"), ","),
	}
}

// clusterDeployment is the name under which step fleet/cluster deploys: it is the
// same in each run, whoever computes it.
const clusterDeployment = "fleet-cluster-e9e0d899"

// fleetDone is what is said of a whole rollout.
const fleetDone = "24 of 28 steps are done, 4 were skipped: fleet/public-issuer, fleet/private-issuer, " +
	"fleet/image-policy, fleet/metrics."

// states are those of the deployments that a rollout has made, by their steps.
func (b *bench) states() map[string]string {
	b.t.Helper()
	found := map[string]string{}
	for _, run := range b.runs() {
		record, err := journal.Load(b.t.Context(), journal.NewFile(b.journal), run)
		if err != nil {
			b.t.Fatal(err)
		}
		if record.Header.Runbook != armdeployment.Name {
			continue
		}
		outcome := "open"
		if record.Closed != nil {
			outcome = string(record.Closed.Outcome)
		}
		found[record.Header.Target.Name] = outcome
	}
	return found
}

// TestFleetRollout runs a management cluster's rollout of 28 steps end to end. It
// passes where the system pool is healthy, where it is wedged, which the runbook
// mends before the cluster's turn, and where the cluster isn't there yet.
func TestFleetRollout(t *testing.T) {
	for scenario, outcome := range map[string]string{
		"healthy": "nothing-to-do", "wedged": "remediated", "greenfield": "nothing-to-do",
	} {
		t.Run(scenario, func(t *testing.T) {
			b, run := fleet(t, scenario)
			said := b.pipeline(exitDecided, run...)
			contains(t, said, fleetDone, "✓ fleet/heal-system-pool", "; "+outcome+": ", "✓ fleet/cluster")
			healed, updated := strings.Index(said, "✓ fleet/heal-system-pool"), strings.Index(said, "✓ fleet/cluster ")
			if healed > updated {
				t.Errorf("the cluster came first:\n%s", said)
			}
			states := b.states()
			for step, state := range states {
				if state != "remediated" {
					t.Errorf("deployment %s is %s", step, state)
				}
			}
			if len(states) != 19 {
				t.Errorf("%d deployments: %v", len(states), states)
			}
		})
	}
}

// TestFleetWithoutItsRunbook gets stuck at the cluster, as it did before there was
// one; with it the same run gets through.
func TestFleetWithoutItsRunbook(t *testing.T) {
	b, run := fleet(t, "wedged", pipeline.ActionRunbook)
	said := b.pipeline(exitFailed, run...)
	contains(t, said, "✗ fleet/cluster", "not done: fleet/cluster")
}

// TestFleetIsGoneOnWith: a rollout that is stopped in the middle of a deployment
// waits for that deployment when it goes on, and doesn't make it twice.
func TestFleetIsGoneOnWith(t *testing.T) {
	b, run := fleet(t, "healthy")
	b.interruptAfter(http.MethodPut, "/deployments/"+clusterDeployment)
	said := b.pipeline(exitNeedsAttention, run...)
	contains(t, said, "✗ fleet/cluster", "interrupted; the run is open and can be resumed")
	said = b.pipeline(exitDecided, run...)
	contains(t, said, fleetDone)
	puts := 0
	for _, call := range b.world.Calls() {
		if call.Verb == http.MethodPut && strings.HasSuffix(call.Resource, "/deployments/"+clusterDeployment) {
			puts++
		}
	}
	if puts != 1 {
		t.Errorf("the cluster was deployed %d times", puts)
	}
}

// TestFleetPreview: a dry run asks ARM about all deployments whose values are
// known, and changes nothing.
func TestFleetPreview(t *testing.T) {
	b, run := fleet(t, "healthy")
	said := b.pipeline(exitDecided, append(run, "--dry-run")...)
	contains(t, said, "looks things up, and changes nothing",
		"principal=<dashboardPrincipal of shared/lookup>", "Nothing was changed.")
	for _, call := range b.world.Calls() {
		if call.Verb == http.MethodPut {
			t.Errorf("it asked for %s %s", call.Verb, call.Resource)
		}
	}
}
