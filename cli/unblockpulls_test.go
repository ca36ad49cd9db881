package cli

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"salve/internal/kubetest"
	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
)

// TestUnblockPullRequests types the runbook's commands: check, plan, run, explain, and again when nothing waits.
func TestUnblockPullRequests(t *testing.T) {
	plane, folder := kubetest.Start(t), t.TempDir()
	admin, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	if err := prowtest.Define(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	namespace := plane.Namespace(t)
	nightly := prowtest.APeriodic("nightly").Object(namespace, "test-pods")
	if _, err := admin.Resource(prowtest.Resource()).Namespace(namespace).
		Create(t.Context(), nightly, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sim := githubsim.New(githubsim.Options{})
	head := githubsim.SHA("seven")
	sim.Update(func(github *githubsim.World) {
		github.Token("ghp_fortests", "sam")
		repo := github.Repo("kube/widgets")
		repo.Collaborators = map[string]string{"sam": "admin"}
		repo.Branch("main").Protection = githubsim.Require("unit")
		pull := repo.Pull(7)
		pull.Head, pull.Association, pull.Created = head, "MEMBER", time.Now().Add(-2*time.Hour)
		pull.Updated = pull.Created
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sim.ServeHTTP(w, r)
		if r.Method == http.MethodPost { // the job is quick
			sim.Update(func(github *githubsim.World) {
				commit := github.Repo("kube/widgets").Commit(head)
				commit.Statuses = append(commit.Statuses, githubsim.Status{Context: "unit", State: "success"})
			})
		}
	}))
	defer server.Close()
	write(t, folder, map[string]string{"config.yaml": strings.ReplaceAll(protectionConfig, "prowjob_namespace: prow",
		"prowjob_namespace: "+namespace)})
	variables := map[string]string{
		keyFileVariable: filepath.Join(folder, "key"), "KUBECONFIG": plane.Kubeconfig(),
		"GITHUB_TOKEN": "ghp_fortests", "GITHUB_API_URL": server.URL,
	}
	types := func(want int, says string, arguments ...string) string {
		t.Helper()
		code, stdout, stderr := runProgram(BuiltIn(), func(name string) string { return variables[name] },
			append(arguments, "--journal", filepath.Join(folder, "journal"))...)
		if code != want || !strings.Contains(stdout+stderr, says) {
			t.Fatalf("%s: exit code %d\n%s\n%s", strings.Join(arguments, " "), code, stdout, stderr)
		}
		return stdout
	}
	with := func(verb, bot string, more ...string) []string {
		return append([]string{verb, "unblock-pull-requests", "--config", filepath.Join(folder, "config.yaml"), "--bot", bot},
			more...)
	}
	types(exitDecided, "contexts to be asked for: 1", with("check", "robot")...)
	types(exitDecided, `start job unit once, by the comment "/test unit"`, with("plan", "robot")...)
	types(exitNeedsAttention, "Prow ignores its comments", with("run", "sam")...)
	types(exitDecided, "nothing to ask for", with("run", "robot", "--pull", "kube/widgets#8")...)
	if changes := sim.Changes(); len(changes) > 0 {
		t.Fatalf("looking changed %v", changes)
	}
	types(exitDecided, "remediated", with("run", "robot")...)
	listed, _, _ := strings.Cut(types(exitDecided, "pull requests", "runs", "list"), "remediated")
	run := strings.Fields(listed[strings.LastIndex(listed, "\n")+1:])[0] // two runs may have begun in one second
	types(exitDecided, "trigger kube/widgets#7 unit", "explain", run, "--all")
	types(exitDecided, "nothing to ask for", with("run", "robot")...)
	if changes := sim.Changes(); len(changes) != 1 {
		t.Errorf("GitHub was asked for %+v", changes)
	}
}
