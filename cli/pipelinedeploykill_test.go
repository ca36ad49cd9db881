package cli

import (
	"encoding/pem"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/azuresim"
	"salve/internal/pipeline/rollout"
	"salve/journal"
)

// TestKilledDeployments kills the real program at random moments while it deploys
// to an Azure over HTTPS. However often it dies, each deployment is made once.
func TestKilledDeployments(t *testing.T) {
	chance := rand.New(rand.NewPCG(2026, 7))
	for seed := range 3 {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			s := newSite(t, deployments(6))
			world, flags := s.azure()
			command := append([]string{"pipeline", "run", "pipeline.yaml"}, flags...)
			processes := s.killedUntilRolledOut(chance, command)
			made := map[string]int{}
			for _, call := range world.Calls() {
				if call.Verb == http.MethodPut && call.Status/100 == 2 {
					made[path.Base(call.Resource)]++
				}
			}
			for name, times := range made {
				if times != 1 {
					t.Errorf("%s was deployed %d times, by %d processes", name, times, processes)
				}
			}
			if len(made) != 6 {
				t.Errorf("deployed %v", made)
			}
		})
	}
}

// killedUntilRolledOut kills the program at random moments until it has come to its end, and gives how often it was
// started.
func (s *site) killedUntilRolledOut(chance *rand.Rand, command []string) (processes int) {
	s.Helper()
	for ; !s.rolledOut(); processes++ {
		running := s.salve(s.Context(), command...)
		if err := running.Start(); err != nil {
			s.Fatal(err)
		}
		// Each process lives longer than the one before, also on a busy machine.
		life := time.Duration(500+200*processes+chance.IntN(1500)) * time.Millisecond
		moment := time.AfterFunc(life, func() { _ = running.Process.Kill() }) // one that has ended can't be killed
		_ = running.Wait()                                                    // the record says what it came to
		moment.Stop()
		if processes > 40 {
			s.Fatal("it doesn't come to its end")
		}
	}
	if processes < 2 {
		s.Error("it was never killed in the middle")
	}
	return processes
}

// rolledOut tells whether the journal has a run of the pipeline that is closed:
// after that, another one would begin anew.
func (s *site) rolledOut() bool {
	s.Helper()
	found, err := journal.Find(s.Context(), journal.NewFile(filepath.Join(s.folder, "j")), func(h *journal.History) bool {
		return h.Header.Runbook == rollout.Name && h.Closed != nil
	}, func(string, error) {}) // a line that a kill has cut in two is mended by the next
	return err == nil && len(found) > 0
}

// thing is a template that makes one.
const thing = `{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", "contentVersion": "1.0.0.0",
	"parameters": {"name": {"type": "string"}}, "resources": [{"type": "Microsoft.KeyVault/vaults", "apiVersion": "2023-07-01", "name": "[parameters('name')]", "location": "westeurope"}]}`

// deployments is a pipeline of steps that deploy, each after the one before the
// last.
func deployments(count int) string {
	text := siteHead
	text = strings.Replace(text, "resourceGroup: rg", "resourceGroup: fleet", 1)
	text = strings.Replace(text, "subscription: sub", "subscription: Embedded", 1)
	for i := range count {
		text += fmt.Sprintf("  - name: s%d\n    action: ARM\n    template: template.json\n    parameters: parameters.json\n"+
			"    deploymentLevel: ResourceGroup\n    variables: [{name: name, value: thing-%d}]\n", i, i)
		if i > 1 {
			text += fmt.Sprintf("    dependsOn: [{resourceGroup: g, step: s%d}]\n", i-2)
		}
	}
	return text
}

// azure serves an embedded Azure to the programs of the site, and gives the flags
// that lead there.
func (s *site) azure() (*azuresim.World, []string) {
	return s.azureOf(func(*azuresim.Scenario) {})
}

func (s *site) azureOf(change func(*azuresim.Scenario)) (*azuresim.World, []string) {
	s.Helper()
	scenario, err := azuresim.Load("healthy")
	if err != nil {
		s.Fatal(err)
	}
	scenario.Durations.Resource = azuresim.Duration(300 * time.Millisecond)
	scenario.RetryAfter = azuresim.Duration(time.Second)
	change(&scenario)
	world, err := azuresim.New(scenario, azuresim.Options{})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(world.Close)
	server := httptest.NewTLSServer(world)
	s.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for name, text := range map[string]string{
		"ca.pem": string(authority), "parameters.json": `{"parameters": {}}`,
		"template.json": thing,
	} {
		if err := os.WriteFile(filepath.Join(s.folder, name), []byte(text), 0o600); err != nil {
			s.Fatal(err)
		}
	}
	s.Setenv("AZURE_TENANT_ID", "5a1e0000-0000-4000-8000-00000000000a")
	s.Setenv("AZURE_CLIENT_ID", "5a1e0000-0000-4000-8000-00000000000b")
	s.Setenv("AZURE_CLIENT_SECRET", "any")
	return world, []string{"--arm-endpoint", server.URL, "--authority-host", server.URL, "--arm-ca", "ca.pem"}
}

