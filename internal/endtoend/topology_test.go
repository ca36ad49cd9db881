package endtoend_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/registry/registrytest"
	"salve/journal"
)

// whole kills salve at each step of the topology; without it at every ninth.
var whole = flag.Bool("whole", false, "kill the rollout of the topology at each of its steps")

const topologySteps = 60

// region is the topology of the examples on a served Azure, with registries and a journal in a folder.
type region struct {
	*stage
	folder    string
	arguments []string
}

// newRegion serves one of the example's worlds.
func newRegion(t *testing.T, world string) *region {
	t.Helper()
	for _, needed := range []string{"sh", "curl", "jq"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("there is no %s here", needed)
		}
	}
	example, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	r := &region{stage: serveWorld(t, filepath.Join(example, "topology", world)), folder: t.TempDir()}
	namespace := r.plane.Namespace(t)
	from, to := registrytest.Serve(t, nil), registrytest.Serve(t, nil)
	overlay := fmt.Sprintf("defaults:\n  cluster: {namespace: %s}\n  region: {vaultUrl: '%s'}\n  images:\n    from: %s\n"+
		"    to: %s\n    digests:\n", namespace, r.vault(), from, to)
	for _, name := range []string{"frontend", "backend", "controller", "metrics", "policy", "dns", "backup", "agent"} {
		image := registrytest.Push(t, from, "fleet/"+name, false)
		registrytest.Attach(t, image, "")
		overlay += fmt.Sprintf("      %s: %s\n", name, image.Digest)
	}
	path := filepath.Join(r.folder, "registries.yaml")
	if err := os.WriteFile(path, []byte(overlay), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Environment["VAULT_TOKEN"], r.Environment["CURL_CA_BUNDLE"] = "any", r.CA
	r.Environment["SALVE_JOURNAL_KEY_FILE"] = filepath.Join(r.folder, "journal", "key")
	r.arguments = append([]string{
		"pipeline", "run", "--topology", filepath.Join(example, "topology", "topology.yaml"), "--entrypoint", "Global",
		"--config", filepath.Join(example, "topology", "config.yaml"), "--overlay", path, "--environment", "int",
		"--region", "uksouth", "--pass", "VAULT_TOKEN", "--pass", "CURL_CA_BUNDLE", "--journal",
		filepath.Join(r.folder, "journal"), "--action",
		"CreateCertificate=" + filepath.Join(example, "actions", "salve-action-CreateCertificate"), "--concurrency", "6",
		"--lease-duration", lease.String(),
	}, r.toAzure()...)
	return r
}

// vault is the URL of a key vault of the served Azure.
func (r *region) vault() string {
	address, err := url.Parse(r.Control)
	if err != nil {
		r.Fatal(err)
	}
	return "https://" + address.Host + "/keyvault/region"
}

// rollout starts salve on the topology. Each step that begins is told to began.
func (r *region) rollout(began func(step string), more ...string) *process {
	r.Helper()
	p := r.salveWith(&stepWatch{began: began}, append(append(slices.Clone(r.arguments), "--verbosity", "1"), more...)...)
	return p
}

// stepWatch reads the log of salve as it is written.
type stepWatch struct {
	began func(step string)

	mu    sync.Mutex
	whole bytes.Buffer
	rest  []byte
}

// String is all that was written.
func (w *stepWatch) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.whole.String()
}

func (w *stepWatch) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, text...)
	for {
		line, rest, complete := bytes.Cut(w.rest, []byte{'\n'})
		if !complete {
			break
		}
		w.rest = rest
		var said struct{ Msg, Phase, ServiceGroup string }
		if json.Unmarshal(line, &said) == nil && said.ServiceGroup != "" && strings.HasPrefix(said.Msg, "step began") {
			w.began(said.ServiceGroup + "/" + said.Phase)
		}
	}
	return w.whole.Write(text)
}

// runs are all records of the rollout.
func (r *region) runs() []*journal.Record {
	r.Helper()
	records, err := journal.Find(r.Context(), journal.NewFile(filepath.Join(r.folder, "journal")),
		func(*journal.History) bool { return true }, func(run string, err error) { r.Errorf("run %s: %v", run, err) })
	if err != nil {
		r.Fatal(err)
	}
	return records
}

