package check

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"salve/internal/prow/config"
	"salve/internal/prow/finding"
)

// PullRequest is an open one with what was reported at its head.
type PullRequest struct {
	config.Branch
	Number   int
	Draft    bool
	Contexts []string
}

// pullRequestInFile is as gh prints it:
// gh pr list --json number,url,baseRefName,isDraft,statusCheckRollup
// (https://cli.github.com/manual/gh_pr_list).
type pullRequestInFile struct {
	Number   int    `json:"number"`
	URL      string `json:"url"`
	Base     string `json:"baseRefName"`
	Draft    bool   `json:"isDraft"`
	Statuses *[]struct {
		Context string `json:"context"`
		Name    string `json:"name"`
	} `json:"statusCheckRollup"`
}

// maximumPullRequests bounds the file in bytes.
const maximumPullRequests = 256 << 20

// ParsePullRequests reads open pull requests as gh pr list prints them.
func ParsePullRequests(content []byte) ([]PullRequest, error) {
	if len(content) > maximumPullRequests {
		return nil, fmt.Errorf("more than %d bytes", maximumPullRequests)
	}
	var written []pullRequestInFile
	if err := json.Unmarshal(content, &written); err != nil {
		return nil, fmt.Errorf("not as gh pr list --json prints it: %w", err)
	}
	read := []PullRequest{}
	for i, w := range written {
		org, repo, err := repositoryOf(w.URL)
		if err == nil && (w.Number <= 0 || w.Base == "" || w.Statuses == nil) {
			err = fmt.Errorf("requires number, baseRefName and statusCheckRollup")
		}
		if err != nil {
			return nil, fmt.Errorf("pull request %d of the file: %w", i+1, err)
		}
		pr := PullRequest{Branch: config.Branch{Org: org, Repo: repo, Name: w.Base}, Number: w.Number, Draft: w.Draft}
		for _, status := range *w.Statuses {
			if name := status.Context + status.Name; name != "" { // one of them, by the kind
				pr.Contexts = append(pr.Contexts, name)
			}
		}
		read = append(read, pr)
	}
	return read, nil
}

// repositoryOf reads https://HOST/ORG/REPO/pull/NUMBER.
func repositoryOf(address string) (org, repo string, err error) {
	read, err := url.Parse(address)
	if err != nil {
		return "", "", fmt.Errorf("url: %w", err)
	}
	parts := strings.Split(strings.Trim(read.Path, "/"), "/")
	if len(parts) != 4 || parts[2] != "pull" {
		return "", "", fmt.Errorf("url %q is not https://HOST/ORG/REPO/pull/NUMBER", address)
	}
	return parts[0], parts[1], nil
}

// stuck are open pull requests that a change keeps from being merged: a context becomes
// required that their head does not have, and nothing will start it there. Jobs that are
// new are started by status-reconciler, and those aren't counted.
func stuck(f *facts) (finding.List, finding.Lack) {
	open, lack := f.PullRequests, nothing()
	if open == nil {
		unread := &gaps{}
		unread.addAll(f.GitHub.PullsUnread)
		open, lack = f.GitHub.Pulls, unread.lack()
	}
	return f.stuck(open), lack
}

func (f *facts) stuck(open []PullRequest) finding.List {
	var found finding.List
	at := map[string]int{}
	for _, pr := range open {
		if pr.Draft {
			continue
		}
		lacking := without(f.awaited(pr.Branch), pr.Contexts)
		if len(lacking) == 0 {
			continue
		}
		now, _ := f.now.required(pr.Branch)
		line := fmt.Sprintf("#%d into %s lacks %s", pr.Number, pr.Name, strings.Join(lacking, ", "))
		i, again := at[pr.Repository()]
		if !again {
			i = len(found)
			at[pr.Repository()] = i
			found = append(found, finding.Finding{Severity: finding.Warn, Subject: finding.Subject{Org: pr.Org, Repo: pr.Repo},
				Position: f.placeOf(requirement{branch: branch{Branch: pr.Branch}, added: lacking, now: now}),
				Mend:     "start the jobs by comment on these pull requests after the merge, or require the contexts later"})
		}
		found[i].Evidence = append(found[i].Evidence, line)
	}
	for i := range found {
		found[i].Message = count(len(found[i].Evidence), "open pull request", "open pull requests") +
			" would wait for a status that nothing starts"
		found[i].Evidence = few(found[i].Evidence)
	}
	return found
}

// awaited are the contexts that a change makes required on a branch and that nothing
// starts on pull requests which are open.
func (f *facts) awaited(b config.Branch) []string {
	before, _ := f.base.required(b)
	now, _ := f.now.required(b)
	return slices.DeleteFunc(without(now.Values(), before.Values()), func(context string) bool {
		return f.external(context) || f.startedAnew(b, context)
	})
}

// Awaited are the branches whose open pull requests a change may leave waiting: GitHub's
// branches have to be among the facts.
func Awaited(given Facts) []config.Branch {
	f := derive(given)
	if f.now == nil || baseConfig(f) != nothing() || liveGitHub(f) != nothing() {
		return nil
	}
	return slices.DeleteFunc(f.liveBranches(), func(b config.Branch) bool { return len(f.awaited(b)) == 0 })
}

// startedAnew is whether status-reconciler starts the job of a context on open pull
// requests: the job is new, or its report was silent before. In a repository that is new
// to Prow it starts nothing.
func (f *facts) startedAnew(b config.Branch, context string) bool {
	if len(f.base.Presubmits[b.Repository()]) == 0 {
		return false
	}
	now, is := f.now.supplyOf(b, context)
	before, was := f.base.supplyOf(b, context)
	return now == supplyAlways && (was == nil || before == supplySilent || was.Name != is.Name)
}
