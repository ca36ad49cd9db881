package check

import (
	"slices"
	"strings"

	"salve/internal/prow/config"
)

// view is one configuration with the branches that it speaks of.
type view struct {
	*config.Config
	flags config.ProtectorFlags
	// repositories are sorted; branches are those of each.
	repositories []string
	branches     map[string][]branch
	decisions    map[config.Branch]decision
}

// branch is one that the configuration speaks of.
type branch struct {
	config.Branch
	// Assumed: nothing names it. A repository of which neither main nor master is named
	// has both, since all have one of them.
	Assumed bool
	// Doubtful: only lists of jobs, or Tide's queries, name it, so it may be gone.
	Doubtful bool
}

// decision is what branchprotector does with a branch.
type decision struct {
	config.Decision
	err error
}

func newView(c *config.Config, appsRestrictions bool) *view {
	v := &view{Config: c, flags: config.ProtectorFlags{AppsRestrictions: appsRestrictions},
		branches: map[string][]branch{}, decisions: map[config.Branch]decision{}}
	for _, repository := range c.Repositories() {
		if org, repo, ok := strings.Cut(repository, "/"); ok && !strings.Contains(repo, "/") { // not one of Gerrit
			v.repositories = append(v.repositories, repository)
			v.branches[repository] = v.branchesOf(org, repo)
		}
	}
	return v
}

func (v *view) branchesOf(org, repo string) []branch {
	var branches []branch
	names := v.Branches(org, repo)
	for _, name := range names {
		_, protected := v.BranchProtection.Orgs[org].Repos[repo].Branches[name]
		_, options := v.Tide.ContextOptions.Orgs[org].Repos[repo].Branches[name]
		branches = append(branches, branch{Branch: config.Branch{Org: org, Repo: repo, Name: name},
			Doubtful: !protected && !options})
	}
	if !slices.Contains(names, "main") && !slices.Contains(names, "master") {
		for _, name := range []string{"main", "master"} {
			branches = append(branches, branch{Branch: config.Branch{Org: org, Repo: repo, Name: name}, Assumed: true})
		}
	}
	return branches
}

// decide is what branchprotector does with a branch.
func (v *view) decide(b config.Branch) decision {
	if known, ok := v.decisions[b]; ok {
		return known
	}
	made, err := v.Protector(b, v.flags)
	v.decisions[b] = decision{made, err}
	return v.decisions[b]
}

// required are the contexts that branchprotector writes for a branch; protected is
// false where it doesn't protect the branch.
func (v *view) required(b config.Branch) (contexts config.List, protected bool) {
	made := v.decide(b)
	if made.err != nil || made.Action != config.Protect {
		return nil, false
	}
	return made.Policy.Contexts(), true
}

// byHand are the places where somebody wrote a context down as required.
func byHand(contexts config.List, context string) []config.Origin {
	return slices.DeleteFunc(contexts.Origins(context), func(origin config.Origin) bool {
		return origin.Level == config.LevelJob
	})
}

func on(b config.Bool) bool { return b.Set && b.Value }
