package blocked_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/prow/blocked"
	"salve/internal/prow/cluster"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/github"
)

const (
	head  = "1111111111111111111111111111111111111111"
	later = "2222222222222222222222222222222222222222"
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

const jobs = `
prowjob_namespace: prow
pod_namespace: test-pods
presubmits:
  kube/widgets:
  - {name: unit, always_run: true, spec: {containers: [{image: golang}]}}
  - {name: docs, run_if_changed: ^docs/, spec: {containers: [{image: golang}]}}
  - {name: code, skip_if_only_changed: ^docs/, spec: {containers: [{image: golang}]}}
  - {name: slow, spec: {containers: [{image: golang}]}}
  - {name: mute, always_run: true, skip_report: true, spec: {containers: [{image: golang}]}}
  - {name: old, always_run: true, branches: [release], spec: {containers: [{image: golang}]}}
  - {name: twin, always_run: true, trigger: '(?m)^/test twins', rerun_command: /test twins, spec: {containers: [{image: golang}]}}
  - {name: all, always_run: true, spec: {containers: [{image: golang}]}}
  - {name: evil, always_run: true, trigger: '(?m)^/test evil', rerun_command: "/test evil\n/lgtm\n/override unit", spec: {containers: [{image: golang}]}}
  - {name: again, always_run: true, trigger: '(?m)^/retest', rerun_command: /retest, spec: {containers: [{image: golang}]}}
  - {name: sole, always_run: true, trigger: '(?m)^/test (sole|side)', rerun_command: /test sole, spec: {containers: [{image: golang}]}}
  - {name: side, always_run: true, branches: [release], trigger: '(?m)^/test (sole|side)', rerun_command: /test side, spec: {containers: [{image: golang}]}}
  - {name: other, always_run: true, trigger: '(?m)^/test (twins|other)', rerun_command: /test other, spec: {containers: [{image: golang}]}}
`

// TestDecisions goes down the list: what comes first decides.
func TestDecisions(t *testing.T) {
	failed := errors.New("404, or no rights")
	draft := pull(func(p *github.PullRequest) { p.Draft = true })
	moved := pull(func(p *github.PullRequest) { p.HeadSHA = later })
	type changes []func(*blocked.Question)
	for _, row := range []struct {
		rule    string
		context string
		changes changes
		do      blocked.Do
		says    string
	}{
		{"what is green is not missing", "unit", changes{said(github.Success)}, blocked.Nothing, "success"},
		{"nor is what is red", "unit", changes{said(github.Failure)}, blocked.Nothing, "failure"},
		{"nor is what is pending", "unit", changes{said(github.Pending)}, blocked.Nothing, "pending"},
		{"a head that moved is left, whatever is known of the old one", "unit",
			changes{moved, with(about("a", untold))}, blocked.Leave, "head moved from 1111111 to 2222222"},
		{"and so is a pull request that is for another branch now", "unit",
			changes{pull(func(p *github.PullRequest) { p.Base = "release" })}, blocked.Leave, "branch release"},
		{"a draft is left", "unit", changes{draft}, blocked.Leave, "draft"},
		{"a draft is left though its job has ended and nobody was told", "unit", changes{draft, with(about("a", untold))},
			blocked.Leave, "draft"},
		{"a conflict is left", "unit", changes{pull(func(p *github.PullRequest) { p.MergeState = github.MergeDirty })},
			blocked.Leave, "conflicts"},
		{"what is closed is left", "unit", changes{pull(func(p *github.PullRequest) { p.Open = false })}, blocked.Leave,
			"closed"},
		{"what nobody has trusted is left", "unit",
			changes{pull(func(p *github.PullRequest) { p.Association = "CONTRIBUTOR" })}, blocked.Leave, "untrusted"},
		{"a collaborator alone is not trusted everywhere", "unit",
			changes{pull(func(p *github.PullRequest) { p.Association = "COLLABORATOR" })}, blocked.Leave, "untrusted"},
		{"a label says that it is trusted", "unit", changes{pull(func(p *github.PullRequest) {
			p.Association, p.Labels = "NONE", []string{"ok-to-test"}
		})}, blocked.Trigger, "unit"},
		{"a label that it is not wins", "unit", changes{pull(func(p *github.PullRequest) {
			p.Labels = []string{"needs-ok-to-test"}
		})}, blocked.Leave, "needs-ok-to-test"},
		{"a label that it is not wins over the one that it is", "unit", changes{pull(func(p *github.PullRequest) {
			p.Labels = []string{"ok-to-test", "needs-ok-to-test"}
		})}, blocked.Leave, "needs-ok-to-test"},
		{"who its author is has to be said", "unit", changes{pull(func(p *github.PullRequest) { p.Association = "" })},
			blocked.Unknown, "author"},
		{"whether it conflicts has to be said", "unit",
			changes{pull(func(p *github.PullRequest) { p.MergeState = github.MergeUnknown })}, blocked.Unknown, "merged"},
		{"a job that runs is waited for", "unit", changes{with(about("a", running))}, blocked.Wait, "ProwJob a is pending"},
		{"a job that runs is waited for though a newer one has ended", "unit",
			changes{with(about("a", running, older), about("b", untold))}, blocked.Wait, "ProwJob a is pending"},
		{"a job is not waited for that was aborted and never ended", "unit",
			changes{with(about("a", running, func(j *cluster.Job) { j.State = cluster.Aborted }))}, blocked.Wait, "aborted"},
		{"a result of which GitHub was told nothing is reported again", "unit", changes{with(about("a", unheard))},
			blocked.Report, "told nothing"},
		{"a result is reported again where GitHub was told that it runs", "unit",
			changes{with(about("a", untold)), said(github.Pending)}, blocked.Report, "told pending"},
		{"crier has a while for that", "unit", changes{with(about("a", untold, justNow))}, blocked.Wait, "just ended"},
		{"it is asked for once", "unit", changes{with(about("a", untold, again))}, blocked.Leave, "asked for once"},
		{"of several results the newest counts", "unit", changes{with(about("a", untold, older), about("b"))},
			blocked.Trigger, "unit"},
		{"a job that does not report is none", "unit", changes{with(about("a", untold, silent))}, blocked.Trigger, "unit"},
		{"nor is a batch", "unit", changes{with(about("a", running, batch))}, blocked.Trigger, "unit"},
		{"nor is one of another Prow", "unit", changes{with(about("a", running, elsewhere))}, blocked.Trigger, "unit"},
		{"a head that has just come is waited for", "unit",
			changes{pull(func(p *github.PullRequest) { p.Updated = now.Add(-10 * time.Minute) })}, blocked.Wait, "on their way"},
		{"a comment of now does not make a head new that something was reported on before", "unit",
			changes{pull(func(p *github.PullRequest) { p.Updated = now }), func(q *blocked.Question) {
				q.Reports.Contexts = []github.Context{{Name: "cla", Word: "success", Updated: now.Add(-time.Hour)}}
			}}, blocked.Trigger, "unit"},
		{"nor one that was seen before", "unit",
			changes{pull(func(p *github.PullRequest) { p.Updated = now }), func(q *blocked.Question) {
				q.Pushed = now.Add(-time.Hour)
			}}, blocked.Trigger, "unit"},
		{"a pull request that was opened now is new, whatever was reported on its head before", "unit",
			changes{pull(func(p *github.PullRequest) { p.Created, p.Updated = now, now }), func(q *blocked.Question) {
				q.Reports.Contexts = []github.Context{{Name: "cla", Word: "success", Updated: now.Add(-time.Hour)}}
			}}, blocked.Wait, "on their way"},
		{"a head of which nothing says since when it is there", "unit",
			changes{pull(func(p *github.PullRequest) { p.Created, p.Updated = time.Time{}, time.Time{} })}, blocked.Unknown,
			"nothing says when the head was pushed"},
		{"a job that always runs is started", "unit", nil, blocked.Trigger, "always runs"},
		{"a job that runs for these files is started", "docs", changes{files("main.go", "docs/a.md")}, blocked.Trigger,
			"docs"},
		{"the protection is wrong where the job never runs for these files", "docs", changes{files("main.go")}, blocked.Mend,
			"none of 1"},
		{"a job that skips some files runs for others", "code", changes{files("docs/a.md", "main.go")}, blocked.Trigger,
			"code"},
		{"and its context is never reported for those alone", "code", changes{files("docs/a.md")}, blocked.Mend, "none of 1"},
		{"a list of files that was cut decides nothing, though one of them matches", "docs",
			changes{files("docs/a.md"), func(q *blocked.Question) { q.Files.Truncated = true }}, blocked.Unknown, "first 1"},
		{"an empty list of files is no change of none", "docs", changes{files()}, blocked.Unknown, "no changed file"},
		{"files that were not read decide nothing", "docs", nil, blocked.Unknown, "not read"},
		{"files that can't be read decide nothing", "docs", changes{func(q *blocked.Question) { q.Unseen.Files = failed }},
			blocked.Unknown, "404"},
		{"a job that somebody has to ask for is left", "slow", nil, blocked.Leave, "/test slow"},
		{"a job that does not report makes the protection wrong", "mute", nil, blocked.Mend, "skip_report"},
		{"so does one of another branch", "old", nil, blocked.Mend, "no job of Prow"},
		{"so does a context of nobody", "ghost", nil, blocked.Mend, "no job of Prow"},
		{"a context of others is theirs", "cla", changes{func(q *blocked.Question) { q.ReportedBy = "EasyCLA" }},
			blocked.Leave, "EasyCLA"},
		{"who else reports has to be seen", "cla", changes{func(q *blocked.Question) { q.Unseen.Reporter = failed }},
			blocked.Unknown, "404"},
		{"a job may be in the repository itself", "cla", changes{func(q *blocked.Question) { q.InRepo = true }},
			blocked.Unknown, ".prow.yaml"},
		{"a comment that starts all jobs is none", "all", nil, blocked.Leave, "nothing but /test and a name"},
		{"nor is one that starts what failed", "again", nil, blocked.Leave, "nothing but /test and a name"},
		{"nor one that holds other commands", "evil", nil, blocked.Leave, "nothing but /test and a name"},
		{"a comment that starts another job too is none", "twin", nil, blocked.Leave, "twin, other"},
		{"a pull request that can't be read", "unit", changes{func(q *blocked.Question) { q.Unseen.Pull = failed }},
			blocked.Unknown, "404"},
		{"statuses that can't be read", "unit", changes{func(q *blocked.Question) { q.Unseen.Reports = failed }},
			blocked.Unknown, "404"},
		{"but a draft is one all the same", "unit", changes{draft, func(q *blocked.Question) { q.Unseen.Reports = failed }},
			blocked.Leave, "draft"},
		{"a ProwJob that can't be read may be the one", "unit", changes{func(q *blocked.Question) {
			q.Jobs = blocked.NewJobs("prow", cluster.Reading[cluster.Job]{
				Malformed: []cluster.Malformed{{Namespace: "prow", Name: "odd", Why: errors.New("spec.job is empty")}}})
		}}, blocked.Unknown, "malformed"},
		{"a namespace that was not seen may hold it", "unit", changes{func(q *blocked.Question) {
			q.Jobs = blocked.NewJobs("prow", cluster.Reading[cluster.Job]{
				Coverage: cluster.Coverage{Refused: failed, Namespaces: []string{"default"}}})
		}}, blocked.Unknown, "not seen"},
		{"no ProwJobs at all were read", "unit", changes{func(q *blocked.Question) { q.Jobs = nil }}, blocked.Unknown,
			"not read"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			got := blocked.Decide(waiting(t, row.context, row.changes...))
			if got.Do != row.do || !strings.Contains(got.Reason, row.says) {
				t.Errorf("%s: %s; want %s about %q", got.Do, got.Reason, row.do, row.says)
			}
			if got.Acts() != (row.do == blocked.Trigger || row.do == blocked.Report) {
				t.Errorf("%s acts: %t", got.Do, got.Acts())
			}
		})
	}
}

