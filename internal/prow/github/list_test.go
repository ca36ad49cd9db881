package github_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/apierr"
	"salve/internal/prow/github"
	"salve/internal/prow/githubsim"
)

// crowd has more of everything than a page holds.
func crowd(n int) *githubsim.World {
	w := world()
	repo := w.Repo("kube/widgets")
	for i := range n {
		w.Repo(fmt.Sprintf("kube/repo-%04d", i))
		repo.Branch(fmt.Sprintf("topic-%04d", i))
		pull := repo.Pull(i + 1)
		pull.Base = "main"
		repo.Pull(1).Files = append(repo.Pull(1).Files, githubsim.File{Name: fmt.Sprintf("file-%04d", i)})
		repo.Pull(1).Comments = append(repo.Pull(1).Comments, githubsim.Comment{Author: "root", Body: fmt.Sprint(i)})
		commit := repo.Commit(githubsim.SHA("crowd"))
		commit.Statuses = append(commit.Statuses, githubsim.Status{Context: fmt.Sprintf("job-%04d", i), State: "success"})
		commit.CheckRuns = append(commit.CheckRuns, githubsim.CheckRun{
			Name: fmt.Sprintf("run-%04d", i), Status: "completed", Conclusion: "success", AppID: 1, App: "actions",
		})
	}
	return w
}

// lists gives the length of each list there is.
func lists(b bench) map[string]func(*testing.T) (int, error) {
	return map[string]func(*testing.T) (int, error){
		"/repos?": func(t *testing.T) (int, error) {
			all, err := b.client.Repositories(t.Context(), "kube")
			return len(all) - 1, err
		},
		"/branches?": func(t *testing.T) (int, error) {
			all, err := b.client.Branches(t.Context(), widgets)
			return len(all) - 2, err
		},
		"/pulls?": func(t *testing.T) (int, error) {
			all, err := b.client.PullRequests(t.Context(), widgets, "main")
			return len(all), err
		},
		"/files?": func(t *testing.T) (int, error) {
			all, err := b.client.ChangedFiles(t.Context(), widgets, 1)
			return len(all.Files), err
		},
		"/comments?": func(t *testing.T) (int, error) {
			all, err := b.client.Comments(t.Context(), widgets, 1)
			return len(all), err
		},
		"/status?": func(t *testing.T) (int, error) {
			all, err := b.client.Reports(t.Context(), widgets, githubsim.SHA("crowd"))
			return len(all.Contexts) / 2, err
		},
		"/check-runs?": func(t *testing.T) (int, error) {
			all, err := b.client.Reports(t.Context(), widgets, githubsim.SHA("crowd"))
			return len(all.Contexts) / 2, err
		},
	}
}

func TestListsAreWhole(t *testing.T) {
	for _, n := range []int{1, 100, 101, 250} {
		virtual(t, func(t *testing.T) {
			for name, list := range lists(newBench(t, crowd(n))) {
				if got, err := list(t); err != nil || got != n {
					t.Errorf("%s of %d: %d, %v", name, n, got, err)
				}
			}
		})
	}
}

// TestFailedPageIsNoShorterList: the second page of each list is missing.
func TestFailedPageIsNoShorterList(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := newBench(t, crowd(150))
		for name, list := range lists(b) {
			b.sim.Inject(githubsim.Fault{Path: name, After: 1, Status: 500, Message: "Server Error", Times: -1})
			if got, err := list(t); err == nil {
				t.Errorf("%s: %d of 150, and no error", name, got)
			} else if apierr.ClassOf(err) != apierr.Transient {
				t.Errorf("%s: class %s: %v", name, apierr.ClassOf(err), err)
			}
			b.sim.Heal()
		}
	})
}

// TestLostLinksDoNotShortenLists: a proxy that drops the Link header is noticed.
func TestLostLinksDoNotShortenLists(t *testing.T) {
	virtual(t, func(t *testing.T) {
		sim := githubsim.New(githubsim.Options{World: crowd(250)})
		client := newClient(t, sim, func(o *github.Options) {
			base := o.Transport
			o.Transport = transportFunc(func(r *http.Request) (*http.Response, error) {
				response, err := base.RoundTrip(r)
				if err == nil {
					response.Header.Del("Link")
				}
				return response, err
			})
		})
		for name, list := range lists(bench{sim, client}) {
			if got, err := list(t); err != nil || got != 250 {
				t.Errorf("%s: %d, %v", name, got, err)
			}
		}
	})
}

