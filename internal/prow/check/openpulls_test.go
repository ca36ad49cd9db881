package check_test

import (
	"slices"
	"testing"

	"salve/internal/prow/blocked"
	"salve/internal/prow/check"
	"salve/internal/prow/finding"
	"salve/internal/prow/github"
)

// TestOpenPullRequestsThatAreNotSeen: B5 and B6 are OK only where all was looked at that matters to them.
func TestOpenPullRequestsThatAreNotSeen(t *testing.T) {
	hidden := check.LiveBranch{Failed: "hidden"}
	summary := check.LiveBranch{Failed: "hidden", Protection: github.Protection{
		Branch: github.Branch{Protected: true, Required: checks("unit", "docs")}}}
	norules := bound(requiring("unit"))
	norules.RulesFailed = "timed out"
	for name, test := range map[string]struct {
		change func(*check.GitHub)
		b5, b6 string
	}{
		"all is": {func(*check.GitHub) {}, "", ""},
		"a pull request is not": {func(live *check.GitHub) { live.OpenUnread = map[string]string{"org/app#7": "no"} },
			"org/app#7: no", "org/app#7: no"},
		"a repository is not": {func(live *check.GitHub) { live.Unread = map[string]string{"org/lib": "no"} },
			"org/lib: no", "org/lib: no"},
		"what a branch requires is not": {func(live *check.GitHub) { live.Branches[named("org/app=wild")] = hidden },
			"org/app=wild: hidden", "org/app=wild: hidden"},
		"what it requires, but for its contexts": {func(live *check.GitHub) {
			live.Branches[named("org/app=wild")] = summary
		}, "org/app=wild: hidden", ""},
		"rulesets are not": {func(live *check.GitHub) { live.Branches[named(main)] = norules },
			"rulesets of org/app=main: timed out", ""},
		"a branch of a repository that is none of Prow's is not": {func(live *check.GitHub) {
			live.Branches[named("org/other=main")] = hidden
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, guarded(), nil)
			given.GitHub = asConfigured(t, given, main, "org/app=wild")
			test.change(given.GitHub)
			_, verdict := run(t, "B6", given)
			expectVerdict(t, verdict, unknownFor(test.b6), test.b6)
			_, verdict = run(t, "B5", given)
			expectVerdict(t, verdict, finding.Unknown, "needs --live of Prow's own cluster")
			given.Protector = &check.Protector{}
			_, verdict = run(t, "B5", given)
			expectVerdict(t, verdict, unknownFor(test.b5), test.b5)
		})
	}
}

func unknownFor(reason string) finding.Severity {
	if reason != "" {
		return finding.Unknown
	}
	return finding.OK
}

// TestQuestionThatCantBeDecidedIsUnknown, and what a terminal would obey is not in the reason.
func TestQuestionThatCantBeDecidedIsUnknown(t *testing.T) {
	given := facts(t, guarded(), nil)
	given.GitHub, given.Protector = asConfigured(t, given, main), &check.Protector{}
	given.GitHub.Waiting = []blocked.Question{{Branch: named(main), Context: "\x1b[2Junit",
		Pull: github.PullRequest{Open: true, Number: 7, Base: "main", Association: "MEMBER", MergeState: "blocked"}}}
	_, verdict := run(t, "B5", given)
	expectVerdict(t, verdict, finding.Unknown, "ProwJobs were not read")
	if slices.Contains([]byte(verdict.Reason), '\x1b') {
		t.Errorf("%q", verdict.Reason)
	}
}

// TestWaited are what open pull requests may wait for: what others report is theirs to wait for.
func TestWaited(t *testing.T) {
	given := facts(t, guarded(), nil)
	given.Options.External = []check.Pattern{{Text: "cl?"}, {Text: "unit"}}
	given.GitHub = onGitHub(map[string]check.LiveBranch{main: ruled(bound(requiring("cla", "unit")), "docs", "unit"),
		"org/app=wild": requiring(), "org/other=main": requiring("bot")})
	waited := check.Waited(given)
	if len(waited) != 1 || !slices.Equal(waited[named(main)], []string{"docs", "unit"}) {
		t.Errorf("%v", waited)
	}
	if check.Waited(facts(t, guarded(), nil)) != nil {
		t.Error("without GitHub")
	}
}
