package recreatepool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/azuresim"
	"salve/runbook"
)

// expectNoChanges since a call.
func (d *desk) expectNoChanges(since int) {
	d.t.Helper()
	if got := d.changes(since); len(got) > 0 {
		d.t.Errorf("requested %v", got)
	}
}

func (d *desk) calls() int { return len(d.world.Calls()) }

// noted tells whether the record holds something of a name, and reads it.
func (d *desk) noted(name string, into any) bool {
	d.t.Helper()
	found, err := d.run.Recall(name, into)
	d.must(err)
	return found
}

// expectOperation is noted, so that another process can go on waiting for it.
func (d *desk) expectOperation(kind azure.Kind, of string) {
	d.t.Helper()
	var token azure.Token
	if !d.noted(runbook.OperationNote, &token) || token.Kind != kind || !strings.HasSuffix(token.Resource, of) {
		d.t.Errorf("noted %s of %q, want %s of %q", token.Kind, token.Resource, kind, of)
	}
}

// forbid lets the cluster's API refuse what a verb asks for, some times or always.
func (d *desk) forbid(verb, path string, times int) {
	d.world.Answer(azuresim.Requests{API: "kubernetes", Method: verb, Path: path, Times: times}, 403,
		apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "some", errors.New("not allowed by the test")))
}

// TestAbortIsNotedBeforeItIsSent: when the journal refuses the note, nothing is sent.
func TestAbortIsNotedBeforeItIsSent(t *testing.T) {
	atDesk(t, stuck, func(d *desk, ctx context.Context) {
		apply := d.settleCluster().Apply
		before := d.calls()
		d.run.refuses[abortNote] = true
		if err := apply(ctx, d.run); !errors.Is(err, errLost) {
			t.Errorf("got %v", err)
		}
		d.expectNoChanges(before)
		delete(d.run.refuses, abortNote)
		d.fresh(1)
		expectError(t, apply(ctx, d.run), apierr.Denied, "aborting the operation of cluster")
		d.fresh(0)
		d.must(apply(ctx, d.run))
		d.expectOperation("abort-cluster", "/managedClusters/aks-1")
		if seen, err := d.read(ctx, d.run); err != nil || seen.aborted.IsZero() {
			t.Errorf("sent at %s, %v", seen.aborted, err)
		}
	})
}

// TestStandInIsLikeItsPool but for the autoscaler and its tags; one that failed is written over under its ETag.
func TestStandInIsLikeItsPool(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		d.world.Rewrite(azuresim.Requests{Method: "GET", Path: "*/agentpools/system"}, func(body map[string]any) {
			properties := body["properties"].(map[string]any)
			properties["enableAutoScaling"], properties["minCount"], properties["maxCount"] = true, 2, 4
		})
		d.snapshot(ctx)
		add := d.addStandIn()
		d.fresh(3)
		expectError(t, add.Apply(ctx, d.run), apierr.Denied, "reading pool")
		d.fresh(0)
		d.must(add.Apply(ctx, d.run))
		name := standInName(d.poolID(), "")
		d.expectOperation("put-pool", "/agentPools/"+name)
		d.must(add.Await(ctx, d.run))
		definition, err := d.definition(ctx, name)
		d.must(err)
		var body struct{ Properties map[string]any }
		d.must(json.Unmarshal(definition, &body))
		for _, autoscaler := range []string{"enableAutoScaling", "minCount", "maxCount"} {
			if value, found := body.Properties[autoscaler]; found {
				t.Errorf("%s: %v", autoscaler, value)
			}
		}
		pool, err := definition.Pool()
		if d.must(err); pool.Count != 2 || !d.whose(pool.Tags, "run-1") {
			t.Errorf("%d nodes, tags %v", pool.Count, pool.Tags)
		}
		d.fresh(0)
		d.must(add.Apply(ctx, d.run)) // what is there is written over, not refused as a pool of that name
		stale := standInPool{reading: reading{Inputs: d.Inputs, record: record{taken: d.taken(ctx)}}, Name: name,
			Definition: definition}
		expectError(t, d.createStandIn(ctx, d.run, stale), apierr.Conflict, "writing pool")
	})
}

// taken is the snapshot of the record.
func (d *desk) taken(ctx context.Context) *snapshot {
	d.t.Helper()
	seen, err := d.readTaken(ctx, d.run)
	d.must(err)
	return seen.taken
}

// TestPoolsAreMadeFromWholeDefinitionsOnly: without one, nothing is sent.
func TestPoolsAreMadeFromWholeDefinitionsOnly(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		seen := reading{Inputs: d.Inputs, record: record{taken: &snapshot{Definition: azure.Definition(`{"name":"system"}`)}}}
		before := d.calls()
		for name, err := range map[string]error{
			"the stand-in": d.createStandIn(ctx, d.run, standInPool{reading: seen, Name: "s1"}),
			"the pool":     d.createFromSnapshot(ctx, d.run, comparison{reading: seen}),
		} {
			if err == nil || !strings.Contains(err.Error(), "it has no properties") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if d.calls() != before {
			t.Errorf("requested %v", d.world.Calls()[before:])
		}
	})
}

