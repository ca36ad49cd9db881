package cli

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"salve/journal"
	"salve/runbook"
	"salve/runbooks/recreatepool"
)

// readings are a journal that notes which records are read.
type readings struct {
	*journal.Memory
	read []string
}

func (r *readings) Read(ctx context.Context, run string) ([][]byte, error) {
	r.read = append(r.read, run)
	return r.Memory.Read(ctx, run)
}

func (r *readings) Runs(ctx context.Context) ([]string, error) {
	r.read = append(r.read, "all names")
	return r.Memory.Runs(ctx)
}

// begins leaves a run on a target, open or closed.
func (r *readings) begins(t *testing.T, run, target string, closed bool) {
	t.Helper()
	lease, err := r.Lock(t.Context(), journal.Claim{Target: target})
	if err != nil {
		t.Fatal(err)
	}
	header := journal.Header{
		Run: run, Runbook: recreatepool.Name, Target: runbook.Target{ID: target}, Inputs: []byte("{}"),
	}
	record, err := journal.Create(t.Context(), r, lease, time.Now, header)
	if err == nil && closed {
		err = record.Append(t.Context(), journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated})
	}
	if err == nil {
		err = lease.Release(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestOpenRunIsTheOneOfTheLease: of all runs ever no record is read but the one that the target's lease names as
// open, and none where it names none.
func TestOpenRunIsTheOneOfTheLease(t *testing.T) {
	kept := &readings{Memory: journal.NewMemory()}
	kept.begins(t, "run-1", "pool/a", true)
	kept.begins(t, "run-2", "pool/b", true)
	kept.begins(t, "run-3", "pool/a", false)
	location := journal.LocationOf(kept, "memory")
	e := &invocation{journal: location}
	for _, test := range []struct {
		target, want string
		read         []string
	}{
		{"pool/a", "run-3", []string{"run-3"}}, {"pool/b", "", nil}, {"pool/c", "", nil},
	} {
		kept.read = nil
		found := ""
		if open := e.openRun(t.Context(), runbook.Target{ID: test.target}); open != nil {
			found = open.Run
		}
		if found != test.want || !slices.Equal(kept.read, test.read) {
			t.Errorf("%s: open run %q, read %v; want %q, %v", test.target, found, kept.read, test.want, test.read)
		}
	}
	kept.read = nil
	factory := &aksFactory[poolInputs]{entry: &aksEntry[poolInputs]{AKSDefinition: poolDefinition()}}
	open, err := factory.open(t.Context(), location)
	if err != nil || len(open) != 1 || !slices.Equal(kept.read, []string{"run-3"}) {
		t.Errorf("inputs of open runs %v, %v; read %v", open, err, kept.read)
	}
}

// TestRoleIsNotBlockedByOthersRecords: what is in the journal besides, and no lease names, is in nobody's way.
func TestRoleIsNotBlockedByOthersRecords(t *testing.T) {
	b := newBench(t, "two-pools")
	b.byHand = true
	b.interruptAfter(http.MethodDelete, "/agentpools/system")
	byRole := b.onCluster("run", recreatepool.Name, "--role", "system")
	b.types(exitNeedsAttention, byRole...)
	other := filepath.Join(b.journal, "runs", "20200101-000000-aaaaaa")
	if err := os.MkdirAll(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "journal.jsonl"), []byte("garbage\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.awaitGone("system")
	out, _ := b.types(exitDecided, byRole...)
	contains(t, out, "2 pools, one after the other: aks-1/system remediated, aks-1/infra remediated.")
}
