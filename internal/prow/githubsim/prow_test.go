package githubsim_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/permit"
	"salve/internal/prow/github"
	"salve/internal/prow/githubsim"
)

// prowPrograms is the environment variable that names the folder of Prow's own programs; bin/prow of the module
// otherwise, where make prow puts them.
const prowPrograms = "SALVE_PROW"

// program gives one of Prow's own programs, or skips the test.
func program(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv(prowPrograms)
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "bin", "prow")
	}
	path, err := filepath.Abs(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not built: run make prow, or name its folder in %s", path, prowPrograms)
	}
	return path
}

// protect runs Prow's branchprotector, and gives what it logged.
func protect(t *testing.T, address, token, config string, flags ...string) (log string, failed bool) {
	t.Helper()
	path, folder := program(t, "branchprotector"), t.TempDir()
	for name, content := range map[string]string{"config.yaml": config, "token": token} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, path, append([]string{
		"--config-path=" + filepath.Join(folder, "config.yaml"), "--github-token-path=" + filepath.Join(folder, "token"),
		"--github-endpoint=" + address, "--github-graphql-endpoint=" + address + "/graphql", "--github-hourly-tokens=0",
		"--github-client.initial-delay=10ms", "--confirm",
	}, flags...)...)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	if ctx.Err() != nil {
		t.Fatalf("branchprotector did not end:\n%s", &output)
	}
	return output.String(), err != nil
}

// protectorConfig protects all of kube's repositories, with more for release branches of widgets.
const protectorConfig = `
prowjob_namespace: prow
pod_namespace: test-pods
branch-protection:
  allow_disabled_policies: true
  orgs:
    kube:
      protect: true
      required_status_checks: {contexts: [cla]}
      exclude: ["^dependabot/"]
      repos:
        widgets:
          branches:
            release/1.0:
              protect: true
              enforce_admins: true
              required_linear_history: true
              required_pull_request_reviews:
                required_approving_review_count: 2
                dismiss_stale_reviews: true
                dismissal_restrictions: {users: [root], teams: [leads]}
              restrictions: {users: [root], teams: [leads]}
        sandbox:
          protect: false
presubmits:
  kube/widgets:
  - {name: unit, always_run: true, decorate: false, spec: {containers: [{image: i, command: [c]}]}}
  - {name: e2e, run_if_changed: ^src/, decorate: false, spec: {containers: [{image: i, command: [c]}]}}
`

func protectorWorld() *githubsim.World {
	w := world()
	w.Owners["kube"].Teams = []string{"leads"}
	w.Repo("kube/widgets").Teams = map[string]string{"leads": "write"}
	w.Repo("kube/widgets").Branch("dependabot/x")
	w.Repo("kube/sandbox").Branch("main").Protection = githubsim.Require("cla")
	w.Repo("kube/sandbox").Branch("free")
	w.Repo("kube/attic").Archived = true
	for i := range 40 { // more than a page of GitHub's default
		w.Repo(fmt.Sprintf("kube/repo-%02d", i))
	}
	return w
}

// TestBranchprotectorProtects: Prow's own program, which must not notice that this is no GitHub. A second run finds
// nothing to change, and one after a change from outside puts that branch back.
func TestBranchprotectorProtects(t *testing.T) {
	program(t, "branchprotector")
	sim := githubsim.New(githubsim.Options{World: protectorWorld()})
	address, stop, err := sim.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if log, failed := protect(t, address, "root-token", protectorConfig); failed {
		t.Fatalf("the first run failed:\n%s", log)
	}
	// 40 repositories, main and release/1.0 of widgets, and the protection of sandbox's main taken away.
	if changes := sim.Changes(); len(changes) != 43 {
		t.Errorf("the first run made %d changes: %+v", len(changes), changes)
	}
	contexts := func(p *githubsim.Protection) (names []string) {
		for _, check := range p.RequiredStatusChecks.Checks {
			names = append(names, check.Context)
		}
		return names
	}
	sim.Update(func(w *githubsim.World) {
		release := w.Repo("kube/widgets").Branch("release/1.0").Protection
		if release == nil || !release.EnforceAdmins || !release.RequiredLinearHistory ||
			release.RequiredPullRequestReviews.Approvals != 2 ||
			!cmp.Equal(release.Restrictions, &githubsim.Actors{Users: []string{"root"}, Teams: []string{"leads"}}) ||
			!cmp.Equal(contexts(release), []string{"cla", "unit"}) {
			t.Errorf("release/1.0: %+v", release)
		}
		if got := contexts(w.Repo("kube/widgets").Branch("main").Protection); !cmp.Equal(got, []string{"cla", "unit"}) {
			t.Errorf("main: %v", got)
		}
		if w.Repo("kube/sandbox").Branch("main").Protection != nil ||
			w.Repo("kube/widgets").Branch("dependabot/x").Protection != nil ||
			w.Repo("kube/attic").Branch("main").Protection != nil || w.Repo("kube/repo-39").Branch("main").Protection == nil {
			t.Error("protected what it should not have, or the reverse")
		}
	})
	sim.ForgetCalls()
	if log, failed := protect(t, address, "root-token", protectorConfig, "--verify-restrictions"); failed {
		t.Fatalf("the second run failed:\n%s", log)
	}
	if changes := sim.Changes(); len(changes) != 0 {
		t.Errorf("the second run changed %+v", changes)
	}
	// Somebody requires one more.
	sim.Update(func(w *githubsim.World) {
		w.Repo("kube/repo-07").Branch("main").Protection = githubsim.Require("cla", "e2e")
	})
	if log, failed := protect(t, address, "root-token", protectorConfig); failed {
		t.Fatalf("the third run failed:\n%s", log)
	}
	changes := sim.Changes()
	if len(changes) != 1 || changes[0].Method != http.MethodPut ||
		changes[0].Path != "/repos/kube/repo-07/branches/main/protection" {
		t.Errorf("the third run changed %+v", changes)
	}
}

