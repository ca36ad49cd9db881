package unblockpulls_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/prow/github"
	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/unblockpulls"
)

const (
	token = "ghp_forthetestsalone"
	today = `
prowjob_namespace: prow
pod_namespace: test-pods
branch-protection: {orgs: {kube: {repos: {widgets: {protect: true}}}}}
presubmits:
  kube/widgets:
  - {name: unit, always_run: true, spec: {containers: [{image: golang}]}}
  - {name: docs, run_if_changed: ^docs/, spec: {containers: [{image: golang}]}}
`
)

// world is a GitHub and a cluster with a Prow instance, in memory. What Prow's programs would do about a comment or a
// ProwJob is done by hook and crier.
type world struct {
	testing.TB
	sim      *githubsim.Server
	client   *fake.Clientset
	dynamic  *dynamicfake.FakeDynamicClient
	folder   string
	in       unblockpulls.Inputs
	journal  *journal.Memory
	endpoint string
	reserve  int
	// noHook and noCrier: these programs are down.
	noHook, noCrier bool
	// heeded are the jobs that hook started, such as #7 unit.
	heeded []string
}

// in runs a test on virtual time.
func in(t *testing.T, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newWorld(t)) })
}

// newWorld is an afternoon after an outage: unit is required, and never ran on pull request 7, which waits for two
// hours.
func newWorld(t testing.TB) *world {
	w := &world{
		TB: t, journal: journal.NewMemory(), folder: t.TempDir(), endpoint: "https://github.example/api/v3/",
		sim: githubsim.New(githubsim.Options{}), client: fake.NewClientset(),
	}
	kinds := map[schema.GroupVersionResource]string{prowtest.Resource(): "ProwJobList"}
	w.dynamic = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds)
	w.sim.Update(func(github *githubsim.World) {
		github.Token(token, "sam")
		github.Repo("kube/widgets").Collaborators = map[string]string{"sam": "admin"}
	})
	w.requires("cla", "unit")
	w.pull(7, nil)
	w.job(prowtest.APeriodic("nightly"), nil) // a Prow without any ProwJob is none
	w.write("config.yaml", today)
	w.in = unblockpulls.Defaults()
	w.in.Config, w.in.Bot, w.in.External = w.path("config.yaml"), "robot", []string{"cla"}
	t.Cleanup(func() { w.replayed(w.journal) })
	return w
}

// replayed makes the decisions of all runs again, without GitHub and a cluster.
func (w *world) replayed(kept journal.Backend) {
	w.Helper()
	runbooktest.Replayed(w, kept, unblockpulls.Name, func(history *journal.History) (runbook.Runbook, error) {
		var in unblockpulls.Inputs
		if err := json.Unmarshal(history.Header.Inputs, &in); err != nil {
			return runbook.Runbook{}, err
		}
		return unblockpulls.Replayed(in, history.Header.Target)
	})
}

func (w *world) path(name string) string { return filepath.Join(w.folder, name) }

func (w *world) write(name, content string) {
	w.Helper()
	if err := os.WriteFile(w.path(name), []byte(content), 0o600); err != nil {
		w.Fatal(err)
	}
}

// requires has the branch main require contexts.
func (w *world) requires(contexts ...string) {
	w.sim.Update(func(github *githubsim.World) {
		github.Repo("kube/widgets").Branch("main").Protection = githubsim.Require(contexts...)
	})
}

func headOf(number int) string { return githubsim.SHA(fmt.Sprintf("pull %d", number)) }

// pull makes a pull request of a member, on which cla alone is reported, or changes one.
func (w *world) pull(number int, change func(*githubsim.Pull)) {
	w.sim.Update(func(github *githubsim.World) {
		repo := github.Repo("kube/widgets")
		pull := repo.Pull(number)
		if pull.Head == "" {
			pull.Head, pull.Association = headOf(number), "MEMBER"
			pull.Created = time.Now().Add(-2 * time.Hour)
			pull.Updated = pull.Created
			repo.Commit(pull.Head).Statuses = []githubsim.Status{{Context: "cla", State: "success", Created: pull.Created}}
		}
		if change != nil {
			change(pull)
		}
	})
}

// job makes a ProwJob.
func (w *world) job(job prowtest.Job, change func(*unstructured.Unstructured)) {
	w.Helper()
	object := job.Object("prow", "test-pods")
	object.SetCreationTimestamp(metav1.Now())
	object.SetUID(types.UID("uid-" + job.Name))
	if change != nil {
		change(object)
	}
	if err := w.dynamic.Tracker().Create(prowtest.Resource(), object, "prow"); err != nil {
		w.Fatal(err)
	}
}

