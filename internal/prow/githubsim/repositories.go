package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func getRateLimit(c *call, _ []string) *reply {
	w := c.window()
	core := object{"limit": w.limit, "used": w.used, "remaining": max(w.limit-w.used, 0), "reset": w.reset.Unix(),
		"resource": "core"}
	graphql := object{"limit": 5000, "used": 0, "remaining": 5000, "reset": w.reset.Unix(), "resource": "graphql"}
	return ok(object{"resources": object{"core": core, "graphql": graphql}, "rate": core})
}

func getUser(c *call, _ []string) *reply {
	switch {
	case c.token.Login == "":
		return c.fail(http.StatusUnauthorized, "Requires authentication")
	case c.token.Installation:
		return c.fail(http.StatusForbidden, "Resource not accessible by integration")
	}
	user := c.viewUser(c.token.Login)
	user["name"], user["email"] = c.token.Login, nil
	return ok(user)
}

// findOwner finds the owner of a path by its name.
func (c *call) findOwner(name string) bool {
	for ownerName, owner := range c.sim.world.Owners {
		if strings.EqualFold(ownerName, name) {
			c.ownerName, c.owner = ownerName, owner
			return true
		}
	}
	return false
}

func listRepositories(c *call, arguments []string) *reply {
	if !c.findOwner(arguments[0]) || c.segments[0] == "orgs" && c.owner.User {
		return c.notFound()
	}
	if slices.Contains(c.token.SSO, c.ownerName) {
		return c.ssoRequired()
	}
	var all []object
	for _, name := range sortedKeys(c.owner.Repositories) {
		c.repo, c.repoName = c.owner.Repositories[name], name
		if c.may("read") {
			all = append(all, c.viewRepository())
		}
	}
	c.repo = nil
	return listed(c, all)
}

func isMember(c *call, arguments []string) *reply {
	if !c.findOwner(arguments[0]) || c.owner.Members[arguments[1]] == "" {
		return c.notFound()
	}
	return empty()
}

func listInstallations(c *call, arguments []string) *reply {
	if !c.findOwner(arguments[0]) || c.owner.Members[c.token.Login] != "admin" {
		return c.notFound()
	}
	all := []object{}
	for _, slug := range sortedKeys(c.owner.Apps) {
		all = append(all, object{
			"id": c.owner.Apps[slug], "app_id": c.owner.Apps[slug], "app_slug": slug,
			"permissions": object{"contents": "write"},
		})
	}
	return ok(object{"total_count": len(all), "installations": all})
}

func getRepository(c *call, _ []string) *reply { return ok(c.viewRepository()) }

func (c *call) viewRepository() object {
	owner := c.viewUser(c.ownerName)
	if !c.owner.User {
		owner["type"] = "Organization"
	}
	visibility := "public"
	if c.repo.Private {
		visibility = "private"
	}
	view := object{
		"id": c.repo.ID, "name": c.repoName, "full_name": c.fullName(), "owner": owner, "private": c.repo.Private,
		"fork": c.repo.Fork, "archived": c.repo.Archived, "disabled": false, "visibility": visibility,
		"default_branch": c.repo.DefaultBranch, "url": c.base + "/repos/" + c.fullName(),
		"html_url": "https://github.com/" + c.fullName(), "allow_squash_merge": true, "allow_merge_commit": true,
		"allow_rebase_merge": true,
	}
	if c.token.Login != "" {
		view["permissions"] = object{
			"admin": !c.token.Installation && c.may("admin"), "maintain": c.may("maintain"), "push": c.may("write"),
			"triage": c.may("triage"), "pull": c.may("read"),
		}
	}
	return view
}

func listBranches(c *call, _ []string) *reply {
	var all []object
	for _, name := range sortedKeys(c.repo.Branches) {
		view := c.viewBranch(name, c.repo.Branches[name])
		if wanted := c.query.Get("protected"); wanted == "" || wanted == fmt.Sprint(view["protected"]) {
			all = append(all, view)
		}
	}
	return listed(c, all)
}

func getBranch(c *call, arguments []string) *reply {
	branch := c.repo.Branches[arguments[0]]
	if branch == nil {
		return c.fail(http.StatusNotFound, "Branch not found")
	}
	return ok(c.viewBranch(arguments[0], branch))
}

// protected gives the branch of a request about its protection.
func (c *call) protected(name string, write bool) (*Branch, *reply) {
	if refused := c.adminOnly(write); refused != nil {
		return nil, refused
	}
	branch := c.repo.Branches[name]
	if branch == nil {
		return nil, c.fail(http.StatusNotFound, "Branch not found")
	}
	return branch, nil
}

