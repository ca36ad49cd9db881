package blocked_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"salve/internal/prow/blocked"
	"salve/internal/prow/cluster"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
)

// TestWhereDecisionsTurn: the moments and facts at which one becomes another.
func TestWhereDecisionsTurn(t *testing.T) {
	updated := func(ago time.Duration) func(*blocked.Question) {
		return pull(func(p *github.PullRequest) { p.Updated = now.Add(-ago) })
	}
	completed := func(ago time.Duration) func(*cluster.Job) {
		return func(job *cluster.Job) { job.Completed = now.Add(-ago) }
	}
	failed := errors.New("404, or no rights")
	for rule, row := range map[string]struct {
		q    blocked.Question
		do   blocked.Do
		says string
	}{
		"a push of half an hour ago still settles": {waiting(t, "unit", updated(30*time.Minute)), blocked.Wait,
			"on their way"},
		"and then it does not": {waiting(t, "unit", updated(30*time.Minute+1)), blocked.Trigger, "unit"},
		"crier has less than ten minutes": {waiting(t, "unit", with(about("a", untold,
			completed(10*time.Minute-1)))), blocked.Wait, "just ended"},
		"and no more": {waiting(t, "unit", with(about("a", untold, completed(10*time.Minute)))),
			blocked.Report, "told"},
		"what was read of reports before they failed says nothing": {waiting(t, "unit", said(github.Success),
			func(q *blocked.Question) { q.Unseen.Reports = failed }), blocked.Unknown, "not seen"},
		"a draft, as GitHub's merge state says": {waiting(t, "unit",
			pull(func(p *github.PullRequest) { p.MergeState = github.MergeDraft })), blocked.Leave, "draft"},
		"the owner is trusted": {waiting(t, "unit",
			pull(func(p *github.PullRequest) { p.Association = "OWNER" })), blocked.Trigger, "unit"},
		"a job of another branch that the comment names is not started": {waiting(t, "sole"), blocked.Trigger, "sole"},
		"a job that its own command does not start": {waiting(t, "unit", func(q *blocked.Question) {
			job := *q.Presubmits[0]
			job.RerunCommand = "/test nobody"
			q.Presubmits = []*config.Job{&job}
		}), blocked.Unknown, "not started by its own command"},
		"a repository is the same however it is written": {waiting(t, "unit",
			with(about("a", running, func(job *cluster.Job) { job.Org, job.Repo = "Kube", "Widgets" }))), blocked.Wait,
			"ProwJob a"},
		"a job of two pull requests is none of one": {waiting(t, "unit", with(about("a", running, func(job *cluster.Job) {
			job.Pulls = append(job.Pulls, cluster.Pull{Number: 8, SHA: later})
		}))), blocked.Trigger, "unit"},
		"the first job for a head says since when it is there": {waiting(t, "unit", updated(0), with(
			about("b", func(job *cluster.Job) { job.Context, job.Created = "docs", now.Add(-20*time.Minute) }),
			about("a", func(job *cluster.Job) { job.Context = "docs" }))), blocked.Trigger, "unit"},
		"and the last one does not": {waiting(t, "unit", updated(0), with(
			about("a", func(job *cluster.Job) { job.Context, job.Created = "docs", now.Add(-20*time.Minute) }))), blocked.Wait,
			"on their way"},
	} {
		if got := blocked.Decide(row.q); got.Do != row.do || !strings.Contains(got.Reason, row.says) {
			t.Errorf("%s: %s: %s; want %s about %q", rule, got.Do, got.Reason, row.do, row.says)
		}
	}
}

// TestWhoHasToBeCorrected: the branch alone, or the configuration first.
func TestWhoHasToBeCorrected(t *testing.T) {
	for configured, says := range map[bool]string{
		true: "has to be corrected first", false: "the configuration does not require it",
	} {
		got := blocked.Decide(waiting(t, "ghost", func(q *blocked.Question) { q.Configured = configured }))
		if got.Do != blocked.Mend || !strings.Contains(strings.Join(got.Evidence, "; "), says) {
			t.Errorf("configured %t: %+v", configured, got)
		}
	}
}

// TestAHeadThatIsNotThePullRequestsIsNotThereSinceItsLastChange.
func TestAHeadThatIsNotThePullRequestsIsNotThereSinceItsLastChange(t *testing.T) {
	q := waiting(t, "unit", pull(func(p *github.PullRequest) { p.HeadSHA = later }))
	if there := q.There(); !there.IsZero() {
		t.Errorf("there since %s", there)
	}
}
