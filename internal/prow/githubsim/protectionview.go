package githubsim

import (
	"fmt"
	"maps"
	"net/url"
)

// object is a JSON object.
type object = map[string]any

// branchURL is the address of a branch as it stands in answers: its slashes are not escaped.
func (c *call) branchURL(branch string) string {
	escaped := (&url.URL{Path: branch}).EscapedPath()
	return fmt.Sprintf("%s/repos/%s/branches/%s", c.base, c.fullName(), escaped)
}

// viewProtection is a protection as GitHub shows it: other than it was written.
func (c *call) viewProtection(branch string, p *Protection) object {
	self := c.branchURL(branch) + "/protection"
	flag := func(on bool) object { return object{"enabled": on} }
	view := object{
		"url":                              self,
		"required_signatures":              object{"url": self + "/required_signatures", "enabled": p.RequiredSignatures},
		"enforce_admins":                   object{"url": self + "/enforce_admins", "enabled": p.EnforceAdmins},
		"required_linear_history":          flag(p.RequiredLinearHistory),
		"allow_force_pushes":               flag(p.AllowForcePushes),
		"allow_deletions":                  flag(p.AllowDeletions),
		"block_creations":                  flag(p.BlockCreations),
		"required_conversation_resolution": flag(p.RequiredConversationResolution),
		"lock_branch":                      flag(p.LockBranch),
		"allow_fork_syncing":               flag(p.AllowForkSyncing),
	}
	if s := p.RequiredStatusChecks; s != nil {
		contexts, checks := []string{}, []object{}
		for _, check := range s.Checks {
			contexts = append(contexts, check.Context)
			checks = append(checks, object{"context": check.Context, "app_id": check.AppID})
		}
		at := self + "/required_status_checks"
		view["required_status_checks"] = object{
			"url": at, "contexts_url": at + "/contexts", "strict": s.Strict, "contexts": contexts, "checks": checks,
		}
	}
	if r := p.RequiredPullRequestReviews; r != nil {
		reviews := object{
			"url": self + "/required_pull_request_reviews", "dismiss_stale_reviews": r.DismissStale,
			"require_code_owner_reviews": r.RequireCodeOwners, "require_last_push_approval": r.RequireLastPushApproval,
			"required_approving_review_count": r.Approvals,
		}
		if r.Dismissal != nil {
			at := self + "/dismissal_restrictions"
			reviews["dismissal_restrictions"] = c.viewActors(r.Dismissal, object{
				"url": at, "users_url": at + "/users", "teams_url": at + "/teams",
			})
		}
		if r.Bypass != nil {
			reviews["bypass_pull_request_allowances"] = c.viewActors(r.Bypass, object{})
		}
		view["required_pull_request_reviews"] = reviews
	}
	if p.Restrictions != nil {
		at := self + "/restrictions"
		view["restrictions"] = c.viewActors(p.Restrictions, object{
			"url": at, "users_url": at + "/users", "teams_url": at + "/teams", "apps_url": at + "/apps",
		})
	}
	maps.Copy(view, p.Extra)
	return view
}

// viewActors shows whole users, teams and apps.
func (c *call) viewActors(a *Actors, view object) object {
	users, teams, apps := []object{}, []object{}, []object{}
	for _, login := range a.Users {
		users = append(users, c.viewUser(login))
	}
	for _, slug := range a.Teams {
		teams = append(teams, c.viewTeam(slug, "push"))
	}
	for _, slug := range a.Apps {
		apps = append(apps, object{"id": c.owner.Apps[slug], "slug": slug, "name": slug})
	}
	view["users"], view["teams"], view["apps"] = users, teams, apps
	return view
}

// viewBranch is a branch of a list, or whole.
func (c *call) viewBranch(name string, branch *Branch) object {
	commit := fmt.Sprintf("%s/repos/%s/commits/%s", c.base, c.fullName(), branch.Head)
	view := object{
		"name":      name,
		"commit":    object{"sha": branch.Head, "url": commit},
		"protected": branch.Protection != nil || len(c.rulesFor(name)) > 0,
	}
	protection := object{"enabled": branch.Protection != nil, "required_status_checks": object{
		"enforcement_level": "off", "contexts": []string{}, "checks": []object{},
	}}
	if p := branch.Protection; p != nil && p.RequiredStatusChecks != nil {
		full := c.viewProtection(name, p)["required_status_checks"].(object)
		level := "non_admins"
		if p.EnforceAdmins {
			level = "everyone"
		}
		protection["required_status_checks"] = object{
			"enforcement_level": level, "contexts": full["contexts"], "checks": full["checks"],
		}
	}
	view["protection"], view["protection_url"] = protection, c.branchURL(name)+"/protection"
	return view
}
