package drift

import (
	"context"
	"maps"
	"slices"

	"salve/internal/apierr"
	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
)

// branches reads the branches of all repositories that branchprotector would visit, and of those that Prow knows or
// knew, for leftovers.
func (r *reading) branches(ctx context.Context) {
	each(ctx, r, r.repositories(ctx), r.repository,
		func(repo github.Repo, reason string) { r.unread(repo.String(), reason) })
}

func (r *reading) unread(name, reason string) {
	r.note(func(seen *check.GitHub) { seen.Unread[name] = reason })
}

// repositories are those to read. The ones that an organization lists and that branchprotector leaves alone are left
// out; of the others it is asked later.
func (r *reading) repositories(ctx context.Context) []github.Repo {
	repositories := map[string]github.Repo{}
	for _, named := range r.comparer.Named() {
		repositories[protection.Key(named.Repo)] = named.Repo
	}
	for _, organization := range r.comparer.Organizations() {
		listed, err := patiently(ctx, r.Reader, func() ([]github.Repository, error) {
			return r.GitHub.Repositories(ctx, organization)
		})
		if err != nil {
			r.unread(organization, r.reason(err))
			continue
		}
		for _, repository := range listed {
			key := protection.Key(repository.Repo)
			_, named := repositories[key] // as the configuration spells it
			switch {
			case protection.Untouched(repository):
				delete(repositories, key)
			case !named:
				repositories[key] = repository.Repo
			}
		}
	}
	var all []github.Repo
	for _, key := range slices.Sorted(maps.Keys(repositories)) {
		all = append(all, repositories[key])
	}
	return all
}

// repository reads the branches of one repository.
func (r *reading) repository(ctx context.Context, repo github.Repo) {
	repository, err := patiently(ctx, r.Reader, func() (github.Repository, error) {
		return r.GitHub.Repository(ctx, repo)
	})
	if err != nil {
		r.unread(repo.String(), r.reason(err))
		return
	}
	if protection.Untouched(repository) {
		return
	}
	listed, err := patiently(ctx, r.Reader, func() ([]github.Branch, error) { return r.GitHub.Branches(ctx, repo) })
	if err != nil {
		r.unread(repo.String(), r.reason(err))
		return
	}
	denied := ""
	for _, branch := range listed {
		live := check.LiveBranch{Protection: github.Protection{Branch: branch}}
		// GitHub has just said of the branch whether anything protects it.
		if branch.Protected {
			live = r.branch(ctx, branch, &denied)
		}
		r.note(func(seen *check.GitHub) { seen.Branches[nameOf(branch)] = live })
	}
}

func nameOf(branch github.Branch) config.Branch {
	return config.Branch{Org: branch.Repo.Owner, Repo: branch.Repo.Name, Name: branch.Name}
}

// branch reads what protects a branch. Who was denied the protection of one is not asked for the others of the
// repository: rights are the repository's.
func (r *reading) branch(ctx context.Context, branch github.Branch, denied *string) check.LiveBranch {
	live := check.LiveBranch{Protection: github.Protection{Branch: branch}, Failed: *denied}
	if *denied == "" {
		read, err := patiently(ctx, r.Reader, func() (github.Protection, error) {
			return r.GitHub.Protection(ctx, branch)
		})
		switch {
		case err == nil:
			live.Protection = read
		case apierr.ClassOf(err) == apierr.Denied:
			*denied = r.reason(err)
			live.Failed = *denied
		default:
			live.Failed = r.reason(err)
		}
	}
	rules, err := patiently(ctx, r.Reader, func() ([]github.Rule, error) { return r.GitHub.Rules(ctx, branch) })
	if err != nil {
		live.RulesFailed = r.reason(err)
		return live
	}
	live.Rules = slices.DeleteFunc(rules, func(rule github.Rule) bool { return rule.StatusChecks == nil })
	return live
}
