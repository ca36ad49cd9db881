package branches

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/kube"
)

// Found is what a look at all branches found.
type Found struct {
	// Looked is how many branches the configuration speaks about.
	Looked int
	// Differing are the branches that are not as they are to be, by name.
	Differing []State
	// Leftovers are branches that the configuration leaves alone and that still require what Prow once reported.
	Leftovers []State
	// Uncomputable are branches whose policy can't be computed: branchprotector leaves them as they are and fails.
	Uncomputable []string
	// Unseen are repositories of which only leftovers could be left, and that can't be read.
	Unseen []string
}

// securityFork is the name of the private fork of a security advisory
// (https://github.com/kubernetes-sigs/prow/blob/main/pkg/github/types.go, SecurityForkNameRE).
var securityFork = regexp.MustCompile(`^[a-zA-Z0-9._-]+-ghsa(-[0-9a-z]{4}){3}$`)

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
	for _, name := range r.named() {
		repo, err := github.ParseRepo(name.repository)
		if err != nil {
			continue // of another host than GitHub, such as a Gerrit
		}
		visits[strings.ToLower(name.repository)] = visit{Repo: repo, managed: name.managed}
	}
	if len(scope) == 0 {
		if err := r.listed(ctx, visits); err != nil {
			return nil, err
		}
		return sorted(visits), nil
	}
	chosen := map[string]visit{}
	for _, repo := range scope {
		chosen[strings.ToLower(repo.String())] = visit{Repo: repo, managed: true}
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

// named repositories are those of the configurations.
type named struct {
	repository string
	managed    bool
}

func (r *Reader) named() []named {
	var all []named
	if r.Base != nil {
		for repository := range r.Base.Presubmits {
			all = append(all, named{repository, false})
		}
	}
	tested := r.Config.BranchProtection.ProtectTested
	for repository := range r.Config.Presubmits {
		all = append(all, named{repository, tested.Set && tested.Value})
	}
	for org, policy := range r.Config.BranchProtection.Orgs {
		for repo := range policy.Repos {
			all = append(all, named{org + "/" + repo, true})
		}
	}
	// What is managed comes last, and counts.
	slices.SortStableFunc(all, func(a, b named) int {
		return strings.Compare(strconv.FormatBool(a.managed), strconv.FormatBool(b.managed))
	})
	return all
}

// listed adds the repositories of organizations that are protected as a whole, and takes those out that nobody
// protects: archived ones and security forks.
func (r *Reader) listed(ctx context.Context, visits map[string]visit) error {
	bp := r.Config.BranchProtection
	for _, org := range slices.Sorted(maps.Keys(bp.Orgs)) {
		if !bp.Policy.Apply(bp.Orgs[org].Policy).Protect.Set {
			continue
		}
		repositories, err := r.GitHub.Repositories(ctx, org)
		if err != nil {
			return err
		}
		for _, repository := range repositories {
			key := strings.ToLower(repository.String())
			visits[key] = visit{Repo: repository.Repo, known: true, managed: true}
			if untouched(repository) {
				visits[key] = visit{}
			}
		}
	}
	return nil
}

func untouched(repository github.Repository) bool {
	return repository.Archived || repository.Private && securityFork.MatchString(repository.Name)
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
		if untouched(repository) {
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
	if rule.Kind != Leftover {
		found.Looked++
	}
	// GitHub has just said of the branch whether anything protects it.
	live := github.Protection{Branch: branch}
	if branch.Protected {
		if live, err = r.GitHub.Protection(ctx, branch); err != nil {
			return err
		}
	}
	state := r.stateOf(rule, live)
	switch {
	case state.Right():
	case rule.Kind == Leftover:
		found.Leftovers = append(found.Leftovers, state)
	default:
		found.Differing = append(found.Differing, state)
	}
	return nil
}