// of is the ProwJob of a job on the head of a pull request.
func of(number int, job string) prowtest.Job {
	return prowtest.Job{
		Name: fmt.Sprintf("%s-%d", job, number), Job: job, Type: prowtest.Presubmit, Repo: "kube/widgets", Pull: number,
		SHA: headOf(number),
	}
}

// ended is a ProwJob that ended with success an hour ago, of which GitHub was told something else.
func ended(told string) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) {
		status, _ := object.Object["status"].(map[string]any)
		status["state"], status["completionTime"] = "success", time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		if told != "" {
			status["prev_report_states"] = map[string]any{"github-reporter": told}
		}
	}
}

// status posts a status, as crier does.
func (w *world) status(sha, name, state string) {
	w.sim.Update(func(github *githubsim.World) {
		commit := github.Repo("kube/widgets").Commit(sha)
		commit.Statuses = append(commit.Statuses, githubsim.Status{Context: name, State: state, Created: time.Now()})
	})
}

var (
	commentPath = regexp.MustCompile(`/issues/(\d+)/comments$`)
	command     = regexp.MustCompile(`(?m)^/test (\S+)`)
)

// hook is the way to GitHub, behind which Prow's hook hears of each comment and starts the job that it asks for.
func (w *world) hook(next http.RoundTripper) http.RoundTripper {
	return trip(func(request *http.Request) (*http.Response, error) {
		at := commentPath.FindStringSubmatch(request.URL.Path)
		if at == nil || request.Method != http.MethodPost || w.noHook {
			return next.RoundTrip(request)
		}
		raw, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		request.Body = io.NopCloser(bytes.NewReader(raw))
		response, err := next.RoundTrip(request)
		if err != nil || response.StatusCode != http.StatusCreated {
			return response, err
		}
		var comment struct{ Body string }
		if err := json.Unmarshal(raw, &comment); err != nil {
			return nil, err
		}
		number, _ := strconv.Atoi(at[1])
		for _, asked := range command.FindAllStringSubmatch(comment.Body, -1) {
			w.heeded = append(w.heeded, fmt.Sprintf("#%d %s", number, asked[1]))
			w.job(of(number, asked[1]), nil)
			if !w.noCrier {
				w.status(headOf(number), asked[1], "pending")
			}
		}
		return response, nil
	})
}

type trip func(*http.Request) (*http.Response, error)

func (t trip) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }

// of is the world as a process sees it that begins: with a client of its own, whose calls go through wrap.
func (w *world) of(wrap func(http.RoundTripper) http.RoundTripper) unblockpulls.World {
	w.Helper()
	transport := w.hook(w.sim.Transport())
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
	world := unblockpulls.World{
		GitHub: client, Endpoint: w.endpoint, Reserve: w.reserve,
		Cluster: &kube.Cluster{Client: w.client, Dynamic: w.dynamic, Clock: clock.Real{}},
	}
	if world.Config, world.Digest, err = unblockpulls.ReadConfiguration(w.in); err != nil {
		w.Fatal(err)
	}
	return world
}

// discovered are the inputs with what is to be asked for.
func (w *world) discovered() unblockpulls.Inputs {
	w.Helper()
	in, finding := unblockpulls.Discover(w.Context(), w.of(nil), w.in)
	if finding.Answer != runbook.AnswerHolds {
		w.Fatalf("discovery: %s: %s", finding.Answer, finding.Reason)
	}
	return in
}

func (w *world) made(world unblockpulls.World, in unblockpulls.Inputs) runbook.Runbook {
	w.Helper()
	book, err := unblockpulls.New(world, in)
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
	return w.runBook(w.made(w.of(nil), w.discovered()), options...)
}

// disturbed discovers, and runs with something in the way to GitHub.
func (w *world) disturbed(wrap func(http.RoundTripper) http.RoundTripper) engine.Result {
	w.Helper()
	found := w.discovered()
	return w.runBook(w.made(w.of(wrap), found))
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

// stray is a pod of a ProwJob in a namespace.
func (w *world) stray(namespace, job string) {
	w.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: job, Labels: map[string]string{
			"created-by-prow": "true", "prow.k8s.io/id": job,
		}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	if err := w.client.Tracker().Add(pod); err != nil {
		w.Fatal(err)
	}
}

// before does something right before the n-th request of a kind whose path has a part.
func before(n int, method, part string, do func()) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return trip(func(request *http.Request) (*http.Response, error) {
			if request.Method == method && strings.Contains(request.URL.Path, part) {
				if n--; n == 0 {
					do()
				}
			}
			return next.RoundTrip(request)
		})
	}
}
