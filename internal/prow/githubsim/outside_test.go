package githubsim_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	gogithub "github.com/google/go-github/v92/github"

	"salve/internal/prow/githubsim"
)

// serve starts a server, and gives go-github as a client of it that nobody here wrote.
func serve(t *testing.T, w *githubsim.World, token string) (*githubsim.Server, *gogithub.Client) {
	t.Helper()
	sim := githubsim.New(githubsim.Options{World: w})
	address, stop, err := sim.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return sim, clientOf(t, address, token)
}

func clientOf(t *testing.T, address, token string) *gogithub.Client {
	t.Helper()
	address += "/"
	client, err := gogithub.NewClient(gogithub.WithURLs(&address, &address), gogithub.WithAuthToken(token))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// world is an organization with one repository, its administrator root and its robot.
func world() *githubsim.World {
	w := &githubsim.World{}
	w.Repo("kube/widgets").Branch("release/1.0")
	w.Owners["kube"].Members = map[string]string{"root": "admin", "robot": "member"}
	w.Owners["kube"].Apps = map[string]int64{"releaser": 42}
	w.Repo("kube/widgets").Collaborators = map[string]string{"robot": "write"}
	w.Token("root-token", "root")
	w.Token("robot-token", "robot")
	return w
}

func TestGoGitHubProtectsABranch(t *testing.T) {
	_, client := serve(t, world(), "root-token")
	ctx, repos := t.Context(), client.Repositories
	if _, _, err := repos.GetBranchProtection(ctx, "kube", "widgets", "release/1.0"); !errors.Is(err,
		gogithub.ErrBranchNotProtected) {
		t.Fatalf("not protected: %v", err)
	}
	request := &gogithub.ProtectionRequest{
		RequiredStatusChecks: &gogithub.RequiredStatusChecks{Strict: true, Contexts: &[]string{"unit", "e2e"}},
		EnforceAdmins:        true,
		RequiredPullRequestReviews: &gogithub.PullRequestReviewsEnforcementRequest{
			RequiredApprovingReviewCount: 2, DismissStaleReviews: true,
			DismissalRestrictionsRequest: &gogithub.DismissalRestrictionsRequest{Users: &[]string{"root"}, Teams: &[]string{}},
		},
		Restrictions: &gogithub.BranchRestrictionsRequest{Users: []string{"root"}, Teams: []string{"leads"},
			Apps: []string{"releaser"}},
		AllowDeletions: new(true),
	}
	if _, _, err := repos.UpdateBranchProtection(ctx, "kube", "widgets", "release/1.0", request); err != nil {
		t.Fatal(err)
	}
	got, _, err := repos.GetBranchProtection(ctx, "kube", "widgets", "release/1.0")
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case !got.GetEnforceAdmins().Enabled, !got.AllowDeletions.Enabled, got.AllowForcePushes.Enabled,
		!got.RequiredStatusChecks.Strict, !cmp.Equal(*got.RequiredStatusChecks.Contexts, []string{"unit", "e2e"}),
		got.RequiredPullRequestReviews.RequiredApprovingReviewCount != 2,
		got.RequiredPullRequestReviews.DismissalRestrictions.Users[0].GetLogin() != "root",
		got.Restrictions.Teams[0].GetSlug() != "leads", got.Restrictions.Apps[0].GetID() != 42:
		t.Errorf("read back %+v", got)
	}
	// A whole write takes away what it leaves out.
	if _, _, err := repos.UpdateBranchProtection(ctx, "kube", "widgets", "release/1.0",
		&gogithub.ProtectionRequest{}); err != nil {
		t.Fatal(err)
	}
	got, _, err = repos.GetBranchProtection(ctx, "kube", "widgets", "release/1.0")
	if err != nil || got.RequiredStatusChecks != nil || got.RequiredPullRequestReviews != nil || got.Restrictions != nil ||
		got.EnforceAdmins.Enabled || got.AllowDeletions.Enabled {
		t.Errorf("after a bare write: %+v, %v", got, err)
	}
	if _, err := repos.RemoveBranchProtection(ctx, "kube", "widgets", "release/1.0"); err != nil {
		t.Error(err)
	}
}