func TestListsHaveABound(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := newBench(t, crowd(250), func(o *github.Options) { o.MaxPages = 2 })
		for name, list := range lists(b) {
			_, err := list(t)
			if apierr.ClassOf(err) != apierr.Terminal || !strings.Contains(err.Error(), "more than 2 pages") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestFilesBeyondGitHubsLimitAreSaidToBeMissing(t *testing.T) {
	for _, n := range []int{2999, 3000, 3500} {
		virtual(t, func(t *testing.T) {
			w := world()
			for i := range n {
				w.Repo("kube/widgets").Pull(1).Files = append(w.Repo("kube/widgets").Pull(1).Files,
					githubsim.File{Name: fmt.Sprint(i), Status: "renamed", Previous: "old"})
			}
			b := newBench(t, w)
			got, err := b.client.ChangedFiles(t.Context(), widgets, 1)
			if err != nil || len(got.Files) != min(n, 3000) || got.Truncated != (n >= 3000) {
				t.Errorf("%d of %d, truncated %v, %v", len(got.Files), n, got.Truncated, err)
			}
			if want := (github.File{Name: "0", Previous: "old", Status: "renamed"}); got.Files[0] != want {
				t.Errorf("got %+v", got.Files[0])
			}
		})
	}
}

// TestNewestReportWins for each context; a status and a check run by one name are two.
func TestNewestReportWins(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := world()
		sha := githubsim.SHA("head")
		commit := w.Repo("kube/widgets").Commit(sha)
		at := func(minute int) time.Time { return day.Add(time.Duration(minute) * time.Minute) }
		commit.Statuses = []githubsim.Status{
			{Context: "unit", State: "failure", Created: at(1)}, {Context: "unit", State: "pending", Created: at(2)},
			{Context: "unit", State: "success", Created: at(3)}, {Context: "lint", State: "error", Created: at(1)},
		}
		commit.CheckRuns = []githubsim.CheckRun{
			{Name: "unit", Status: "completed", Conclusion: "failure", App: "actions", AppID: 15368, Started: at(1)},
			{Name: "unit", Status: "in_progress", App: "actions", AppID: 15368, Started: at(2)},
			{Name: "docs", Status: "completed", Conclusion: "skipped", App: "actions", AppID: 15368, Started: at(1)},
			{Name: "docs", Status: "completed", Conclusion: "cancelled", App: "other", AppID: 7, Started: at(1)},
		}
		b := newBench(t, w)
		got, err := b.client.Reports(t.Context(), widgets, sha)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]github.State{}
		for _, one := range got.Contexts {
			found[fmt.Sprintf("%s %s %v %d", one.Name, one.Word, one.CheckRun, one.App)] = one.State
		}
		if diff := cmp.Diff(map[string]github.State{
			"unit success false 0": github.Success, "lint error false 0": github.Failure,
			"unit in_progress true 15368": github.Pending, "docs skipped true 15368": github.Success,
			"docs cancelled true 7": github.Failure,
		}, found); diff != "" {
			t.Error(diff)
		}
		if named := got.Named("unit"); len(named) != 2 || len(got.Named("e2e")) != 0 {
			t.Errorf("named: %+v", named)
		}
	})
}

