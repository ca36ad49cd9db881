package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// statusLimit is how many statuses a commit takes for one context
	// (https://docs.github.com/rest/commits/statuses#create-a-commit-status).
	statusLimit = 1000
	// descriptionLimit is in characters.
	descriptionLimit = 140
)

// resolve gives the commit that a reference means: a SHA, a branch, or heads/BRANCH.
func (c *call) resolve(ref string) (string, *Commit) {
	if commit := c.repo.Commits[ref]; commit != nil {
		return ref, commit
	}
	if branch := c.repo.Branches[strings.TrimPrefix(ref, "heads/")]; branch != nil {
		return branch.Head, c.repo.Commit(branch.Head)
	}
	return "", nil
}

func (c *call) noCommit(ref string) *reply {
	return c.fail(http.StatusUnprocessableEntity, "No commit found for SHA: "+ref)
}

func listCommits(c *call, _ []string) *reply {
	ref := c.query.Get("sha")
	if ref == "" {
		ref = c.repo.DefaultBranch
	}
	sha, commit := c.resolve(ref)
	if commit == nil {
		return c.notFound()
	}
	var all []object
	for ; commit != nil && len(all) < 10_000; sha, commit = commit.Parent, c.repo.Commits[commit.Parent] {
		all = append(all, c.viewCommit(sha, commit))
	}
	return listed(c, all)
}

func getCommit(c *call, arguments []string) *reply {
	sha, commit := c.resolve(arguments[0])
	if commit == nil {
		return c.noCommit(arguments[0])
	}
	return ok(c.viewCommit(sha, commit))
}

