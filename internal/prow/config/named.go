package config

import (
	"regexp"
	"slices"
	"strings"
)

// Repositories are all that the configuration names, sorted, as org/repo: in
// branch-protection, in presubmits and postsubmits, and in Tide's options and queries.
func (c *Config) Repositories() []string {
	var all []string
	for org, o := range c.BranchProtection.Orgs {
		for repo := range o.Repos {
			all = append(all, org+"/"+repo)
		}
	}
	for org, o := range c.Tide.ContextOptions.Orgs {
		for repo := range o.Repos {
			all = append(all, org+"/"+repo)
		}
	}
	for _, query := range c.Tide.Queries {
		all = append(all, query.Repos...)
	}
	for _, jobs := range []map[string][]*Job{c.Presubmits, c.Postsubmits} {
		all = append(all, sortedKeys(jobs)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Branches are the branches of a repository that the configuration names, sorted:
// those listed, and expressions of jobs that can match one name only. Which branches
// exist is GitHub's to say.
func (c *Config) Branches(org, repo string) []string {
	all := sortedKeys(c.BranchProtection.Orgs[org].Repos[repo].Branches)
	all = append(all, sortedKeys(c.Tide.ContextOptions.Orgs[org].Repos[repo].Branches)...)
	for _, query := range c.Tide.Queries {
		if slices.Contains(query.Repos, org+"/"+repo) || slices.Contains(query.Orgs, org) {
			all = append(all, query.IncludedBranches...)
		}
	}
	for _, job := range c.Presubmits[org+"/"+repo] {
		for _, expression := range job.Branches {
			if name, ok := literal(expression); ok {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// literal is the one branch that an expression was written for, if it is plain text but
// for anchors and escaped characters. A dot is taken for a dot, as its writer did.
func literal(expression string) (string, bool) {
	text := strings.TrimSuffix(strings.TrimPrefix(expression, "^"), "$")
	plain := text
	if strings.Contains(text, `\`) {
		for _, escaped := range []string{".", "-", "/"} {
			plain = strings.ReplaceAll(plain, `\`+escaped, escaped)
		}
	}
	dots := strings.ReplaceAll(plain, ".", "")
	return plain, plain != "" && regexp.QuoteMeta(dots) == dots
}
