package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

const (
	// approvalPoll is how often it is looked for an answer.
	approvalPoll = 2 * time.Second
	// mostRefusals bounds the refused statements that are told of: anybody can write them.
	mostRefusals = 20
)

// Approvals is where people say what they think of a plan. What it gives is shown to
// come from who it says, and that one may approve; what it is good for, the engine
// decides.
type Approvals interface {
	// Requester is who asks: the identity under which this process acts.
	Requester(ctx context.Context, rule journal.ApprovalRule) (journal.Identity, error)
	// Statements are those about a question of a run. One that can't be believed comes
	// with the reason. It fails when it can't be seen what was said.
	Statements(ctx context.Context, rule journal.ApprovalRule, run string, question journal.Question) ([]Said, error)
}

// Said is a statement, or why it counts for nothing.
type Said struct {
	journal.Statement
	Refused error
	// Left is not about a statement: at least so many more were not read, to bound the work of a look.
	Left int
}

// waiting is one process's wait for the answer to one question.
type waiting struct {
	*execution
	rule     journal.ApprovalRule
	question journal.Question
	// unseen is when it was last looked, by this process's own clock: what is seen since then is not older. Clocks of
	// other machines are asked for nothing.
	unseen clockReading
	// since is unseen of when a statement was first seen.
	since map[string]clockReading
	told  map[string]bool
	blind string
}

// clockReading is a moment by both of a machine's clocks: one may stand still while the
// machine sleeps, and the other may be set back.
type clockReading struct{ at time.Time }

// since is the longer of what both clocks say.
func (c clockReading) since(now time.Time) time.Duration {
	return max(now.Sub(c.at), now.Round(0).Sub(c.at.Round(0)))
}

