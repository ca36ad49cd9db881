package deploymentstack

import (
	"context"
	"fmt"
	"strings"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/runbook"
)

// updateStack is the step that counts. The run is past return once it was started: what the stack lets go may be
// deleted.
func (u *update) updateStack() runbook.Step {
	return runbook.Step{
		Name: "update-stack", Changes: "what the template describes, and what the stack lets go", Irreversible: true,
		Guards: []string{"scope-there", "nothing-active"}, Preconditions: []runbook.Guard{u.groupThere()},
		Inputs: func(runbook.Run) (any, error) {
			return map[string]any{
				"stack": u.Stack, "content": u.content, "actionOnUnmanage": u.order.OnUnmanage,
				"bypassStackOutOfSyncError": u.order.BypassOutOfSync,
			}, nil
		},
		Observe: func(ctx context.Context, run runbook.Run) runbook.Observation {
			there, err := u.now(ctx)
			if err != nil {
				return runbook.NotObserved(err)
			}
			return u.observed(run, there)
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			body, err := u.order.body(u.tags(run))
			if err != nil {
				return apierr.New(apierr.Terminal, "%w", err)
			}
			if err := u.Azure.PutStack(ctx, u.name(), body); err != nil {
				return u.order.MaskError(err)
			}
			return nil
		},
		Await: u.await,
	}
}

// observed tells how far the update is. One of the same run with another content, from before the template was
// corrected, is waited for and then made anew.
func (u *update) observed(run runbook.Run, there sight) runbook.Observation {
	switch {
	case there.Stack == nil:
		return runbook.NotStarted("ARM has no stack of this name")
	case !there.ours(run):
		return runbook.NotStarted("the stack was updated by %s", updater(there.Tags[runTag]))
	case there.Active():
		return runbook.InFlight("the stack is %s", there.State)
	case there.Tags[contentTag] != u.content:
		return runbook.NotStarted("the stack has another content").Partially()
	case there.Succeeded():
		return runbook.Done("the stack is %s", there.State)
	}
	return runbook.NotStarted("the stack is %s: %s", there.State, there.Failure).Partially()
}

// await reads the stack until nothing works on it any more: it says itself how that ended.
func (u *update) await(ctx context.Context, run runbook.Run) error {
	var there sight
	err := backoff.Poll(ctx, u.Clock, func(ctx context.Context) (_ bool, err error) {
		if there, err = u.now(ctx); err == nil && there.Stack != nil {
			run.Report(runbook.Progress{Text: "stack " + u.Stack + " is " + there.State})
		}
		return there.Stack == nil || !there.Active(), err
	})
	switch {
	case err != nil:
		return fmt.Errorf("waiting for stack %q: %w", u.Stack, err)
	case !there.ours(run):
		return apierr.New(apierr.Conflict, "stack %q was updated or deleted by others while it was waited for", u.Stack)
	case there.Tags[contentTag] != u.content: // from before the template was corrected: the next attempt makes it anew
		return apierr.New(apierr.Conflict, "stack %q is %s with another content", u.Stack, there.State)
	case !there.Succeeded():
		return apierr.New(apierr.Terminal, "stack %q is %s: %s", u.Stack, there.State, there.Failure)
	}
	run.Summarize("%s", there.summary())
	return nil
}

// summary says what an update came to.
func (s sight) summary() string {
	said := "it manages " + counted(len(s.Resources))
	if len(s.Deleted) > 0 {
		said += "; deleted: " + listed(s.Deleted)
	}
	if len(s.Detached) > 0 {
		said += "; detached: " + listed(s.Detached)
	}
	return said
}

func counted(resources int) string {
	if resources == 1 {
		return "1 resource"
	}
	return fmt.Sprintf("%d resources", resources)
}

// listed names resources, and no more of them than anybody reads.
func listed(ids []string) string {
	const shown = 5
	var all []string
	for _, id := range ids[:min(shown, len(ids))] {
		all = append(all, short(id))
	}
	if more := len(ids) - shown; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// short is an ID from its resource group on, or as it is.
func short(id string) string {
	if _, rest, found := strings.Cut(id, "/resourceGroups/"); found {
		return rest
	}
	return id
}
