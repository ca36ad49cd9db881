package protector

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"salve/internal/prow/config"
	"salve/internal/prow/protection"
)

// Scope is what an instance may write the protection of: whole organizations, and repositories, in lower case.
type Scope struct{ organizations, repositories map[string]bool }

// ScopeOf is what a configuration covers, and repositories that it or an earlier one has jobs for: they may have
// leftovers, which a run removes.
func ScopeOf(now, base *config.Config) *Scope {
	scope := scopeOf(protection.Comparer{Config: now, Base: base}, false)
	return &scope
}

func scopeOf(comparer protection.Comparer, managed bool) Scope {
	scope := Scope{map[string]bool{}, map[string]bool{}}
	for _, named := range comparer.Named() {
		if named.Managed || !managed {
			scope.repositories[protection.Key(named.Repo)] = true
		}
	}
	for _, org := range comparer.Organizations() {
		scope.organizations[strings.ToLower(org)] = true
	}
	return scope
}

// Add adds the repository of a branch.
func (s *Scope) Add(branch config.Branch) {
	s.repositories[strings.ToLower(branch.Repository())] = true
}

// meets tells whether both cover something.
func (s *Scope) meets(other Scope) bool {
	within := func(organizations, repositories map[string]bool) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(repositories)), func(repository string) bool {
			org, _, _ := strings.Cut(repository, "/")
			return organizations[org]
		})
	}
	both := func(a, b map[string]bool) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(a)), func(name string) bool { return b[name] })
	}
	return both(s.organizations, other.organizations) || both(s.repositories, other.repositories) ||
		within(s.organizations, other.repositories) || within(other.organizations, s.repositories)
}

// theirs is the configuration of another instance as far as it matters here.
type theirs struct {
	prowJobs string
	scope    Scope
}

// readTheirs reads config.yaml. The error is that it is not whole: more may be protected than it seems to say.
func readTheirs(name, text string) (theirs, error) {
	loaded := config.Parse(name, []byte(text))
	read, err := loaded.Config()
	switch {
	case err != nil:
		return theirs{}, err
	case len(loaded.Diagnostics) > 0:
		return theirs{}, errors.New(loaded.Diagnostics[0].String())
	case len(read.UnknownFields) > 0:
		return theirs{}, errors.New("it has the unknown field " + read.UnknownFields[0].Path)
	case read.BranchProtection.ProtectTested.Set && read.BranchProtection.ProtectTested.Value:
		return theirs{}, errors.New("it protects the repositories of jobs, which were not read (protect-tested-repos)")
	case read.ProwJobNamespace.Position.Line == 0:
		return theirs{}, errors.New("it names no namespace") // the default is that of a configuration, and not of any text
	}
	return theirs{read.ProwJobNamespace.Value, scopeOf(protection.Comparer{Config: read}, true)}, nil
}
