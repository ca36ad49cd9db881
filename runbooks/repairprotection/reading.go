package repairprotection

import (
	"context"

	"salve/internal/prow/protection"
	"salve/runbook"
)

// branchState is what decisions take of a branch.
type branchState struct {
	Branch string          `json:"branch"`
	Kind   protection.Kind `json:"kind"`
	// Gone: there is no such branch any more. Right: nothing is to be done.
	Gone  bool `json:"gone"`
	Right bool `json:"right"`
	// Protected tells whether it is to be protected, LiveProtected whether it is.
	Protected     bool `json:"protected"`
	LiveProtected bool `json:"liveProtected"`
	Fingerprint   bool `json:"fingerprint"`
	// Change says what is to change, Unknown are fields that a whole write would wipe.
	Change  string   `json:"change"`
	Unknown []string `json:"unknown"`
	// Live and Want stand for what GitHub gave, and what it is to be.
	Live string `json:"live"`
	Want string `json:"want"`
}

func branchStateOf(s protection.State) branchState {
	return branchState{
		Branch: s.Branch.String(), Kind: s.Kind, Gone: s.Gone, Right: s.Right(), Protected: s.Protected,
		LiveProtected: s.Live.Protected, Fingerprint: s.Fingerprint, Change: bounded(describe(s), longestInIntent),
		Unknown: s.Live.Unknown, Live: s.LiveDigest(), Want: s.WantDigest(),
	}
}

func branchStatesOf(states []protection.State) []branchState {
	all := make([]branchState, len(states))
	for i, state := range states {
		all[i] = branchStateOf(state)
	}
	return all
}

// readStates is what decisions take of all branches of the run.
func (r *repair) readStates(ctx context.Context, run runbook.Run) ([]branchState, error) {
	states, err := r.read(ctx, run)
	return branchStatesOf(states), err
}

// readState is what decisions take of one branch.
func (b *branchStep) readState(ctx context.Context, run runbook.Run) (branchState, error) {
	state, err := b.read(ctx, run)
	if err != nil {
		return branchState{}, err
	}
	return branchStateOf(state), nil
}

// begun tells whether a run has announced its first step.
func (r *repair) begun(run runbook.Run) bool {
	first := run.Step(r.first)
	return first.Done || first.Attempts > 0
}
