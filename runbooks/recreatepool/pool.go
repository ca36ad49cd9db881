package recreatepool

import (
	"context"
	"errors"
	"fmt"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/runbook"
)

// replacement is the body with which the pool of the snapshot can be made again, at
// the control plane's version, with edits.
func (rd *reader) replacement(edit func(properties map[string]any)) (body azure.Definition) {
	taken, cluster := rd.snapshot(), rd.cluster()
	rd.attempt(func() error {
		sanitized, err := taken.Definition.Sanitized(cluster.Version)
		if err == nil {
			body, err = sanitized.With(edit)
		}
		return err
	})
	return body
}

// put creates a pool, or writes over the one that failed to be created: present, as
// it was read and found to be ours.
func (rd *reader) put(pool string, present, body azure.Definition) error {
	return rd.start(func() (*azure.Operation, error) {
		if present == nil {
			return rd.Azure.CreatePool(rd.ctx, rd.poolName(pool), body)
		}
		return rd.Azure.UpdatePool(rd.ctx, rd.poolName(pool), body, present.ETag())
	})
}

// start makes a change, unless something that it needs could not be read, and notes
// the resume token of its operation for a resumed run to go on polling it.
func (rd *reader) start(change func() (*azure.Operation, error)) error {
	if rd.err != nil {
		return rd.err
	}
	operation, err := change()
	if err != nil {
		return err
	}
	if token, ok := operation.Token(); ok {
		return rd.run.Note(rd.ctx, runbook.OperationNote, token)
	}
	return nil
}

// resultPending tells whether an operation was begun whose result this run has
// not learned: the operation says why a pool is Failed, the pool doesn't.
func (rd *reader) resultPending() bool { return rd.recall(runbook.OperationNote, &azure.Token{}) }

// awaitOperation polls the operation on a resource that the open intent began.
// Without a token there is nothing to poll: the caller looks at the resource.
func (rd *reader) awaitOperation(resource, doing string) error {
	var token azure.Token
	if !rd.recall(runbook.OperationNote, &token) {
		return rd.err
	}
	rd.run.Report(runbook.Progress{Text: "ARM is " + doing})
	operation, err := rd.Azure.Resume(token, resource)
	if err == nil {
		err = operation.Wait(rd.ctx)
	}
	if errors.Is(err, azure.ErrOperationLost) {
		return nil // what became of it shows in the resource
	}
	return err
}

// awaitCreated waits until a pool that was put is there.
func (rd *reader) awaitCreated(pool string) error {
	if err := rd.awaitOperation(azure.PoolID(rd.clusterID(), pool), "creating pool "+pool); err != nil {
		return err
	}
	definition, err := rd.awaitPool(rd.ctx, pool)
	switch {
	case err != nil:
		return err
	case definition == nil:
		return apierr.New(apierr.Conflict, "conflict: pool %q is gone", pool)
	case definition.State() != "Succeeded":
		return apierr.New(apierr.Terminal, "pool %q is %s", pool, orNone(definition.State()))
	}
	return nil
}

// awaitDeleted waits until a pool is gone.
func (rd *reader) awaitDeleted(pool string) error {
	if err := rd.awaitOperation(azure.PoolID(rd.clusterID(), pool), "deleting pool "+pool); err != nil {
		return err
	}
	definition, err := rd.awaitPool(rd.ctx, pool)
	if err != nil || definition == nil {
		return err
	}
	return apierr.New(apierr.Conflict, "conflict: pool %q is still there, %s", pool, orNone(definition.State()))
}

// awaitPool reads a pool until the operation on it is over, and gives what it
// then is; nil when it is gone.
func (rd *reader) awaitPool(ctx context.Context, pool string) (azure.Definition, error) {
	start := rd.Clock.Now()
	for {
		again := &reader{recreation: rd.recreation, ctx: ctx, run: rd.run}
		definition := again.definition(pool)
		if again.err != nil || definition == nil || !changing(definition.State()) {
			return definition, again.err
		}
		if err := clock.Sleep(ctx, rd.Clock, backoff.Operations().Next(rd.Clock.Since(start), 0)); err != nil {
			return nil, fmt.Errorf("waiting for pool %q, which is %s: %w", pool, definition.State(), err)
		}
	}
}

// awaitCluster reads the cluster until it is as wanted.
func (rd *reader) awaitCluster(ctx context.Context, wanted func(azure.Cluster) bool) error {
	start := rd.Clock.Now()
	for {
		cluster, err := rd.Azure.Cluster(ctx, rd.ResourceGroup, rd.Cluster)
		if err != nil || wanted(cluster) {
			return err
		}
		rd.run.Report(runbook.Progress{Text: "the cluster is " + orNone(cluster.State)})
		if err := clock.Sleep(ctx, rd.Clock, backoff.Operations().Next(rd.Clock.Since(start), 0)); err != nil {
			return fmt.Errorf("waiting for the cluster, which is %s: %w", orNone(cluster.State), err)
		}
	}
}
