package check_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/diagnostic"
	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
)

// named reads org/repo=branch.
func named(name string) config.Branch {
	repository, branch, _ := strings.Cut(name, "=")
	org, repo, _ := strings.Cut(repository, "/")
	return config.Branch{Org: org, Repo: repo, Name: branch}
}

// requiring is a branch that is protected and requires contexts.
func requiring(contexts ...string) check.LiveBranch {
	live := check.LiveBranch{Protection: github.Protection{Protected: true}}
	if len(contexts) > 0 {
		live.Protection.Settings.StatusChecks = checks(contexts...)
	}
	return live
}

func checks(contexts ...string) *github.StatusChecks {
	checks := &github.StatusChecks{}
	for _, context := range contexts {
		checks.Checks = append(checks.Checks, github.Check{Context: context})
	}
	return checks
}

// ruled is the branch with a ruleset that requires contexts, too.
func ruled(live check.LiveBranch, contexts ...string) check.LiveBranch {
	live.Rules = []github.Rule{{Ruleset: github.Ruleset{ID: 7, Source: "org"}, StatusChecks: checks(contexts...)}}
	return live
}

// onGitHub are branches as GitHub has them.
func onGitHub(branches map[string]check.LiveBranch) *check.GitHub {
	live := &check.GitHub{Branches: map[config.Branch]check.LiveBranch{}, Heads: map[config.Branch]check.Heads{}}
	for name, branch := range branches {
		live.Branches[named(name)] = branch
	}
	return live
}

// asConfigured is a GitHub on which branches are protected as the configuration says.
func asConfigured(t *testing.T, given check.Facts, names ...string) *check.GitHub {
	t.Helper()
	branches := map[string]check.LiveBranch{}
	for _, name := range names {
		decision, err := given.Now.Partial().Protector(named(name), config.ProtectorFlags{AppsRestrictions: true})
		if err != nil {
			t.Fatal(err)
		}
		var live check.LiveBranch
		if decision.Action == config.Protect {
			live.Protection.Protected = true
			live.Protection.Settings = protection.Desired(decision.Policy, github.Settings{}, nil)
		}
		branches[name] = live
	}
	return onGitHub(branches)
}

// guarded is an instance with a job of each kind, of which main of app requires unit, and cla of others.
func guarded() instance {
	return instance{"config.yaml": `pod_namespace: test-pods
branch-protection:
  orgs:
    org:
      repos:
        app:
          protect: true
          enforce_admins: true
          required_status_checks: {contexts: [cla]}
          branches: {wild: {unmanaged: true}}
`, "jobs/app.yaml": `presubmits:
  org/app:
  - {name: unit, always_run: true, spec: ` + pod + `}
  - {name: docs, run_if_changed: ^docs/, spec: ` + pod + `}
  - {name: slow, spec: ` + pod + `}
`}
}

const main = "org/app=main"

// with is a branch whose admins are bound, as guarded says.
func bound(live check.LiveBranch) check.LiveBranch {
	live.Protection.Settings.EnforceAdmins = true
	return live
}

func TestB3Drift(t *testing.T) {
	unread := requiring()
	unread.Failed = "rate limit: reset at 13:00"
	for name, test := range map[string]struct {
		live    check.LiveBranch
		want    []string
		says    string
		verdict finding.Severity
		reason  string
	}{
		"as configured": {bound(requiring("unit", "cla")), nil, "", finding.OK, ""},
		"a field of which the configuration says nothing": {func() check.LiveBranch {
			live := bound(requiring("unit", "cla"))
			live.Protection.Settings.LinearHistory, live.Protection.Settings.StatusChecks.Strict = true, true
			return live
		}(), nil, "", finding.OK, ""},
		"a field of which it does": {requiring("unit", "cla"), []string{"WARN org/app=main"},
			"enforce_admins: false → true", finding.Warn, ""},
		"a context is missing": {bound(requiring("cla")), []string{"WARN org/app=main"},
			"[cla] → [cla, unit]", finding.Warn, ""},
		"one of others more": {bound(requiring("unit", "cla", "bot")), []string{"WARN org/app=main"}, "[bot, cla, unit]",
			finding.Warn, ""},
		"not protected": {check.LiveBranch{}, []string{"WARN org/app=main"}, "not protected on GitHub", finding.Warn, ""},
		"what an old branchprotector leaves": {bound(requiring("unit", "cla", "docs")), []string{"ALERT org/app=main"},
			"a branchprotector from before February 2019", finding.Alert, ""},
		"a context that is not there on each pull request": {bound(requiring("unit", "cla", "docs", "slow")),
			[]string{"ALERT org/app=main"}, "GitHub requires docs, slow", finding.Alert, ""},
		"could not be read": {unread, nil, "", finding.Unknown, "org/app=main: rate limit: reset at 13:00"},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, guarded(), nil)
			given.GitHub = onGitHub(map[string]check.LiveBranch{main: test.live, "org/app=wild": requiring("docs")})
			found, verdict := run(t, "B3", given)
			for i := range found {
				found[i].Position = diagnostic.Position{} // where it stands is another test's
			}
			expect(t, found, test.want...)
			expectVerdict(t, verdict, test.verdict, test.reason)
			if len(found) > 0 {
				expectEvidence(t, found[0], test.says)
			}
		})
	}
}