// TestKilledBetweenTwoRecords: the deployment's own run is closed, and the process
// dies before the pipeline's run says so. Whoever goes on doesn't deploy again,
// unless something else is to be deployed now.
func TestKilledBetweenTwoRecords(t *testing.T) {
	for name, row := range map[string]struct {
		template string
		puts     int
	}{
		"the same":       {thing, 1},
		"something else": {strings.Replace(thing, "westeurope", "northeurope", 1), 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBenchOf(t, "healthy", func(*azuresim.Scenario) {})
			run := b.deploying(deployments(1))
			b.pipeline(exitDecided, run...)
			b.cutOff(`"kind":"outcome"`)
			err := os.WriteFile(filepath.Join(filepath.Dir(run[1]), "template.json"), []byte(row.template), 0o600)
			if err != nil {
				t.Fatal(err)
			}
			contains(t, b.pipeline(exitDecided, run...), "its only step is done")
			if puts := b.puts(); puts != row.puts {
				t.Errorf("%d deployments, want %d", puts, row.puts)
			}
		})
	}
}

// cutOff takes the first line with a text, and all after it, off the record of the
// pipeline's run: what a crash before that line was written leaves.
func (b *bench) cutOff(text string) {
	b.t.Helper()
	for _, run := range b.runs() {
		path := filepath.Join(b.journal, "runs", run, "journal.jsonl")
		raw, err := os.ReadFile(path)
		if err != nil {
			b.t.Fatal(err)
		}
		if !strings.Contains(string(raw), `"runbook":"`+rollout.Name+`"`) {
			continue
		}
		before, _, found := strings.Cut(string(raw), text)
		if !found {
			b.t.Fatalf("no line holds %s:\n%s", text, raw)
		}
		if err := os.WriteFile(path, []byte(before[:strings.LastIndex(before, "\n")+1]), 0o600); err != nil {
			b.t.Fatal(err)
		}
		b.vouch(run)
	}
}

// vouch makes the lease know no more of a run than its record holds: the process died
// before it wrote either.
func (b *bench) vouch(run string) {
	b.t.Helper()
	store := journal.NewFile(b.journal)
	record, err := journal.Load(b.t.Context(), store, run)
	if err != nil {
		b.t.Fatal(err)
	}
	lease, err := store.Lock(b.t.Context(), journal.Claim{Target: record.Header.Target.ID})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := errors.Join(record.Adopt(b.t.Context(), lease, time.Now), lease.Release(b.t.Context())); err != nil {
		b.t.Fatal(err)
	}
}

// deploying writes a pipeline of deployments, and gives the arguments that run it.
func (b *bench) deploying(text string) []string {
	b.t.Helper()
	folder := b.t.TempDir()
	for name, content := range map[string]string{"pipeline.yaml": text, "template.json": thing, "parameters.json": `{"parameters": {}}`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	return []string{"run", filepath.Join(folder, "pipeline.yaml"), "--journal", b.journal}
}

// puts counts what was put to ARM.
func (b *bench) puts() int {
	count := 0
	for _, call := range b.world.Calls() {
		if call.Verb == http.MethodPut {
			count++
		}
	}
	return count
}

// TestATimeoutLeavesTheDeployment: a step that took too long has failed, and its
// deployment goes on in ARM. The next attempt waits for that one.
func TestATimeoutLeavesTheDeployment(t *testing.T) {
	b := newBenchOf(t, "healthy", func(s *azuresim.Scenario) { s.Durations.Resource = azuresim.Duration(3 * time.Minute) })
	run := b.deploying(strings.Replace(deployments(1), "    deploymentLevel", "    timeout: 60s\n    deploymentLevel", 1))
	contains(t, b.pipeline(exitFailed, run...), "budget of 1m0s is over; ARM keeps what the deployment has made so far")
	if err := os.WriteFile(run[1], []byte(deployments(1)), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, b.pipeline(exitDecided, run...), "its only step is done")
	if puts := b.puts(); puts != 1 {
		t.Errorf("it was deployed %d times", puts)
	}
}
