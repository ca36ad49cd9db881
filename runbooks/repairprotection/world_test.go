package repairprotection_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/prow/github"
	"salve/internal/prow/githubsim"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/repairprotection"
)

const (
	token = "ghp_forthetestsalone"
	// today is the configuration that is right. An old branchprotector requires docs of kube/widgets besides.
	today = `
prowjob_namespace: prow
pod_namespace: test-pods
branch-protection:
  orgs:
    kube:
      repos:
        widgets:
          protect: true
          required_status_checks: {contexts: [cla]}
        gadgets:
          protect: true
          enforce_admins: true
presubmits:
  kube/widgets:
  - {name: unit, always_run: true, spec: {containers: [{image: golang}]}}
  - {name: docs, run_if_changed: ^docs/, spec: {containers: [{image: golang}]}}
  kube/gadgets:
  - {name: build, always_run: true, spec: {containers: [{image: golang}]}}
  kube/attic:
  - {name: dust, run_if_changed: ^dust/, spec: {containers: [{image: golang}]}}
`
	manifest = `
apiVersion: batch/v1
kind: CronJob
metadata: {namespace: prow, name: branchprotector}
spec:
  schedule: "0 * * * *"
  jobTemplate: {spec: {template: {spec: {containers: [{name: p, image: "gcr.io/k8s-prow/branchprotector:v2"}]}}}}
`
)

// world is a GitHub and a cluster with a Prow instance, in memory.
type world struct {
	testing.TB
	sim      *githubsim.Server
	client   *fake.Clientset
	dynamic  *dynamicfake.FakeDynamicClient
	folder   string
	in       repairprotection.Inputs
	journal  *journal.Memory
	endpoint string
	reserve  int
}

// newWorld is the day after an old branchprotector ran: widgets require docs, which reports on few pull requests.
func newWorld(t testing.TB) *world {
	w := &world{
		TB: t, journal: journal.NewMemory(), folder: t.TempDir(), endpoint: "https://github.example/api/v3/",
		sim: githubsim.New(githubsim.Options{}),
		client: fake.NewClientset(namespace("salve-system"), namespace("prow"),
			cronJob("gcr.io/k8s-prow/branchprotector:v2")),
		dynamic: prowJobs(),
	}
	w.sim.Update(func(github *githubsim.World) {
		github.Token(token, "root")
		for _, name := range []string{"widgets", "gadgets", "attic"} {
			repo := github.Repo("kube/" + name)
			repo.Collaborators = map[string]string{"root": "admin"}
		}
		github.Repo("kube/widgets").Branch("main").Protection = githubsim.Require("cla", "docs", "unit")
		pull := github.Repo("kube/widgets").Pull(7)
		pull.Head = githubsim.SHA("pull 7")
		github.Repo("kube/widgets").Commit(pull.Head).Statuses = []githubsim.Status{
			{Context: "cla", State: "success"}, {Context: "unit", State: "success"},
		}
		protected := githubsim.Require("build")
		protected.EnforceAdmins = true
		github.Repo("kube/gadgets").Branch("main").Protection = protected
	})
	w.write("config.yaml", today)
	w.write("manifests/protector.yaml", manifest)
	w.in = repairprotection.Defaults()
	w.in.Config, w.in.Manifests = w.path("config.yaml"), w.path("manifests")
	w.in.Revision = "2"
	t.Cleanup(func() { replayed(t, w.journal) })
	return w
}

// replayed makes the decisions of all runs again, without GitHub, a cluster and a configuration.
func replayed(t testing.TB, kept journal.Backend) {
	t.Helper()
	runbooktest.Replayed(t, kept, repairprotection.Name, func(history *journal.History) (runbook.Runbook, error) {
		var in repairprotection.Inputs
		if err := json.Unmarshal(history.Header.Inputs, &in); err != nil {
			return runbook.Runbook{}, err
		}
		return repairprotection.Replayed(in, history.Header.Target)
	})
	runbooktest.Replayed(t, kept, repairprotection.UndoName, func(history *journal.History) (runbook.Runbook, error) {
		var in repairprotection.UndoInputs
		if err := json.Unmarshal(history.Header.Inputs, &in); err != nil {
			return runbook.Runbook{}, err
		}
		return repairprotection.ReplayedUndo(in, history.Header.Target)
	})
}

func (w *world) path(name string) string { return filepath.Join(w.folder, name) }

func (w *world) write(name, content string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(content), 0o600); err != nil {
		w.Fatal(err)
	}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func containersOf(image string) []corev1.Container {
	return []corev1.Container{{Name: "p", Image: image}}
}

func cronJob(image string) *batchv1.CronJob {
	job := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "prow", Name: "branchprotector"}}
	job.Spec.JobTemplate.Spec.Template.Spec.Containers = containersOf(image)
	return job
}

func prowJobResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "prow.k8s.io", Version: "v1", Resource: "prowjobs"}
}

func prowJobs(objects ...runtime.Object) *dynamicfake.FakeDynamicClient {
	kinds := map[schema.GroupVersionResource]string{prowJobResource(): "ProwJobList"}
	return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...)
}

