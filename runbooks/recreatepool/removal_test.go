package recreatepool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/azuresim"
	"salve/runbook"
)

const soon = "durations: {removeStandIn: 5s}\n"

// removing is a removal of this run's stand-in, and what it decides from.
func (d *desk) removing(ctx context.Context, preconditions ...runbook.Guard) (removal, standInPool) {
	d.t.Helper()
	d.standInThere(ctx)
	own := d.ownStandIn(preconditions...)
	seen, err := own.read(ctx, d.run)
	d.must(err)
	return own, seen
}

// sometime is a guard that does something when it is asked, and holds.
func sometime(do func()) runbook.Guard {
	return runbook.Guard{Name: "sometime", Evaluate: func(context.Context, runbook.Run) runbook.Finding {
		do()
		return runbook.Yes("it holds")
	}}
}

// deleteStandIn is somebody else's deletion, awaited.
func (d *desk) deleteStandIn(ctx context.Context) {
	d.t.Helper()
	name := d.poolName(standInName(d.poolID(), ""))
	definition, err := d.Azure.Definition(ctx, name)
	d.must(err)
	operation, err := d.Azure.DeletePool(ctx, name, definition.ETag(), azure.DeletePoolOptions{})
	d.must(err)
	d.must(operation.Wait(ctx))
}

// TestRemovalOfAStandInThatIsGoneIsDone, whenever it went: before, during the drain or right before the request.
func TestRemovalOfAStandInThatIsGoneIsDone(t *testing.T) {
	for name, hazard := range map[string]func(d *desk, ctx context.Context, own *removal, seen *standInPool){
		"before": func(d *desk, ctx context.Context, _ *removal, seen *standInPool) {
			d.deleteStandIn(ctx)
			seen.Definition = nil
		},
		"during the drain": func(d *desk, ctx context.Context, own *removal, _ *standInPool) {
			gone := false
			own.preconditions = []runbook.Guard{sometime(func() {
				if !gone {
					d.deleteStandIn(ctx)
				}
				gone = true
			})}
		},
		"right before the request": func(d *desk, ctx context.Context, _ *removal, _ *standInPool) {
			first := azuresim.Requests{Method: "DELETE", Times: 1}
			d.world.Before(first, func() { d.deleteStandIn(ctx) })
			d.world.Answer(first, 404, azuresim.ErrorBody("ResourceNotFound", "it is gone"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			atDesk(t, soon, func(d *desk, ctx context.Context) {
				own, seen := d.removing(ctx)
				hazard(d, ctx, &own, &seen)
				if name == "before" {
					d.fresh(0)
				}
				if err := own.remove(ctx, d.run, seen); err != nil {
					t.Errorf("got %v", err)
				}
				if sent := d.requests.Load(); name == "before" && sent > 0 {
					t.Errorf("%d requests for nothing", sent)
				}
				d.fresh(0)
				if now, err := own.read(ctx, d.run); err != nil || now.Definition != nil {
					t.Errorf("still there: %v", err)
				}
			})
		})
	}
}

// TestRemovalNotesItsOperation, ends with what was refused, and leaves this run's cordons to its drain.
func TestRemovalNotesItsOperation(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		own, seen := d.removing(ctx)
		node, path := d.cordon(ctx, "run-1"), "*/agentpools/"+seen.Name
		d.world.Answer(azuresim.Requests{Method: "GET", Path: path, Times: 1}, 403, azuresim.ErrorBody("No", "once"))
		expectError(t, own.remove(ctx, d.run, seen), apierr.Denied, "reading pool")
		d.world.Answer(azuresim.Requests{Method: "DELETE", Times: 1}, 403, azuresim.ErrorBody("No", "once"))
		expectError(t, own.remove(ctx, d.run, seen), apierr.Denied, "deleting pool")
		d.must(own.remove(ctx, d.run, seen))
		d.expectOperation("delete-pool", "/agentPools/"+seen.Name)
		if !d.cordoned(ctx, node) {
			t.Errorf("%s is no longer cordoned", node)
		}
	})
}

// TestStandInStaysWhenWhatItsRemovalDependsOnEnds: the preconditions are asked again before the request, whether or
// not the drain got anywhere.
func TestStandInStaysWhenWhatItsRemovalDependsOnEnds(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		ends := runbook.Guard{Name: "nodes-ready", Evaluate: func(context.Context, runbook.Run) runbook.Finding {
			return runbook.No("none serves")
		}}
		own, seen := d.removing(ctx, ends)
		d.forbid("patch", "nodes/*", 0) // the drain is hindered too, which is only said
		before := d.calls()
		expectError(t, own.remove(ctx, d.run, seen), apierr.Transient, "precondition failed: nodes-ready: none serves")
		if warned := fmt.Sprint(d.run.Warnings()); !strings.Contains(warned, "draining stand-in "+seen.Name) {
			t.Errorf("warned: %s", warned)
		}
		if made := d.changes(before); slices.Contains(made, "DELETE "+seen.Name) {
			t.Errorf("requested %v", made)
		}
		d.run.refuses["warning"] = true
		own.preconditions = nil
		if err := own.remove(ctx, d.run, seen); !errors.Is(err, errLost) {
			t.Errorf("unsaid: %v", err)
		}
	})
}

