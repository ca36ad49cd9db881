package proworacle

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
	prow "sigs.k8s.io/prow/pkg/config"

	ours "salve/internal/prow/config"
)

var (
	count  = flag.Int("count", 10000, "how many configurations to generate")
	signed = flag.Bool("signed", false,
		"generate require_signed_commits too, which Prow knows since after the version that go.mod names")
)

// asked counts what was compared, so that a run that compared nothing is seen.
type asked struct {
	accepted, refused, branches, policies, policyErrors, noPolicy, contextPolicies, contextErrors int
}

func TestSameAsProw(t *testing.T) {
	logrus.SetOutput(io.Discard)
	folder := t.TempDir()
	var n asked
	for seed := range uint64(*count) {
		made := generate(seed)
		write(t, folder, made)
		shards := filepath.Join(folder, "shards")
		theirs, refused := prow.Load(filepath.Join(folder, "config.yaml"), filepath.Join(folder, "jobs"),
			[]string{shards}, "_prowconfig.yaml")
		loaded := ours.Load(os.DirFS(folder), ours.Files{Config: "config.yaml", Jobs: "jobs", Supplemental: []string{"shards"}})
		if (refused != nil) != loaded.Refused() || loaded.Incomplete() {
			t.Errorf("seed %d: Prow's Load says %v, ours %v\n%s", seed, refused, loaded.Diagnostics, made)
			continue
		}
		if refused != nil {
			n.refused++
			continue
		}
		n.accepted++
		own, err := loaded.Config()
		if err != nil {
			t.Fatal(err)
		}
		for _, org := range append(orgs, "unknown") {
			for _, repo := range append(repos, "unknown") {
				for _, branch := range append(branches, "other") {
					n.branches++
					if difference := n.compare(theirs, own, ours.Branch{Org: org, Repo: repo, Name: branch}); difference != "" {
						t.Errorf("seed %d: %s/%s=%s:\n%s\n%s", seed, org, repo, branch, difference, made)
					}
				}
			}
		}
	}
	t.Logf("%d configurations: %d accepted by both, %d refused by both", *count, n.accepted, n.refused)
	t.Logf("%d branches: %d policies, %d without one, %d policy errors; %d context policies, %d context errors",
		n.branches, n.policies, n.noPolicy, n.policyErrors, n.contextPolicies, n.contextErrors)
	if min(n.refused, n.policies, n.noPolicy, n.policyErrors, n.contextPolicies, n.contextErrors) == 0 {
		t.Errorf("one of the cases was never met: %+v", n)
	}
}

func (c configuration) String() string {
	return "--- config.yaml\n" + c.config + "--- jobs/jobs.yaml\n" + c.jobs + "--- shards/a_prowconfig.yaml\n" + c.shard
}

