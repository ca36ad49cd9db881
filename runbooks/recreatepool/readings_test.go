package recreatepool

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"salve/kube"
	"salve/runbook"
)

// without leaves out what was read.
func without[T any](read func(context.Context, runbook.Run) (T, error)) func(context.Context, runbook.Run) error {
	return func(ctx context.Context, run runbook.Run) error {
		_, err := read(ctx, run)
		return err
	}
}

// readingsOf are all readings of the runbook from which guards, steps and checks decide, but for the wedge's: it has
// two proofs, of which one is enough.
func readingsOf(r *recreation) map[string]func(context.Context, runbook.Run) error {
	return map[string]func(context.Context, runbook.Run) error{
		"the cluster": without(r.read), "the cluster, if any": without(r.readAny),
		"the record":        without(r.readTaken),
		"nodes of the pool": without(r.readSource), "nodes of others": without(r.readOthers),
		"new nodes": without(r.readNew(standInOf)), "how far the drain is": without(r.readDraining),
		"the pool": without(r.readPool), "the pool and its snapshot": without(r.readKept),
		"how far the deletion is": without(r.readDeletion), "the stand-in": without(r.readStandIn),
		"the next snapshot": without(r.newSnapshot), "leftovers": without(r.readLeftovers),
		"the cluster's operation": without(r.readOperation(ofCluster)),
		"the stand-in to remove":  without(r.ownStandIn().read),
		"system pools":            without(r.ownStandIn().readSystem),
	}
}

// TestReadingThatLacksAnAnswerIsNone: whichever request of a reading is refused, nothing is decided from the rest.
func TestReadingThatLacksAnAnswerIsNone(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		d.standInThere(ctx)
		readings := readingsOf(d.recreation)
		for _, name := range slices.Sorted(maps.Keys(readings)) {
			d.fresh(0)
			d.must(readings[name](ctx, d.run))
			for n := range int(d.requests.Load()) {
				d.fresh(n + 1)
				if err := readings[name](ctx, d.run); err == nil || !strings.Contains(err.Error(), "RequestDisallowedByPolicy") {
					t.Errorf("%s without the answer to request %d: %v", name, n+1, err)
				}
			}
			d.fresh(0)
		}
	})
}

// TestReadingNeedsTheRecord and the cluster's API, where it depends on them.
func TestReadingNeedsTheRecord(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		d.standInThere(ctx)
		readings := readingsOf(d.recreation)
		for _, name := range slices.Sorted(maps.Keys(readings)) {
			for _, note := range []string{
				snapshotNote, deletingNote, reducedNote, windowNote, abortNote, runbook.OperationNote,
			} {
				d.fresh(0)
				d.run.Lost = map[string]error{note: errLost}
				if err := readings[name](ctx, d.run); !errors.Is(err, errLost) {
					t.Errorf("%s without note %q: %v", name, note, err)
				}
			}
		}
		d.run.Lost = nil
		d.Kubernetes = func(context.Context) (*kube.Cluster, error) { return nil, errLost }
		for _, name := range []string{
			"nodes of the pool", "nodes of others", "new nodes", "how far the drain is", "the next snapshot", "system pools",
		} {
			d.fresh(0)
			if err := readings[name](ctx, d.run); !errors.Is(err, errLost) {
				t.Errorf("%s without the cluster's API: %v", name, err)
			}
		}
		if err := d.awaitNodes(ctx, d.run, &snapshot{}, "system", 1); !errors.Is(err, errLost) {
			t.Errorf("nodes were awaited without the cluster's API: %v", err)
		}
	})
}

// TestReadingsNeedTheSnapshot: what depends on it is not decided before it was taken.
func TestReadingsNeedTheSnapshot(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		readings := readingsOf(d.recreation)
		for _, name := range []string{
			"the record", "nodes of the pool", "nodes of others", "new nodes", "how far the drain is", "the pool",
			"the pool and its snapshot", "how far the deletion is", "the stand-in",
		} {
			err := readings[name](ctx, d.run)
			if err == nil || !strings.Contains(err.Error(), "snapshot not found in the journal") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestAbsentClusterIsAnAnswer: there is nothing to recreate, and nothing of an earlier run to clear.
func TestAbsentClusterIsAnAnswer(t *testing.T) {
	atDesk(t, "clusterAbsent: true\n", func(d *desk, ctx context.Context) {
		expectFinding(t, d.clusterExists().Evaluate(ctx, d.run), nothingToDo)
		expectFinding(t, d.leftoversKnown().Evaluate(ctx, d.run), holds)
		if _, err := d.read(ctx, d.run); err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf("read: %v", err)
		}
	})
}