// TestContextsAreSeenWithoutRights: GitHub names them with the branch itself. The rest is not known, and that it names
// none there proves nothing.
func TestContextsAreSeenWithoutRights(t *testing.T) {
	for name, test := range map[string]struct {
		required *github.StatusChecks
		b3       []string
	}{
		"as configured":                      {checks("cla", "unit"), nil},
		"one is missing":                     {checks("cla"), []string{"WARN org/app=main"}},
		"what an old branchprotector leaves": {checks("cla", "unit", "docs"), []string{"ALERT org/app=main"}},
		"none":                               {checks(), nil},
		"nobody says":                        {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, guarded(), guarded())
			hidden := check.LiveBranch{Failed: "hidden", Protection: github.Protection{
				Branch: github.Branch{Protected: true, Required: test.required}}}
			given.GitHub = onGitHub(map[string]check.LiveBranch{main: hidden})
			found, verdict := run(t, "B3", given)
			for i := range found {
				found[i].Position = diagnostic.Position{}
				if len(found[i].Evidence) > 2 || !strings.Contains(found[i].Evidence[0], "required_status_checks.checks") {
					t.Errorf("%q", found[i].Evidence)
				}
			}
			expect(t, found, test.b3...)
			if verdict.Reason != "org/app=main: hidden" {
				t.Errorf("%+v", verdict)
			}
		})
	}
	given := facts(t, guarded(), guarded())
	given.GitHub = onGitHub(map[string]check.LiveBranch{"org/app=wild": {Failed: "hidden", Protection: github.Protection{
		Branch: github.Branch{Protected: true, Required: checks("docs", "bot")}}}})
	found, verdict := run(t, "B4", given)
	expect(t, found, "ALERT jobs/app.yaml:4:5 org/app=wild")
	expectVerdict(t, verdict, finding.Alert, "org/app=wild: hidden")
	if got := check.Suspects(given)[named("org/app=wild")]; !slices.Equal(got, []string{"bot"}) {
		t.Errorf("suspects %v", got)
	}
}

// TestB3IsHeldBackWhileAProtectorIsAtWork: what is mixed for a while is no alarm, and no OK.
func TestB3IsHeldBackWhileAProtectorIsAtWork(t *testing.T) {
	for name, test := range map[string]struct {
		protector *check.Protector
		severity  finding.Severity
		says      string
		reason    string
	}{
		"none": {&check.Protector{}, finding.Alert, "", ""},
		"one": {&check.Protector{Runs: []check.ProtectorRun{{What: "Job prow/p-1", Image: "p:v1"}}}, finding.Info,
			"in progress: Job prow/p-1 (p:v1)", "held back while a branchprotector is at work: Job prow/p-1 (p:v1)"},
		"nobody can tell": {&check.Protector{RunsFailed: "forbidden"}, finding.Alert, "not known: forbidden", ""},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, guarded(), nil)
			given.GitHub = onGitHub(map[string]check.LiveBranch{main: bound(requiring("unit", "cla", "docs"))})
			given.Protector = test.protector
			found, verdict := run(t, "B3", given)
			if len(found) != 1 || found[0].Severity != test.severity {
				t.Fatalf("%+v", found)
			}
			expectEvidence(t, found[0], test.says)
			worst := test.severity
			if test.reason != "" {
				worst = finding.Unknown
			}
			expectVerdict(t, verdict, worst, test.reason)
		})
	}
}

