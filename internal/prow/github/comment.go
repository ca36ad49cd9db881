package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	gogithub "github.com/google/go-github/v92/github"

	"salve/internal/apierr"
)

// commentLimit is how long a comment may be, in characters; GitHub refuses a longer one with 422.
const commentLimit = 65536

// Comment is one comment of a pull request's conversation.
type Comment struct {
	ID           int64
	Author, Body string
	// Association is the author's to the repository, such as MEMBER or NONE.
	Association      string
	Created, Updated time.Time
}

// Comments lists the comments of a pull request, the oldest first.
func (c *Client) Comments(ctx context.Context, repo Repo, number int) ([]Comment, error) {
	if err := repo.check(); err != nil {
		return nil, err
	}
	var all []Comment
	err := eachPage(ctx, c, fmt.Sprintf("listing the comments of %s#%d", repo, number), repo.commentsPath(number), nil,
		func(page []*gogithub.IssueComment) (int, error) {
			for _, one := range page {
				comment, err := commentOf(repo, number, one)
				if err != nil {
					return 0, err
				}
				all = append(all, comment)
			}
			return len(page), nil
		})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// CreateComment adds a comment. A failure of class Transient means that it may be there: look for it by Comments,
// never write it again unseen.
func (c *Client) CreateComment(ctx context.Context, repo Repo, number int, body string) (Comment, error) {
	if err := repo.check(); err != nil {
		return Comment{}, err
	}
	if strings.TrimSpace(body) == "" || len(body) > commentLimit {
		return Comment{}, apierr.New(apierr.Terminal, "comment of %d bytes: expected 1 to %d", len(body), commentLimit)
	}
	doing := fmt.Sprintf("commenting on %s#%d", repo, number)
	answer, err := c.change(ctx, doing, http.MethodPost, repo.commentsPath(number), map[string]string{"body": body})
	if err != nil {
		return Comment{}, err
	}
	var created gogithub.IssueComment
	err = json.Unmarshal(answer, &created)
	if err == nil {
		var comment Comment
		if comment, err = commentOf(repo, number, &created); err == nil {
			return comment, nil
		}
	}
	return Comment{}, fmt.Errorf("%s: %w", doing, apierr.New(apierr.Transient, "answer: %w", err))
}

func (r Repo) commentsPath(number int) string {
	return r.path("issues", strconv.Itoa(number), "comments")
}

// commentOf checks by the comment's own link that it is of this pull request.
func commentOf(repo Repo, number int, one *gogithub.IssueComment) (Comment, error) {
	of := fmt.Sprintf("/repos/%s/issues/%d", repo, number)
	if link := one.GetIssueURL(); !strings.HasSuffix(strings.ToLower(link), strings.ToLower(of)) || one.GetID() == 0 {
		return Comment{}, otherObject("comment of", of, link)
	}
	return Comment{
		ID: one.GetID(), Author: one.GetUser().GetLogin(), Body: one.GetBody(), Association: one.GetAuthorAssociation(),
		Created: one.GetCreatedAt().Time, Updated: one.GetUpdatedAt().Time,
	}, nil
}
