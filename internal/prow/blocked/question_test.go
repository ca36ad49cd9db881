package blocked_test

import (
	"testing"
	"testing/fstest"
	"time"

	"salve/internal/prow/blocked"
	"salve/internal/prow/cluster"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
)

// waiting is a question about a pull request of a member, pushed two hours ago, on which nothing was ever reported.
func waiting(t testing.TB, context string, changes ...func(*blocked.Question)) blocked.Question {
	t.Helper()
	files := fstest.MapFS{"config.yaml": {Data: []byte(jobs)}}
	loaded, err := config.Load(files, config.Files{Config: "config.yaml"}).Config()
	if err != nil {
		t.Fatal(err)
	}
	q := blocked.Question{
		Branch: config.Branch{Org: "kube", Repo: "widgets", Name: "main"}, Context: context, Head: head,
		Pull: github.PullRequest{
			Repo: github.Repo{Owner: "kube", Name: "widgets"}, Number: 7, Open: true, Association: "MEMBER", Base: "main",
			HeadSHA: head, Updated: now.Add(-2 * time.Hour), MergeState: github.MergeBlocked,
		},
		Reports: github.HeadReports{SHA: head}, Presubmits: loaded.Presubmits["kube/widgets"],
		Jobs: prowJobs(), Now: now,
	}
	for _, change := range changes {
		change(&q)
	}
	return q
}

// prowJobs are all that there are; one of another pull request is always among them.
func prowJobs(jobs ...cluster.Job) *blocked.Jobs {
	return blocked.NewJobs("prow", cluster.Reading[cluster.Job]{
		Objects: append(jobs, about("somebody-else", func(job *cluster.Job) { job.Pulls[0].Number = 8 })),
	})
}

// about is a ProwJob that ran unit on the head, ended with success an hour ago, and of which GitHub was told.
func about(name string, changes ...func(*cluster.Job)) cluster.Job {
	job := cluster.Job{
		Namespace: "prow", Name: name, Type: cluster.Presubmit, Job: "unit", Context: "unit", Report: true,
		Org: "kube", Repo: "widgets", Base: "main", Pulls: []cluster.Pull{{Number: 7, SHA: head}},
		Created: now.Add(-90 * time.Minute), Completed: now.Add(-time.Hour), State: cluster.Success,
		Reported: cluster.Success,
	}
	for _, change := range changes {
		change(&job)
	}
	return job
}

func running(job *cluster.Job)   { job.State, job.Completed = cluster.Pending, time.Time{} }
func untold(job *cluster.Job)    { job.Reported = cluster.Pending }
func unheard(job *cluster.Job)   { job.Reported = "" }
func justNow(job *cluster.Job)   { job.Completed = now.Add(-time.Minute) }
func again(job *cluster.Job)     { job.AskedAgain = "run-1" }
func silent(job *cluster.Job)    { job.Report = false }
func older(job *cluster.Job)     { job.Created = now.Add(-3 * time.Hour) }
func batch(job *cluster.Job)     { job.Type = cluster.Batch }
func elsewhere(job *cluster.Job) { job.Namespace = "others" }

func with(jobs ...cluster.Job) func(*blocked.Question) {
	return func(q *blocked.Question) { q.Jobs = prowJobs(jobs...) }
}

func pull(change func(*github.PullRequest)) func(*blocked.Question) {
	return func(q *blocked.Question) { change(&q.Pull) }
}

func said(state github.State) func(*blocked.Question) {
	return func(q *blocked.Question) {
		q.Reports.Contexts = append(q.Reports.Contexts, github.Context{
			Name: q.Context, State: state, Word: string(state), Updated: now.Add(-time.Hour),
		})
	}
}

func files(names ...string) func(*blocked.Question) {
	return func(q *blocked.Question) {
		q.Files = &github.Files{}
		for _, name := range names {
			q.Files.Files = append(q.Files.Files, github.File{Name: name})
		}
	}
}