// TestB3UnreadRepository: of what can't be listed nothing is known.
func TestB3UnreadRepository(t *testing.T) {
	given := facts(t, guarded(), nil)
	given.GitHub = onGitHub(nil)
	given.GitHub.Unread = map[string]string{"org/app": "not found, or the token may not see it", "org/b": "x",
		"org/c": "x", "org/d": "x", "org/e": "x"}
	for _, rule := range []string{"B2", "B3", "B4", "B7"} {
		given.History = &check.History{}
		_, verdict := run(t, rule, given)
		expectVerdict(t, verdict, finding.Unknown, "org/app: not found, or the token may not see it; org/b, org/c, org/d, "+
			"and 1 more: x")
	}
	given.GitHub = &check.GitHub{Failed: "unauthorized"}
	for _, rule := range []string{"B2", "B3", "B4", "B7"} {
		_, verdict := run(t, rule, given)
		expectVerdict(t, verdict, finding.Unknown, "GitHub could not be asked: unauthorized")
	}
}

func TestB4LeftOnGitHub(t *testing.T) {
	before := guarded().with("jobs/app.yaml", strings.ReplaceAll(guarded()["jobs/app.yaml"], "{name: slow",
		"{name: gone, always_run: true, spec: "+pod+"}\n  - {name: slow"))
	unread := requiring()
	unread.Failed = "hidden"
	norules := requiring()
	norules.RulesFailed = "timed out"
	for name, test := range map[string]struct {
		base     instance
		branches map[string]check.LiveBranch
		want     []string
		says     string
		reason   string
	}{
		"an unmanaged branch that requires what others report": {before,
			map[string]check.LiveBranch{"org/app=wild": requiring("bot")}, nil, "", ""},
		"one that requires what still comes": {before, map[string]check.LiveBranch{"org/app=wild": requiring("unit")}, nil,
			"", ""},
		"one that requires what comes sometimes": {before, map[string]check.LiveBranch{"org/app=wild": requiring("docs")},
			[]string{"ALERT org/app=wild"}, "runs only if files match run_if_changed", ""},
		"one that requires what came before": {before, map[string]check.LiveBranch{"org/app=wild": requiring("gone")},
			[]string{"ALERT org/app=wild"}, "gone: no job reports it any more", ""},
		"what came before, and no base": {nil, map[string]check.LiveBranch{"org/app=wild": requiring("gone")}, nil, "",
			"needs --base"},
		"a ruleset that requires what comes sometimes": {before,
			map[string]check.LiveBranch{main: ruled(bound(requiring("cla", "unit")), "docs", "bot")},
			[]string{"ALERT org/app=main ruleset 7"}, "ruleset 7 of org", ""},
		"hidden": {before, map[string]check.LiveBranch{"org/app=wild": unread}, nil, "", "org/app=wild: hidden"},
		"rulesets unread": {before, map[string]check.LiveBranch{"org/app=wild": norules}, nil, "",
			"rulesets of org/app=wild: timed out"},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, guarded(), test.base)
			given.GitHub = onGitHub(test.branches)
			found, verdict := run(t, "B4", given)
			for i := range found {
				found[i].Position = diagnostic.Position{} // where it stands is another test's
			}
			expect(t, found, test.want...)
			severity := finding.OK
			if verdict.Reason != test.reason {
				t.Errorf("because of %q", verdict.Reason)
			}
			if len(test.want) > 0 {
				severity = finding.Alert
				expectEvidence(t, found[0], test.says)
			} else if test.reason != "" {
				severity = finding.Unknown
			}
			expectVerdict(t, verdict, severity, test.reason)
		})
	}
}

