package check_test

import (
	"slices"
	"strings"
	"testing"

	"salve/internal/prow/check"
	"salve/internal/prow/finding"
)

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
