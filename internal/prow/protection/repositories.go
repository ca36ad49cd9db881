package protection

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"salve/internal/prow/github"
)

// Named is a repository that the configurations name.
type Named struct {
	github.Repo
	// Managed: the configuration speaks about its protection. Of the others leftovers alone can be found.
	Managed bool
}

// Named are the repositories of GitHub that the configurations name, by name, each once.
func (c Comparer) Named() []Named {
	managed := map[string]bool{}
	add := func(repository string, is bool) { managed[repository] = managed[repository] || is }
	if c.Base != nil {
		for repository := range c.Base.Presubmits {
			add(repository, false)
		}
	}
	tested := c.Config.BranchProtection.ProtectTested
	for repository := range c.Config.Presubmits {
		add(repository, tested.Set && tested.Value)
	}
	for org, policy := range c.Config.BranchProtection.Orgs {
		for repo := range policy.Repos {
			add(org+"/"+repo, true)
		}
	}
	named := map[string]Named{}
	for _, name := range slices.Sorted(maps.Keys(managed)) {
		repo, err := github.ParseRepo(name)
		if err != nil {
			continue // of another host than GitHub, such as a Gerrit
		}
		if known, twice := named[Key(repo)]; !twice || !known.Managed {
			named[Key(repo)] = Named{Repo: repo, Managed: managed[name]}
		}
	}
	return slices.SortedFunc(maps.Values(named), func(a, b Named) int { return strings.Compare(Key(a.Repo), Key(b.Repo)) })
}

// Organizations are those that are protected as a whole: branchprotector lists their repositories.
func (c Comparer) Organizations() []string {
	bp := c.Config.BranchProtection
	var organizations []string
	for _, org := range slices.Sorted(maps.Keys(bp.Orgs)) {
		if bp.Policy.Apply(bp.Orgs[org].Policy).Protect.Set {
			organizations = append(organizations, org)
		}
	}
	return organizations
}

// securityFork is the name of the private fork of a security advisory
// (https://github.com/kubernetes-sigs/prow/blob/main/pkg/github/types.go, SecurityForkNameRE).
var securityFork = regexp.MustCompile(`^[a-zA-Z0-9._-]+-ghsa(-[0-9a-z]{4}){3}$`)

// Untouched are repositories that branchprotector leaves alone: archived ones and security forks.
func Untouched(repository github.Repository) bool {
	return repository.Archived || repository.Private && securityFork.MatchString(repository.Name)
}

// Key stands for a repository: GitHub does not tell upper from lower case.
func Key(repo github.Repo) string { return strings.ToLower(repo.String()) }
