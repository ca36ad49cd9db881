package check

import (
	"regexp"
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
	// ByJob: only lists of jobs name it, so it may be gone.
	ByJob bool
}

// decision is what branchprotector does with a branch.
type decision struct {
	config.Decision
	err error
}

func newView(c *config.Config, appsRestrictions bool) *view {
	v := &view{Config: c, flags: config.ProtectorFlags{AppsRestrictions: appsRestrictions},
		branches: map[string][]branch{}, decisions: map[config.Branch]decision{}}
	named := map[string]bool{}
	for repository := range c.Presubmits {
		named[repository] = true
	}
	for org, policy := range c.BranchProtection.Orgs {
		for repo := range policy.Repos {
			named[org+"/"+repo] = true
		}
	}
	for repository := range named {
		if org, repo, ok := strings.Cut(repository, "/"); ok && !strings.Contains(repo, "/") { // not one of Gerrit
			v.repositories = append(v.repositories, repository)
			v.branches[repository] = v.branchesOf(org, repo)
		}
	}
	slices.Sort(v.repositories)
	return v
}

func (v *view) branchesOf(org, repo string) []branch {
	written, byJob := map[string]bool{}, map[string]bool{}
	for name := range v.BranchProtection.Orgs[org].Repos[repo].Branches {
		written[name] = true
	}
	for name := range v.Tide.ContextOptions.Orgs[org].Repos[repo].Branches {
		written[name] = true
	}
	for _, query := range v.Tide.Queries {
		if slices.Contains(query.Repos, org+"/"+repo) {
			for _, name := range query.IncludedBranches {
				written[name] = true
			}
		}
	}
	for _, job := range v.Presubmits[org+"/"+repo] {
		for _, expression := range job.Branches {
			if name, ok := literal(expression); ok && !written[name] {
				byJob[name] = true
			}
		}
	}
	var branches []branch
	for name := range written {
		branches = append(branches, branch{Branch: config.Branch{Org: org, Repo: repo, Name: name}})
	}
	for name := range byJob {
		branches = append(branches, branch{Branch: config.Branch{Org: org, Repo: repo, Name: name}, ByJob: true})
	}
	if !written["main"] && !written["master"] && !byJob["main"] && !byJob["master"] {
		for _, name := range []string{"main", "master"} {
			branches = append(branches, branch{Branch: config.Branch{Org: org, Repo: repo, Name: name}, Assumed: true})
		}
	}
	slices.SortFunc(branches, func(a, b branch) int { return strings.Compare(a.Name, b.Name) })
	return branches
}

// literal is the one name that an expression is meant for, such as ^release-1\.2$.
func literal(expression string) (string, bool) {
	name := strings.TrimSuffix(strings.TrimPrefix(expression, "^"), "$")
	name = strings.ReplaceAll(name, `\.`, ".")
	// A dot is one of a version's, written without the backslash.
	if name == "" || regexp.QuoteMeta(strings.ReplaceAll(name, ".", "")) != strings.ReplaceAll(name, ".", "") {
		return "", false
	}
	return name, true
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
