package githubsim

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// filesLimit is how many changed files are listed
// (https://docs.github.com/rest/pulls/pulls#list-pull-requests-files).
const filesLimit = 3000

// listPulls gives the open ones, the newest first unless asked otherwise
// (https://docs.github.com/rest/pulls/pulls#list-pull-requests).
func listPulls(c *call, _ []string) *reply {
	state, base := c.query.Get("state"), c.query.Get("base")
	var all []object
	for _, number := range sortedKeys(c.repo.Pulls) {
		pull := c.repo.Pulls[number]
		wanted := state == "all" || (state == "closed") == pull.Closed
		if wanted && (base == "" || base == pull.Base) {
			all = append(all, c.viewPull(number, pull))
		}
	}
	ascending := c.query.Get("direction") == "asc" || c.query.Get("sort") != "" && c.query.Get("sort") != "created" &&
		c.query.Get("direction") == ""
	if !ascending {
		slices.Reverse(all)
	}
	return listed(c, all)
}

// findPull finds a pull request by the number in a path.
func (c *call) findPull(text string) (int, *Pull) {
	number, err := strconv.Atoi(text)
	if err != nil {
		return 0, nil
	}
	return number, c.repo.Pulls[number]
}

func getPull(c *call, arguments []string) *reply {
	number, pull := c.findPull(arguments[0])
	if pull == nil {
		return c.notFound()
	}
	view := c.viewPull(number, pull)
	view["merged"], view["mergeable"], view["mergeable_state"] = false, nil, "unknown"
	// GitHub computes it in the background once it was asked for.
	key := fmt.Sprintf("%s#%d %s %s", c.fullName(), number, pull.Head, c.repo.Branch(pull.Base).Head)
	c.sim.mergeSeen[key]++
	if !pull.Closed && c.sim.mergeSeen[key] > c.sim.options.MergeReads {
		view["mergeable"], view["mergeable_state"] = !pull.Conflict, c.mergeState(pull)
	}
	view["changed_files"] = len(pull.Files)
	return ok(view)
}

// viewPull is a pull request as a list shows it: without the merge state.
func (c *call) viewPull(number int, p *Pull) object {
	labels := []object{}
	for _, name := range p.Labels {
		labels = append(labels, object{"id": idOf("label " + name), "name": name, "color": "ededed"})
	}
	state := "open"
	if p.Closed {
		state = "closed"
	}
	repository := c.viewRepository()
	delete(repository, "permissions")
	head, headOwner := repository, c.ownerName
	if p.HeadOwner != "" && p.HeadOwner != c.ownerName {
		headOwner = p.HeadOwner
		head = object{
			"id": idOf(headOwner + c.repoName), "name": c.repoName, "full_name": headOwner + "/" + c.repoName,
			"owner": c.viewUser(headOwner), "private": false, "fork": true,
		}
	}
	self := fmt.Sprintf("%s/repos/%s/pulls/%d", c.base, c.fullName(), number)
	return object{
		"id": idOf(self), "number": number, "url": self, "html_url": fmt.Sprintf("https://github.com/%s/pull/%d",
			c.fullName(), number),
		"state": state, "locked": false, "title": p.Title, "body": nil, "user": c.viewUser(p.Author), "labels": labels,
		"draft": p.Draft, "author_association": p.Association, "created_at": stamp(p.Created),
		"updated_at": stamp(p.Updated), "closed_at": nil, "merged_at": nil, "assignees": []object{},
		"head": object{
			"label": headOwner + ":" + p.HeadRef, "ref": p.HeadRef, "sha": p.Head, "user": c.viewUser(headOwner), "repo": head,
		},
		"base": object{
			"label": c.ownerName + ":" + p.Base, "ref": p.Base, "sha": p.BaseSHA, "user": c.viewUser(c.ownerName),
			"repo": repository,
		},
	}
}

// mergeState is what GitHub says about merging
// (https://docs.github.com/graphql/reference/enums#mergestatestatus).
func (c *call) mergeState(p *Pull) string {
	strict, checks, reviews := c.demands(p.Base)
	red, pending := c.repo.Commit(p.Head).standing()
	missing := slices.ContainsFunc(checks, func(check Check) bool { return !c.repo.Commit(p.Head).satisfies(check) })
	switch {
	case p.Conflict:
		return "dirty"
	case p.Draft:
		return "draft"
	case missing, p.Approvals < reviews:
		return "blocked"
	case strict && p.BaseSHA != c.repo.Branch(p.Base).Head:
		return "behind"
	case red, pending:
		return "unstable"
	}
	return "clean"
}

// demands are what protection and rulesets together ask of a branch.
func (c *call) demands(branch string) (strict bool, checks []Check, reviews int) {
	if p := c.repo.Branch(branch).Protection; p != nil {
		if p.RequiredStatusChecks != nil {
			strict, checks = p.RequiredStatusChecks.Strict, slices.Clone(p.RequiredStatusChecks.Checks)
		}
		if p.RequiredPullRequestReviews != nil {
			reviews = p.RequiredPullRequestReviews.Approvals
		}
	}
	for _, sets := range [][]Ruleset{c.repo.Rulesets, c.owner.Rulesets} {
		for _, set := range sets {
			here := len(set.Repositories) == 0 || slices.Contains(set.Repositories, c.repoName)
			if here && (slices.Contains(set.Branches, "*") || slices.Contains(set.Branches, branch)) {
				strict, checks = strict || set.Strict, append(checks, set.Checks...)
			}
		}
	}
	return strict, checks, reviews
}