func (c *call) viewCommit(sha string, commit *Commit) object {
	parents := []object{}
	if commit.Parent != "" {
		parents = append(parents, object{"sha": commit.Parent})
	}
	who := object{"name": "octocat", "email": "octocat@github.com", "date": stamp(commit.Date)}
	return object{
		"sha": sha, "url": c.base + "/repos/" + c.fullName() + "/commits/" + sha, "parents": parents,
		"commit": object{"message": commit.Message, "author": who, "committer": who},
		"author": c.viewUser("octocat"), "committer": c.viewUser("octocat"),
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// getRef gives a reference.
func getRef(c *call, arguments []string) *reply {
	name, isBranch := strings.CutPrefix(arguments[0], "heads/")
	branch := c.repo.Branches[name]
	if !isBranch || branch == nil {
		return c.notFound()
	}
	return ok(object{
		"ref": "refs/heads/" + name, "url": c.base + "/repos/" + c.fullName() + "/git/refs/heads/" + name,
		"object": object{"type": "commit", "sha": branch.Head},
	})
}

// newest gives the newest status of each context, the newest first.
func (c *Commit) newest() []Status {
	var found []Status
	for _, status := range slices.Backward(c.Statuses) {
		if !slices.ContainsFunc(found, func(known Status) bool { return known.Context == status.Context }) {
			found = append(found, status)
		}
	}
	return found
}

// combined is the state of all statuses together
// (https://docs.github.com/rest/commits/statuses#get-the-combined-status-for-a-specific-reference).
func combined(newest []Status) string {
	states := map[string]bool{}
	for _, status := range newest {
		states[status.State] = true
	}
	switch {
	case states["failure"] || states["error"]:
		return "failure"
	case states["pending"] || len(newest) == 0:
		return "pending"
	}
	return "success"
}

func combinedStatus(c *call, arguments []string) *reply {
	sha, commit := c.resolve(arguments[0])
	if commit == nil {
		return c.notFound()
	}
	newest := commit.newest()
	part, header := page(c, newest)
	views := []object{}
	for _, status := range part {
		views = append(views, c.viewStatus(sha, status))
	}
	repository := c.viewRepository()
	delete(repository, "permissions")
	return &reply{status: http.StatusOK, header: header, body: object{
		"state": combined(newest), "sha": sha, "total_count": len(newest), "statuses": views, "repository": repository,
		"commit_url": c.base + "/repos/" + c.fullName() + "/commits/" + sha,
		"url":        c.base + "/repos/" + c.fullName() + "/commits/" + sha + "/status",
	}}
}

func listStatuses(c *call, arguments []string) *reply {
	sha, commit := c.resolve(arguments[0])
	if commit == nil {
		return c.notFound()
	}
	var all []object
	for _, status := range slices.Backward(commit.Statuses) {
		view := c.viewStatus(sha, status)
		view["creator"] = c.viewUser(status.Creator)
		all = append(all, view)
	}
	return listed(c, all)
}

// viewStatus leaves the creator out, as the combined status does.
func (c *call) viewStatus(sha string, s Status) object {
	return object{
		"id": s.ID, "url": c.base + "/repos/" + c.fullName() + "/statuses/" + sha, "state": s.State, "context": s.Context,
		"description": s.Description, "target_url": s.TargetURL, "created_at": stamp(s.Created),
		"updated_at": stamp(s.Created),
	}
}

func postStatus(c *call, arguments []string) *reply {
	if !c.may("write") {
		return c.notFound()
	}
	if refused := c.writable(); refused != nil {
		return refused
	}
	commit := c.repo.Commits[arguments[0]]
	if commit == nil {
		return c.noCommit(arguments[0])
	}
	var body struct {
		State       string `json:"state"`
		TargetURL   string `json:"target_url"`
		Description string `json:"description"`
		Context     string `json:"context"`
	}
	if refused := c.decode(&body); refused != nil {
		return refused
	}
	if body.Context == "" {
		body.Context = "default"
	}
	count := 0
	for _, status := range commit.Statuses {
		if status.Context == body.Context {
			count++
		}
	}
	switch {
	case !slices.Contains([]string{"error", "failure", "pending", "success"}, body.State):
		return c.invalidField("Status", "state", "state is not included in the list")
	case utf8.RuneCountInString(body.Description) > descriptionLimit:
		return c.invalidField("Status", "description", "description is too long (maximum is 140 characters)")
	case count >= statusLimit:
		return c.invalidField("Status", "", "This SHA and context has reached the maximum number of statuses.")
	}
	c.sim.nextID++
	status := Status{
		ID: c.sim.nextID, Context: body.Context, State: body.State, Description: body.Description,
		TargetURL: body.TargetURL, Creator: c.token.Login, Created: c.now,
	}
	commit.Statuses = append(commit.Statuses, status)
	view := c.viewStatus(arguments[0], status)
	view["creator"] = c.viewUser(status.Creator)
	return created(view)
}

// listCheckRuns gives the newest of each name and app, unless filter is all
// (https://docs.github.com/rest/checks/runs#list-check-runs-for-a-git-reference).
func listCheckRuns(c *call, arguments []string) *reply {
	sha, commit := c.resolve(arguments[0])
	if commit == nil {
		return c.noCommit(arguments[0])
	}
	runs := commit.CheckRuns
	if c.query.Get("filter") != "all" {
		runs = commit.newestRuns()
	}
	part, header := page(c, runs)
	views := []object{}
	for _, run := range part {
		views = append(views, c.viewCheckRun(sha, run))
	}
	return &reply{status: http.StatusOK, header: header, body: object{"total_count": len(runs), "check_runs": views}}
}

func (c *Commit) newestRuns() []CheckRun {
	var found []CheckRun
	for _, run := range slices.Backward(c.CheckRuns) {
		if !slices.ContainsFunc(found, func(k CheckRun) bool { return k.Name == run.Name && k.AppID == run.AppID }) {
			found = append(found, run)
		}
	}
	return found
}

func (c *call) viewCheckRun(sha string, run CheckRun) object {
	view := object{
		"id": run.ID, "name": run.Name, "head_sha": sha, "status": run.Status, "conclusion": nil, "completed_at": nil,
		"started_at": stamp(run.Started), "app": object{"id": run.AppID, "slug": run.App, "name": run.App},
		"url":    fmt.Sprintf("%s/repos/%s/check-runs/%d", c.base, c.fullName(), run.ID),
		"output": object{"title": nil, "summary": nil, "annotations_count": 0},
	}
	if run.Status == "completed" {
		view["conclusion"], view["completed_at"] = run.Conclusion, stamp(run.Started)
	}
	return view
}
