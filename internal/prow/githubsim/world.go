package githubsim

import (
	"crypto/sha1" //nolint:gosec // the name of a commit, not a secret
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// World is everything that a GitHub holds. It is what a seed file says, in YAML or JSON.
type World struct {
	// Tokens are by their value.
	Tokens map[string]*Token `json:"tokens,omitempty"`
	// Owners are organizations and users that own repositories.
	Owners map[string]*Owner `json:"owners,omitempty"`
}

// Token is a credential.
type Token struct {
	// Login is the user's, or an app's with "[bot]".
	Login string `json:"login"`
	// Installation makes it the token of an app's installation: rights come from Administration and Statuses, and it
	// has no user.
	Installation bool `json:"installation,omitempty"`
	// Administration is "", "read" or "write", for an installation.
	Administration string `json:"administration,omitempty"`
	// Scopes are those of a classic token; none: "repo".
	Scopes []string `json:"scopes,omitempty"`
	// SSO names organizations for which the token was not authorized.
	SSO []string `json:"sso,omitempty"`
}

// Owner is an organization, or a user.
type Owner struct {
	User bool `json:"user,omitempty"`
	// Free is a plan without protection in private repositories.
	Free bool `json:"free,omitempty"`
	// Members have the role "admin" (owners) or "member".
	Members      map[string]string      `json:"members,omitempty"`
	Teams        []string               `json:"teams,omitempty"`
	Apps         map[string]int64       `json:"apps,omitempty"`
	Rulesets     []Ruleset              `json:"rulesets,omitempty"`
	Repositories map[string]*Repository `json:"repositories,omitempty"`
}

// Repository is a repository.
type Repository struct {
	ID            int64  `json:"id,omitempty"`
	DefaultBranch string `json:"default_branch,omitempty"`
	Private       bool   `json:"private,omitempty"`
	Archived      bool   `json:"archived,omitempty"`
	Fork          bool   `json:"fork,omitempty"`
	// Renamed are its former names.
	Renamed []string `json:"renamed,omitempty"`
	// Collaborators have the role admin, maintain, write, triage or read.
	Collaborators map[string]string  `json:"collaborators,omitempty"`
	Teams         map[string]string  `json:"teams,omitempty"`
	Branches      map[string]*Branch `json:"branches,omitempty"`
	Commits       map[string]*Commit `json:"commits,omitempty"`
	Pulls         map[int]*Pull      `json:"pulls,omitempty"`
	Rulesets      []Ruleset          `json:"rulesets,omitempty"`
}

// Branch is a branch.
type Branch struct {
	// Head is a SHA.
	Head       string      `json:"head,omitempty"`
	Protection *Protection `json:"protection,omitempty"`
}

// Commit is a commit and what was reported about it.
type Commit struct {
	Parent    string     `json:"parent,omitempty"`
	Message   string     `json:"message,omitempty"`
	Date      time.Time  `json:"date,omitempty"`
	Statuses  []Status   `json:"statuses,omitempty"`
	CheckRuns []CheckRun `json:"check_runs,omitempty"`
}

// Status is one commit status.
type Status struct {
	ID          int64     `json:"id,omitempty"`
	Context     string    `json:"context"`
	State       string    `json:"state"`
	Description string    `json:"description,omitempty"`
	TargetURL   string    `json:"target_url,omitempty"`
	Creator     string    `json:"creator,omitempty"`
	Created     time.Time `json:"created,omitempty"`
}

// CheckRun is one check run.
type CheckRun struct {
	ID         int64     `json:"id,omitempty"`
	Name       string    `json:"name"`
	Status     string    `json:"status"`
	Conclusion string    `json:"conclusion,omitempty"`
	App        string    `json:"app,omitempty"`
	AppID      int64     `json:"app_id,omitempty"`
	Started    time.Time `json:"started,omitempty"`
}

// Pull is a pull request.
type Pull struct {
	Title       string   `json:"title,omitempty"`
	Author      string   `json:"author,omitempty"`
	Association string   `json:"association,omitempty"`
	Closed      bool     `json:"closed,omitempty"`
	Draft       bool     `json:"draft,omitempty"`
	Labels      []string `json:"labels,omitempty"`
	Base        string   `json:"base,omitempty"`
	// BaseSHA is the newest commit of the base that its branch holds.
	BaseSHA string `json:"base_sha,omitempty"`
	Head    string `json:"head,omitempty"`
	HeadRef string `json:"head_ref,omitempty"`
	// HeadOwner owns the fork that its branch is in; empty: the repository itself.
	HeadOwner string `json:"head_owner,omitempty"`
	// Conflict makes it dirty.
	Conflict  bool      `json:"conflict,omitempty"`
	Approvals int       `json:"approvals,omitempty"`
	Files     []File    `json:"files,omitempty"`
	Comments  []Comment `json:"comments,omitempty"`
	Created   time.Time `json:"created,omitempty"`
	Updated   time.Time `json:"updated,omitempty"`
}

// File is a changed file.
type File struct {
	Name     string `json:"name"`
	Status   string `json:"status,omitempty"`
	Previous string `json:"previous,omitempty"`
}

// Comment is a comment of a pull request's conversation.
type Comment struct {
	ID      int64     `json:"id,omitempty"`
	Author  string    `json:"author,omitempty"`
	Body    string    `json:"body"`
	Created time.Time `json:"created,omitempty"`
	Updated time.Time `json:"updated,omitempty"`
	// Association is the author's to the repository; empty is MEMBER.
	Association string `json:"association,omitempty"`
}

// Ruleset is an active ruleset with the one rule that matters here.
type Ruleset struct {
	ID int64 `json:"id"`
	// Branches are names, or "*" for all. Repositories are for a ruleset of an organization; none: all.
	Branches     []string `json:"branches"`
	Repositories []string `json:"repositories,omitempty"`
	Checks       []Check  `json:"checks,omitempty"`
	Strict       bool     `json:"strict,omitempty"`
}

// Read reads a seed file, in YAML or JSON. An unknown field is an error.
func Read(path string) (*World, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // the user named the file
	if err != nil {
		return nil, fmt.Errorf("reading the seed: %w", err)
	}
	return Parse(raw)
}

// Parse reads a seed.
func Parse(raw []byte) (*World, error) {
	world := &World{}
	if err := yaml.UnmarshalStrict(raw, world); err != nil {
		return nil, fmt.Errorf("reading the seed: %w", err)
	}
	return world, nil
}

// SHA is the name of a commit made from a text: the same for the same.
func SHA(text string) string {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // a name, not a secret
	return hex.EncodeToString(sum[:])
}

// Repo gives a repository by its full name, and makes it when it is not there, with a branch main.
func (w *World) Repo(fullName string) *Repository {
	ownerName, name, _ := strings.Cut(fullName, "/")
	if w.Owners == nil {
		w.Owners = map[string]*Owner{}
	}
	owner := w.Owners[ownerName]
	if owner == nil {
		owner = &Owner{}
		w.Owners[ownerName] = owner
	}
	if owner.Repositories == nil {
		owner.Repositories = map[string]*Repository{}
	}
	repo := owner.Repositories[name]
	if repo == nil {
		repo = &Repository{Branches: map[string]*Branch{"main": {Head: SHA(fullName + " main")}}}
		owner.Repositories[name] = repo
	}
	return repo
}

// Branch gives a branch, and makes it when it is not there.
func (r *Repository) Branch(name string) *Branch {
	if r.Branches == nil {
		r.Branches = map[string]*Branch{}
	}
	if r.Branches[name] == nil {
		r.Branches[name] = &Branch{Head: SHA("branch " + name)}
	}
	return r.Branches[name]
}

// Commit gives a commit, and makes it when it is not there.
func (r *Repository) Commit(sha string) *Commit {
	if r.Commits == nil {
		r.Commits = map[string]*Commit{}
	}
	if r.Commits[sha] == nil {
		r.Commits[sha] = &Commit{}
	}
	return r.Commits[sha]
}

// Pull gives a pull request for the default branch, and makes it when it is not there.
func (r *Repository) Pull(number int) *Pull {
	if r.Pulls == nil {
		r.Pulls = map[int]*Pull{}
	}
	if r.Pulls[number] == nil {
		r.Pulls[number] = &Pull{}
	}
	return r.Pulls[number]
}

// Token adds a token of a user.
func (w *World) Token(value, login string) *Token {
	if w.Tokens == nil {
		w.Tokens = map[string]*Token{}
	}
	w.Tokens[value] = &Token{Login: login}
	return w.Tokens[value]
}

// complete fills in what a seed may leave out.
func (w *World) complete(now time.Time) {
	id := int64(1000)
	next := func(of *int64) {
		if id++; *of == 0 {
			*of = id
		}
	}
	for _, ownerName := range sortedKeys(w.Owners) {
		owner := w.Owners[ownerName]
		if owner.User && owner.Members == nil {
			owner.Members = map[string]string{ownerName: "admin"}
		}
		for _, name := range sortedKeys(owner.Repositories) {
			repo := owner.Repositories[name]
			next(&repo.ID)
			repo.complete(now)
			repo.number(next)
		}
	}
}

func (r *Repository) complete(now time.Time) {
	if len(r.Branches) == 0 {
		r.Branch("main")
	}
	if r.DefaultBranch == "" {
		r.DefaultBranch = sortedKeys(r.Branches)[0]
		for _, usual := range []string{"main", "master"} {
			if r.Branches[usual] != nil {
				r.DefaultBranch = usual
				break
			}
		}
	}
	for name, branch := range r.Branches {
		if branch.Head == "" {
			branch.Head = SHA(fmt.Sprintf("%d %s", r.ID, name))
		}
		r.Commit(branch.Head)
	}
	for number, pull := range r.Pulls {
		pull.complete(r, number, now)
	}
	for sha, commit := range r.Commits {
		if commit.Message == "" {
			commit.Message = "commit " + sha[:min(7, len(sha))]
		}
		if commit.Date.IsZero() {
			commit.Date = now
		}
	}
}

// number gives IDs to what has none, the same each time.
func (r *Repository) number(next func(*int64)) {
	for _, sha := range sortedKeys(r.Commits) {
		commit := r.Commits[sha]
		for i := range commit.Statuses {
			next(&commit.Statuses[i].ID)
		}
		for i := range commit.CheckRuns {
			next(&commit.CheckRuns[i].ID)
		}
	}
	for _, number := range sortedKeys(r.Pulls) {
		for i := range r.Pulls[number].Comments {
			next(&r.Pulls[number].Comments[i].ID)
		}
	}
}

func (p *Pull) complete(r *Repository, number int, now time.Time) {
	if p.Base == "" {
		p.Base = r.DefaultBranch
	}
	if p.BaseSHA == "" {
		p.BaseSHA = r.Branch(p.Base).Head
	}
	if p.Head == "" {
		p.Head = SHA(fmt.Sprintf("%d pull %d", r.ID, number))
	}
	if p.HeadRef == "" {
		p.HeadRef = fmt.Sprintf("patch-%d", number)
	}
	if p.Author == "" {
		p.Author = "octocat"
	}
	if p.Association == "" {
		p.Association = "CONTRIBUTOR"
	}
	if p.Title == "" {
		p.Title = fmt.Sprintf("Change %d", number)
	}
	if p.Created.IsZero() {
		p.Created, p.Updated = now, now
	}
	r.Commit(p.Head)
}

func sortedKeys[K ~string | ~int, V any](of map[K]V) []K {
	var keys []K
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