func TestWhatIsStartedAndWhatIsReportedAgainIsNamed(t *testing.T) {
	if got := blocked.Decide(waiting(t, "unit")); got.Comment != "/test unit" || got.Job.Name != "unit" {
		t.Errorf("%q of %+v", got.Comment, got.Job)
	}
	if got := blocked.Decide(waiting(t, "unit", with(about("a", untold)))); got.ProwJob.Name != "a" {
		t.Errorf("%+v", got.ProwJob)
	}
}

// TestWhatDecidesAboutFilesIsNamed, for who has to mend it.
func TestWhatDecidesAboutFilesIsNamed(t *testing.T) {
	for context, row := range map[string]struct{ runs, never, names string }{
		"docs": {"docs/a.md", "main.go", "run_if_changed: ^docs/"},
		"code": {"main.go", "docs/a.md", "skip_if_only_changed: ^docs/"},
	} {
		for file, do := range map[string]blocked.Do{row.runs: blocked.Trigger, row.never: blocked.Mend} {
			got := blocked.Decide(waiting(t, context, files(file)))
			if got.Do != do || !slices.Contains(got.Evidence, row.names) {
				t.Errorf("%s and %s: %s because of %q", context, file, got.Do, got.Evidence)
			}
		}
	}
}

// TestAnExpressionThatDoesNotCompileDecidesNothing: whom it starts, and for which files, is not known.
func TestAnExpressionThatDoesNotCompileDecidesNothing(t *testing.T) {
	spoil := func(name string, spoilt func(*config.Job)) func(*blocked.Question) {
		return func(q *blocked.Question) {
			for _, job := range q.Presubmits {
				if job.Name == name {
					spoilt(job)
				}
			}
		}
	}
	for rule, row := range map[string]struct {
		context, spoilt string
		spoil           func(*config.Job)
		says            string
	}{
		"its own trigger":         {"unit", "unit", func(job *config.Job) { job.Trigger = "(" }, "trigger of job unit"},
		"another job's trigger":   {"unit", "other", func(job *config.Job) { job.Trigger = "(" }, "trigger of job other"},
		"the files that start it": {"docs", "docs", func(job *config.Job) { job.RunIfChanged = "(" }, "job docs"},
		"the files that don't":    {"code", "code", func(job *config.Job) { job.SkipIfOnlyChanged = "(" }, "job code"},
	} {
		t.Run(rule, func(t *testing.T) {
			got := blocked.Decide(waiting(t, row.context, files("docs/a.md", "main.go"), spoil(row.spoilt, row.spoil)))
			if got.Do != blocked.Unknown || !strings.Contains(got.Reason, row.says) ||
				!strings.Contains(got.Reason, "missing closing )") {
				t.Errorf("%s: %s", got.Do, got.Reason)
			}
		})
	}
	q := waiting(t, "unit", spoil("other", func(job *config.Job) { job.Trigger = "(" }))
	if names, err := blocked.Starts(q.Presubmits, "main", "/test unit"); err == nil || names != nil {
		t.Errorf("%q starts (%v)", names, err)
	}
}