// satisfies tells whether a required context is there and green. Of a status and a check run by one name both have
// to be (https://docs.github.com/pull-requests/collaborating-with-pull-requests).
func (c *Commit) satisfies(check Check) bool {
	found := false
	if check.AppID == nil {
		for _, status := range c.newest() {
			if status.Context == check.Context {
				if found = true; status.State != "success" {
					return false
				}
			}
		}
	}
	for _, run := range c.newestRuns() {
		if run.Name == check.Context && (check.AppID == nil || *check.AppID == run.AppID) {
			if found = true; !run.green() {
				return false
			}
		}
	}
	return found
}

func (r CheckRun) green() bool {
	return r.Status == "completed" && slices.Contains([]string{"success", "neutral", "skipped"}, r.Conclusion)
}

// standing tells whether anything reported is red or not decided.
func (c *Commit) standing() (red, pending bool) {
	for _, status := range c.newest() {
		red = red || status.State == "failure" || status.State == "error"
		pending = pending || status.State == "pending"
	}
	for _, run := range c.newestRuns() {
		pending = pending || run.Status != "completed"
		red = red || run.Status == "completed" && !run.green()
	}
	return red, pending
}

func listFiles(c *call, arguments []string) *reply {
	_, pull := c.findPull(arguments[0])
	if pull == nil {
		return c.notFound()
	}
	var all []object
	for _, file := range pull.Files[:min(len(pull.Files), filesLimit)] {
		status := file.Status
		if status == "" {
			status = "modified"
		}
		view := object{
			"sha": SHA(file.Name), "filename": file.Name, "status": status, "additions": 1, "deletions": 0, "changes": 1,
			"patch": "@@ -0,0 +1 @@\n+line",
		}
		if file.Previous != "" {
			view["previous_filename"] = file.Previous
		}
		all = append(all, view)
	}
	return listed(c, all)
}

func listLabels(c *call, arguments []string) *reply {
	number, pull := c.findPull(arguments[0])
	if pull == nil {
		return c.notFound()
	}
	return ok(c.viewPull(number, pull)["labels"])
}

func listComments(c *call, arguments []string) *reply {
	number, pull := c.findPull(arguments[0])
	if pull == nil {
		return c.notFound()
	}
	var all []object
	for _, comment := range pull.Comments {
		all = append(all, c.viewComment(number, comment))
	}
	return listed(c, all)
}

func (c *call) viewComment(number int, comment Comment) object {
	return object{
		"id": comment.ID, "body": comment.Body, "user": c.viewUser(comment.Author), "created_at": stamp(comment.Created),
		"updated_at":         stamp(comment.Updated),
		"author_association": cmp.Or(comment.Association, "MEMBER"),
		"url":                fmt.Sprintf("%s/repos/%s/issues/comments/%d", c.base, c.fullName(), comment.ID),
		"issue_url":          fmt.Sprintf("%s/repos/%s/issues/%d", c.base, c.fullName(), number),
	}
}

// readBody reads the text of a comment, and refuses one that GitHub would.
func (c *call) readBody() (string, *reply) {
	var body struct {
		Body string `json:"body"`
	}
	if refused := c.decode(&body); refused != nil {
		return "", refused
	}
	switch {
	case strings.TrimSpace(body.Body) == "":
		return "", c.invalidField("IssueComment", "body", "body cannot be blank")
	case len(body.Body) > 65536:
		return "", c.invalidField("IssueComment", "body", "body is too long (maximum is 65536 characters)")
	}
	return body.Body, nil
}

func postComment(c *call, arguments []string) *reply {
	number, pull := c.findPull(arguments[0])
	switch {
	case c.token.Login == "":
		return c.fail(http.StatusUnauthorized, "Requires authentication")
	case pull == nil:
		return c.notFound()
	}
	body, refused := c.readBody()
	if refused == nil {
		refused = c.writable()
	}
	if refused != nil {
		return refused
	}
	c.sim.nextID++
	comment := Comment{ID: c.sim.nextID, Author: c.token.Login, Body: body, Created: c.now, Updated: c.now}
	pull.Comments = append(pull.Comments, comment)
	return created(c.viewComment(number, comment))
}

// findComment finds a comment by its ID, of whatever pull request.
func (c *call) findComment(text string) (number int, pull *Pull, at int) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, nil, 0
	}
	for number, pull := range c.repo.Pulls {
		at := slices.IndexFunc(pull.Comments, func(comment Comment) bool { return comment.ID == id })
		if at >= 0 {
			return number, pull, at
		}
	}
	return 0, nil, 0
}

func patchComment(c *call, arguments []string) *reply {
	number, pull, at := c.findComment(arguments[0])
	if pull == nil || !c.may("write") && pull.Comments[at].Author != c.token.Login {
		return c.notFound()
	}
	body, refused := c.readBody()
	if refused != nil {
		return refused
	}
	pull.Comments[at].Body, pull.Comments[at].Updated = body, c.now
	return ok(c.viewComment(number, pull.Comments[at]))
}

func deleteComment(c *call, arguments []string) *reply {
	_, pull, at := c.findComment(arguments[0])
	if pull == nil || !c.may("write") && pull.Comments[at].Author != c.token.Login {
		return c.notFound()
	}
	pull.Comments = slices.Delete(pull.Comments, at, at+1)
	return empty()
}
