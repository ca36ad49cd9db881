package config

// ContextOptions is tide.context_options.
type ContextOptions struct {
	ContextLevel
	Orgs map[string]OrgContexts
}

// OrgContexts are those of one org.
type OrgContexts struct {
	ContextLevel
	Repos map[string]RepoContexts
}

// RepoContexts are those of one repository.
type RepoContexts struct {
	ContextLevel
	Branches map[string]ContextLevel
}

// ContextLevel is what one level says about the contexts that Tide waits for.
type ContextLevel struct {
	Required, RequiredIfPresent, Optional List
	// SkipUnknown: what nobody names doesn't count. FromBranchProtection: the contexts of
	// the configured policy count too, never those in force on GitHub.
	SkipUnknown, FromBranchProtection Bool
}

func (l ContextLevel) apply(child ContextLevel) ContextLevel {
	return ContextLevel{
		Required:             l.Required.and(child.Required),
		RequiredIfPresent:    l.RequiredIfPresent.and(child.RequiredIfPresent),
		Optional:             l.Optional.and(child.Optional),
		SkipUnknown:          l.SkipUnknown.or(child.SkipUnknown),
		FromBranchProtection: l.FromBranchProtection.or(child.FromBranchProtection),
	}
}

// of is what all levels of a branch say together.
func (o ContextOptions) of(branch Branch) ContextLevel {
	org := o.Orgs[branch.Org]
	repo := org.Repos[branch.Repo]
	return o.apply(org.ContextLevel).apply(repo.ContextLevel).apply(repo.Branches[branch.Name])
}

func (r *reader) contextOptions(f field) ContextOptions {
	var options ContextOptions
	r.fields(f.value, f.path(), func(f field) bool {
		if f.name != "orgs" {
			return r.contextLevel(&options.ContextLevel, f, LevelGlobal)
		}
		options.Orgs = map[string]OrgContexts{}
		r.entries(f.value, f.path(), func(f field) { options.Orgs[f.name] = r.orgContexts(f) })
		return true
	})
	return options
}

func (r *reader) orgContexts(f field) OrgContexts {
	var org OrgContexts
	r.fields(f.value, f.path(), func(f field) bool {
		if f.name != "repos" {
			return r.contextLevel(&org.ContextLevel, f, LevelOrg)
		}
		org.Repos = map[string]RepoContexts{}
		r.entries(f.value, f.path(), func(f field) { org.Repos[f.name] = r.repoContexts(f) })
		return true
	})
	return org
}

func (r *reader) repoContexts(f field) RepoContexts {
	var repo RepoContexts
	r.fields(f.value, f.path(), func(f field) bool {
		if f.name != "branches" {
			return r.contextLevel(&repo.ContextLevel, f, LevelRepo)
		}
		repo.Branches = map[string]ContextLevel{}
		r.entries(f.value, f.path(), func(f field) {
			var branch ContextLevel
			r.fields(f.value, f.path(), func(f field) bool { return r.contextLevel(&branch, f, LevelBranch) })
			repo.Branches[f.name] = branch
		})
		return true
	})
	return repo
}

func (r *reader) contextLevel(into *ContextLevel, f field, level Level) bool {
	switch f.name {
	case "required-contexts":
		into.Required = r.list(f, level)
	case "required-if-present-contexts":
		into.RequiredIfPresent = r.list(f, level)
	case "optional-contexts":
		into.Optional = r.list(f, level)
	case "skip-unknown-contexts":
		into.SkipUnknown = r.setting(f, level)
	case "from-branch-protection":
		into.FromBranchProtection = r.setting(f, level)
	case "overwrite-pending-contexts": // what a batch does to statuses
	default:
		return false
	}
	return true
}