// TestBranchprotectorSeesRefusals as it sees GitHub's own.
func TestBranchprotectorSeesRefusals(t *testing.T) {
	program(t, "branchprotector")
	const config = `
branch-protection:
  orgs:
    kube:
      repos:
        widgets: {protect: true}
`
	for name, row := range map[string]struct {
		token   string
		prepare func(*githubsim.World)
		fault   *githubsim.Fault
		failed  bool
		text    string
	}{
		"no administrator": {token: "robot-token", failed: true, text: "getting branch protection 404: Not Found"},
		"a plan without protection": {token: "root-token", failed: true, text: "the GitHub API request returns a 403 error",
			prepare: func(w *githubsim.World) {
				w.Owners["kube"].Free, w.Repo("kube/widgets").Private = true, true
			}},
		"a wrong token": {token: "nobody", failed: true, text: "Bad credentials"},
		"a renamed repository is followed": {token: "root-token", prepare: func(w *githubsim.World) {
			repo := w.Repo("kube/widgets")
			repo.Renamed = []string{"widgets"}
			delete(w.Owners["kube"].Repositories, "widgets")
			w.Owners["kube"].Repositories["gadgets"] = repo
		}},
		"a secondary limit is waited for": {token: "root-token",
			fault: &githubsim.Fault{Method: "PUT", Secondary: true, RetryAfter: time.Second}},
		"a 502 is repeated": {token: "root-token", fault: &githubsim.Fault{Status: 502, Times: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			w := world()
			if row.prepare != nil {
				row.prepare(w)
			}
			sim := githubsim.New(githubsim.Options{World: w})
			address, stop, err := sim.Listen(t.Context(), "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			if row.fault != nil {
				sim.Inject(*row.fault)
			}
			log, failed := protect(t, address, row.token, config)
			if failed != row.failed || !strings.Contains(log, row.text) {
				t.Errorf("failed: %v\n%s", failed, log)
			}
			if row.failed {
				return
			}
			sim.Update(func(w *githubsim.World) {
				for _, repo := range w.Owners["kube"].Repositories {
					for name, branch := range repo.Branches {
						if branch.Protection == nil {
							t.Errorf("%s is not protected", name)
						}
					}
				}
			})
		})
	}
}

// TestBranchprotectorAgreesWithSalve: what Salve writes, Prow's own program has nothing to add to.
func TestBranchprotectorAgreesWithSalve(t *testing.T) {
	program(t, "branchprotector")
	sim := githubsim.New(githubsim.Options{World: protectorWorld()})
	address, stop, err := sim.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if log, failed := protect(t, address, "root-token", protectorConfig); failed {
		t.Fatalf("branchprotector failed:\n%s", log)
	}
	client, err := github.New(github.Options{
		BaseURL: address, ChangeInterval: time.Millisecond,
		Token: github.TokenFunc(func(context.Context) (string, error) { return "root-token", nil }),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := permit.NewContext(t.Context(), permit.Mint(permit.Terms{
		Expires: time.Now().Add(time.Hour), Now: time.Now, Lease: func(context.Context) error { return nil },
	}))
	branches, err := client.Branches(t.Context(), github.Repo{Owner: "kube", Name: "widgets"})
	if err != nil || len(branches) != 3 {
		t.Fatalf("%+v, %v", branches, err)
	}
	for _, branch := range branches {
		live, err := client.Protection(t.Context(), branch)
		if err != nil || live.Protected != (branch.Name != "dependabot/x") {
			t.Fatalf("%s: %+v, %v", branch, live, err)
		}
		if !live.Protected {
			continue
		}
		if _, err := client.SetProtection(ctx, branch, live.Settings); err != nil {
			t.Fatal(err)
		}
	}
	sim.ForgetCalls()
	if log, failed := protect(t, address, "root-token", protectorConfig); failed {
		t.Fatalf("branchprotector failed:\n%s", log)
	}
	if changes := sim.Changes(); len(changes) != 0 {
		t.Errorf("branchprotector changed %+v", changes)
	}
}

// TestBranchprotectorWritesAnotherBranch: it escapes a branch's name when it reads, and not when it writes. That is
// Prow's own flaw, seen through the simulator: who asked for one branch has another one protected.
func TestBranchprotectorWritesAnotherBranch(t *testing.T) {
	program(t, "branchprotector")
	for asked, row := range map[string]struct {
		got    string
		failed bool
	}{
		"release/1.0": {"release/1.0", false}, "ä+b&c": {"ä+b&c", false}, "50%25": {"50%", false}, "a#b": {"", true},
		"50%": {"", true},
	} {
		w := world()
		for _, name := range []string{asked, "50%", "a"} {
			w.Repo("kube/widgets").Branch(name)
		}
		sim := githubsim.New(githubsim.Options{World: w})
		address, stop, err := sim.Listen(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, failed := protect(t, address, "root-token", fmt.Sprintf(
			"branch-protection: {orgs: {kube: {repos: {widgets: {branches: {%q: {protect: true}}}}}}}", asked))
		stop()
		var protected []string
		sim.Update(func(w *githubsim.World) {
			for name, branch := range w.Repo("kube/widgets").Branches {
				if branch.Protection != nil {
					protected = append(protected, name)
				}
			}
		})
		if got := strings.Join(protected, " "); got != row.got || failed != row.failed {
			t.Errorf("asked for %s: protected %q, failed: %v", asked, got, failed)
		}
	}
}
