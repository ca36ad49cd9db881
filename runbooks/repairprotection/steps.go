package repairprotection

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/internal/prow/brief"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
	"salve/runbook"
	"salve/runbooks/repairprotection/branches"
)

const (
	// stepBudget holds a wait for GitHub's next hour.
	stepBudget = 2 * time.Hour
	// settles is how long GitHub may take to show what was written.
	settles = time.Minute
	// recordName is the step that comes before all branches.
	recordName = "record-revision"
)

// recordRevision comes first: from the first change on the configuration counts as applied, whatever becomes of the
// run, so that an older one is refused.
func (r *repair) recordRevision() runbook.Step {
	return runbook.Step{
		Name: recordName, After: []string{runbook.Start}, Guards: beforeEach(),
		Changes: fmt.Sprintf("record in namespace %s that this configuration is applied", r.in.RecordNamespace),
		Inputs:  func(runbook.Run) (any, error) { return r.applied(), nil },
		Observe: func(ctx context.Context, _ runbook.Run) runbook.Observation {
			applied, err := r.cluster.Applied(ctx)
			switch {
			case err != nil:
				return runbook.NotObserved(err)
			case applied == nil:
				return runbook.NotStarted("nothing is recorded")
			case !applied.Same(r.applied()):
				return runbook.NotStarted("recorded is revision %s", applied.Revision)
			}
			return runbook.Done("revision %s is recorded, by run %s", applied.Revision, applied.Run)
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			applied := r.applied()
			applied.Run = run.ID()
			return r.cluster.Record(ctx, applied, r.cluster.Cluster.Clock.Now())
		},
	}
}

// branchStep is the step of one branch.
type branchStep struct {
	*repair
	at      int
	planned Planned
	seen    runbook.Shared[protection.State]
}

// stepName is that of a branch's step. What a terminal would not show as it is, is quoted.
func (r *repair) stepName(i int) string {
	verbs := map[protection.Kind]string{
		protection.Protect: "protect", protection.Unprotect: "unprotect", protection.Leftover: "remove-leftovers",
		protection.Restore: "restore",
	}
	return verbs[r.rules[i].Kind] + " " + visible(r.rules[i].Branch.String())
}

func visible(name string) string {
	if strings.ContainsFunc(name, func(char rune) bool { return !unicode.IsPrint(char) }) {
		return strconv.QuoteToASCII(name)
	}
	return name
}

func (r *repair) branch(i int) *branchStep {
	return &branchStep{repair: r, at: i, planned: r.in.Branches[i]}
}

func (r *repair) step(b *branchStep) runbook.Step {
	return runbook.Step{
		Name: r.stepName(b.at), After: []string{r.first}, Guards: beforeEach(), Changes: b.changes(),
		Preconditions: []runbook.Guard{b.asPlanned(), b.contextsReported()},
		Budget:        stepBudget,
		Inputs:        b.inputs,
		Observe:       runbook.Observe(b.read, observe),
		Apply:         runbook.Act(b.read, b.apply),
		Await:         b.await,
	}
}

func (b *branchStep) changes() string {
	switch b.rules[b.at].Kind {
	case protection.Unprotect:
		return "take the protection away: " + b.in.AllowUnprotect[b.planned.Branch]
	case protection.Leftover:
		return "no longer require the contexts that Prow once required; all else stays"
	case protection.Restore:
		return "put the protection back that the branch had before the run"
	case protection.Protect:
	}
	return "write the protection with the fields that the configuration speaks about; all else stays"
}

// read gives the branch, read once in a round.
func (b *branchStep) read(ctx context.Context, run runbook.Run) (protection.State, error) {
	return b.seen.Get(ctx, run, func(ctx context.Context) (protection.State, error) {
		return b.look(ctx)
	})
}

// look reads the branch afresh.
func (b *branchStep) look(ctx context.Context) (protection.State, error) {
	if err := b.known(ctx); err != nil {
		return protection.State{}, err
	}
	return b.branches.State(ctx, b.rules[b.at])
}

// longest bounds what is said of one branch, in the plan of all and in its own intent.
const (
	longestInPlan   = 300
	longestInIntent = 8000
)

// inputs are what the plan shows, and what the change is made with.
func (b *branchStep) inputs(runbook.Run) (any, error) {
	state, longest := b.seen.Last(), longestInIntent
	if all := b.all.Last(); state.Kind == "" && b.at < len(all) {
		state, longest = all[b.at], longestInPlan
	}
	inputs := map[string]string{
		"branch": b.planned.Branch, "live": b.planned.Live, "want": b.planned.Want,
	}
	if state.Kind != "" {
		inputs["change"] = bounded(describe(state), longest)
	}
	return inputs, nil
}

