package repairprotection

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"salve/internal/prow/github"
	"salve/internal/prow/protection"
	"salve/runbook"
)

// Previous is what a branch had before the run changed it, and what the run wrote. It is kept beside the record.
type Previous struct {
	Branch string `json:"branch"`
	// Protected tells whether it was protected; Object is what GitHub gave then.
	Protected bool            `json:"protected"`
	Object    json.RawMessage `json:"object,omitempty"`
	// Written is what the run wrote; nil when it took the protection away.
	Written *github.Settings `json:"written,omitempty"`
}

// kept is what the record holds of it.
type kept struct {
	Export string `json:"export"`
	Live   string `json:"live"`
	Want   string `json:"want"`
}

// ExportName is that of a branch's previous protection among a run's exports, and of the note that it was kept.
func ExportName(at int) string { return fmt.Sprintf("previous-%04d", at) }

// keep writes the previous object down and reads it back, before it is replaced. What was kept first stays while the
// branch is on its way to what this run wants: a later look would keep half of the run's own work.
func (b *branchStep) keep(ctx context.Context, run runbook.Run, state protection.State) error {
	name := ExportName(b.at)
	var before kept
	found, err := run.Recall(name, &before)
	if err != nil {
		return err
	}
	if found && before.Want == state.WantDigest() && (before.Live == state.LiveDigest() || state.Written()) {
		return nil
	}
	previous := Previous{Branch: b.planned.Branch, Protected: state.Live.Protected, Object: state.Live.Object}
	if state.Protected {
		previous.Written = &state.Want
	}
	raw, err := json.Marshal(previous)
	if err != nil {
		return fmt.Errorf("keeping the protection of %s: %w", state.Branch, err)
	}
	if err := run.Export(ctx, name, raw); err != nil {
		return err
	}
	back, err := run.ReadExport(ctx, name)
	switch {
	case err != nil:
		return err
	case !bytes.Equal(back, raw):
		return fmt.Errorf("the protection of %s was kept, and what is read back is something else", state.Branch)
	}
	return run.Note(ctx, name, kept{Export: name, Live: state.LiveDigest(), Want: state.WantDigest()})
}
