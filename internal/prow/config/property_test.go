package config_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/prow/config"
)

// additions are what a level may add to a policy: all of the settings that ask for
// more, and none that takes something away.
func additions() []string {
	return []string{"protect: true", "enforce_admins: true", "required_linear_history: true",
		"required_status_checks: {contexts: [more]}", "required_status_checks: {strict: true}",
		"restrictions: {users: [ann]}", "required_pull_request_reviews: {required_approving_review_count: 3}"}
}

// TestAddingNeverUnprotects: whatever a policy is, a level that asks for more on top
// of it leaves no branch with less.
func TestAddingNeverUnprotects(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 12))
	compared := 0
	for range 400 {
		base := randomPolicy(random)
		addition := additions()[random.IntN(len(additions()))]
		before := "branch-protection: {protect: true, orgs: {org: {" + base + "}}}\n"
		after := "branch-protection: {protect: true, orgs: {org: {" + base + orComma(base) +
			"repos: {repo: {" + addition + "}}}}}\n"
		old, oldErr := sound(t, files{"config.yaml": before}).Protector(on("main"), config.ProtectorFlags{})
		now, err := sound(t, files{"config.yaml": after}).Protector(on("main"), config.ProtectorFlags{})
		if oldErr != nil || old.Action != config.Protect {
			continue
		}
		compared++
		if err != nil || now.Action != config.Protect {
			t.Fatalf("%s\nprotects, and this doesn't: %s, %v\n%s", before, now.Action, err, after)
		}
		if lost := lost(old.Policy, now.Policy); lost != "" {
			t.Fatalf("%s is lost\n%s%s", lost, before, after)
		}
	}
	if compared < 50 {
		t.Fatalf("only %d policies were compared", compared)
	}
}

// lost is what the one policy asks for and the other doesn't.
func lost(before, after config.Policy) string {
	for _, context := range before.Contexts().Values() {
		if after.Contexts().Origins(context) == nil {
			return "context " + context
		}
	}
	for name, pair := range map[string][2]config.Bool{
		"enforce_admins":          {before.EnforceAdmins, after.EnforceAdmins},
		"required_linear_history": {before.RequiredLinearHistory, after.RequiredLinearHistory},
		"protect":                 {before.Protect, after.Protect},
	} {
		if pair[0].Set && pair[0].Value && !pair[1].Value {
			return name
		}
	}
	if before.Reviews != nil && after.Reviews == nil || before.Restrictions != nil && after.Restrictions == nil {
		return "reviews or restrictions"
	}
	return ""
}

func orComma(text string) string {
	if text == "" {
		return ""
	}
	return ", "
}

func randomPolicy(random *rand.Rand) string {
	var parts []string
	for _, part := range []string{"protect: %t", "enforce_admins: %t", "required_linear_history: %t",
		"required_status_checks: {contexts: [a, b], strict: %t}", "restrictions: {users: [ben]}", "unmanaged: %t",
		"required_pull_request_reviews: {dismiss_stale_reviews: %t}"} {
		if random.IntN(3) == 0 {
			if strings.Contains(part, "%t") {
				part = fmt.Sprintf(part, random.IntN(2) == 0)
			}
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// TestOrderDoesNotMatter: of jobs in a file, of files, of branches, orgs and labels.
// The same input gives the same answers.
func TestOrderDoesNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 12))
	var items []string
	for i := range 12 {
		items = append(items, jobItem(fmt.Sprintf("job-%d", i), fmt.Sprintf("always_run: %t", i%2 == 0),
			fmt.Sprintf("optional: %t", i%3 == 0), fmt.Sprintf("branches: [%s]", []string{"main", "rel", "main, rel"}[i%3])))
	}
	levels := []string{"main: {protect: true, required_status_checks: {contexts: [a]}}",
		"rel: {protect: true, enforce_admins: true}", "dev: {protect: false}", "wip: {unmanaged: true}"}
	var first map[string]string
	for range 40 {
		random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		random.Shuffle(len(levels), func(i, j int) { levels[i], levels[j] = levels[j], levels[i] })
		cut := random.IntN(len(items))
		names := []string{"jobs/a.yaml", "jobs/z/b.yaml"}
		random.Shuffle(2, func(i, j int) { names[i], names[j] = names[j], names[i] })
		c := sound(t, files{
			"config.yaml": "branch-protection: {orgs: {org: {repos: {repo: {branches: {" + strings.Join(levels, ", ") + "}}}}}}\n",
			names[0]:      "presubmits:\n  org/repo:\n" + strings.Join(items[:cut], ""),
			names[1]:      "presubmits:\n  org/repo:\n" + strings.Join(items[cut:], ""),
		})
		got := answers(c)
		if first == nil {
			first = got
		}
		if difference := cmp.Diff(first, got); difference != "" {
			t.Fatal(difference)
		}
	}
	if len(first) != 5 || first["main"] == first["rel"] {
		t.Errorf("%v", first)
	}
}

func answers(c *config.Config) map[string]string {
	all := map[string]string{}
	for _, branch := range []string{"main", "rel", "dev", "wip", "other"} {
		req := c.Requirements(on(branch), false)
		decision, err := c.Protector(on(branch), config.ProtectorFlags{})
		policy, policyErr := c.Policy(on(branch))
		tide, tideErr := c.ContextPolicy(on(branch))
		all[branch] = fmt.Sprint(contextsOf(req.Required), "|", contextsOf(req.RequiredIfPresent), "|",
			contextsOf(req.Optional), "|", decision.Action, decision.Why, err, policy.Contexts().Values(),
			policy.EnforceAdmins.Value, errors.Is(policyErr, config.ErrNoPolicy), tide.Required.Values(), tideErr)
	}
	return all
}

// TestSameInputSameOutput: places, diagnostics and all.
func TestSameInputSameOutput(t *testing.T) {
	f := files{
		"config.yaml": "branch-protection: {orgs: {a: {protect: 1}, b: {protect: 2}, c: {protect: 3}}}\nx: 1\ny: 2\n",
		"jobs/a.yaml": job("a", "always_run: true", "run_if_changed: x", "labels: {'-': a, '+': b, 'x y': c}"),
		"jobs/b.yaml": job("a") + "other: 1\n", "jobs/c/a.yaml": job("c")}
	says := func(l config.Loaded) string {
		return fmt.Sprint(l.Diagnostics, l.Partial().UnknownFields, slices.Sorted(maps.Keys(l.Partial().Presubmits)))
	}
	first := says(f.load())
	for range 20 {
		if again := says(f.load()); again != first {
			t.Fatalf("%s\n%s", first, again)
		}
	}
}
