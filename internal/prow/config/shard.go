package config

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// shard reads a supplemental part of config.yaml, which may hold branch-protection,
// slack_reporter_configs, tide.queries and tide.merge_method, and nothing that
// another file has said already (ProwConfig.mergeFrom).
func (l *loader) shard(r *reader, root *yaml.Node) {
	r.fields(root, "", func(f field) bool {
		switch f.name {
		case "branch-protection":
			l.mergeProtection(r.branchProtection(f))
		case "tide":
			l.mergeTide(r.tide(f))
			r.entries(f.value, f.path(), func(f field) {
				name := strings.ToLower(f.name)
				if slices.Contains(knownTideFields(), name) || slices.Contains(readTideFields(), name) {
					l.notInShards(r, f)
				}
			})
		case "slack_reporter_configs":
		default:
			known := slices.Contains(knownSections(), f.name) || slices.Contains(readSections(), f.name)
			if known {
				l.notInShards(r, f)
			}
			return known
		}
		return true
	})
}

// readSections and readTideFields are read elsewhere, and not allowed in shards.
func readSections() []string {
	return []string{"prowjob_namespace", "pod_namespace", "plank", "in_repo_config"}
}

func readTideFields() []string {
	return []string{"blocker_label", "context_options", "github_merge_blocks_policy"}
}

func (l *loader) notInShards(r *reader, f field) {
	if resolve(f.value) != nil {
		l.refuse(r.at(f.key), "%s: not allowed in a supplemental file", f.path())
	}
}

func (l *loader) mergeTide(shard Tide) {
	tide := &l.config.Tide
	tide.Queries = append(tide.Queries, shard.Queries...)
	for _, name := range sortedKeys(shard.mergeMethods) {
		if _, twice := tide.mergeMethods[name]; twice {
			l.refuse(shard.mergeMethods[name], "tide.merge_method of %s is set in two files", name)
		}
	}
	if tide.mergeMethods == nil {
		tide.mergeMethods = map[string]diagnostic.Position{}
	}
	maps.Copy(tide.mergeMethods, shard.mergeMethods)
}

// mergeProtection adds a shard's policies. A level may be written in one file only.
func (l *loader) mergeProtection(shard BranchProtection) {
	bp := &l.config.BranchProtection
	if bp.Position.File == "" {
		bp.Position = shard.Position
	}
	l.mergePolicy(&bp.Policy, shard.Policy, shard.Position, "the top level")
	for _, one := range []struct {
		name        string
		into, other *Bool
	}{
		{"protect-tested-repos", &bp.ProtectTested, &shard.ProtectTested},
		{"allow_disabled_policies", &bp.AllowDisabledPolicies, &shard.AllowDisabledPolicies},
		{"allow_disabled_job_policies", &bp.AllowDisabledJobPolicies, &shard.AllowDisabledJobPolicies},
		{"protect_repos_with_optional_jobs", &bp.ProtectReposWithOptionalJobs, &shard.ProtectReposWithOptionalJobs},
	} {
		if one.into.Set && one.other.Set {
			l.refuse(one.other.Origin.Position, "branch-protection: %s is set in two files", one.name)
		}
		*one.into = one.into.or(*one.other)
	}
	if bp.Orgs == nil {
		bp.Orgs = map[string]OrgPolicy{}
	}
	for _, name := range sortedKeys(shard.Orgs) {
		bp.Orgs[name] = l.mergeOrg(name, bp.Orgs[name], shard.Orgs[name])
	}
}

func (l *loader) mergeOrg(name string, org, shard OrgPolicy) OrgPolicy {
	if l.mergePolicy(&org.Policy, shard.Policy, shard.Position, "org "+name) || org.Position.File == "" {
		org.Position = shard.Position
	}
	if org.Repos == nil {
		org.Repos = map[string]RepoPolicy{}
	}
	for _, repo := range sortedKeys(shard.Repos) {
		org.Repos[repo] = l.mergeRepo(name+"/"+repo, org.Repos[repo], shard.Repos[repo])
	}
	return org
}

func (l *loader) mergeRepo(name string, repo, shard RepoPolicy) RepoPolicy {
	if l.mergePolicy(&repo.Policy, shard.Policy, shard.Position, "repo "+name) || repo.Position.File == "" {
		repo.Position = shard.Position
	}
	if repo.Branches == nil {
		repo.Branches = map[string]BranchPolicy{}
	}
	for _, branch := range sortedKeys(shard.Branches) {
		into, other := repo.Branches[branch], shard.Branches[branch]
		if l.mergePolicy(&into.Policy, other.Policy, other.Position, "branch "+name+"="+branch) || into.Position.File == "" {
			into.Position = other.Position
		}
		repo.Branches[branch] = into
	}
	return repo
}

// mergePolicy takes the shard's policy where there is none yet, and says whether it
// did.
func (l *loader) mergePolicy(into *Policy, shard Policy, at diagnostic.Position, level string) bool {
	switch {
	case !shard.written():
		return false
	case into.written():
		l.refuse(at, "branch-protection: the policy of %s is written in two files", level)
		return false
	}
	*into = shard
	return true
}
