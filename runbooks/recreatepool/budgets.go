package recreatepool

import (
	"context"
	"fmt"
	"time"

	"salve/kube"
	"salve/runbook"
)

// What a run does when a drain's deadline has passed and PodDisruptionBudgets keep pods on the nodes.
const (
	// WaitOnBlockedDrain drains on, for as long as the run may take.
	WaitOnBlockedDrain = "wait"
	// AskOnBlockedDrain parks the run with a question.
	AskOnBlockedDrain = "ask"
	// ForceOnBlockedDrain deletes the pods with their pool. It takes an override of budgets-respected, with its reason.
	ForceOnBlockedDrain = "force"
)

func blockedDrains() []string {
	return []string{WaitOnBlockedDrain, AskOnBlockedDrain, ForceOnBlockedDrain}
}

// budgetsGuard is the guard that an operator overrides to have pods deleted against their budgets.
const budgetsGuard = "budgets-respected"

// blockedNote keeps what the drain of the pool was blocked by; null once a drain was not.
const blockedNote = "blocked-drain"

// mostBlocked bounds the pods that are noted.
const mostBlocked = 50

// blockedDrain is a drain whose deadline passed with pods left that could not be evicted.
type blockedDrain struct {
	Left []kube.RemainingPod `json:"left"`
	// More counts the pods that are not listed.
	More int `json:"more,omitempty"`
	// Failure is what AKS said, when it was its own drain that was blocked.
	Failure string `json:"failure,omitempty"`
}

func (b blockedDrain) String() string {
	if b.Failure != "" {
		return b.Failure
	}
	text := kube.DrainResult{Remaining: b.Left}.Blockers()
	if b.More > 0 {
		text += fmt.Sprintf(", and %d more", b.More)
	}
	return text
}

// blockedBy tells what keeps pods on nodes; nil when those that are left are ending.
func blockedBy(left kube.DrainResult) *blockedDrain {
	var blocked []kube.RemainingPod
	for _, pod := range left.Remaining {
		if pod.Blocker != "" {
			blocked = append(blocked, pod)
		}
	}
	if len(blocked) == 0 {
		return nil
	}
	listed := min(len(blocked), mostBlocked)
	return &blockedDrain{Left: blocked[:listed], More: len(blocked) - listed}
}

// budgets is what tells whether pods would be deleted against their budgets.
type budgets struct {
	Inputs `json:"-"`
	Now    time.Time `json:"now"`
	// Blocked is what the drain of the pool was blocked by; null when it was not, or is to come.
	Blocked *blockedDrain `json:"blocked"`
}

func (b *budgets) about(in Inputs) { b.Inputs = in }

func (r *recreation) readBudgets(_ context.Context, run runbook.Run) (budgets, error) {
	seen := budgets{Inputs: r.Inputs, Now: r.Clock.Now()}
	_, err := run.Recall(blockedNote, &seen.Blocked)
	return seen, err
}

func (r *recreation) budgetsRespected() runbook.Guard {
	return ask(r.Inputs, budgetsGuard, "is no pod deleted against its PodDisruptionBudget?", r.readBudgets,
		budgetsRespected)
}

// budgetsRespected holds unless the run is to force a blocked drain, or the pool would be deleted with pods on it that
// its drain could not evict. Only an override passes over it: it has the reason.
func budgetsRespected(seen budgets) runbook.Finding {
	finding := runbook.Yes("pods are evicted as their budgets allow, and a blocked drain: %s", seen.BlockedDrain())
	switch {
	case seen.Blocked != nil:
		finding = runbook.No("these pods would be deleted against their budgets: %s", seen.Blocked).
			WithEvidence(runbook.NewEvidence("drain of pool "+seen.Pool, "", seen.Now, seen.Blocked))
	case seen.BlockedDrain() == ForceOnBlockedDrain:
		finding = runbook.No("pods that a drain can't evict would be deleted with their pool (--on-blocked-drain force). "+
			"hint: --override %s=REASON", budgetsGuard)
	}
	if finding.Answer == runbook.AnswerDoesNotHold {
		return finding.WithOutcome(runbook.NeedsAttention)
	}
	return finding
}

// forced gives the reason for deleting pods against their budgets; empty when they are respected. With the input alone
// no run begins: budgets-respected does not hold.
func (r *recreation) forced(run runbook.Run) string { return run.Override(budgetsGuard) }

// drainDeadline bounds a drain.
func (r *recreation) drainDeadline() time.Duration {
	if r.BlockedDrain() == WaitOnBlockedDrain {
		return max(r.Budget.Duration, r.DrainDeadline.Duration)
	}
	return r.DrainDeadline.Duration
}

// noteBlocked keeps what a drain of the pool was blocked by, or that it isn't any more.
func (r *recreation) noteBlocked(ctx context.Context, run runbook.Run, by *blockedDrain) error {
	var before *blockedDrain
	if _, err := run.Recall(blockedNote, &before); err != nil {
		return err
	}
	if by == nil && before == nil {
		return nil
	}
	return run.Note(ctx, blockedNote, by)
}

// blocked decides about a drain of a pool that was blocked: forced, it warns and goes on; otherwise its error parks the
// run with the question.
func (r *recreation) blocked(ctx context.Context, run runbook.Run, pool string, by blockedDrain) error {
	if reason := r.forced(run); reason != "" {
		return run.Warn(ctx, "pods of pool %s are deleted against their budgets (override: %s): %s", pool, reason, by)
	}
	return &runbook.QuestionError{
		Reason: fmt.Sprintf("blocked drain: pods of pool %q can't be evicted: %s", pool, by),
		Question: fmt.Sprintf("May the pods be deleted against their PodDisruptionBudgets? %s. Where not, have the budgets "+
			"allow it (more replicas, another minAvailable), then: salve resume %s. Where they may: salve resume %[2]s "+
			"--override %s=REASON", by, run.ID(), budgetsGuard),
	}
}

// blockedAtAKS decides about a deletion whose own drain was blocked: forced, the next attempt ignores budgets.
func (r *recreation) blockedAtAKS(ctx context.Context, run runbook.Run, pool string, failure error) error {
	by := blockedDrain{Left: []kube.RemainingPod{}, Failure: failure.Error()}
	if pool == r.Pool {
		if err := r.noteBlocked(ctx, run, &by); err != nil {
			return err
		}
	}
	if err := r.blocked(ctx, run, pool, by); err != nil {
		return err
	}
	return failure
}
