package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// Tide is the section tide, as far as it says what may merge.
type Tide struct {
	Position diagnostic.Position
	Queries  []TideQuery
	// BlockerLabel is on issues that stop all merging.
	BlockerLabel   string
	ContextOptions ContextOptions
	// MergeBlocks is github_merge_blocks_policy by "*", org or org/repo: ignore, permit
	// or block.
	MergeBlocks map[string]string

	// mergeMethods are the orgs and repositories that have one.
	mergeMethods map[string]diagnostic.Position
}

// TideQuery is one set of pull requests that Tide merges.
type TideQuery struct {
	Position                           diagnostic.Position
	Orgs, Repos, ExcludedRepos         []string
	Labels, MissingLabels              []string
	IncludedBranches, ExcludedBranches []string
	Author, Milestone                  string
	ReviewApprovedRequired             bool
}

// Covers is whether the query is about a branch.
func (q TideQuery) Covers(branch Branch) bool {
	if len(q.IncludedBranches) > 0 && !slices.Contains(q.IncludedBranches, branch.Name) ||
		slices.Contains(q.ExcludedBranches, branch.Name) {
		return false
	}
	if slices.Contains(q.Orgs, branch.Org) {
		return !slices.Contains(q.ExcludedRepos, branch.Repository())
	}
	return slices.Contains(q.Repos, branch.Repository())
}

// QueriesFor are the queries about a branch; none where Tide doesn't merge there.
func (t Tide) QueriesFor(branch Branch) []TideQuery {
	var queries []TideQuery
	for _, query := range t.Queries {
		if query.Covers(branch) {
			queries = append(queries, query)
		}
	}
	return queries
}

// MergeBlocksPolicy is what Tide does with a pull request that GitHub calls BLOCKED.
// It is permit where nothing is written.
func (t Tide) MergeBlocksPolicy(org, repo string) string {
	for _, key := range []string{org + "/" + repo, org, "*"} {
		if policy, ok := t.MergeBlocks[key]; ok {
			return policy
		}
	}
	return "permit"
}

// knownTideFields are those that are not looked into.
func knownTideFields() []string {
	return []string{"gerrit", "sync_period", "max_goroutines", "batch_size_limit", "prioritize_existing_batches",
		"status_update_period", "merge_commit_template", "target_url", "target_urls", "pr_status_base_url",
		"pr_status_base_urls", "squash_label", "rebase_label", "merge_label", "priority",
		"display_all_tide_queries_in_status"}
}

func (r *reader) tide(f field) Tide {
	tide := Tide{Position: r.at(f.key)}
	r.fields(f.value, f.path(), func(f field) bool {
		switch f.name {
		case "queries":
			tide.Queries = nil
			r.each(f.value, f.path(), func(item *yaml.Node, path string) {
				tide.Queries = append(tide.Queries, r.tideQuery(item, path))
			})
		case "blocker_label":
			tide.BlockerLabel = r.text(f)
		case "context_options":
			tide.ContextOptions = r.contextOptions(f)
		case "github_merge_blocks_policy":
			tide.MergeBlocks = r.labels(f)
		case "merge_method":
			tide.mergeMethods = map[string]diagnostic.Position{}
			r.entries(f.value, f.path(), func(f field) { tide.mergeMethods[f.name] = r.at(f.key) })
		default:
			return slices.Contains(knownTideFields(), f.name)
		}
		return true
	})
	return tide
}

func (r *reader) tideQuery(node *yaml.Node, path string) TideQuery {
	query := TideQuery{Position: r.at(node)}
	r.fields(node, path, func(f field) bool {
		switch f.name {
		case "orgs":
			query.Orgs = r.texts(f)
		case "repos":
			query.Repos = r.texts(f)
		case "excludedrepos":
			query.ExcludedRepos = r.texts(f)
		case "labels":
			query.Labels = r.texts(f)
		case "missinglabels":
			query.MissingLabels = r.texts(f)
		case "includedbranches":
			query.IncludedBranches = r.texts(f)
		case "excludedbranches":
			query.ExcludedBranches = r.texts(f)
		case "author":
			query.Author = r.text(f)
		case "milestone":
			query.Milestone = r.text(f)
		case "reviewapprovedrequired":
			query.ReviewApprovedRequired = r.yes(f)
		default:
			return false
		}
		return true
	})
	return query
}

// tideQueries refuses queries that contradict themselves (TideQuery.Validate).
func (l *loader) tideQueries() {
	for i, query := range l.config.Tide.Queries {
		if err := query.validate(); err != nil {
			l.refuse(query.Position, "tide query %d: %v", i, err)
		}
	}
}

func (q TideQuery) validate() error {
	if len(q.Orgs)+len(q.Repos) == 0 {
		return fmt.Errorf("neither orgs nor repos")
	}
	if len(q.IncludedBranches) > 0 && len(q.ExcludedBranches) > 0 {
		return fmt.Errorf("includedBranches and excludedBranches exclude each other")
	}
	for _, org := range q.Orgs {
		if org == "" || strings.Contains(org, "/") {
			return fmt.Errorf("orgs: %q is no org", org)
		}
	}
	for _, list := range [][]string{q.Repos, q.ExcludedRepos} {
		for _, repository := range list {
			if org, repo, ok := strings.Cut(repository, "/"); !ok || org == "" || repo == "" || strings.Contains(repo, "/") {
				return fmt.Errorf("%q is not org/repo", repository)
			}
		}
	}
	return q.contradicts()
}

func (q TideQuery) contradicts() error {
	for _, repository := range q.Repos {
		if org, _, _ := strings.Cut(repository, "/"); slices.Contains(q.Orgs, org) {
			return fmt.Errorf("repos: %s is covered by its org already", repository)
		}
	}
	for _, repository := range q.ExcludedRepos {
		if org, _, _ := strings.Cut(repository, "/"); !slices.Contains(q.Orgs, org) {
			return fmt.Errorf("excludedRepos: the org of %s is not covered", repository)
		}
	}
	for _, label := range q.Labels {
		if slices.Contains(q.MissingLabels, label) {
			return fmt.Errorf("label %s is both required and forbidden", label)
		}
	}
	for name, list := range map[string][]string{"orgs": q.Orgs, "repos": q.Repos, "excludedRepos": q.ExcludedRepos,
		"labels": q.Labels, "missingLabels": q.MissingLabels, "includedBranches": q.IncludedBranches,
		"excludedBranches": q.ExcludedBranches} {
		if sorted := slices.Sorted(slices.Values(list)); len(slices.Compact(sorted)) < len(list) {
			return fmt.Errorf("%s has duplicates", name)
		}
	}
	return nil
}
