package githubsim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// roles are what one may do in a repository, the least first.
func roles() []string { return []string{"", "read", "triage", "write", "maintain", "admin"} }

// role is what a login may do in the call's repository.
func (c *call) role(login string) string {
	role := c.repo.Collaborators[login]
	switch {
	case login != "" && (c.owner.Members[login] == "admin" || c.owner.User && login == c.ownerName):
		return "admin"
	case role == "" && (!c.repo.Private || c.owner.Members[login] != ""):
		return "read"
	}
	return role
}

// may tells whether the token may do what takes a role.
func (c *call) may(role string) bool {
	if c.token.Installation {
		return role != "admin" || c.token.Administration == "write"
	}
	return slices.Index(roles(), c.role(c.token.Login)) >= slices.Index(roles(), role)
}

// adminOnly refuses who may not see or change protection: an app by 403, a user by 404, as if nothing was there.
func (c *call) adminOnly(write bool) *reply {
	needs := "read"
	if write {
		needs = "write"
	}
	switch {
	case c.token.Installation && (c.token.Administration == "write" || c.token.Administration == needs):
	case c.token.Installation:
		answer := c.fail(http.StatusForbidden, "Resource not accessible by integration")
		answer.header.Set("X-Accepted-Github-Permissions", "administration="+needs)
		return answer
	case !c.may("admin"):
		return c.notFound()
	}
	// https://github.com/openshift/release/pull/58320
	if c.owner.Free && c.repo.Private {
		return c.fail(http.StatusForbidden,
			"Upgrade to GitHub Pro or make this repository public to enable this feature.")
	}
	if write {
		return c.writable()
	}
	return nil
}

func (c *call) writable() *reply {
	if c.repo.Archived {
		return c.fail(http.StatusForbidden, "Repository was archived so is read-only.")
	}
	return nil
}

// find resolves the repository of a call, by its name, a former name, or its ID.
func (c *call) find() *reply {
	if c.segments[0] == "repositories" {
		return c.findByID()
	}
	if len(c.segments) < 3 {
		return c.notFound()
	}
	for ownerName, owner := range c.sim.world.Owners {
		if !strings.EqualFold(ownerName, c.segments[1]) {
			continue
		}
		for name, repo := range owner.Repositories {
			if strings.EqualFold(name, c.segments[2]) {
				return c.set(ownerName, name)
			}
			if slices.ContainsFunc(repo.Renamed, func(old string) bool { return strings.EqualFold(old, c.segments[2]) }) {
				c.owner, c.repo, c.ownerName, c.repoName = owner, repo, ownerName, name
				return c.moved()
			}
		}
	}
	return c.notFound()
}

func (c *call) findByID() *reply {
	for ownerName, owner := range c.sim.world.Owners {
		for name, repo := range owner.Repositories {
			if len(c.segments) > 1 && c.segments[1] == strconv.FormatInt(repo.ID, 10) {
				c.segments = append([]string{"repos", ownerName, name}, c.segments[2:]...)
				return c.set(ownerName, name)
			}
		}
	}
	return c.notFound()
}

func (c *call) set(ownerName, name string) *reply {
	owner := c.sim.world.Owners[ownerName]
	c.owner, c.ownerName, c.repo, c.repoName = owner, ownerName, owner.Repositories[name], name
	if slices.Contains(c.token.SSO, ownerName) {
		return c.ssoRequired()
	}
	if !c.may("read") {
		return c.notFound()
	}
	return nil
}

func (c *call) ssoRequired() *reply {
	answer := c.fail(http.StatusForbidden, "Resource protected by organization SAML enforcement. You must grant your "+
		"Personal Access token access to this organization.")
	answer.header.Set("X-Github-Sso", "required; url=https://github.com/orgs/"+c.ownerName+"/sso?authorization_request=AZ")
	return answer
}

// moved points to where a renamed repository is
// (https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects).
func (c *call) moved() *reply {
	if !c.may("read") {
		return c.notFound()
	}
	status := http.StatusTemporaryRedirect
	if c.request.Method == http.MethodGet || c.request.Method == http.MethodHead {
		status = http.StatusMovedPermanently
	}
	to := c.self()
	if c.request.URL.RawQuery != "" {
		to += "?" + c.request.URL.RawQuery
	}
	answer := c.fail(status, "Moved Permanently")
	answer.body.(object)["url"] = to
	answer.header.Set("Location", to)
	return answer
}