func write(t *testing.T, folder string, made configuration) {
	t.Helper()
	for name, content := range map[string]string{"config.yaml": made.config, "jobs/jobs.yaml": made.jobs,
		"shards/a_prowconfig.yaml": made.shard} {
		name = filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// compare is the difference of the two answers about one branch.
func (n *asked) compare(theirs *prow.Config, own *ours.Config, branch ours.Branch) string {
	return n.requirements(theirs, own, branch) + n.policy(theirs, own, branch) + n.contexts(theirs, own, branch)
}

func (n *asked) requirements(theirs *prow.Config, own *ours.Config, branch ours.Branch) string {
	difference := ""
	for _, manual := range []bool{false, true} {
		required, ifPresent, optional := prow.BranchRequirements(branch.Name,
			theirs.GetPresubmitsStatic(branch.Repository()), &manual)
		req := own.Requirements(branch, manual)
		difference += diff(fmt.Sprintf("requirements (manual %t)", manual),
			[][]string{sorted(required), sorted(ifPresent), sorted(optional)},
			[][]string{named(req.Required), named(req.RequiredIfPresent), named(req.Optional)})
	}
	return difference
}

func (n *asked) policy(theirs *prow.Config, own *ours.Config, branch ours.Branch) string {
	var theirPolicy *prow.Policy
	level, theirErr := theirs.BranchProtection.GetOrg(branch.Org).GetRepo(branch.Repo).GetBranch(branch.Name)
	if theirErr == nil {
		theirPolicy, theirErr = theirs.GetPolicy(branch.Org, branch.Repo, branch.Name, *level,
			theirs.GetPresubmitsStatic(branch.Repository()), nil)
	}
	policy, err := own.Policy(branch)
	var wrong *ours.PolicyError
	switch none := errors.Is(err, ours.ErrNoPolicy); {
	case theirErr != nil:
		n.policyErrors++
		if !errors.As(err, &wrong) {
			return fmt.Sprintf("policy: Prow fails with %v, ours is %v\n", theirErr, err)
		}
		if says := reasons()[wrong.Reason]; says == "" || !strings.Contains(theirErr.Error(), says) {
			return fmt.Sprintf("policy: Prow fails with %v, ours with %v\n", theirErr, err)
		}
	case theirPolicy == nil:
		n.noPolicy++
		if !none {
			return fmt.Sprintf("policy: Prow has none, ours is %+v, %v\n", policy, err)
		}
	case err != nil:
		return fmt.Sprintf("policy: Prow has %+v, ours is %v\n", *theirPolicy, err)
	default:
		n.policies++
		return diff("policy", canonicalOfProw(*theirPolicy), canonical(policy))
	}
	return ""
}

// reasons are what Prow says for each of ours.
func reasons() map[ours.Reason]string {
	return map[ours.Reason]string{
		ours.ReasonNoProtect:             "must set protect or unmanaged=true",
		ours.ReasonJobsRequireProtection: "required prow jobs require branch protection",
		ours.ReasonDisabledPolicy:        "defines a policy, which requires protect: true",
	}
}

func (n *asked) contexts(theirs *prow.Config, own *ours.Config, branch ours.Branch) string {
	sha := func() (string, error) { return "sha", nil }
	theirPolicy, theirErr := theirs.GetTideContextPolicy(nil, branch.Org, branch.Repo, branch.Name, sha, "sha")
	policy, err := own.ContextPolicy(branch)
	var wrong *ours.ContextError
	if theirErr != nil || err != nil {
		n.contextErrors++
		if theirErr == nil || !errors.As(err, &wrong) {
			return fmt.Sprintf("context policy: Prow says %v, ours %v\n", theirErr, err)
		}
		return ""
	}
	n.contextPolicies++
	skip := theirPolicy.SkipUnknownContexts
	return diff("context policy",
		[]any{sorted(theirPolicy.RequiredContexts), sorted(theirPolicy.RequiredIfPresentContexts),
			sorted(theirPolicy.OptionalContexts), skip != nil, skip != nil && *skip},
		[]any{policy.Required.Values(), policy.RequiredIfPresent.Values(), policy.Optional.Values(),
			policy.SkipUnknown.Set, policy.SkipUnknown.Value})
}

func diff(what string, theirs, own any) string {
	if difference := cmp.Diff(theirs, own); difference != "" {
		return what + ", Prow's (-) and ours (+):\n" + difference
	}
	return ""
}

func sorted(list []string) []string {
	list = append([]string{}, list...)
	slices.Sort(list)
	return slices.Compact(list)
}

func named(producers []ours.Producer) []string {
	list := []string{}
	for _, producer := range producers {
		list = append(list, producer.Context)
	}
	return sorted(list)
}

// canonicalOfProw is a policy as JSON has it, with lists sorted and without the
// difference between no list and an empty one.
func canonicalOfProw(policy prow.Policy) map[string]any {
	raw, err := json.Marshal(policy)
	if err != nil {
		panic(err)
	}
	return normalized(raw)
}

func normalized(raw []byte) map[string]any {
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		panic(err)
	}
	return tidy(fields)
}

func tidy(fields map[string]any) map[string]any {
	for name, value := range fields {
		switch value := value.(type) {
		case map[string]any:
			tidy(value)
		case []any:
			list := make([]string, 0, len(value))
			for _, item := range value {
				list = append(list, item.(string))
			}
			if len(list) == 0 {
				delete(fields, name)
				continue
			}
			fields[name] = sorted(list)
		case nil:
			delete(fields, name)
		}
	}
	return fields
}

// canonical is ours in the same form.
func canonical(p ours.Policy) map[string]any {
	fields := map[string]any{}
	put(fields, "unmanaged", p.Unmanaged)
	put(fields, "protect", p.Protect)
	put(fields, "enforce_admins", p.EnforceAdmins)
	put(fields, "require_manually_triggered_jobs", p.RequireManuallyTriggeredJobs)
	put(fields, "required_linear_history", p.RequiredLinearHistory)
	put(fields, "allow_force_pushes", p.AllowForcePushes)
	put(fields, "allow_deletions", p.AllowDeletions)
	put(fields, "require_signed_commits", p.RequireSignedCommits)
	fields["include"], fields["exclude"] = p.Include.Values(), p.Exclude.Values()
	if checks := p.StatusChecks; checks != nil {
		inner := map[string]any{"contexts": checks.Contexts.Values()}
		put(inner, "strict", checks.Strict)
		fields["required_status_checks"] = inner
	}
	if reviews := p.Reviews; reviews != nil {
		inner := map[string]any{}
		put(inner, "dismiss_stale_reviews", reviews.DismissStale)
		put(inner, "require_code_owner_reviews", reviews.RequireOwners)
		if reviews.Approvals.Set {
			inner["required_approving_review_count"] = reviews.Approvals.Value
		}
		actors(inner, "dismissal_restrictions", reviews.Dismissal)
		actors(inner, "bypass_pull_request_allowances", reviews.Bypass)
		fields["required_pull_request_reviews"] = inner
	}
	actors(fields, "restrictions", p.Restrictions)
	raw, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return normalized(raw)
}

func put(fields map[string]any, name string, value ours.Bool) {
	if value.Set {
		fields[name] = value.Value
	}
}

func actors(fields map[string]any, name string, actors *ours.Actors) {
	if actors != nil {
		fields[name] = map[string]any{"users": actors.Users.Values(), "teams": actors.Teams.Values(),
			"apps": actors.Apps.Values()}
	}
}
