package comment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-github/v92/github"

	"salve/internal/apierr"
	"salve/internal/backoff"
)

// Outcome is what became of a post.
type Outcome string

// The outcomes.
const (
	Created   Outcome = "created"
	Updated   Outcome = "updated"
	Unchanged Outcome = "unchanged" // the comment says it already
)

// Posted is a comment that is there.
type Posted struct {
	Outcome Outcome
	ID      int64
	URL     string // for people
	// Others are further comments of the same account with the marker. They are left alone.
	Others int
}

// Post makes the report the comment of the pull request that begins with the marker: the oldest that this account
// wrote is updated, or one is created. The body begins with a line that begins with the marker.
//
// Reads are repeated for a while if GitHub stumbles; changes never are. If the answer to a change is lost, Post looks
// whether it was made. If another process posted at the same time, the older comment stays and the one of this call is
// taken away again. Errors have a class of apierr.
func (p *Poster) Post(ctx context.Context, t Target, marker, body string) (Posted, error) {
	if err := check(t, marker, body); err != nil {
		return Posted{}, err
	}
	posted, err := posting{Poster: p, target: t, marker: marker, body: body}.post(ctx)
	if err != nil {
		return Posted{}, fmt.Errorf("posting to %s: %w", t, err)
	}
	return posted, nil
}

// posting is one call of Post.
type posting struct {
	*Poster
	target       Target
	author       string
	marker, body string
}

func (p posting) post(ctx context.Context) (Posted, error) {
	author, err := p.whoAmI(ctx)
	if err != nil {
		return Posted{}, err
	}
	p.author = author
	ours, err := p.ours(ctx)
	switch {
	case err != nil:
		return Posted{}, err
	case len(ours) > 0:
		return p.update(ctx, ours)
	}
	return p.create(ctx)
}

// create adds a comment, and looks what is there then: whether ours is if the answer was lost, and whether another
// process added one at the same time. Both see the same oldest, which stays; who added another one takes that away.
func (p posting) create(ctx context.Context) (Posted, error) {
	var added *github.IssueComment
	err := p.change(ctx, func(ctx context.Context) (err error) {
		added, _, err = p.api.Issues.CreateComment(ctx, p.target.Owner, p.target.Repo, p.target.Number,
			github.IssueCommentRequest{Body: p.body})
		return err
	})
	if err != nil && !apierr.MayHaveHappened(err) {
		return Posted{}, err
	}
	ours, lookErr := p.ours(ctx)
	isAdded := func(c *github.IssueComment) bool { return c.GetID() == added.GetID() }
	switch {
	case err == nil && lookErr != nil:
		return posted(Created, []*github.IssueComment{added}), nil // whether there is another can't be seen
	case err == nil && !slices.ContainsFunc(ours, isAdded):
		ours = append(ours, added) // the list is behind
	case err != nil && (lookErr != nil || len(ours) == 0):
		return Posted{}, err
	case err != nil:
		added = nil
		for _, c := range ours {
			if same(c.GetBody(), p.body) {
				added = c
			}
		}
	}
	switch {
	case added == nil:
		return p.update(ctx, ours)
	case added.GetID() == ours[0].GetID():
		return posted(Created, ours), nil
	}
	err = p.change(ctx, func(ctx context.Context) error {
		_, err := p.api.Issues.DeleteComment(ctx, p.target.Owner, p.target.Repo, added.GetID())
		return err
	})
	if err != nil {
		return Posted{}, fmt.Errorf("taking away the second of two comments: %w", err)
	}
	return p.update(ctx, slices.DeleteFunc(ours, isAdded))
}

// update changes the oldest of our comments.
func (p posting) update(ctx context.Context, ours []*github.IssueComment) (Posted, error) {
	if same(ours[0].GetBody(), p.body) {
		return posted(Unchanged, ours), nil
	}
	err := p.change(ctx, func(ctx context.Context) error {
		_, _, err := p.api.Issues.UpdateComment(ctx, p.target.Owner, p.target.Repo, ours[0].GetID(),
			github.IssueCommentRequest{Body: p.body})
		return err
	})
	if err != nil && apierr.MayHaveHappened(err) && p.says(ctx, ours[0].GetID()) {
		err = nil
	}
	if err != nil {
		return Posted{}, err
	}
	return posted(Updated, ours), nil
}

// says is whether a comment is known to have the text.
func (p posting) says(ctx context.Context, id int64) bool {
	ours, err := p.ours(ctx)
	return err == nil && slices.ContainsFunc(ours, func(c *github.IssueComment) bool {
		return c.GetID() == id && same(c.GetBody(), p.body)
	})
}

func posted(outcome Outcome, ours []*github.IssueComment) Posted {
	return Posted{Outcome: outcome, ID: ours[0].GetID(), URL: short(ours[0].GetHTMLURL()), Others: len(ours) - 1}
}

// same is whether two texts are the same to GitHub, which ends lines as it likes and trims.
func same(one, other string) bool {
	plain := func(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }
	return plain(one) == plain(other)
}

// whoAmI is the account that the token writes as.
func (p *Poster) whoAmI(ctx context.Context) (string, error) {
	if p.author != "" {
		return p.author, nil
	}
	var login string
	err := p.read(ctx, func(ctx context.Context) error {
		user, _, err := p.api.Users.Get(ctx, "")
		login = user.GetLogin()
		return err
	})
	const doing = "asking which account the token writes as"
	switch {
	case apierr.ClassOf(err) == apierr.Denied:
		return "", fmt.Errorf("%s: %w. hint: an app's token needs --github-author, such as github-actions[bot]", doing, err)
	case err != nil:
		return "", fmt.Errorf("%s: %w", doing, err)
	case login == "":
		return "", apierr.New(apierr.Terminal, "%s: a user without a login", doing)
	}
	return login, nil
}

// ours are the comments of the account that begin with the marker, the oldest first. All pages are read: a part of them
// could lack it.
func (p posting) ours(ctx context.Context) ([]*github.IssueComment, error) {
	var found []*github.IssueComment
	options := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: perPage, Page: 1}}
	for range maximumPages {
		var page []*github.IssueComment
		var next int
		err := p.read(ctx, func(ctx context.Context) error {
			comments, response, err := p.api.Issues.ListComments(ctx, p.target.Owner, p.target.Repo, p.target.Number, options)
			if err == nil {
				page, next = comments, response.NextPage
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("listing the comments: %w", err)
		}
		for _, c := range page {
			if c.GetID() != 0 && strings.EqualFold(c.GetUser().GetLogin(), p.author) && marked(c.GetBody(), p.marker) {
				found = append(found, c)
			}
		}
		if next == 0 {
			slices.SortFunc(found, func(a, b *github.IssueComment) int { return cmp.Compare(a.GetID(), b.GetID()) })
			return found, nil
		}
		options.Page = next
	}
	return nil, apierr.New(apierr.Terminal, "more than %d comments", maximumPages*perPage)
}

// read repeats a read for a while. What GitHub said last is the error, rather than that the while was over.
func (p *Poster) read(ctx context.Context, call func(context.Context) error) error {
	var said error
	err := backoff.Retry(ctx, p.clock, func(limited context.Context) error {
		err := p.classify(call(limited))
		if limited.Err() == nil {
			said = err
		}
		return err
	})
	if err != nil && said != nil && ctx.Err() == nil {
		return said
	}
	return err
}

func (p *Poster) change(ctx context.Context, call func(context.Context) error) error {
	return backoff.Once(ctx, p.clock, func(ctx context.Context) error { return p.classify(call(ctx)) })
}
