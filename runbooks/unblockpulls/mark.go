package unblockpulls

import (
	"context"
	"slices"
	"strings"
	"sync"

	"salve/internal/prow/github"
	"salve/runbook"
)

// accountsNote is the name of the note with the accounts that a run commented as.
const accountsNote = "accounts"

// own is the account that the token speaks for, asked once in a process.
type own struct {
	lock  sync.Mutex
	login string
}

func (u *unblocking) account(ctx context.Context) (string, error) {
	u.own.lock.Lock()
	defer u.own.lock.Unlock()
	if u.own.login == "" {
		who, err := u.github.Identity(ctx)
		if err != nil {
			return "", err
		}
		u.own.login = who.Login
	}
	return u.own.login, nil
}

// accounts are the token's, and those that an earlier process of this run commented as: its token may have been
// another one's. Run is nil while there is none.
func (u *unblocking) accounts(ctx context.Context, run runbook.Run) ([]string, error) {
	login, err := u.account(ctx)
	if err != nil {
		return nil, err
	}
	var accounts []string
	if run != nil {
		if _, err := run.Recall(accountsNote, &accounts); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(accounts, func(one string) bool { return strings.EqualFold(one, login) }) {
		accounts = append(accounts, login)
	}
	return accounts, nil
}

// noteAccount writes down, before a comment is made, as whom.
func (u *unblocking) noteAccount(ctx context.Context, run runbook.Run) error {
	accounts, err := u.accounts(ctx, run)
	if err != nil {
		return err
	}
	var noted []string
	if _, err := run.Recall(accountsNote, &noted); err != nil || slices.Equal(noted, accounts) {
		return err
	}
	return run.Note(ctx, accountsNote, accounts)
}

// markedBy finds the comment that was made for a context on a head, by one of our accounts or by somebody of those whom
// the repository belongs to: the run of a colleague with another token. Anybody may write a comment, and copy a mark
// out of another one: a stranger's keeps nothing from being asked for.
func markedBy(comments []github.Comment, accounts []string, head, context string) *github.Comment {
	mark := marker(head, context)
	at := slices.IndexFunc(comments, func(comment github.Comment) bool {
		return strings.Contains(comment.Body, mark) && (trusted(comment.Association) ||
			slices.ContainsFunc(accounts, func(one string) bool { return strings.EqualFold(one, comment.Author) }))
	})
	if at < 0 {
		return nil
	}
	return &comments[at]
}

// trusted tells the repository's owner and members of its organization. A COLLABORATOR is anybody who was invited, be
// it to read or to triage: not all may write, and Prow need not heed them
// (https://docs.github.com/graphql/reference/enums#commentauthorassociation).
func trusted(association string) bool { return association == "OWNER" || association == "MEMBER" }