// of is the world as a process sees it that begins: with a client of its own, whose calls go through wrap.
func (w *world) of(wrap func(http.RoundTripper) http.RoundTripper) repairprotection.World {
	w.Helper()
	transport := w.sim.Transport()
	if wrap != nil {
		transport = wrap(transport)
	}
	client, err := github.New(github.Options{
		BaseURL: w.endpoint, Transport: transport, Clock: clock.Real{}, Reserve: w.reserve, MaxWait: 4 * time.Minute,
		Token: github.TokenFunc(func(context.Context) (string, error) { return token, nil }),
	})
	if err != nil {
		w.Fatal(err)
	}
	configuration, err := repairprotection.ReadConfiguration(w.in)
	if err != nil {
		w.Fatal(err)
	}
	base, err := repairprotection.ReadBase(w.in)
	if err != nil {
		w.Fatal(err)
	}
	return repairprotection.World{
		GitHub: client, Endpoint: w.endpoint, Reserve: w.reserve, Configuration: configuration, Base: base,
		Cluster: &kube.Cluster{Client: w.client, Dynamic: w.dynamic, Clock: clock.Real{}},
	}
}

// discovered are the inputs with what differs.
func (w *world) discovered() repairprotection.Inputs {
	w.Helper()
	in, finding := repairprotection.Discover(w.Context(), w.of(nil), w.in)
	if finding.Answer != runbook.AnswerHolds {
		w.Fatalf("discovery: %s: %s", finding.Answer, finding.Reason)
	}
	return in
}

// book is the runbook for what differs.
func (w *world) book() runbook.Runbook {
	w.Helper()
	world := w.of(nil)
	in, finding := repairprotection.Discover(w.Context(), world, w.in)
	if finding.Answer != runbook.AnswerHolds {
		w.Fatalf("discovery: %s: %s", finding.Answer, finding.Reason)
	}
	return w.made(world, in)
}

func (w *world) made(world repairprotection.World, in repairprotection.Inputs) runbook.Runbook {
	w.Helper()
	book, err := repairprotection.New(world, in)
	if err != nil {
		w.Fatal(err)
	}
	return book
}

func (w *world) engine() *engine.Engine {
	return &engine.Engine{Journal: w.journal, Clock: clock.Real{}}
}

// run discovers and runs.
func (w *world) run(options ...func(*engine.Options)) engine.Result {
	w.Helper()
	return w.runBook(w.book(), options...)
}

func (w *world) runBook(book runbook.Runbook, options ...func(*engine.Options)) engine.Result {
	w.Helper()
	var asked engine.Options
	for _, option := range options {
		option(&asked)
	}
	result, err := w.engine().Run(w.Context(), book, asked)
	if err != nil {
		w.Fatal(err)
	}
	return result
}

func override(guard string) func(*engine.Options) {
	return func(options *engine.Options) { options.Overrides = map[string]string{guard: "the test says so"} }
}

func (w *world) ends(result engine.Result, want runbook.Outcome, says ...string) {
	w.Helper()
	if result.Outcome != want {
		w.Fatalf("ended %s: %s (%s); want %s", result.Outcome, result.Reason, result.Question, want)
	}
	for _, text := range says {
		if !strings.Contains(result.Reason, text) {
			w.Errorf("it says %q, want something about %q", result.Reason, text)
		}
	}
}

// required are the contexts that a branch requires on GitHub; nil when it is not protected.
func (w *world) required(repository, branch string) (contexts []string) {
	w.sim.Update(func(github *githubsim.World) {
		protected := github.Repo(repository).Branch(branch).Protection
		if protected == nil {
			return
		}
		contexts = []string{}
		if protected.RequiredStatusChecks != nil {
			for _, check := range protected.RequiredStatusChecks.Checks {
				contexts = append(contexts, check.Context)
			}
		}
	})
	slices.Sort(contexts)
	return contexts
}

// requires checks what the branch main requires.
func (w *world) requires(repository string, want ...string) {
	w.Helper()
	if got := w.required(repository, "main"); !slices.Equal(got, want) {
		w.Errorf("%s requires %q, want %q", repository, got, want)
	}
}

// changed are the paths of changes that GitHub was asked for.
func (w *world) changed() (paths []string) {
	for _, call := range w.sim.Changes() {
		paths = append(paths, call.Method+" "+call.Path)
	}
	return paths
}

func (w *world) unchanged() {
	w.Helper()
	if paths := w.changed(); len(paths) > 0 {
		w.Errorf("GitHub was asked for %v", paths)
	}
}

// finding is what a guard of a preview says.
func (w *world) finding(guard string) runbook.Finding {
	w.Helper()
	result, err := w.engine().Check(w.Context(), w.book(), engine.Options{})
	if err != nil {
		w.Fatal(err)
	}
	for _, finding := range result.Findings {
		if finding.Guard == guard {
			return finding
		}
	}
	w.Fatalf("%s was not asked: %+v", guard, result.Findings)
	return runbook.Finding{}
}

// heard keeps what a guard says.
func heard(guard runbook.Guard, said *string) func(context.Context, runbook.Run) runbook.Finding {
	return func(ctx context.Context, run runbook.Run) runbook.Finding {
		finding := guard.Evaluate(ctx, run)
		*said = finding.Reason
		return finding
	}
}