// TestGoGitHubSeesRefusals by its own error types.
func TestGoGitHubSeesRefusals(t *testing.T) {
	sim, client := serve(t, world(), "root-token")
	ctx := t.Context()
	sim.Inject(githubsim.Fault{Secondary: true, RetryAfter: 7 * time.Second})
	_, _, err := client.Repositories.Get(ctx, "kube", "widgets")
	var abuse *gogithub.AbuseRateLimitError
	if !errors.As(err, &abuse) || abuse.GetRetryAfter() != 7*time.Second {
		t.Errorf("secondary limit: %v", err)
	}
	sim.Limit("root", 0)
	fresh := clientOf(t, strings.TrimSuffix(client.BaseURL(), "/"), "root-token")
	_, _, err = fresh.Repositories.Get(ctx, "kube", "widgets")
	var limited *gogithub.RateLimitError
	if !errors.As(err, &limited) || limited.Rate.Limit != 5000 || limited.Rate.Remaining != 0 {
		t.Errorf("primary limit: %v", err)
	}
	for name, row := range map[string]struct {
		token  string
		status int
		text   string
	}{
		"no administrator": {"robot-token", 404, "Not Found"},
		"a wrong token":    {"nobody", 401, "Bad credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			other := clientOf(t, strings.TrimSuffix(client.BaseURL(), "/"), row.token)
			_, _, err := other.Repositories.GetBranchProtection(ctx, "kube", "widgets", "main")
			var refused *gogithub.ErrorResponse
			if !errors.As(err, &refused) || refused.Response.StatusCode != row.status || refused.Message != row.text ||
				refused.DocumentationURL == "" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestGoGitHubPages(t *testing.T) {
	w := world()
	for i := range 250 {
		w.Repo("kube/widgets").Branch(fmt.Sprintf("topic-%03d", i)).Protection = githubsim.Require("unit")
	}
	_, client := serve(t, w, "root-token")
	var names []string
	options := &gogithub.BranchListOptions{Protected: new(true), ListOptions: gogithub.ListOptions{PerPage: 100}}
	for pages := 0; ; pages++ {
		page, response, err := client.Repositories.ListBranches(t.Context(), "kube", "widgets", options)
		if err != nil || pages > 3 {
			t.Fatalf("page %d: %v", pages, err)
		}
		for _, branch := range page {
			names = append(names, branch.GetName())
		}
		if response.NextPage == 0 {
			break
		}
		if response.LastPage != 3 {
			t.Errorf("the last page is %d", response.LastPage)
		}
		options.Page = response.NextPage
	}
	if len(names) != 250 || names[249] != "topic-249" {
		t.Errorf("%d branches", len(names))
	}
}

func TestGoGitHubFollowsARename(t *testing.T) {
	w := world()
	w.Repo("kube/gadgets").Renamed = []string{"old"}
	_, client := serve(t, w, "root-token")
	got, _, err := client.Repositories.Get(t.Context(), "kube", "old")
	if err != nil || got.GetFullName() != "kube/gadgets" {
		t.Errorf("%v, %v", got.GetFullName(), err)
	}
	// A PUT is sent again, body and all, because it is answered by 307.
	if _, _, err := client.Repositories.UpdateBranchProtection(t.Context(), "kube", "old", "main",
		&gogithub.ProtectionRequest{EnforceAdmins: true}); err != nil {
		t.Error(err)
	}
	protection, _, err := client.Repositories.GetBranchProtection(t.Context(), "kube", "gadgets", "main")
	if err != nil || !protection.EnforceAdmins.Enabled {
		t.Errorf("%+v, %v", protection, err)
	}
}

func TestGoGitHubReportsAndMerges(t *testing.T) {
	w := world()
	w.Repo("kube/widgets").Branch("main").Protection = githubsim.Require("unit")
	w.Repo("kube/widgets").Pull(5).Labels = []string{"lgtm"}
	_, client := serve(t, w, "root-token")
	ctx := t.Context()
	stateIs := func(want string) string {
		t.Helper()
		pull, _, err := client.PullRequests.Get(ctx, "kube", "widgets", 5)
		if err != nil {
			t.Fatal(err)
		}
		if pull.GetMergeableState() != want {
			t.Errorf("the state is %s, want %s", pull.GetMergeableState(), want)
		}
		return pull.GetHead().GetSHA()
	}
	head := stateIs("blocked")
	report := func(context, state string) {
		t.Helper()
		if _, _, err := client.Repositories.CreateStatus(ctx, "kube", "widgets", head,
			gogithub.RepoStatus{Context: &context, State: &state}); err != nil {
			t.Fatal(err)
		}
	}
	report("unit", "pending")
	stateIs("blocked")
	report("unit", "success")
	stateIs("clean")
	report("optional", "failure")
	stateIs("unstable")
	combined, _, err := client.Repositories.GetCombinedStatus(ctx, "kube", "widgets", head, nil)
	if err != nil || combined.GetState() != "failure" || combined.GetTotalCount() != 2 || len(combined.Statuses) != 2 {
		t.Errorf("combined %+v, %v", combined, err)
	}
	all, _, err := client.Repositories.ListStatuses(ctx, "kube", "widgets", head, nil)
	if err != nil || len(all) != 3 || all[0].GetContext() != "optional" || all[0].GetCreator().GetLogin() != "root" {
		t.Errorf("statuses %+v, %v", all, err)
	}
}

func TestGoGitHubComments(t *testing.T) {
	w := world()
	w.Repo("kube/widgets").Pull(5)
	_, client := serve(t, w, "robot-token")
	ctx := t.Context()
	written, _, err := client.Issues.CreateComment(ctx, "kube", "widgets", 5,
		gogithub.IssueCommentRequest{Body: "/retest"})
	if err != nil || written.GetUser().GetLogin() != "robot" {
		t.Fatalf("%+v, %v", written, err)
	}
	if _, _, err := client.Issues.UpdateComment(ctx, "kube", "widgets", written.GetID(),
		gogithub.IssueCommentRequest{Body: "/test all"}); err != nil {
		t.Error(err)
	}
	if all, _, err := client.Issues.ListComments(ctx, "kube", "widgets", 5, nil); err != nil || len(all) != 1 ||
		all[0].GetBody() != "/test all" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := client.Issues.DeleteComment(ctx, "kube", "widgets", written.GetID()); err != nil {
		t.Error(err)
	}
	if all, _, err := client.Issues.ListComments(ctx, "kube", "widgets", 5, nil); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestGoGitHubReadsRulesAndRuns that Prow doesn't ask for.
func TestGoGitHubReadsRulesAndRuns(t *testing.T) {
	w := world()
	app := int64(15368)
	w.Owners["kube"].Rulesets = []githubsim.Ruleset{
		{ID: 9, Branches: []string{"main"}, Strict: true, Checks: []githubsim.Check{{Context: "unit", AppID: &app}}},
	}
	head := w.Repo("kube/widgets").Branch("main").Head
	w.Repo("kube/widgets").Commit(head).CheckRuns = []githubsim.CheckRun{
		{Name: "unit", Status: "completed", Conclusion: "success", App: "actions", AppID: app},
	}
	_, client := serve(t, w, "root-token")
	rules, _, err := client.Repositories.ListRulesForBranch(t.Context(), "kube", "widgets", "main", nil)
	if err != nil || len(rules.RequiredStatusChecks) != 1 ||
		rules.RequiredStatusChecks[0].Parameters.RequiredStatusChecks[0].GetIntegrationID() != app {
		t.Errorf("rules %+v, %v", rules, err)
	}
	runs, _, err := client.Checks.ListCheckRunsForRef(t.Context(), "kube", "widgets", "main", nil)
	if err != nil || runs.GetTotal() != 1 || runs.CheckRuns[0].GetConclusion() != "success" ||
		runs.CheckRuns[0].GetHeadSHA() != head {
		t.Errorf("runs %+v, %v", runs, err)
	}
	commits, _, err := client.Repositories.ListCommits(t.Context(), "kube", "widgets", nil)
	if err != nil || len(commits) != 1 || commits[0].GetSHA() != head {
		t.Errorf("commits %+v, %v", commits, err)
	}
}

// TestWrongWritesAreRefused in GitHub's words.
func TestWrongWritesAreRefused(t *testing.T) {
	w := world()
	w.Repo("jo/dotfiles")
	w.Owners["jo"].User = true
	w.Token("jo-token", "jo")
	w.Repo("kube/old").Archived = true
	sim := githubsim.New(githubsim.Options{World: w})
	address, stop, err := sim.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	const four = `"required_status_checks":null,"enforce_admins":null,"required_pull_request_reviews":null,"restrictions":`
	for name, row := range map[string]struct {
		token, path, body string
		status            int
		text              string
	}{
		"a key is missing": {"root", "kube/widgets/branches/main/protection", `{"enforce_admins":true}`, 422,
			`Invalid request.\n\n\"required_status_checks\", \"required_pull_request_reviews\", \"restrictions\" weren't supplied.`},
		"one key is missing": {"root", "kube/widgets/branches/main/protection",
			`{"required_status_checks":null,"required_pull_request_reviews":null,"restrictions":null}`, 422,
			`\"enforce_admins\" wasn't supplied.`},
		"contexts and checks": {"root", "kube/widgets/branches/main/protection", `{"required_status_checks":{"strict":true,` +
			`"contexts":[],"checks":[]},"enforce_admins":null,"required_pull_request_reviews":null,"restrictions":null}`,
			422, "More than one subschema"},
		"neither is an object": {"root", "kube/widgets/branches/main/protection",
			`{"required_status_checks":7,"enforce_admins":null,"required_pull_request_reviews":null,"restrictions":null}`,
			422, "No subschema"},
		"restrictions of a user's repository": {"jo", "jo/dotfiles/branches/main/protection",
			"{" + four + `{"users":[],"teams":[]}}`, 422, "Only organization repositories"},
		"a branch that is not there": {"root", "kube/widgets/branches/none/protection", "{" + four + "null}", 404,
			"Branch not found"},
		"an archived repository": {"root", "kube/old/branches/main/protection", "{" + four + "null}", 403,
			"Repository was archived so is read-only."},
		"no JSON": {"root", "kube/widgets/branches/main/protection", "{", 400, "Problems parsing JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, address+"/repos/"+row.path,
				strings.NewReader(row.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "token "+row.token+"-token")
			status, body := do(t, request)
			if status != row.status || !strings.Contains(body, row.text) {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}