// TestRemovalThatIsStoppedWarnsOfNothing: its end is not a problem of the stand-in's nodes.
func TestRemovalThatIsStoppedWarnsOfNothing(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		own, seen := d.removing(ctx)
		stopped, stop := context.WithCancelCause(ctx)
		stop(errLost)
		if err := own.remove(stopped, d.run, seen); !errors.Is(err, errLost) || len(d.run.Warnings()) > 0 {
			t.Errorf("%v, warned %v", err, d.run.Warnings())
		}
	})
}

// leftBehind is the stand-in of run-0, which is over and left a cordon on a node of the source.
func (d *desk) leftBehind(ctx context.Context) (node string) {
	d.t.Helper()
	d.run.Name = "run-0"
	d.standInThere(ctx)
	d.run.Name = ""
	return d.cordon(ctx, "run-0")
}

// cordon marks a node of the source as cordoned by a run.
func (d *desk) cordon(ctx context.Context, run string) (node string) {
	d.t.Helper()
	nodes := d.world.Kubernetes().CoreV1().Nodes()
	list, err := nodes.List(ctx, metav1.ListOptions{LabelSelector: nodeSelector("system")})
	d.must(err)
	const cordon = `{"metadata":{"annotations":{"salve-cordoned-by":%q}},"spec":{"unschedulable":true}}`
	node = list.Items[0].Name
	_, err = nodes.Patch(ctx, node, types.MergePatchType, fmt.Appendf(nil, cordon, run), metav1.PatchOptions{})
	d.must(err)
	d.fresh(0)
	return node
}

func (d *desk) cordoned(ctx context.Context, node string) bool {
	d.t.Helper()
	seen, err := d.world.Kubernetes().CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	d.must(err)
	return seen.Spec.Unschedulable
}

// TestCordonsOfAnEarlierRunAreTakenBackFirst: the stand-in stays until they are.
func TestCordonsOfAnEarlierRunAreTakenBackFirst(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		node := d.leftBehind(ctx)
		clearing := d.clearLeftovers()
		before := d.calls()
		d.forbid("list", "nodes", 1)
		if err := clearing.Apply(ctx, d.run); err == nil {
			t.Error("removed without a list of the nodes that may be cordoned")
		}
		d.expectNoChanges(before)
		// Without the cordons that go with it, both nodes of the source serve.
		which := func(seen reading) (string, string) { return standInOf(seen), "run-0" }
		left := removal{recreation: d.recreation, which: which}
		seen, err := left.readSystem(ctx, d.run)
		d.must(err)
		pools := slices.Collect(maps.Keys(seen.System))
		if serves := serving(seen.System["system"]); fmt.Sprint(pools) != "[system]" || serves != 2 || len(seen.Own) != 2 {
			t.Errorf("system pools %v, in the source %d nodes serve, the stand-in has %d", pools, serves, len(seen.Own))
		}
		d.OpenRun = func(context.Context, string) (string, error) { return "", nil }
		d.must(clearing.Apply(ctx, d.run))
		if d.cordoned(ctx, node) {
			t.Errorf("%s is still cordoned", node)
		}
		made := d.changes(before)
		if len(made) < 2 || made[0] != "patch "+node || !strings.HasPrefix(made[len(made)-1], "DELETE s") {
			t.Errorf("requested %v", made)
		}
	})
}

// TestLeaseTellsWhetherAnEarlierRunIsOver: unread, it tells nothing, and the stand-in is not known to be left.
func TestLeaseTellsWhetherAnEarlierRunIsOver(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		d.leftBehind(ctx)
		guard := d.leftoversKnown()
		got := guard.Evaluate(ctx, d.run)
		if expectFinding(t, got, unknown); !strings.Contains(got.Reason, "run run-0 may be at work") {
			t.Errorf("because %s", got.Reason)
		}
		var asked string
		lease := func(open string, err error) {
			d.OpenRun = func(_ context.Context, target string) (string, error) { asked = target; return open, err }
		}
		lease("", errLost)
		expectFinding(t, guard.Evaluate(ctx, d.run), unknown)
		lease("run-0", nil)
		expectFinding(t, guard.Evaluate(ctx, d.run), needsAttention)
		lease("", nil)
		expectFinding(t, guard.Evaluate(ctx, d.run), holds)
		if want := strings.ToLower(azure.PoolID(d.clusterID(), "system")); asked != want {
			t.Errorf("asked about %q, not %q", asked, want)
		}
	})
}

// TestOwnStandInIsNoLeftover: the step that clears up an earlier run's leaves it, and waits for nothing.
func TestOwnStandInIsNoLeftover(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		d.standInThere(ctx)
		clearing := d.clearLeftovers()
		expectObservation(t, clearing.Observe(ctx, d.run), observed{done, "there is no such stand-in", ""})
		before := d.calls()
		d.must(clearing.Await(ctx, d.run))
		if made := d.calls() - before; made > 0 {
			t.Errorf("%d requests while waiting for nothing", made)
		}
		inputs, err := clearing.Inputs(d.run)
		if d.must(err); fmt.Sprint(inputs) != "map[pool:]" {
			t.Errorf("inputs %v", inputs)
		}
	})
}
