package branches

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
	"salve/kube"
)

// Found is what a look at all branches found.
type Found struct {
	// Looked is how many branches the configuration speaks about.
	Looked int
	// Differing are the branches that are not as they are to be, by name.
	Differing []protection.State
	// Leftovers are branches that the configuration leaves alone and that still require what Prow once reported.
	Leftovers []protection.State
	// Uncomputable are branches whose policy can't be computed: branchprotector leaves them as they are and fails.
	Uncomputable []string
	// Unseen are repositories of which only leftovers could be left, and that can't be read.
	Unseen []string
}

// Discover looks at all branches that branchprotector would visit, and at those of repositories that it knows or knew
// for leftovers. With a scope it looks at these repositories alone.
func (r *Reader) Discover(ctx context.Context, scope []github.Repo) (Found, error) {
	visits, err := r.repositories(ctx, scope)
	if err != nil {
		return Found{}, err
	}
	parts := make([]Found, len(visits))
	err = kube.Parallel(ctx, len(visits), func(ctx context.Context, i int) (err error) {
		parts[i], err = r.discoverIn(ctx, visits[i])
		return err
	})
	if err != nil {
		return Found{}, err
	}
	var all Found
	for _, part := range parts {
		all.Looked += part.Looked
		all.Differing = append(all.Differing, part.Differing...)
		all.Leftovers = append(all.Leftovers, part.Leftovers...)
		all.Uncomputable = append(all.Uncomputable, part.Uncomputable...)
		all.Unseen = append(all.Unseen, part.Unseen...)
	}
	return all, nil
}

// visit is a repository that is looked at.
type visit struct {
	github.Repo
	// known: it was listed, and is neither archived nor a security fork.
	known bool
	// managed: the configuration speaks about its protection, so that it has to be seen.
	managed bool
}

// repositories are those to look at, by name.
func (r *Reader) repositories(ctx context.Context, scope []github.Repo) ([]visit, error) {
	visits := map[string]visit{}
	for _, named := range r.comparer().Named() {
		visits[protection.Key(named.Repo)] = visit{Repo: named.Repo, managed: named.Managed}
	}
	if len(scope) == 0 {
		if err := r.listed(ctx, visits); err != nil {
			return nil, err
		}
		return sorted(visits), nil
	}
	chosen := map[string]visit{}
	for _, repo := range scope {
		chosen[protection.Key(repo)] = visit{Repo: repo, managed: true}
	}
	return sorted(chosen), nil
}

func sorted(visits map[string]visit) []visit {
	var all []visit
	for _, key := range slices.Sorted(maps.Keys(visits)) {
		if visits[key].Name != "" {
			all = append(all, visits[key])
		}
	}
	return all
}

// listed adds the repositories of organizations that are protected as a whole, and takes those out that nobody
// protects: archived ones and security forks.
func (r *Reader) listed(ctx context.Context, visits map[string]visit) error {
	for _, org := range r.comparer().Organizations() {
		repositories, err := r.GitHub.Repositories(ctx, org)
		if err != nil {
			return err
		}
		for _, repository := range repositories {
			key := protection.Key(repository.Repo)
			visits[key] = visit{Repo: repository.Repo, known: true, managed: true}
			if protection.Untouched(repository) {
				visits[key] = visit{}
			}
		}
	}
	return nil
}

// discoverIn looks at the branches of one repository.
func (r *Reader) discoverIn(ctx context.Context, in visit) (Found, error) {
	unseen := func(err error) (Found, error) {
		if in.managed || ctx.Err() != nil {
			return Found{}, err
		}
		return Found{Unseen: []string{fmt.Sprintf("%s: %v", in.Repo, err)}}, nil
	}
	if !in.known {
		repository, err := r.GitHub.Repository(ctx, in.Repo)
		if err != nil {
			return unseen(err)
		}
		if protection.Untouched(repository) {
			return Found{}, nil
		}
	}
	listed, err := r.branchesOf(ctx, in.Repo)
	if err != nil {
		return unseen(err)
	}
	var found Found
	for _, branch := range listed {
		if err := r.look(ctx, in, branch, &found); err != nil {
			return unseen(err)
		}
	}
	return found, nil
}

// look looks at one branch.
func (r *Reader) look(ctx context.Context, in visit, branch github.Branch, found *Found) error {
	name := config.Branch{Org: in.Owner, Repo: in.Name, Name: branch.Name}
	rule, err := r.RuleOf(name)
	if err != nil {
		found.Uncomputable = append(found.Uncomputable, err.Error())
		return nil
	}
	if rule.Kind != protection.Leftover {
		found.Looked++
	}
	// GitHub has just said of the branch whether anything protects it.
	live := github.Protection{Branch: branch}
	if branch.Protected {
		if live, err = r.GitHub.Protection(ctx, branch); err != nil {
			return err
		}
	}
	state := r.comparer().Compare(rule, live)
	switch {
	case state.Right():
	case rule.Kind == protection.Leftover:
		found.Leftovers = append(found.Leftovers, state)
	default:
		found.Differing = append(found.Differing, state)
	}
	return nil
}
