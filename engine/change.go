package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"salve/internal/apierr"
	"salve/internal/permit"
	"salve/journal"
	"salve/runbook"
)

// permitLasts is the default life of a permit.
const permitLasts = 2 * time.Minute

// change mints the permit, announces the change in the journal, and makes it.
func (p *performance) change(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err := p.leases.Check(ctx); err != nil {
		return err
	}
	lasts := p.step.PermitLasts
	if lasts == 0 {
		lasts = permitLasts
	}
	attempt := p.log.step(p.step.Name).Attempts + 1
	trail := &trail{attempt: attempt}
	var over atomic.Bool // from then on code that was left behind changes nothing any more
	granted := permit.Mint(permit.Terms{
		Run: p.log.record.Run, Target: p.book.Target.ID, Step: p.step.Name, Attempt: attempt, Epoch: p.leases.Epoch(),
		Expires: p.engine.Clock.Now().Add(lasts), Now: p.engine.Clock.Now, Note: trail.note,
		Lease: func(ctx context.Context) error {
			if over.Load() {
				return apierr.New(apierr.Conflict, "permit void: attempt %d has ended", attempt)
			}
			return p.leases.Check(ctx)
		},
	})
	trail.permit = granted.ID()
	intent := journal.Intent{Attempt: attempt, Permit: granted.ID(), Irreversible: p.step.Irreversible,
		BudgetSeconds: p.step.Budget.Seconds()}
	if p.step.Inputs != nil {
		inputs, err := try(ctx, p.engine.Clock, p.step.Grace, func() (any, error) {
			return p.step.Inputs(p.view(p.step.Name))
		})
		if err != nil {
			return fmt.Errorf("step %s: %w", p.step.Name, err)
		}
		if intent.Inputs, err = encodeJSON(inputs); err != nil {
			return fmt.Errorf("step %s: %w", p.step.Name, err)
		}
	}
	if err := p.append(ctx, journal.Intended, p.step.Name, intent); err != nil {
		return err
	}
	p.emit(Event{Kind: StepBegan, Step: p.step.Name, Attempt: attempt, Irreversible: p.step.Irreversible})
	applying := permit.NewContext(ctx, granted)
	err := call(applying, p.engine.Clock, p.step.Grace, func() error {
		return p.step.Apply(applying, p.view(p.step.Name))
	}, itself)
	over.Store(true)
	if made := trail.entry(p.step.Name); made != nil {
		if journalErr := p.log.append(ctx, *made); journalErr != nil {
			return journalErr
		}
	}
	if err != nil {
		return p.unsuccessful(ctx, err, trail.applied(err))
	}
	return nil
}

// applied says what a failed Apply means: refused, failed, or not known. It is a refusal only
// when the error's class says that nothing happened and every request that left was
// refused as well: the last of several may be, after the others were not. Work that has
// been begun and sends no requests is never refused.
func (t *trail) applied(err error) journal.Result {
	if asks(err) {
		return journal.Result{Result: journal.Failure}
	}
	if apierr.MayHaveHappened(err) || !t.allRefused() {
		return journal.Result{Result: journal.Unknown}
	}
	return journal.Result{Result: journal.Failure, Refused: !ended(err)}
}

// asks tells errors of a step that came to its end, and whose operator has to say how to go on.
func asks(err error) bool {
	var question *runbook.QuestionError
	return errors.As(err, &question)
}

// ended tells errors of work that was begun, and of which nothing is under way any longer.
func ended(err error) bool {
	var over *runbook.EndedError
	return errors.As(err, &over)
}

// awaited says what a failed wait means. The change was accepted: unless its
// operation ended, or was pushed aside, what becomes of it is not known.
func awaited(err error) journal.Result {
	if asks(err) {
		return journal.Result{Result: journal.Failure}
	}
	switch apierr.ClassOf(err) {
	case apierr.Terminal, apierr.Conflict, apierr.Missing:
		return journal.Result{Result: journal.Failure}
	case apierr.Transient, apierr.Throttled, apierr.Denied, apierr.Unclassified:
	}
	return journal.Result{Result: journal.Unknown}
}