// describe says what changes: of contexts only those that come or go.
func describe(state protection.State) string {
	var said []string
	for _, list := range []struct {
		verb     string
		contexts []string
	}{{"no longer required", state.Removed()}, {"required from now on", state.Added()}} {
		if len(list.contexts) > 0 && state.Protected {
			said = append(said, list.verb+": "+strings.Join(list.contexts, ", "))
		}
	}
	for _, difference := range state.Differences {
		if difference.Field != "required_status_checks.checks" || len(said) == 0 {
			said = append(said, difference.String())
		}
	}
	return strings.Join(said, "; ")
}

func bounded(text string, longest int) string {
	runes := []rune(text)
	if len(runes) <= longest {
		return text
	}
	return string(runes[:longest-1]) + "…"
}

// observe says how far the change of a branch is. What is right is done, whoever made it so.
func observe(state protection.State) runbook.Observation {
	switch {
	case state.Gone:
		return runbook.Done("the branch is gone")
	case state.Right():
		return runbook.Done("it is as the configuration says")
	case state.Written():
		return runbook.NotStarted("%s", describe(state)).Partially()
	}
	return runbook.NotStarted("%s", bounded(describe(state), longestInIntent))
}

// asPlanned is a condition of each change: what was approved is what is written, and nothing is wiped.
func (b *branchStep) asPlanned() runbook.Guard {
	return runbook.Ask("as-planned", "is the branch as it was planned, and would no field be wiped?", b.readState,
		func(state branchState) runbook.Finding { return asPlanned(state, b.planned) })
}

func asPlanned(state branchState, planned Planned) runbook.Finding {
	switch {
	case state.Right:
		return runbook.Yes("nothing is to be written")
	case len(state.Unknown) > 0 && state.Protected:
		return runbook.No("a whole write would wipe fields that are not known: %s. hint: change the protection by hand",
			brief.List(state.Unknown)).WithOutcome(runbook.NeedsAttention)
	case state.Live == planned.Live:
		return runbook.Yes("it is as it was planned")
	case state.Want == planned.Want:
		return runbook.Yes("it was changed since the plan, and is to be the same")
	}
	return runbook.No("it was changed since the plan: %s. hint: salve abandon this run, and plan again",
		state.Change).WithOutcome(runbook.NeedsAttention)
}

// contextsReported is asked of the branch alone: a context that somebody took away by hand since the plan is not made
// required again, unless it is reported.
func (b *branchStep) contextsReported() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) ([]branches.Demand, error) {
		state, err := b.read(ctx, run)
		if err != nil || state.Right() {
			return nil, err
		}
		return b.branches.Demands(ctx, []protection.State{state})
	}
	return runbook.Ask("branch-contexts-reported", "does somebody report each context that becomes required here?", read,
		contextsReported)
}

// apply keeps what is there, and writes.
func (b *branchStep) apply(ctx context.Context, run runbook.Run, state protection.State) error {
	defer b.seen.Reset()
	if err := b.keep(ctx, run, state); err != nil {
		return err
	}
	branch := state.Live.Branch
	switch {
	case state.Right():
		return nil
	case !state.Protected:
		return b.github.RemoveProtection(ctx, branch)
	case !state.Written():
		if err := b.write(ctx, branch, state); err != nil {
			return err
		}
	}
	if !state.SignaturesDiffer() {
		return nil
	}
	return b.github.RequireSignatures(ctx, branch, state.Want.Signatures)
}

// write replaces the whole object. Who changed it since it was read can't be told by GitHub, which knows no
// precondition for this write: it is read right before.
func (b *branchStep) write(ctx context.Context, branch github.Branch, state protection.State) error {
	now, err := b.look(ctx)
	switch {
	case err != nil:
		return &apierr.Error{Class: apierr.Conflict, Err: fmt.Errorf("nothing was written: %w", err)}
	case now.LiveDigest() != state.LiveDigest():
		return apierr.New(apierr.Conflict, "nothing was written: %s was changed while it was looked at", state.Branch)
	}
	_, err = b.github.SetProtection(ctx, branch, state.Want)
	return err
}

// await waits until what was written is seen, and then until the next branch may be asked about.
func (b *branchStep) await(ctx context.Context, run runbook.Run) error {
	limited, cancel := clock.WithTimeout(ctx, b.cluster.Cluster.Clock, settles)
	defer cancel()
	var state protection.State
	err := backoff.Poll(limited, b.cluster.Cluster.Clock, func(ctx context.Context) (_ bool, err error) {
		state, err = b.look(ctx)
		return state.Right(), err
	})
	if err != nil {
		return &apierr.Error{
			Class: apierr.Transient, RetryAfter: apierr.RetryAfter(err),
			Err: fmt.Errorf("written, and not yet to be seen: %s: %w", bounded(describe(state), longestInPlan), err),
		}
	}
	run.Summarize("read back, and as the configuration says")
	return b.pace(ctx, run, b.at == len(b.rules)-1)
}