func TestB2Absent(t *testing.T) {
	looked := func(commits, reported int, seen ...string) *check.Heads {
		heads := &check.Heads{Commits: commits, Reported: reported, Seen: map[string]string{}}
		for _, context := range seen {
			heads.Seen[context] = "on commit abc"
		}
		return heads
	}
	failed := looked(7, 7)
	failed.Failed = "rate limit: reset at 13:00"
	inRepo := guarded()["config.yaml"] + "in_repo_config: {enabled: {org/app: true}}\n"
	asRequired, hidden, norules := bound(requiring("unit", "cla")), requiring(), bound(requiring("unit", "cla"))
	hidden.Failed, norules.RulesFailed = "hidden", "timed out"
	const at = "ALERT config.yaml:9:47 org/app context=cla"
	for name, test := range map[string]struct {
		live   check.LiveBranch
		heads  *check.Heads
		config string
		want   []string
		reason string
	}{
		"seen":                              {asRequired, looked(1, 1, "cla"), "", nil, ""},
		"on none of twenty":                 {asRequired, looked(20, 20), "", []string{at}, ""},
		"on none of nineteen":               {asRequired, looked(19, 19), "", nil, "only 19 of 20 commits"},
		"seen on the last that can be read": {asRequired, looked(3, 3, "cla"), "", nil, ""},
		"not all can be read":               {asRequired, failed, "", nil, "rate limit: reset at 13:00"},
		"nothing is reported at all":        {asRequired, looked(20, 0), "", nil, "nothing at all is reported"},
		"nobody looked":                     {asRequired, nil, "", nil, "not looked at"},
		"the job may be in .prow.yaml":      {asRequired, looked(20, 20), inRepo, nil, ".prow.yaml"},
		"the protection is hidden":          {hidden, looked(1, 1, "cla"), "", nil, "org/app=main: hidden"},
		"the rulesets can't be read":        {norules, looked(1, 1, "cla"), "", nil, "rulesets of org/app=main: timed out"},
		"required by GitHub alone": {bound(requiring("unit", "bot")), looked(20, 20, "cla"), "",
			[]string{"ALERT config.yaml:6:9 org/app context=bot"}, ""},
		"required by a ruleset": {ruled(asRequired, "bot"), looked(20, 20, "cla"), "",
			[]string{"ALERT config.yaml:6:9 org/app context=bot"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := guarded()
			if test.config != "" {
				files = files.with("config.yaml", test.config)
			}
			given := facts(t, files, nil)
			given.GitHub = onGitHub(map[string]check.LiveBranch{main: test.live})
			if test.heads != nil {
				given.GitHub.Heads[named(main)] = *test.heads
			}
			found, verdict := run(t, "B2", given)
			alerts := slices.DeleteFunc(slices.Clone(found),
				func(f finding.Finding) bool { return f.Severity == finding.Unknown })
			expect(t, alerts, test.want...)
			severity := finding.OK
			switch {
			case len(test.want) > 0:
				severity = finding.Alert
			case test.reason != "":
				severity = finding.Unknown
			}
			expectVerdict(t, verdict, severity, test.reason)
			if test.want != nil {
				expectEvidence(t, alerts[0], "nobody reports it: nothing can be merged\non none of the last 20 commits, "+
					"nor of 0 open pull requests; required by ", " on branch main")
			}
			undecided := strings.Contains(verdict.Reason, `context "cla" on org/app=main: `)
			if told := len(found) > len(alerts); told != undecided {
				t.Errorf("what files tell is told: %v", told)
			}
		})
	}
}

// TestB2KnownReporters: what is on the list of external checks, what Tide sets, and what a job has is no suspect.
func TestB2KnownReporters(t *testing.T) {
	files := guarded().with("config.yaml", guarded()["config.yaml"]+
		"tide: {queries: [{repos: [org/app], labels: [lgtm]}]}\n")
	given := facts(t, files, nil)
	given.Options.External = []check.Pattern{{Text: "cl*"}}
	given.GitHub = onGitHub(map[string]check.LiveBranch{main: requiring("unit", "docs", "cla", "tide", "bot")})
	got := check.Suspects(given)
	if len(got) != 1 || !slices.Equal(got[named(main)], []string{"bot"}) {
		t.Errorf("%v", got)
	}
}

func TestB7Flip(t *testing.T) {
	at := func(hoursAgo int, contexts ...string) check.Change {
		return check.Change{At: now().Add(-time.Duration(hoursAgo) * time.Hour), Contexts: contexts}
	}
	for name, test := range map[string]struct {
		changes []check.Change
		flips   bool
	}{
		"nothing":                 {nil, false},
		"one look":                {[]check.Change{at(1, "a")}, false},
		"a change":                {[]check.Change{at(5, "a"), at(1, "b")}, false},
		"a change that came back": {[]check.Change{at(5, "a"), at(3, "b"), at(1, "a")}, true},
		"by a third state":        {[]check.Change{at(9, "a"), at(5, "b"), at(3), at(1, "a")}, true},
		"came back too late":      {[]check.Change{at(50, "a"), at(30, "b"), at(1, "a")}, false},
		"came back long ago":      {[]check.Change{at(60, "a"), at(50, "b"), at(40, "a")}, false},
		"and changed again":       {[]check.Change{at(9, "a"), at(5, "b"), at(3, "a"), at(1, "c")}, true},
		"to none and back":        {[]check.Change{at(5, "a"), at(3), at(1, "a")}, true},
		"was there for long":      {[]check.Change{at(900, "a"), at(3, "b"), at(1, "a")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, guarded(), nil)
			given.GitHub = onGitHub(map[string]check.LiveBranch{main: requiring()})
			given.History = &check.History{Since: now().Add(-48 * time.Hour),
				Changes: map[config.Branch][]check.Change{named(main): test.changes}}
			found, verdict := run(t, "B7", given)
			if (len(found) == 1 && found[0].Severity == finding.Alert) != test.flips {
				t.Errorf("%+v", found)
			}
			if test.flips {
				expectEvidence(t, found[0], "required: a", "2026-11-23T")
				return
			}
			expectVerdict(t, verdict, finding.OK, "")
		})
	}
	given := facts(t, guarded(), nil)
	given.GitHub, given.History = onGitHub(nil), &check.History{Since: now().Add(-time.Hour)}
	_, verdict := run(t, "B7", given)
	expectVerdict(t, verdict, finding.Unknown, "watched since 2026-11-23T11:00:00Z")
}

