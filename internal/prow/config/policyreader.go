package config

import (
	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// BranchProtection is the section branch-protection.
type BranchProtection struct {
	Policy
	Position diagnostic.Position
	// ProtectTested: protect each repository that has a job whose context is required.
	ProtectTested Bool
	// AllowDisabledPolicies: let a branch have settings beside protect: false.
	AllowDisabledPolicies Bool
	// AllowDisabledJobPolicies: let a branch have protect: false although Prow has
	// required jobs for it.
	AllowDisabledJobPolicies Bool
	// ProtectReposWithOptionalJobs: manage contexts even where no job is required.
	ProtectReposWithOptionalJobs Bool
	Orgs                         map[string]OrgPolicy
}

// OrgPolicy is what one org adds.
type OrgPolicy struct {
	Policy
	Position diagnostic.Position
	Repos    map[string]RepoPolicy
}

// RepoPolicy is what one repository adds.
type RepoPolicy struct {
	Policy
	Position diagnostic.Position
	Branches map[string]BranchPolicy
}

// BranchPolicy is what one branch adds.
type BranchPolicy struct {
	Policy
	Position diagnostic.Position
}

func (r *reader) branchProtection(f field) BranchProtection {
	bp := BranchProtection{Position: r.at(f.key)}
	r.fields(f.value, f.path(), func(f field) bool {
		switch f.name {
		case "protect-tested-repos":
			bp.ProtectTested = r.setting(f, LevelSwitch)
		case "allow_disabled_policies":
			bp.AllowDisabledPolicies = r.setting(f, LevelSwitch)
		case "allow_disabled_job_policies":
			bp.AllowDisabledJobPolicies = r.setting(f, LevelSwitch)
		case "protect_repos_with_optional_jobs":
			bp.ProtectReposWithOptionalJobs = r.setting(f, LevelSwitch)
		case "orgs":
			bp.Orgs = map[string]OrgPolicy{}
			r.entries(f.value, f.path(), func(f field) { bp.Orgs[f.name] = r.orgPolicy(f) })
		default:
			return r.policy(&bp.Policy, f, LevelGlobal)
		}
		return true
	})
	return bp
}

func (r *reader) orgPolicy(f field) OrgPolicy {
	org := OrgPolicy{Position: r.at(f.key)}
	r.fields(f.value, f.path(), func(f field) bool {
		if f.name != "repos" {
			return r.policy(&org.Policy, f, LevelOrg)
		}
		org.Repos = map[string]RepoPolicy{}
		r.entries(f.value, f.path(), func(f field) { org.Repos[f.name] = r.repoPolicy(f) })
		return true
	})
	return org
}

func (r *reader) repoPolicy(f field) RepoPolicy {
	repo := RepoPolicy{Position: r.at(f.key)}
	r.fields(f.value, f.path(), func(f field) bool {
		if f.name != "branches" {
			return r.policy(&repo.Policy, f, LevelRepo)
		}
		repo.Branches = map[string]BranchPolicy{}
		r.entries(f.value, f.path(), func(f field) {
			branch := BranchPolicy{Position: r.at(f.key)}
			r.fields(f.value, f.path(), func(f field) bool { return r.policy(&branch.Policy, f, LevelBranch) })
			repo.Branches[f.name] = branch
		})
		return true
	})
	return repo
}

// policy reads one field of a level.
func (r *reader) policy(p *Policy, f field, level Level) bool {
	switch f.name {
	case "unmanaged":
		p.Unmanaged = r.setting(f, level)
	case "protect":
		p.Protect = r.setting(f, level)
	case "required_status_checks":
		p.StatusChecks = r.statusChecks(f, level)
	case "required_pull_request_reviews":
		p.Reviews = r.reviews(f, level)
	case "restrictions":
		p.Restrictions = r.actors(f, level, true)
	case "enforce_admins":
		p.EnforceAdmins = r.setting(f, level)
	case "require_manually_triggered_jobs":
		p.RequireManuallyTriggeredJobs = r.setting(f, level)
	case "required_linear_history":
		p.RequiredLinearHistory = r.setting(f, level)
	case "allow_force_pushes":
		p.AllowForcePushes = r.setting(f, level)
	case "allow_deletions":
		p.AllowDeletions = r.setting(f, level)
	case "require_signed_commits":
		p.RequireSignedCommits = r.setting(f, level)
	case "include":
		p.Include = r.list(f, level)
	case "exclude":
		p.Exclude = r.list(f, level)
	default:
		return false
	}
	return true
}

func (r *reader) setting(f field, level Level) Bool {
	value, ok := r.truth(f)
	return Bool{Set: ok, Value: value, Origin: Origin{level, r.at(f.key)}}
}

// list is nil where there is none, or null.
func (r *reader) list(f field, level Level) List {
	if resolve(f.value) == nil {
		return nil
	}
	list := List{}
	r.each(f.value, f.path(), func(item *yaml.Node, path string) {
		list = append(list, Item{r.textOf(item, path), Origin{level, r.at(item)}})
	})
	return list
}

func (r *reader) statusChecks(f field, level Level) *StatusChecks {
	if resolve(f.value) == nil {
		return nil
	}
	checks := &StatusChecks{}
	r.fields(f.value, f.path(), func(f field) bool {
		switch f.name {
		case "contexts":
			checks.Contexts = r.list(f, level)
		case "strict":
			checks.Strict = r.setting(f, level)
		default:
			return false
		}
		return true
	})
	return checks
}

func (r *reader) reviews(f field, level Level) *Reviews {
	if resolve(f.value) == nil {
		return nil
	}
	reviews := &Reviews{}
	r.fields(f.value, f.path(), func(f field) bool {
		switch f.name {
		case "required_approving_review_count":
			reviews.Approvals.Value, reviews.Approvals.Set = r.number(f)
			reviews.Approvals.Origin = Origin{level, r.at(f.key)}
		case "dismiss_stale_reviews":
			reviews.DismissStale = r.setting(f, level)
		case "require_code_owner_reviews":
			reviews.RequireOwners = r.setting(f, level)
		case "dismissal_restrictions":
			reviews.Dismissal = r.actors(f, level, false)
		case "bypass_pull_request_allowances":
			reviews.Bypass = r.actors(f, level, false)
		default:
			return false
		}
		return true
	})
	return reviews
}

// actors reads users and teams, and apps where they may be given.
func (r *reader) actors(f field, level Level, apps bool) *Actors {
	if resolve(f.value) == nil {
		return nil
	}
	actors := &Actors{}
	r.fields(f.value, f.path(), func(f field) bool {
		switch f.name {
		case "users":
			actors.Users = r.list(f, level)
		case "teams":
			actors.Teams = r.list(f, level)
		case "apps":
			if apps {
				actors.Apps = r.list(f, level)
			}
			return apps
		default:
			return false
		}
		return true
	})
	return actors
}
