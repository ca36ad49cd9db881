package unblockpulls

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"salve/internal/apierr"
	"salve/internal/prow/blocked"
	"salve/runbook"
)

// comment starts the job. Head and comments are read once more right before: GitHub knows no precondition for a
// comment.
func (a *action) comment(ctx context.Context, run runbook.Run, seen state) error {
	defer a.seen.Reset()
	defer a.prow.forget()
	if seen.Do != blocked.Trigger || seen.freed || seen.made != nil {
		return nil
	}
	body, err := a.body(run.ID(), seen)
	if err != nil {
		return err
	}
	pull, err := a.github.PullRequest(ctx, a.repo, a.planned.Number)
	if err != nil {
		return notWritten(err)
	}
	comments, err := a.github.Comments(ctx, a.repo, a.planned.Number)
	if err != nil {
		return notWritten(err)
	}
	accounts, err := a.accounts(ctx, run)
	if err != nil {
		return notWritten(err)
	}
	seen.Pull = pull
	now := blocked.Decide(seen.Question)
	switch {
	case now.Do == blocked.Unknown:
		return notWritten(errors.New(now.Reason))
	case now.Do != blocked.Trigger, markedBy(comments, accounts, a.planned.Head, a.planned.Context) != nil:
		return nil
	}
	if err := a.noteAccount(ctx, run); err != nil {
		return notWritten(err)
	}
	a.asked = a.prow.cluster.Clock.Now()
	_, err = a.github.CreateComment(ctx, a.repo, a.planned.Number, body)
	return err
}

func notWritten(err error) error {
	return &apierr.Error{
		Class: apierr.Conflict, RetryAfter: apierr.RetryAfter(err), Err: fmt.Errorf("nothing was written: %w", err),
	}
}

// body is the comment. All of it is what hook looks for commands in.
func (a *action) body(run string, seen state) (string, error) {
	body := fmt.Sprintf("%s\n\nThis status is required here, and nothing has reported it for %s: its job is started "+
		"once. (salve %s, run %s)\n%s\n", seen.Comment, a.planned.Head[:7], Name, run,
		marker(a.planned.Head, a.planned.Context))
	starts, err := blocked.Starts(seen.Presubmits, a.branch.Name, body)
	if err != nil {
		return "", apierr.New(apierr.Terminal, "%w", err)
	}
	if !slices.Equal(starts, []string{a.planned.Job}) {
		return "", apierr.New(apierr.Terminal, "nothing was written: the comment would start %q, and not job %s alone",
			starts, a.planned.Job)
	}
	return body, nil
}
