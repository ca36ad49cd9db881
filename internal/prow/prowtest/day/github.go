package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
)

// The tokens are known to the GitHub of the day alone: that of an administrator, and that of Prow's own account.
const (
	token    = "ghp_ofthedayalone"
	admin    = "oncall"
	botToken = "ghp_ofthedaysbot" //nolint:gosec // of a GitHub that ends with the day
	botLogin = "prow-bot"
)

// serveGitHub serves the organization: two repositories that nothing protects yet, with open pull requests.
func (d *day) serveGitHub(ctx context.Context) error {
	d.github = githubsim.New(githubsim.Options{})
	d.github.Update(func(world *githubsim.World) {
		world.Token(token, admin)
		world.Token(botToken, botLogin)
		for _, name := range []string{"example/app", "example/infra"} {
			world.Repo(name).Collaborators = map[string]string{admin: "admin", botLogin: "admin"}
		}
		for _, number := range pullRequests() {
			pull := world.Repo("example/app").Pull(number)
			pull.Author, pull.Association = "contributor", "MEMBER"
			pull.Head = headOf(number)
			pull.Files = []githubsim.File{{Name: "main.go", Status: "modified"}}
			world.Repo("example/app").Commit(pull.Head).Statuses = []githubsim.Status{
				{Context: "pull-app-unit", State: "success"}, {Context: missed, State: "success"},
			}
		}
		push(world)
	})
	url, stop, err := d.github.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	d.ending = append(d.ending, func() error { stop(); return nil })
	d.bot = prowtest.GitHub{Endpoint: url, TokenFile: filepath.Join(d.folder, "token")}
	if err := os.WriteFile(d.bot.TokenFile, []byte(botToken), 0o600); err != nil {
		return fmt.Errorf("writing the token of Prow's bot: %w", err)
	}
	return nil
}

// pullRequests are the open ones of example/app whose jobs are done: they only wait to be merged.
func pullRequests() []int { return []int{11, 12, 13} }

// headOf is the head of a pull request.
func headOf(number int) string { return githubsim.SHA(fmt.Sprintf("pull request %d", number)) }

// oldProtector does what a branchprotector of before February 2019 does over an unchanged configuration: it requires
// the conditional jobs as well. No such program can be built any more.
func (d *day) oldProtector() {
	d.github.Update(func(world *githubsim.World) {
		world.Repo("example/app").Branch("main").Protection =
			githubsim.Require("pull-app-docs", missed, "pull-app-unit")
		world.Repo("example/infra").Branch("main").Protection = githubsim.Require("pull-infra-bump", "pull-infra-unit")
	})
}