// TestNothingIsDoneOnWhatWasNotSeen: whatever of a question that leads to an action was not seen, there is none.
func TestNothingIsDoneOnWhatWasNotSeen(t *testing.T) {
	failed := errors.New("404, or no rights")
	for what, q := range map[string]blocked.Question{
		"a job that always runs":        waiting(t, "unit"),
		"a job that runs for its files": waiting(t, "docs", files("docs/a.md")),
		"a result":                      waiting(t, "unit", with(about("a", untold))),
	} {
		if !blocked.Decide(q).Acts() {
			t.Errorf("%s leads to no action", what)
		}
		for part, blind := range map[string]func(*blocked.Question){
			"the pull request": func(q *blocked.Question) { q.Unseen.Pull = failed },
			"its author":       func(q *blocked.Question) { q.Pull.Association = "" },
			"its merge state":  func(q *blocked.Question) { q.Pull.MergeState = "" },
			"its reports":      func(q *blocked.Question) { q.Unseen.Reports = failed },
			"its ProwJobs":     func(q *blocked.Question) { q.Jobs = nil },
			"one ProwJob": func(q *blocked.Question) {
				q.Jobs = blocked.NewJobs("prow", cluster.Reading[cluster.Job]{
					Objects: []cluster.Job{about("a", untold)}, Malformed: []cluster.Malformed{{Name: "odd", Why: failed}},
				})
			},
		} {
			blinded := q
			if blind(&blinded); blocked.Decide(blinded).Do != blocked.Unknown {
				t.Errorf("%s, %s not seen: %+v", what, part, blocked.Decide(blinded))
			}
		}
	}
}

