package recreatepool

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/internal/azuresim"
	"salve/runbook"
)

func expectError(t *testing.T, err error, class apierr.Class, text string) {
	t.Helper()
	if err == nil || apierr.ClassOf(err) != class || !strings.Contains(err.Error(), text) {
		t.Errorf("%s error %v, want %s error %q", apierr.ClassOf(err), err, class, text)
	}
}

// reported tells whether a text was shown as progress.
func (d *desk) reported(text string) bool {
	for _, progress := range d.run.Progress() {
		if strings.Contains(progress.Text, text) {
			return true
		}
	}
	return false
}

// TestWaitingForAPoolEndsAsThePoolDoes: and only a pool that Succeeded was created, only one that is gone deleted.
func TestWaitingForAPoolEndsAsThePoolDoes(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		d.must(d.awaitCreated(ctx, d.run, "workers"))
		expectError(t, d.awaitCreated(ctx, d.run, "system"), apierr.Terminal, `pool "system" is Failed`)
		expectError(t, d.awaitCreated(ctx, d.run, "nosuch"), apierr.Conflict, `pool "nosuch" is gone`)
		d.must(d.awaitDeleted(ctx, d.run, "nosuch"))
		expectError(t, d.awaitDeleted(ctx, d.run, "workers"), apierr.Conflict, `pool "workers" is still there, Succeeded`)
		for _, want := range []string{"ARM is creating pool system", "ARM is deleting pool nosuch"} {
			if !d.reported(want) {
				t.Errorf("%q was not shown", want)
			}
		}
	})
}

// TestWaitingForAPoolThatIsNotSeenFails: a pool whose state can't be read is neither there nor gone.
func TestWaitingForAPoolThatIsNotSeenFails(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		for name, await := range map[string]func(context.Context, runbook.Run, string) error{
			"created": d.awaitCreated, "deleted": d.awaitDeleted,
		} {
			d.fresh(1)
			expectError(t, await(ctx, d.run, "workers"), apierr.Denied, `waiting for pool "workers"`)
			d.run.Lost = map[string]error{runbook.OperationNote: errLost}
			if err := await(ctx, d.run, "workers"); !errors.Is(err, errLost) {
				t.Errorf("%s although the operation in the record can't be read: %v", name, err)
			}
			d.run.Lost = nil
		}
	})
}

// TestWaitingForStandInEndsWithIt: its nodes are not awaited once it is gone.
func TestWaitingForStandInEndsWithIt(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		d.snapshot(ctx)
		short, cancel := context.WithTimeout(ctx, 3*time.Minute)
		defer cancel()
		expectError(t, d.addStandIn().Await(short, d.run), apierr.Conflict, "is gone")
	})
}

// TestNewPoolIsOnAScaleSetOfItsOwn: one on the corrupted scale set is not taken for recreated.
func TestNewPoolIsOnAScaleSetOfItsOwn(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		d.snapshot(ctx)
		seen, err := d.readTaken(ctx, d.run)
		d.must(err)
		expectError(t, d.awaitReplacement(ctx, d.run, seen), apierr.Terminal, `pool "system" is Failed`)
		d.world.Rewrite(azuresim.Requests{Method: "GET", Path: "*/agentpools/system"}, stateOf("Succeeded"))
		expectError(t, d.awaitReplacement(ctx, d.run, seen), apierr.Terminal, "the corruption is still there")
		d.fresh(2)
		expectError(t, d.awaitReplacement(ctx, d.run, seen), apierr.Denied, "listing the scale sets")
	})
}

// stateOf has ARM answer with a provisioning state.
func stateOf(state string) func(map[string]any) {
	return func(body map[string]any) { body["properties"].(map[string]any)["provisioningState"] = state }
}

// TestWaitingForNodesTellsHowManyServe, in time and out of it.
func TestWaitingForNodesTellsHowManyServe(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		none := &snapshot{}
		d.must(d.awaitNodes(ctx, d.run, none, "workers", 1))
		if !d.reported("pool workers: 1 nodes Ready, of at least 1") {
			t.Errorf("shown: %v", d.run.Progress())
		}
		short, cancel := context.WithTimeout(ctx, 3*time.Minute)
		defer cancel()
		expectError(t, d.awaitNodes(short, d.run, none, "workers", 4), apierr.Transient,
			`timed out: pool "workers" has 1 of 4 nodes Ready and schedulable`)
		d.fresh(1)
		expectError(t, d.awaitNodes(ctx, d.run, none, "workers", 1), apierr.Denied, `pool "workers" has 0 of 1 nodes Ready`)
	})
}

const stuck = "clusterState: Updating\noperation: {age: 72h}\n"

// TestAbortThatDoesNotShowIsNotTakenForSent: the cluster has three minutes to leave its operation.
func TestAbortThatDoesNotShowIsNotTakenForSent(t *testing.T) {
	atDesk(t, stuck, func(d *desk, ctx context.Context) {
		start := time.Now()
		expectError(t, d.awaitSettled(ctx, d.run), apierr.Transient, "timed out: the cluster did not leave its operation")
		if took := time.Since(start); took < abortShows || took > 2*abortShows {
			t.Errorf("after %s", took)
		}
		for _, want := range []string{"ARM is aborting the cluster's operation", "the cluster is Updating"} {
			if !d.reported(want) {
				t.Errorf("%q was not shown", want)
			}
		}
		d.fresh(1)
		expectError(t, d.awaitSettled(ctx, d.run), apierr.Denied, "waiting for the cluster")
		d.run.Lost = map[string]error{runbook.OperationNote: errLost}
		if err := d.awaitSettled(ctx, d.run); !errors.Is(err, errLost) {
			t.Errorf("settled although the operation in the record can't be read: %v", err)
		}
	})
}

// TestClusterThatAnotherPoolKeepsFromSucceedingIsSaid, and awaited no longer.
func TestClusterThatAnotherPoolKeepsFromSucceedingIsSaid(t *testing.T) {
	atDesk(t, "clusterState: Failed\n", func(d *desk, ctx context.Context) {
		d.world.Rewrite(azuresim.Requests{Method: "GET", Path: "*/managedClusters/aks-1"}, func(body map[string]any) {
			for _, pool := range body["properties"].(map[string]any)["agentPoolProfiles"].([]any) {
				pool.(map[string]any)["provisioningState"] = "Failed"
			}
		})
		start := time.Now()
		d.must(d.awaitReconciled(ctx, d.run))
		if took := time.Since(start); took < reconcileShows || took > 2*reconcileShows {
			t.Errorf("waited for %s", took)
		}
		warned := strings.Join(d.run.Warnings(), "\n")
		if !strings.Contains(warned, "pool workers (Failed)") || strings.Contains(warned, "system") {
			t.Errorf("warned: %s", warned)
		}
		d.run.refuses["warning"] = true
		if err := d.awaitReconciled(ctx, d.run); !errors.Is(err, errLost) {
			t.Errorf("unsaid: %v", err)
		}
		d.fresh(1)
		expectError(t, d.awaitReconciled(ctx, d.run), apierr.Denied, "waiting for the cluster")
	})
}