// TestPoolIsCreatedOnlyWhereNoneIs, or where the one of this run failed.
func TestPoolIsCreatedOnlyWhereNoneIs(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		d.snapshot(ctx)
		before := d.calls()
		seen, err := d.readPool(ctx, d.run)
		d.must(err)
		seen.Different = []string{"count: 3, not 2"}
		expectError(t, d.createFromSnapshot(ctx, d.run, seen), apierr.Conflict, "conflict: pool system is Failed and not as")
		d.expectNoChanges(before)
	})
}

// TestStandInIsReducedOnlyForQuota, and only once the record says so.
func TestStandInIsReducedOnlyForQuota(t *testing.T) {
	atDesk(t, "faults: [{quota: {pool: stand-in, over: 1}}]\n", func(d *desk, ctx context.Context) {
		d.snapshot(ctx)
		add := d.addStandIn()
		refused := add.Apply(ctx, d.run)
		expectError(t, refused, apierr.Terminal, "uota")
		again := func(why error) (bool, error) {
			_, err := d.read(ctx, d.run)
			d.must(err)
			return add.RetryWith(ctx, d.run, why)
		}
		if retry, err := again(errLost); retry || err != nil {
			t.Errorf("another refusal: %v, %v", retry, err)
		}
		for _, note := range []string{"warning", reducedNote} {
			d.run.refuses[note] = true
			if retry, err := again(refused); retry || !errors.Is(err, errLost) || d.noted(reducedNote, new(bool)) {
				t.Errorf("without the %s: %v, %v", note, retry, err)
			}
			delete(d.run.refuses, note)
		}
		d.run.Lost = map[string]error{snapshotNote: errLost}
		if retry, err := add.RetryWith(ctx, d.run, refused); retry || !errors.Is(err, errLost) {
			t.Errorf("without the snapshot: %v, %v", retry, err)
		}
		d.run.Lost = nil
		retry, err := again(refused)
		if !retry || err != nil || !strings.Contains(fmt.Sprint(d.run.Warnings()), "quota refuses a stand-in of 2 nodes") {
			t.Errorf("%v, %v, warned %v", retry, err, d.run.Warnings())
		}
		d.fresh(0)
		d.must(add.Apply(ctx, d.run))
		if retry, err := again(refused); retry || err != nil {
			t.Errorf("reduced twice: %v, %v", retry, err)
		}
	})
}

// TestNoPodIsEvictedFromNodesThatAreNotCordoned: it could come back to them.
func TestNoPodIsEvictedFromNodesThatAreNotCordoned(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		d.standInThere(ctx)
		d.forbid("patch", "nodes/*", 0)
		before := d.calls()
		expectError(t, d.drain().Apply(ctx, d.run), apierr.Denied, "cordoning node")
		for _, call := range d.world.Calls()[before:] {
			if strings.HasPrefix(call.Resource, "pods/eviction") {
				t.Errorf("%s was requested", call.Resource)
			}
		}
	})
}

// TestDeletionIsNotedBeforeItIsSent, and only of the pool that the snapshot describes.
func TestDeletionIsNotedBeforeItIsSent(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		d.standInThere(ctx)
		seen, err := d.readKept(ctx, d.run)
		d.must(err)
		before, deleting := d.calls(), new(bool)
		changed := seen
		changed.Different = []string{"count: 3, not 2"}
		expectError(t, d.deleteAsCompared(ctx, d.run, changed), apierr.Conflict, "snapshot-kept: somebody changed pool")
		d.run.refuses[deletingNote] = true
		if err := d.deleteAsCompared(ctx, d.run, seen); !errors.Is(err, errLost) {
			t.Errorf("got %v", err)
		}
		d.expectNoChanges(before)
		delete(d.run.refuses, deletingNote)
		d.fresh(1)
		expectError(t, d.deleteAsCompared(ctx, d.run, seen), apierr.Denied, "deleting pool")
		if !d.noted(deletingNote, deleting) || *deleting {
			t.Error("a refused deletion would explain that the pool is absent")
		}
		d.fresh(0)
		d.world.Lose(azuresim.Requests{Method: "DELETE", Times: 1}, azuresim.DropBefore)
		expectError(t, d.deleteAsCompared(ctx, d.run, seen), apierr.Transient, "deleting pool")
		if d.noted(deletingNote, deleting); !*deleting {
			t.Error("a deletion whose answer was lost would not explain that the pool is absent")
		}
		d.must(d.deleteAsCompared(ctx, d.run, seen))
		d.expectOperation("delete-pool", "/agentPools/system")
	})
}
