package check_test

import (
	"slices"
	"strings"
	"testing"

	"salve/internal/diagnostic"
	"salve/internal/prow/check"
	"salve/internal/prow/finding"
	"salve/internal/prow/github"
)

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

// TestB3IsHeldBackWhileAProtectorIsAtWork: what is mixed for a while is no alarm, and no OK.
func TestB3IsHeldBackWhileAProtectorIsAtWork(t *testing.T) {
	atWork := &check.Protector{Runs: []check.ProtectorRun{{What: "Job prow/p-1", Image: "p:v1"}}}
	for name, test := range map[string]struct {
		protector *check.Protector
		live      []string
		severity  finding.Severity
		says      string
		reason    string
	}{
		"none": {&check.Protector{}, []string{"unit", "cla", "docs"}, finding.Alert, "", ""},
		"one": {atWork, []string{"unit"}, finding.Info,
			"in progress: Job prow/p-1 (p:v1)", "held back while a branchprotector is at work: Job prow/p-1 (p:v1)"},
		"one, and what an old one writes": {atWork, []string{"unit", "cla", "docs"}, finding.Alert,
			"in progress: Job prow/p-1 (p:v1)", ""},
		"nobody can tell": {&check.Protector{RunsFailed: "forbidden"}, []string{"unit", "cla", "docs"}, finding.Alert,
			"not known: forbidden", ""},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, guarded(), nil)
			given.GitHub = onGitHub(map[string]check.LiveBranch{main: bound(requiring(test.live...))})
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