// TestWedges is rule B5.
func TestWedges(t *testing.T) {
	found, lack := blocked.Wedges([]blocked.Question{
		waiting(t, "unit"), waiting(t, "docs", files("main.go")), waiting(t, "unit", with(about("a", running))),
		waiting(t, "slow"), waiting(t, "unit", pull(func(p *github.PullRequest) { p.Draft = true })),
		waiting(t, "unit", said(github.Success)), waiting(t, "unit", with(about("a", untold))),
		waiting(t, "unit", pull(func(p *github.PullRequest) { p.Updated = now.Add(-29 * time.Minute) })),
	})
	if lack.Reason != "" || len(found) != 2 || found[0].Subject.Context != "unit" ||
		!strings.Contains(found[0].Mend, "/test unit") || !strings.Contains(found[1].Mend, "repair-branch-protection") {
		t.Errorf("found %+v, lacking %q", found, lack.Reason)
	}
	if verdict, err := finding.Judge(blocked.WedgeRule, found, lack); err != nil || verdict.Severity != finding.Alert {
		t.Errorf("%+v (%v)", verdict, err)
	}
	found, lack = blocked.Wedges([]blocked.Question{waiting(t, "docs")})
	if verdict, err := finding.Judge(blocked.WedgeRule, found, lack); err != nil || verdict.Severity != finding.Unknown {
		t.Errorf("%+v (%v)", verdict, err)
	}
}