// rolledOut checks that all was rolled out, and nothing of it twice: by the records, by what the served Azure received,
// and by what is in the cluster.
func (r *region) rolledOut() {
	r.Helper()
	done := map[string]int{}
	for _, record := range r.runs() {
		if record.Closed == nil {
			r.Errorf("run %s of %s on %s is open", record.Run, record.Header.Runbook, record.Header.Target.Name)
		}
		if record.Header.Runbook != "pipeline" {
			continue
		}
		for _, entry := range record.Entries {
			if entry.Kind != journal.Outcome {
				continue
			}
			if result, err := entryOf[journal.Result](entry); err == nil && result.Result == journal.Done {
				done[record.Header.Target.Name+": "+entry.Step]++
			}
		}
	}
	if len(done) != topologySteps {
		r.Errorf("%d steps are done, want %d", len(done), topologySteps)
	}
	for step, times := range done {
		if times != 1 {
			r.Errorf("%s was done %d times", step, times)
		}
	}
	made := map[string]int{}
	for _, change := range r.changes() {
		resource := strings.ToLower(change.Resource)
		if change.Verb == http.MethodPut && change.Status/100 == 2 && strings.Contains(resource, "/deployments/") {
			made[resource]++
		}
	}
	for deployment, times := range made {
		if times != 1 {
			r.Errorf("%s was deployed %d times", deployment, times)
		}
	}
	r.releasedOnce()
}

// releasedOnce: each Helm release has one revision.
func (r *region) releasedOnce() {
	r.Helper()
	ofHelm := metav1.ListOptions{LabelSelector: "owner=helm"}
	secrets, err := r.plane.Client().CoreV1().Secrets("").List(r.Context(), ofHelm)
	if err != nil {
		r.Fatal(err)
	}
	releases := map[string]int{}
	for _, secret := range secrets.Items {
		releases[secret.Namespace+"/"+secret.Labels["name"]]++
	}
	for release, revisions := range releases {
		if revisions != 1 {
			r.Errorf("release %s has %d revisions", release, revisions)
		}
	}
}

// TestTopologyRollout rolls the example's four service groups out, where the cluster is healthy and where its system
// pool is wedged.
func TestTopologyRollout(t *testing.T) {
	for world, says := range map[string]string{"healthy.yaml": "nothing-to-do", "world.yaml": "remediated"} {
		t.Run(world, func(t *testing.T) {
			r := newRegion(t, world)
			preview := r.exits(r.rollout(func(string) {}, "--dry-run"), 0)
			if !strings.Contains(preview, "Nothing was changed.") || len(r.changes()) > 0 {
				t.Errorf("a dry run changed something, or does not say:\n%s", preview)
			}
			began := time.Now()
			said := r.exits(r.rollout(func(string) {}), 0)
			if !strings.Contains(said, "Rolled out Example.Global in uksouth") || !strings.Contains(said, says) {
				t.Errorf("it says:\n%s", tail(said))
			}
			t.Logf("%d steps in %s", topologySteps, time.Since(began).Round(100*time.Millisecond))
			r.rolledOut()
			r.leave()
		})
	}
}

// TestTopologyIsKilledAtEachStep: salve dies by SIGKILL as a step begins, and the same command goes on. Nothing that
// was done is done again.
func TestTopologyIsKilledAtEachStep(t *testing.T) {
	for _, world := range []string{"world.yaml", "healthy.yaml"} {
		if world == "healthy.yaml" && !*whole {
			continue
		}
		t.Run(world, func(t *testing.T) {
			r := newRegion(t, world)
			seen, killed := map[string]bool{}, 0
			for ended := false; !ended; {
				fatal := make(chan struct{}, topologySteps)
				p := r.rollout(func(step string) {
					if seen[step] {
						return
					}
					seen[step] = true
					if *whole || len(seen)%9 == 0 {
						fatal <- struct{}{}
					}
				}, "--wait-for-lease", "1m")
				select {
				case <-fatal:
					killed++
					_ = p.Process.Kill() // one that has ended can't be killed
					<-p.ended
				case <-p.ended:
					ended = true
					r.exits(p, 0)
				case <-time.After(patience):
					t.Fatalf("it does not come to its end:\n%s", tail(p.log.String()))
				}
			}
			r.rolledOut()
			if killed == 0 || len(seen) != topologySteps {
				t.Errorf("killed %d times, and %d of %d steps were seen to begin", killed, len(seen), topologySteps)
			}
			t.Logf("killed %d times, %d of %d steps were seen to begin", killed, len(seen), topologySteps)
			r.leave()
		})
	}
}
