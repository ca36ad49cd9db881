package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"salve/internal/permit"
	"salve/internal/triage"
	"salve/internal/triage/comment"
	"salve/internal/triage/show"
)

// triagePost says where the document is posted. Without --post nothing is.
type triagePost struct {
	where, repo, endpoint, tokenFile, author string
	number                                   int
}

func (p *triagePost) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&p.where, "post", "", "post the answer as one comment, which later ones replace: github")
	flags.StringVar(&p.repo, "repo", "", "`OWNER/REPO` of the pull request")
	flags.IntVar(&p.number, "pr", 0, "`NUMBER` of the pull request")
	flags.StringVar(&p.endpoint, "github-endpoint", "",
		"base `URL` of the API of a GitHub Enterprise Server (GITHUB_API_URL)")
	flags.StringVar(&p.tokenFile, "github-token-file", "", "`file` with the token (default: GITHUB_TOKEN)")
	flags.StringVar(&p.author, "github-author", "",
		"`ACCOUNT` that the token writes as (default: GitHub is asked; in GitHub Actions it is github-actions[bot])")
}

func (p *triagePost) validate() error {
	switch {
	case p.where == "" && (p.repo != "" || p.number != 0):
		return usage("--repo and --pr are for --post github: nothing is posted without it")
	case p.where == "":
		return nil
	case p.where != "github":
		return usage("--post %q: it is github", p.where)
	case p.repo == "" || p.number == 0:
		return usage("--post github requires --repo OWNER/REPO and --pr NUMBER")
	case strings.Count(p.repo, "/") != 1:
		return usage("--repo %q: it is OWNER/REPO", p.repo)
	}
	return nil
}

// send posts the document. Credentials in it are masked whatever --redact says: a comment can't be taken back.
func (p *triagePost) send(ctx context.Context, a *app, document triage.Document) error {
	if p.where == "" {
		return nil
	}
	owner, repo, _ := strings.Cut(p.repo, "/")
	poster, err := p.poster(a.lookup, owner, repo)
	if err != nil {
		return err
	}
	const marker = "<!-- salve-triage "
	posted, err := poster.Post(ctx, comment.Target{Owner: owner, Repo: repo, Number: p.number}, marker,
		show.Markdown(document, show.Options{}))
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "%s: comment %s: %s\n", a.name(), posted.Outcome, posted.URL)
	return nil
}

func (p *triagePost) poster(lookup func(string) string, owner, repo string) (*comment.Poster, error) {
	token := lookup("GITHUB_TOKEN")
	if p.tokenFile != "" {
		raw, err := readBounded(p.tokenFile, 64<<10)
		if err != nil {
			return nil, fmt.Errorf("--github-token-file: %w", err)
		}
		token = strings.TrimSpace(string(raw))
	}
	endpoint := p.endpoint
	if endpoint == "" {
		endpoint = lookup("GITHUB_API_URL")
	}
	return comment.New(comment.Options{
		BaseURL: endpoint, Token: token, Author: p.author, Access: permit.ForComments(owner, repo),
	})
}