// TestOrderOfReportsDoesNotMatter: the newest is known by its time, then by its ID.
func TestOrderOfReportsDoesNotMatter(t *testing.T) {
	sha := githubsim.SHA("head")
	run := func(id int, status, started string) string {
		return fmt.Sprintf(`{"id": %d, "name": "unit", "head_sha": %q, "status": %q, "conclusion": "failure",
			"started_at": %q, "app": {"id": 1}}`, id, sha, status, started)
	}
	older := run(9, "completed", "2026-11-22T12:00:00Z")
	newer := run(3, "in_progress", "2026-11-22T12:01:00Z")
	twin := run(2, "completed", "2026-11-22T12:01:00Z")
	for _, order := range [][]string{{older, newer}, {newer, older}, {twin, newer, older}, {newer, older, twin}} {
		virtual(t, func(t *testing.T) {
			client := newClient(t, githubsim.New(githubsim.Options{}), answering(fmt.Sprintf(
				`{"sha": %q, "repository": {"full_name": "kube/widgets"}, "check_runs": [%s]}`, sha, strings.Join(order, ","))))
			got, err := client.Reports(t.Context(), widgets, sha)
			if err != nil || len(got.Contexts) != 1 || got.Contexts[0].Word != "in_progress" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestReportsNeedAWholeSHA(t *testing.T) {
	b := newBench(t, world())
	for _, sha := range []string{"", "main", "6dcb09b", strings.ToUpper(githubsim.SHA("x"))} {
		if _, err := b.client.Reports(t.Context(), widgets, sha); apierr.ClassOf(err) != apierr.Terminal {
			t.Errorf("%q: %v", sha, err)
		}
	}
}

func TestPullRequest(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := world()
		pull := w.Repo("kube/widgets").Pull(7)
		*pull = githubsim.Pull{
			Title: "Fix\x1b[31m it", Author: "jo", Association: "NONE", Draft: true, Labels: []string{"lgtm", "approved"},
			Head: githubsim.SHA("seven"), HeadOwner: "jo",
		}
		w.Repo("kube/widgets").Pull(8).Closed = true
		b := newBench(t, w)
		got, err := b.client.PullRequest(t.Context(), widgets, 7)
		if err != nil {
			t.Fatal(err)
		}
		want := github.PullRequest{
			Repo: widgets, Number: 7, Title: "Fix\x1b[31m it", Author: "jo", Association: "NONE", Open: true, Draft: true,
			Labels: []string{"lgtm", "approved"}, Base: "main", BaseSHA: githubsim.SHA("kube/widgets main"),
			HeadSHA: githubsim.SHA("seven"), HeadRepo: github.Repo{Owner: "jo", Name: "widgets"},
			Created: got.Created, Updated: got.Updated, MergeState: github.MergeDraft,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		listed, err := b.client.PullRequests(t.Context(), widgets, "")
		if err != nil || len(listed) != 1 || listed[0].MergeState != "" || listed[0].HeadSHA != want.HeadSHA {
			t.Errorf("%+v, %v", listed, err)
		}
	})
}

// TestMergeStateIsWaitedFor: GitHub computes it once it was asked for.
func TestMergeStateIsWaitedFor(t *testing.T) {
	for _, reads := range []int{0, 3, 1000} {
		virtual(t, func(t *testing.T) {
			w := world()
			w.Repo("kube/widgets").Pull(1)
			client := newClient(t, githubsim.New(githubsim.Options{World: w, MergeReads: reads}))
			began := time.Now()
			got, err := client.PullRequest(t.Context(), widgets, 1)
			if err != nil {
				t.Fatal(err)
			}
			if want := map[int]github.MergeState{0: "clean", 3: "clean", 1000: "unknown"}[reads]; got.MergeState != want {
				t.Errorf("after %d reads: %s", reads, got.MergeState)
			}
			if took := time.Since(began); took > 2*time.Minute {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestRulesOfRulesets(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := world()
		app := int64(15368)
		w.Repo("kube/widgets").Rulesets = []githubsim.Ruleset{
			{ID: 1, Branches: []string{"main"}, Strict: true, Checks: []githubsim.Check{{Context: "unit", AppID: &app}}},
			{ID: 2, Branches: []string{"release-1"}, Checks: []githubsim.Check{{Context: "e2e"}}},
		}
		w.Owners["kube"].Rulesets = []githubsim.Ruleset{{ID: 3, Branches: []string{"*"}}}
		b := newBench(t, w)
		rules, err := b.client.Rules(t.Context(), b.branch(t, "main"))
		if err != nil || len(rules) != 2 {
			t.Fatalf("%+v, %v", rules, err)
		}
		if diff := cmp.Diff(&github.StatusChecks{Strict: true, Checks: []github.Check{{Context: "unit", App: app}}},
			rules[0].StatusChecks); diff != "" {
			t.Error(diff)
		}
		if want := (github.Ruleset{ID: 3, Source: "kube", SourceType: "Organization"}); rules[1].Ruleset != want {
			t.Errorf("%+v", rules[1].Ruleset)
		}
	})
}

func TestHeadCommits(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := world()
		repo := w.Repo("kube/widgets")
		for i := range 30 {
			repo.Commit(githubsim.SHA(fmt.Sprint("commit ", i))).Parent = githubsim.SHA(fmt.Sprint("commit ", i+1))
		}
		repo.Branch("main").Head = githubsim.SHA("commit 0")
		b := newBench(t, w)
		got, err := b.client.HeadCommits(t.Context(), b.branch(t, "main"), 20)
		first, last := githubsim.SHA("commit 0"), githubsim.SHA("commit 19")
		if err != nil || len(got) != 20 || got[0].SHA != first || got[19].SHA != last {
			t.Errorf("%d: %+v, %v", len(got), got, err)
		}
	})
}

func TestComments(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := world()
		w.Repo("kube/widgets").Pull(1)
		b := newBench(t, w)
		robot := newClient(t, b.sim, as("robot-token"))
		written, err := robot.CreateComment(permitted(t), widgets, 1, "/test unit")
		if err != nil || written.Author != "merge-robot" || written.Body != "/test unit" {
			t.Fatalf("%+v, %v", written, err)
		}
		listed, err := b.client.Comments(t.Context(), widgets, 1)
		if err != nil || len(listed) != 1 || listed[0] != written {
			t.Errorf("%+v, %v", listed, err)
		}
		for _, body := range []string{"", " \n", strings.Repeat("x", 70_000)} {
			if _, err := robot.CreateComment(permitted(t), widgets, 1, body); apierr.ClassOf(err) != apierr.Terminal {
				t.Errorf("%d bytes: %v", len(body), err)
			}
		}
		// A lost answer: the comment is there, and the caller is told to look.
		b.sim.Inject(githubsim.Fault{Method: http.MethodPost, Cut: githubsim.CutAfter})
		if _, err := robot.CreateComment(permitted(t), widgets, 1, "/test e2e"); !apierr.MayHaveHappened(err) {
			t.Errorf("class %s: %v", apierr.ClassOf(err), err)
		}
		if listed, err := b.client.Comments(t.Context(), widgets, 1); err != nil || len(listed) != 2 {
			t.Errorf("%+v, %v", listed, err)
		}
	})
}

func TestRepositoryAndIdentity(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := world()
		w.Tokens[token].Scopes = []string{"repo", "read:org"}
		w.Token("app", "salve[bot]").Installation = true
		w.Repo("kube/secret").Private = true
		w.Token("outsider", "jo")
		b := newBench(t, w)
		repo, err := b.client.Repository(t.Context(), github.Repo{Owner: "KUBE", Name: "Widgets"})
		if err != nil || repo.String() != "kube/widgets" || repo.DefaultBranch != "main" || !repo.OwnedByOrganization {
			t.Errorf("%+v, %v", repo, err)
		}
		if want := (github.Rights{Known: true, Admin: true, Push: true, Triage: true, Pull: true}); repo.Rights != want {
			t.Errorf("%+v", repo.Rights)
		}
		who, err := b.client.Identity(t.Context())
		want := github.Identity{Login: "root", Scopes: []string{"repo", "read:org"}}
		if diff := cmp.Diff(want, who); err != nil || diff != "" {
			t.Errorf("%v, %s", err, diff)
		}
		if _, err := newClient(t, b.sim, as("app")).Identity(t.Context()); apierr.ClassOf(err) != apierr.Denied {
			t.Errorf("an installation: %v", err)
		}
		hidden := github.Repo{Owner: "kube", Name: "secret"}
		_, err = newClient(t, b.sim, as("outsider")).Repository(t.Context(), hidden)
		if apierr.ClassOf(err) != apierr.Denied {
			t.Errorf("a hidden repository: class %s: %v", apierr.ClassOf(err), err)
		}
	})
}