// awaitApproval journals a question about the plan and waits for the answer. It fails with
// *decided when the answer is no, or did not come in time.
func (x *execution) awaitApproval(
	ctx context.Context, rule journal.ApprovalRule, plan runbook.Plan,
) (approved, error) {
	if x.engine.Approvals == nil {
		return approved{}, &InvalidError{"this run waits for an approval, and there is nowhere to look for one"}
	}
	requester, err := x.engine.Approvals.Requester(ctx, rule)
	if err != nil {
		return approved{}, fmt.Errorf("asking for approval: who asks can't be told: %w", err)
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails, by its documentation
	w := &waiting{execution: x, rule: rule, told: map[string]bool{}, since: map[string]clockReading{}}
	w.question = journal.Question{
		ID: hex.EncodeToString(id), Digest: plan.Digest, Limits: x.book.Limits, Requester: requester,
	}
	// Before the question is known to anybody, nobody can have answered it.
	w.unseen = clockReading{x.engine.Clock.Now()}
	if err := x.append(ctx, journal.Asked, "", w.question); err != nil {
		return approved{}, err
	}
	x.emit(Event{Kind: ApprovalAsked, Plan: &plan, Text: "plan " + plan.Digest})
	return w.wait(ctx)
}

// approved is an approval that this process has seen, and since when it may count.
type approved struct {
	statement journal.Statement
	since     clockReading
}

// expired tells whether the approval is over.
func (a approved) expired(now time.Time) bool {
	return a.statement.Expires > 0 && a.since.since(now) >= a.statement.Lasts()
}

func (w *waiting) wait(ctx context.Context) (approved, error) {
	began := clockReading{w.engine.Clock.Now()}
	patience := time.Duration(w.rule.WaitSeconds * float64(time.Second))
	for {
		if err := w.leases.Check(ctx); err != nil {
			return approved{}, err
		}
		answer, found, err := w.look(ctx)
		if err != nil || found {
			return answer, err
		}
		if began.since(w.engine.Clock.Now()) >= patience {
			reason := fmt.Sprintf("plan %s was not approved within %s", w.question.Digest, patience)
			if w.blind != "" {
				reason += "; approvals can't be seen: " + w.blind
			}
			return approved{}, &decided{journal.Verdict{Outcome: runbook.Failed, Reason: reason}}
		}
		if err := clock.Sleep(ctx, w.engine.Clock, approvalPoll); err != nil {
			return approved{}, err
		}
	}
}

// look takes the answer if there is one. A denial counts before any approval.
func (w *waiting) look(ctx context.Context) (answer approved, found bool, _ error) {
	looked := clockReading{w.engine.Clock.Now()}
	said, err := w.engine.Approvals.Statements(ctx, w.rule, w.log.record.Run, w.question)
	if cause := context.Cause(ctx); cause != nil {
		return approved{}, false, cause
	}
	if err != nil { // what can't be seen was not said
		if w.blind != err.Error() {
			w.blind = err.Error()
			w.emit(Event{Kind: Waiting, Text: fmt.Sprintf("approvals can't be seen: %v", err)})
		}
		return approved{}, false, nil
	}
	w.blind = ""
	for _, one := range said {
		if _, known := w.since[one.ID]; !known {
			w.since[one.ID] = w.unseen
		}
	}
	w.unseen = looked
	if err := w.leave(ctx, said); err != nil {
		return approved{}, false, err
	}
	for _, denials := range []bool{true, false} {
		for _, one := range said {
			if one.Left > 0 || one.Denied != denials {
				continue
			}
			if err := w.admit(one); err != nil {
				if err := w.refuse(ctx, one, err); err != nil {
					return approved{}, false, err
				}
				continue
			}
			if one.Denied {
				return approved{}, false, w.denied(ctx, one.Statement)
			}
			return approved{one.Statement, w.since[one.ID]}, true, nil
		}
	}
	return approved{}, false, nil
}

// admit tells why a statement doesn't answer the question.
func (w *waiting) admit(said Said) error {
	used := false
	w.log.read(func(record *journal.Record) { used = record.Used(said.ID) })
	switch {
	case said.Refused != nil:
		return said.Refused
	case said.Run != w.log.record.Run:
		return fmt.Errorf("it is about run %q", said.Run)
	case said.Digest != w.question.Digest:
		return fmt.Errorf("it is about plan %q, the plan is %s", said.Digest, w.question.Digest)
	case said.Question != w.question.ID:
		return errors.New("it answers an earlier question: this process asks anew")
	case used:
		return errors.New("it was used already")
	case w.rule.FourEyes && said.By.Same(w.question.Requester) && !said.Denied:
		return fmt.Errorf("four eyes: %s asked for the approval, and can't give it", said.By)
	case said.Denied:
		return nil
	case said.Expires <= 0:
		return errors.New("it does not say how long it is good for")
	case (approved{said.Statement, w.since[said.ID]}).expired(w.engine.Clock.Now()):
		return fmt.Errorf("it was good for %s, and may be older than that", said.Lasts())
	}
	return narrows(w.question.Limits, said.Limits)
}

// narrows tells why limits are no lower than those that are.
func narrows(are, lowered map[string]int) error {
	for _, name := range slices.Sorted(maps.Keys(lowered)) {
		is, known := are[name]
		switch {
		case !known:
			return fmt.Errorf("it narrows %q, and the run has no such limit (%s)", name, listed(are))
		case lowered[name] > is:
			return fmt.Errorf("it widens %s from %d to %d: an approval can only narrow", name, is, lowered[name])
		case lowered[name] < 0:
			return fmt.Errorf("it narrows %s to %d", name, lowered[name])
		}
	}
	return nil
}

func listed(limits map[string]int) string {
	if len(limits) == 0 {
		return "it has none"
	}
	return "it has " + strings.Join(slices.Sorted(maps.Keys(limits)), ", ")
}

// refuse tells once of a statement that counts for nothing.
func (w *waiting) refuse(ctx context.Context, said Said, why error) error {
	if w.told[said.ID] || len(w.told) >= mostRefusals {
		return nil
	}
	w.told[said.ID] = true
	kind := "approval"
	if said.Denied {
		kind = "denial"
	}
	return w.warn(ctx, "", fmt.Sprintf("%s by %s refused: %v", kind, said.By, why))
}

// leave tells once that statements were left unread: an approval or a denial may be among them.
func (w *waiting) leave(ctx context.Context, said []Said) error {
	const unread = "unread"
	for _, one := range said {
		if one.Left == 0 || w.told[unread] {
			continue
		}
		w.told[unread] = true
		return w.warn(ctx, "", fmt.Sprintf("at least %d more statements about this plan were not read, an approval or a "+
			"denial may be among them. hint: interrupt the run and resume it, which asks anew", one.Left))
	}
	return nil
}

func (w *waiting) denied(ctx context.Context, statement journal.Statement) error {
	if err := w.append(ctx, journal.Denied, "", statement); err != nil {
		return err
	}
	reason := fmt.Sprintf("denied by %s", statement.By)
	if statement.From != "" {
		reason += " from " + statement.From
	}
	return &decided{journal.Verdict{Outcome: runbook.Failed, Reason: reason + ": " + statement.Reason}}
}
