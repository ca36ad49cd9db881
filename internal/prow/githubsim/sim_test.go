package githubsim_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/prow/githubsim"
)

func do(t *testing.T, request *http.Request) (int, string) {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// ask sends one request without a network.
func ask(t *testing.T, sim *githubsim.Server, method, path, token, body string) (int, http.Header, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "https://api.github.com"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := sim.Transport().RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(raw)
}

// TestMergeStates: what GitHub says about a pull request.
func TestMergeStates(t *testing.T) {
	app, other := int64(1), int64(2)
	unit := githubsim.Require("unit")
	status := func(context, state string) githubsim.Commit {
		return githubsim.Commit{Statuses: []githubsim.Status{{Context: context, State: state}}}
	}
	run := func(conclusion string, app int64) githubsim.Commit {
		return githubsim.Commit{CheckRuns: []githubsim.CheckRun{
			{Name: "unit", Status: "completed", Conclusion: conclusion, AppID: app},
		}}
	}
	both := run("failure", 1)
	both.Statuses = status("unit", "success").Statuses
	for name, row := range map[string]struct {
		required *githubsim.Protection
		ruleset  string
		pull     githubsim.Pull
		commit   githubsim.Commit
		want     string
	}{
		"nothing is required":              {want: "clean"},
		"a required context is missing":    {required: unit, want: "blocked"},
		"a required context is green":      {required: unit, commit: status("unit", "success"), want: "clean"},
		"a ruleset's context is missing":   {ruleset: "unit", want: "blocked"},
		"a ruleset's context is green":     {ruleset: "unit", commit: status("unit", "success"), want: "clean"},
		"a check run serves as well":       {required: unit, commit: run("skipped", 1), want: "clean"},
		"of both by one name both have to": {required: unit, commit: both, want: "blocked"},
		"the app that has to report":       {required: pinned(&app), commit: run("success", app), want: "clean"},
		"another app":                      {required: pinned(&app), commit: run("success", other), want: "blocked"},
		"what is not required is red":      {commit: status("x", "error"), want: "unstable"},
		"a conflict":                       {required: unit, pull: githubsim.Pull{Conflict: true}, want: "dirty"},
		"a draft":                          {required: unit, pull: githubsim.Pull{Draft: true}, want: "draft"},
		"no approval": {required: &githubsim.Protection{RequiredPullRequestReviews: &githubsim.Reviews{Approvals: 1}},
			want: "blocked"},
		"approved": {required: &githubsim.Protection{RequiredPullRequestReviews: &githubsim.Reviews{Approvals: 1}},
			pull: githubsim.Pull{Approvals: 1}, want: "clean"},
		"behind": {required: &githubsim.Protection{RequiredStatusChecks: &githubsim.StatusChecks{Strict: true}},
			pull: githubsim.Pull{BaseSHA: githubsim.SHA("older")}, want: "behind"},
	} {
		t.Run(name, func(t *testing.T) {
			w := world()
			repo := w.Repo("kube/widgets")
			repo.Branch("main").Protection = row.required
			if row.ruleset != "" {
				repo.Rulesets = []githubsim.Ruleset{{Branches: []string{"*"}, Checks: []githubsim.Check{{Context: row.ruleset}}}}
			}
			*repo.Pull(1) = row.pull
			repo.Pull(1).Head = githubsim.SHA("head")
			*repo.Commit(githubsim.SHA("head")) = row.commit
			sim := githubsim.New(githubsim.Options{World: w})
			_, _, body := ask(t, sim, http.MethodGet, "/repos/kube/widgets/pulls/1", "root-token", "")
			if want := fmt.Sprintf(`"mergeable_state":%q`, row.want); !strings.Contains(body, want) {
				t.Errorf("want %s in %s", want, body)
			}
		})
	}
}

func pinned(app *int64) *githubsim.Protection {
	return &githubsim.Protection{RequiredStatusChecks: &githubsim.StatusChecks{
		Checks: []githubsim.Check{{Context: "unit", AppID: app}},
	}}
}

// TestStatusesHaveALimit of a thousand for one commit and context.
func TestStatusesHaveALimit(t *testing.T) {
	w := world()
	head := w.Repo("kube/widgets").Branch("main").Head
	sim := githubsim.New(githubsim.Options{World: w})
	path := "/repos/kube/widgets/statuses/" + head
	for i := range 1000 {
		if status, _, body := ask(t, sim, http.MethodPost, path, "robot-token", `{"state":"pending","context":"unit"}`); status != 201 {
			t.Fatalf("status %d: %d %s", i, status, body)
		}
	}
	status, _, body := ask(t, sim, http.MethodPost, path, "robot-token", `{"state":"success","context":"unit"}`)
	if status != 422 || !strings.Contains(body, "This SHA and context has reached the maximum number of statuses") {
		t.Errorf("%d %s", status, body)
	}
	for name, row := range map[string]struct{ sha, body, text string }{
		"another context goes on": {head, `{"state":"success","context":"e2e"}`, `"context":"e2e"`},
		"an unknown commit":       {githubsim.SHA("?"), `{"state":"success"}`, "No commit found for SHA"},
		"an unknown state":        {head, `{"state":"green"}`, "state is not included in the list"},
		"a long description":      {head, `{"state":"success","description":"` + strings.Repeat("ä", 141) + `"}`, "too long"},
	} {
		path := "/repos/kube/widgets/statuses/" + row.sha
		if _, _, body := ask(t, sim, http.MethodPost, path, "robot-token", row.body); !strings.Contains(body, row.text) {
			t.Errorf("%s: %s", name, body)
		}
	}
}

// TestLimitsAreCountedAsGitHubDoes: per user, not for a 304 or a question for the limit, until the window ends.
func TestLimitsAreCountedAsGitHubDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := githubsim.New(githubsim.Options{World: world(), Limit: 3})
		const path = "/repos/kube/widgets"
		remaining := func(header http.Header) string { return header.Get("X-Ratelimit-Remaining") }
		status, header, _ := ask(t, sim, http.MethodGet, path, "root-token", "")
		if status != 200 || remaining(header) != "2" || header.Get("X-Ratelimit-Used") != "1" ||
			header.Get("X-Ratelimit-Resource") != "core" {
			t.Fatalf("%d %v", status, header)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.github.com"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer root-token")
		request.Header.Set("If-None-Match", header.Get("ETag"))
		response, err := sim.Transport().RoundTrip(request)
		if err != nil || response.StatusCode != 304 || remaining(response.Header) != "2" {
			t.Errorf("%v, %v", response, err)
		}
		if _, header, _ := ask(t, sim, http.MethodGet, "/rate_limit", "root-token", ""); remaining(header) != "2" {
			t.Errorf("a question for the limit: %s", remaining(header))
		}
		for range 2 {
			ask(t, sim, http.MethodGet, path, "root-token", "")
		}
		status, header, body := ask(t, sim, http.MethodGet, path, "root-token", "")
		if status != 403 || remaining(header) != "0" || !strings.Contains(body, "API rate limit exceeded for user ID") {
			t.Errorf("%d %s", status, body)
		}
		if status, _, _ := ask(t, sim, http.MethodGet, path, "robot-token", ""); status != 200 {
			t.Errorf("another user: %d", status)
		}
		time.Sleep(time.Hour)
		status, header, _ = ask(t, sim, http.MethodGet, path, "root-token", "")
		if status != 200 || remaining(header) != "2" {
			t.Errorf("after the window: %d, %s", status, remaining(header))
		}
	})
}