func getProtection(c *call, arguments []string) *reply {
	branch, refused := c.protected(arguments[0], false)
	switch {
	case refused != nil:
		return refused
	case branch.Protection == nil:
		return c.fail(http.StatusNotFound, "Branch not protected")
	}
	return ok(c.viewProtection(arguments[0], branch.Protection))
}

// putProtection replaces the whole: what the body leaves out is gone, but for signatures, which are set apart.
func putProtection(c *call, arguments []string) *reply {
	branch, refused := c.protected(arguments[0], true)
	if refused != nil {
		return refused
	}
	written, refused := c.parseProtection()
	if refused != nil {
		return refused
	}
	if branch.Protection != nil {
		written.RequiredSignatures = branch.Protection.RequiredSignatures
	}
	branch.Protection = written
	return ok(c.viewProtection(arguments[0], written))
}

func deleteProtection(c *call, arguments []string) *reply {
	branch, refused := c.protected(arguments[0], true)
	switch {
	case refused != nil:
		return refused
	case branch.Protection == nil:
		return c.fail(http.StatusNotFound, "Branch not protected")
	}
	branch.Protection = nil
	return empty()
}

func getSignatures(c *call, arguments []string) *reply  { return c.signatures(arguments[0], nil) }
func postSignatures(c *call, arguments []string) *reply { return c.signatures(arguments[0], new(true)) }

func deleteSignatures(c *call, arguments []string) *reply {
	if answer := c.signatures(arguments[0], new(false)); answer.status != http.StatusOK {
		return answer
	}
	return empty()
}

// signatures reads or sets the sub-resource of signed commits.
func (c *call) signatures(name string, set *bool) *reply {
	branch, refused := c.protected(name, set != nil)
	switch {
	case refused != nil:
		return refused
	case branch.Protection == nil:
		return c.fail(http.StatusNotFound, "Branch not protected")
	}
	if set != nil {
		branch.Protection.RequiredSignatures = *set
	}
	return ok(c.viewProtection(name, branch.Protection)["required_signatures"])
}

// rulesFor are the rulesets in force for a branch: those of the repository and of its owner.
func (c *call) rulesFor(branch string) (rules []object) {
	add := func(source, kind string, sets []Ruleset) {
		for _, set := range sets {
			here := len(set.Repositories) == 0 || slices.Contains(set.Repositories, c.repoName)
			if !here || !slices.Contains(set.Branches, "*") && !slices.Contains(set.Branches, branch) {
				continue
			}
			checks := []object{}
			for _, check := range set.Checks {
				view := object{"context": check.Context}
				if check.AppID != nil {
					view["integration_id"] = *check.AppID
				}
				checks = append(checks, view)
			}
			rules = append(rules, object{
				"type": "required_status_checks", "ruleset_source_type": kind, "ruleset_source": source,
				"ruleset_id": set.ID, "parameters": object{
					"required_status_checks":               checks,
					"strict_required_status_checks_policy": set.Strict, "do_not_enforce_on_create": false,
				},
			})
		}
	}
	add(c.fullName(), "Repository", c.repo.Rulesets)
	add(c.ownerName, "Organization", c.owner.Rulesets)
	return rules
}

func getRules(c *call, arguments []string) *reply { return listed(c, c.rulesFor(arguments[0])) }

func listCollaborators(c *call, _ []string) *reply {
	if !c.may("write") {
		return c.fail(http.StatusForbidden, "Must have push access to view repository collaborators.")
	}
	logins := sortedKeys(c.repo.Collaborators)
	for _, member := range sortedKeys(c.owner.Members) {
		if c.owner.Members[member] == "admin" && !slices.Contains(logins, member) {
			logins = append(logins, member)
		}
	}
	var all []object
	for _, login := range logins {
		rank := slices.Index(roles(), c.role(login))
		user := c.viewUser(login)
		user["permissions"] = object{
			"pull": rank >= 1, "triage": rank >= 2, "push": rank >= 3, "maintain": rank >= 4, "admin": rank >= 5,
		}
		user["role_name"] = c.role(login)
		all = append(all, user)
	}
	return listed(c, all)
}

func isCollaborator(c *call, arguments []string) *reply {
	if !c.may("write") {
		return c.fail(http.StatusForbidden, "Must have push access to view repository collaborators.")
	}
	login := arguments[0]
	if c.repo.Collaborators[login] == "" && c.owner.Members[login] != "admin" {
		return c.notFound()
	}
	return empty()
}

func listRepositoryTeams(c *call, _ []string) *reply {
	words := map[string]string{"read": "pull", "write": "push"}
	var all []object
	for _, slug := range sortedKeys(c.repo.Teams) {
		permission := c.repo.Teams[slug]
		if word, ok := words[permission]; ok {
			permission = word
		}
		all = append(all, c.viewTeam(slug, permission))
	}
	return listed(c, all)
}