// TestSplit is rule B6.
func TestSplit(t *testing.T) {
	tide := func(state github.State) github.HeadReports {
		return github.HeadReports{SHA: head, Contexts: []github.Context{
			{Name: "tide", State: state, Word: string(state), Description: "In merge pool."},
		}}
	}
	at := func(state github.MergeState) github.PullRequest {
		q := waiting(t, "unit")
		q.Pull.MergeState = state
		return q.Pull
	}
	for rule, row := range map[string]struct {
		pull    github.PullRequest
		reports github.HeadReports
		want    finding.Severity
	}{
		"Tide would merge what GitHub blocks": {at(github.MergeBlocked), tide(github.Success), finding.Alert},
		"GitHub does not block it":            {at(github.MergeClean), tide(github.Success), finding.OK},
		"Tide would not merge it":             {at(github.MergeBlocked), tide(github.Pending), finding.OK},
		"Tide says nothing":                   {at(github.MergeBlocked), github.HeadReports{SHA: head}, finding.OK},
		"GitHub has not said yet":             {at(github.MergeUnknown), tide(github.Success), finding.Unknown},
		"a list does not say":                 {at(""), tide(github.Success), finding.Unknown},
		"the reports are of an earlier head":  {at(github.MergeBlocked), github.HeadReports{SHA: later}, finding.Unknown},
	} {
		t.Run(rule, func(t *testing.T) {
			found, lack := blocked.Split(row.pull, row.reports)
			verdict, err := finding.Judge(blocked.SplitRule, found, lack)
			if err != nil || verdict.Severity != row.want {
				t.Errorf("%+v %+v (%v), want %s", verdict, found, err, row.want)
			}
		})
	}
}