// TestChangesInABurstAreRefused by the secondary limit, and by it alone.
func TestChangesInABurstAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world()
		w.Repo("kube/widgets").Pull(1)
		sim := githubsim.New(githubsim.Options{World: w, PointsPerMinute: 20})
		write := func() (int, http.Header) {
			status, header, _ := ask(t, sim, http.MethodPost, "/repos/kube/widgets/issues/1/comments", "root-token",
				`{"body":"x"}`)
			return status, header
		}
		for n := range 4 {
			if status, _ := write(); status != 201 {
				t.Fatalf("change %d: %d", n, status)
			}
		}
		status, header := write()
		if status != 403 || header.Get("Retry-After") != "60" || header.Get("X-Ratelimit-Remaining") == "0" {
			t.Errorf("%d %v", status, header)
		}
		if status, _, _ := ask(t, sim, http.MethodGet, "/repos/kube/widgets", "robot-token", ""); status != 200 {
			t.Errorf("another user: %d", status)
		}
		time.Sleep(time.Minute)
		if status, _ := write(); status != 201 {
			t.Errorf("a minute later: %d", status)
		}
	})
}

// TestSeedFile: a world in YAML, and nothing in it that is not known.
func TestSeedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.yaml")
	if err := os.WriteFile(path, []byte(`
tokens:
  root-token: {login: root}
owners:
  kube:
    members: {root: admin}
    repositories:
      widgets:
        branches:
          master: {protection: {required_status_checks: {checks: [{context: unit}]}, enforce_admins: true}}
        pulls:
          12: {author: jo, labels: [lgtm], comments: [{author: root, body: /lgtm}]}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := githubsim.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	sim := githubsim.New(githubsim.Options{World: w})
	for path, want := range map[string]string{
		"/repos/kube/widgets":                            `"default_branch":"master"`,
		"/repos/kube/widgets/branches/master/protection": `"contexts":["unit"]`,
		"/repos/kube/widgets/pulls/12":                   `"mergeable_state":"blocked"`,
		"/repos/kube/widgets/issues/12/comments":         `"body":"/lgtm"`,
		"/orgs/kube/repos":                               `"full_name":"kube/widgets"`,
	} {
		status, _, body := ask(t, sim, http.MethodGet, path, "root-token", "")
		if status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if _, err := githubsim.Parse([]byte("owners: {kube: {repos: {}}}")); err == nil {
		t.Error("an unknown field was read")
	}
}

// TestCutsComeWhereTheyAreSaidTo: before the work, or after it.
func TestCutsComeWhereTheyAreSaidTo(t *testing.T) {
	for cut, happened := range map[githubsim.Cut]bool{
		githubsim.CutBefore: false, githubsim.CutAfter: true, githubsim.CutBody: true,
	} {
		w := world()
		w.Repo("kube/widgets").Pull(1)
		sim, client := serve(t, w, "root-token")
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
			client.BaseURL()+"repos/kube/widgets/issues/1/comments", strings.NewReader(`{"body":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer root-token")
		sim.Inject(githubsim.Fault{Method: http.MethodPost, Cut: cut})
		if response, err := http.DefaultTransport.RoundTrip(request); err == nil {
			_, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err == nil {
				t.Errorf("%s: an answer came", cut)
			}
		}
		sim.Update(func(w *githubsim.World) {
			if got := len(w.Repo("kube/widgets").Pull(1).Comments) > 0; got != happened {
				t.Errorf("%s: happened: %v", cut, got)
			}
		})
	}
}
