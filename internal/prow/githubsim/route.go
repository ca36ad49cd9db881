package githubsim

import "net/http"

// endpoint is one operation of the API. A pattern has {x} for one segment, and {x...} for several: GitHub takes the
// slashes of a branch's name escaped or not.
type endpoint struct {
	method, pattern string
	docs            string
	serve           func(c *call, arguments []string) *reply
}

// endpoints of repositories are below /repos/OWNER/NAME. The first that matches serves.
func repositoryEndpoints() []endpoint {
	const branches = "https://docs.github.com/rest/branches/branch"
	protection := "branches/{branch...}/protection"
	return []endpoint{
		{"GET", "", "https://docs.github.com/rest/repos/repos#get-a-repository", getRepository},
		{"GET", "branches", branches + "es#list-branches", listBranches},
		{"GET", protection, branches + "-protection#get-branch-protection", getProtection},
		{"PUT", protection, branches + "-protection#update-branch-protection", putProtection},
		{"DELETE", protection, branches + "-protection#delete-branch-protection", deleteProtection},
		{"GET", protection + "/required_signatures", branches + "-protection", getSignatures},
		{"POST", protection + "/required_signatures", branches + "-protection", postSignatures},
		{"DELETE", protection + "/required_signatures", branches + "-protection", deleteSignatures},
		{"GET", "branches/{branch...}", branches + "es#get-a-branch", getBranch},
		{"GET", "rules/branches/{branch...}", "https://docs.github.com/rest/repos/rules#get-rules-for-a-branch", getRules},
		{"GET", "commits", "https://docs.github.com/rest/commits/commits#list-commits", listCommits},
		{"GET", "commits/{ref}/status", "https://docs.github.com/rest/commits/statuses", combinedStatus},
		{"GET", "commits/{ref}/statuses", "https://docs.github.com/rest/commits/statuses", listStatuses},
		{"GET", "commits/{ref}/check-runs", "https://docs.github.com/rest/checks/runs", listCheckRuns},
		{"GET", "commits/{ref}", "https://docs.github.com/rest/commits/commits#get-a-commit", getCommit},
		{"GET", "statuses/{ref}", "https://docs.github.com/rest/commits/statuses", listStatuses},
		{"POST", "statuses/{sha}", "https://docs.github.com/rest/commits/statuses#create-a-commit-status", postStatus},
		{"GET", "git/refs/{ref...}", "https://docs.github.com/rest/git/refs", getRef},
		{"GET", "git/ref/{ref...}", "https://docs.github.com/rest/git/refs", getRef},
		{"GET", "pulls", "https://docs.github.com/rest/pulls/pulls#list-pull-requests", listPulls},
		{"GET", "pulls/{number}", "https://docs.github.com/rest/pulls/pulls#get-a-pull-request", getPull},
		{"GET", "pulls/{number}/files", "https://docs.github.com/rest/pulls/pulls", listFiles},
		{"GET", "issues/{number}/comments", "https://docs.github.com/rest/issues/comments", listComments},
		{"POST", "issues/{number}/comments", "https://docs.github.com/rest/issues/comments", postComment},
		{"PATCH", "issues/comments/{id}", "https://docs.github.com/rest/issues/comments", patchComment},
		{"DELETE", "issues/comments/{id}", "https://docs.github.com/rest/issues/comments", deleteComment},
		{"GET", "issues/{number}/labels", "https://docs.github.com/rest/issues/labels", listLabels},
		{"GET", "collaborators", "https://docs.github.com/rest/collaborators/collaborators", listCollaborators},
		{"GET", "collaborators/{login}", "https://docs.github.com/rest/collaborators/collaborators", isCollaborator},
		{"GET", "teams", "https://docs.github.com/rest/repos/repos#list-repository-teams", listRepositoryTeams},
	}
}

// rootEndpoints are the others.
func rootEndpoints() []endpoint {
	return []endpoint{
		{"GET", "rate_limit", "https://docs.github.com/rest/rate-limit/rate-limit", getRateLimit},
		{"GET", "user", "https://docs.github.com/rest/users/users#get-the-authenticated-user", getUser},
		{"GET", "orgs/{owner}/repos", "https://docs.github.com/rest/repos/repos", listRepositories},
		{"GET", "users/{owner}/repos", "https://docs.github.com/rest/repos/repos", listRepositories},
		{"GET", "orgs/{owner}/members/{login}", "https://docs.github.com/rest/orgs/members", isMember},
		{"GET", "orgs/{owner}/installations", "https://docs.github.com/rest/orgs/orgs", listInstallations},
	}
}

// route finds who serves a request.
func (c *call) route() *reply {
	if !c.known {
		return c.fail(http.StatusUnauthorized, "Bad credentials")
	}
	endpoints, segments := rootEndpoints(), c.segments
	if c.segments[0] == "repos" || c.segments[0] == "repositories" {
		if refused := c.find(); refused != nil {
			return refused
		}
		endpoints, segments = repositoryEndpoints(), c.segments[3:]
	}
	for _, e := range endpoints {
		if arguments, matched := match(e.pattern, segments); matched && e.method == c.request.Method {
			c.docs = e.docs
			return e.serve(c, arguments)
		}
	}
	return c.notFound()
}