func TestOpenPullRequestsOfGitHub(t *testing.T) {
	after := guarded().with("jobs/app.yaml", strings.Replace(guarded()["jobs/app.yaml"], "{name: slow,",
		"{name: slow, always_run: true,", 1))
	given := facts(t, after, guarded())
	given.GitHub = asConfigured(t, given, main, "org/app=wild")
	if got := check.Awaited(given); !slices.Equal(got, []config.Branch{named(main)}) {
		t.Errorf("awaited %v", got)
	}
	given.GitHub.Pulls = []check.PullRequest{{Branch: named(main), Number: 4, Contexts: []string{"unit"}},
		{Branch: named(main), Number: 5, Contexts: []string{"unit", "slow"}}}
	given.GitHub.PullsUnread = map[string]string{"org/app#6": "rate limit: reset at 13:00"}
	found, verdict := run(t, "open-pull-requests", given)
	if len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	expectEvidence(t, found[0], "1 open pull request would wait", "#4 into main lacks slow")
	expectVerdict(t, verdict, finding.Warn, "org/app#6: rate limit: reset at 13:00")
}

// TestB2BeforeBranchprotectorHasRun: what the configuration alone requires hurts after its next run.
func TestB2BeforeBranchprotectorHasRun(t *testing.T) {
	given := facts(t, guarded(), nil)
	given.GitHub = onGitHub(map[string]check.LiveBranch{main: bound(requiring("unit"))})
	given.GitHub.Heads[named(main)] = check.Heads{Commits: 20, Reported: 20}
	found, _ := run(t, "B2", given)
	if len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	expectEvidence(t, found[0], "nothing can be merged once branchprotector has run", "required by the configuration on")
}

// TestPolicyThatCantBeComputed: what is desired is not known then.
func TestPolicyThatCantBeComputed(t *testing.T) {
	given := facts(t, guarded().with("config.yaml", strings.Replace(guarded()["config.yaml"], "wild: {unmanaged: true}",
		"wild: {protect: false}", 1)), nil)
	given.GitHub = onGitHub(map[string]check.LiveBranch{"org/app=wild": requiring("docs")})
	found, verdict := run(t, "B3", given)
	expect(t, found)
	expectVerdict(t, verdict, finding.Unknown, "org/app=wild: ")
	if got := check.Suspects(facts(t, guarded(), nil)); got != nil {
		t.Errorf("without GitHub %v", got)
	}
}

// TestManyReasonsAreBounded: a list of all would hide the first.
func TestManyReasonsAreBounded(t *testing.T) {
	given := facts(t, guarded(), nil)
	given.GitHub = onGitHub(nil)
	long := strings.Repeat("5", 5000)
	given.GitHub.Unread = map[string]string{"a/a": "1", "b/b": "2", "c/c": "3", "d/d": "4", "e/e": long}
	_, verdict := run(t, "B3", given)
	if verdict.Reason != "a/a: 1; b/b: 2; c/c: 3; and 2 other reasons" {
		t.Errorf("%q", verdict.Reason)
	}
	given.GitHub.Unread = map[string]string{"e/e": long}
	if _, verdict = run(t, "B3", given); len(verdict.Reason) > 1100 {
		t.Errorf("%d bytes", len(verdict.Reason))
	}
	given.GitHub.Unread, given.History = nil, &check.History{}
	hidden := requiring()
	hidden.Failed = "hidden"
	given.GitHub.Branches[named(main)] = hidden
	_, verdict = run(t, "B7", given)
	expectVerdict(t, verdict, finding.Unknown, "org/app=main: hidden")
}
