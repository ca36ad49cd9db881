package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// TestPlanThatWasEditedInItsRecordIsNotShown: who approves does not hold the record's key, and sees by the digest alone
// whether what is shown is what would be approved.
func TestPlanThatWasEditedInItsRecordIsNotShown(t *testing.T) {
	t.Parallel()
	folder, ctx := t.TempDir(), t.Context()
	plan := runbook.Plan{Digest: strings.Repeat("1", 64), Runbook: "lamp-off",
		Steps: []runbook.PlannedStep{{Name: "harmless", Changes: "nothing at all"}}}
	store := journal.NewFileWithKey(folder, filepath.Join(folder, "key"))
	lease, err := store.Lock(ctx, journal.Claim{Target: "lamp/1", Holder: journal.Holder{Run: "run-1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lease.Release(ctx) }()
	record, err := journal.Create(ctx, store, lease, time.Now,
		journal.Header{Run: "run-1", Runbook: "lamp-off", Target: runbook.Target{ID: "lamp/1"}})
	if err == nil {
		err = record.AppendAll(ctx, journal.Pending{Kind: journal.Planned, Data: plan},
			journal.Pending{Kind: journal.Asked, Data: journal.Question{ID: "q1", Digest: plan.Digest}})
	}
	if err != nil {
		t.Fatal(err)
	}
	var out, log bytes.Buffer
	code := execute(&app{stdout: &out, stderr: &log, lookup: func(string) string { return "" }, connect: connect,
		program:   Options{Runbooks: BuiltIn()},
		arguments: []string{"approve", "run-1", "--plan", plan.Digest, "--journal", folder, "--key", "none.pem"}})
	if code != exitNeedsAttention || !strings.Contains(log.String(), `the plan of run "run-1" was edited`) ||
		strings.Contains(out.String(), "nothing at all") {
		t.Errorf("exit %d: %s%s", code, out.String(), log.String())
	}
}

// TestMaskedInputsOfAPlanAreNotTaken: a run would be begun with the mask in the place of what it stands for.
func TestMaskedInputsOfAPlanAreNotTaken(t *testing.T) {
	t.Parallel()
	plan := &runbook.Plan{Digest: "d1", Inputs: json.RawMessage(`{"token":"[redacted]"}`)}
	asked := &request{plan: "plan.json", expected: &engine.ExpectedPlan{Digest: "d1", Plan: plan}}
	_, err := asked.factoryFor(&cobra.Command{}, &app{}, nil)
	var wrong *engine.InvalidError
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "give the same flags again, with --plan d1") {
		t.Errorf("got %v", err)
	}
}