// await waits until the change is complete. When the run itself is stopped the
// intent stays open, for the next one to look.
func (p *performance) await(ctx, limited context.Context) error {
	if p.step.Await != nil {
		err := call(limited, p.engine.Clock, p.step.Grace, func() error {
			return p.step.Await(limited, p.view(p.step.Name))
		}, itself)
		if err != nil {
			switch {
			case context.Cause(ctx) != nil:
				return context.Cause(ctx)
			case context.Cause(limited) != nil:
				late := &overdue{fmt.Errorf("not complete within %s: %w", p.step.Budget, err)}
				return p.unsuccessful(ctx, late, journal.Result{Result: journal.Unknown})
			}
			return p.unsuccessful(ctx, err, awaited(err))
		}
	}
	return p.record(ctx, p.step, journal.Result{Result: journal.Done})
}

// unsuccessful journals an attempt that was refused, or of which the answer was
// lost, and gives the error back.
func (p *performance) unsuccessful(ctx context.Context, err error, result journal.Result) error {
	if ends(err) {
		return err
	}
	result.Reason, result.Class = err.Error(), apierr.ClassOf(err)
	var panicked *apierr.PanicError
	if errors.As(err, &panicked) {
		result.Stack, panicked.Journaled = panicked.Stack, true
	}
	if journalErr := p.record(ctx, p.step, result); journalErr != nil {
		return journalErr
	}
	return fmt.Errorf("step %s: %w", p.step.Name, err)
}

// mostRequests bounds the requests that are listed of one attempt.
const mostRequests = 1000

// trail gathers the requests that were made under a permit.
type trail struct {
	attempt int
	permit  string

	mu   sync.Mutex
	made []journal.Request
	at   map[permit.Request]int
	more int
}

// note lists a request as it leaves, so that one whose answer never comes, or comes
// to code that was left behind, is listed too.
func (t *trail) note(sent permit.Request) (answered func(permit.Request)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count(sent, 1)
	return func(answer permit.Request) {
		t.mu.Lock()
		defer t.mu.Unlock()
		i, listed := t.at[sent]
		if _, known := t.at[answer]; listed && !known && t.made[i].Count == 1 {
			delete(t.at, sent) // the answer takes its line
			t.at[answer], t.made[i] = i, line(answer)
			return
		}
		t.count(sent, -1)
		t.count(answer, 1)
	}
}

func (t *trail) count(request permit.Request, by int) {
	i, listed := t.at[request]
	switch {
	case listed:
		t.made[i].Count += by
		return
	case len(t.made) == mostRequests:
		t.more += by
		return
	case t.at == nil:
		t.at = map[permit.Request]int{}
	}
	t.at[request] = len(t.made)
	t.made = append(t.made, line(request))
}

func line(r permit.Request) journal.Request {
	return journal.Request{Method: r.Method, Path: r.Path, Status: r.Status, Class: r.Class, Count: 1}
}

// allRefused tells whether every request that is listed was answered by a refusal,
// after which nothing of it has happened: an answer of the 4xx. More than are listed
// are not known.
func (t *trail) allRefused() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.more == 0 && !slices.ContainsFunc(t.made, func(r journal.Request) bool {
		return r.Count > 0 && (r.Status < http.StatusBadRequest || r.Status >= http.StatusInternalServerError)
	})
}

// entry is the trail as the journal keeps it; nil when nothing was requested.
func (t *trail) entry(step string) *journal.Pending {
	t.mu.Lock()
	defer t.mu.Unlock()
	made := slices.DeleteFunc(slices.Clone(t.made), func(r journal.Request) bool { return r.Count == 0 })
	if len(made) == 0 {
		return nil
	}
	return &journal.Pending{Kind: journal.Requested, Step: step, Data: journal.Requests{
		Attempt: t.attempt, Permit: t.permit, Made: made, More: t.more,
	}}
}
