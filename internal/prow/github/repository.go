package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	gogithub "github.com/google/go-github/v92/github"

	"salve/internal/apierr"
)

// Repo names a repository.
type Repo struct{ Owner, Name string }

func (r Repo) String() string { return r.Owner + "/" + r.Name }

// is tells whether a full name is this repository's. GitHub does not tell upper from lower case in it.
func (r Repo) is(fullName string) bool { return strings.EqualFold(r.String(), fullName) }

func (r Repo) path(segments ...string) string {
	return pathOf(append([]string{"repos", r.Owner, r.Name}, segments...)...)
}

var repoPart = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// ParseRepo reads "owner/name".
func ParseRepo(text string) (Repo, error) {
	owner, name, ok := strings.Cut(text, "/")
	r := Repo{Owner: owner, Name: name}
	if !ok || r.check() != nil {
		return Repo{}, fmt.Errorf("invalid repository %q: expected OWNER/NAME", short(text))
	}
	return r, nil
}

func (r Repo) check() error {
	for _, part := range []string{r.Owner, r.Name} {
		if !repoPart.MatchString(part) || strings.Trim(part, ".") == "" {
			return apierr.New(apierr.Terminal, "invalid repository %q", short(r.String()))
		}
	}
	return nil
}

// Repository is what GitHub says of a repository.
type Repository struct {
	Repo
	ID                                int64
	DefaultBranch                     string
	Private, Archived, Disabled, Fork bool
	// OwnedByOrganization: only there can users and teams be named in a protection.
	OwnedByOrganization bool
	// Rights are those of the token's identity.
	Rights Rights
}

// Rights are what an identity may do in a repository.
type Rights struct {
	// Known tells whether GitHub has said it. It doesn't to everybody.
	Known bool
	// Admin is what it takes to see and to change protection; an app needs "administration" instead, which GitHub does
	// not say here.
	Admin, Push, Triage, Pull bool
}

// Repository reads one repository. One that was renamed is an error that holds a *MovedError.
func (c *Client) Repository(ctx context.Context, repo Repo) (Repository, error) {
	if err := repo.check(); err != nil {
		return Repository{}, err
	}
	doing := fmt.Sprintf("reading repository %s", repo)
	var answer gogithub.Repository
	if _, err := c.get(ctx, doing, repo.path(), &answer); err != nil {
		return Repository{}, c.withNewName(ctx, err)
	}
	if !repo.is(answer.GetFullName()) {
		return Repository{}, fmt.Errorf("%s: %w", doing, otherObject("repository", repo.String(), answer.GetFullName()))
	}
	return repositoryOf(&answer), nil
}

// withNewName adds to the error of a repository that moved what it is called now, if that can be read: GitHub points to
// it by its ID. Nothing else is read from there.
func (c *Client) withNewName(ctx context.Context, err error) error {
	var moved *MovedError
	if !errors.As(err, &moved) {
		return err
	}
	location, parseErr := url.Parse(moved.Location)
	if parseErr != nil {
		return err
	}
	_, id, found := strings.Cut(location.Path, "/repositories/")
	if _, parseErr := strconv.ParseInt(id, 10, 64); !found || parseErr != nil {
		return err
	}
	var answer gogithub.Repository
	if _, readErr := c.get(ctx, "reading the new name", pathOf("repositories", id), &answer); readErr == nil {
		if repo, parseErr := ParseRepo(answer.GetFullName()); parseErr == nil && strconv.FormatInt(answer.GetID(), 10) == id {
			moved.Repo = repo
			return fmt.Errorf("%w (now %s)", err, repo)
		}
	}
	return err
}

// Repositories lists those of an organization that the token may see: others may exist.
func (c *Client) Repositories(ctx context.Context, organization string) ([]Repository, error) {
	if !repoPart.MatchString(organization) {
		return nil, apierr.New(apierr.Terminal, "invalid organization %q", short(organization))
	}
	doing := fmt.Sprintf("listing the repositories of %s", organization)
	var all []Repository
	err := eachPage(ctx, c, doing, pathOf("orgs", organization, "repos"), url.Values{"type": {"all"}},
		func(page []*gogithub.Repository) (int, error) {
			for _, one := range page {
				if !strings.EqualFold(one.GetOwner().GetLogin(), organization) || !repoPart.MatchString(one.GetName()) {
					return 0, otherObject("repositories of", organization, one.GetFullName())
				}
				all = append(all, repositoryOf(one))
			}
			return len(page), nil
		})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func repositoryOf(r *gogithub.Repository) Repository {
	rights := r.GetPermissions()
	return Repository{
		Repo: Repo{Owner: r.GetOwner().GetLogin(), Name: r.GetName()}, ID: r.GetID(), DefaultBranch: r.GetDefaultBranch(),
		Private: r.GetPrivate(), Archived: r.GetArchived(), Disabled: r.GetDisabled(), Fork: r.GetFork(),
		OwnedByOrganization: r.GetOwner().GetType() == "Organization",
		Rights: Rights{
			Known: r.Permissions != nil,
			Admin: rights.GetAdmin(), Push: rights.GetPush(), Triage: rights.GetTriage(), Pull: rights.GetPull(),
		},
	}
}
