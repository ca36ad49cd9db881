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

// noteOperation keeps an operation's resume token, for a resumed run to go on
// polling it.
func noteOperation(ctx context.Context, run runbook.Run, operation *azure.Operation) error {
	token, ok := operation.Token()
	if !ok {
		return nil
	}
	return run.Note(ctx, runbook.OperationNote, token)
}

// awaitOperation polls the operation that the open intent began. Without a token
// there is nothing to poll: the caller looks at the resource.
func (r *recreation) awaitOperation(ctx context.Context, run runbook.Run, resource, doing string) error {
	var token azure.Token
	found, err := run.Recall(runbook.OperationNote, &token)
	if !found || err != nil {
		return err
	}
	operation, err := r.Azure.Resume(token, resource)
	if err != nil {
		return err
	}
	run.Report(runbook.Progress{Text: "ARM is " + doing})
	err = operation.Wait(ctx)
	if errors.Is(err, azure.ErrOperationForgotten) {
		return nil // what became of it shows in the resource
	}
	return err
}

// resultPending tells whether an operation was begun whose result this run has
// not learned: the operation says why a pool is Failed, the pool doesn't.
func resultPending(run runbook.Run) (bool, error) {
	var token azure.Token
	return run.Recall(runbook.OperationNote, &token)
}

// definition reads a pool; nil when there is none.
func (r *recreation) definition(ctx context.Context, pool string) (azure.Definition, error) {
	definition, err := r.Azure.Definition(ctx, r.poolName(pool))
	if err != nil && apierr.ClassOf(err) == apierr.Missing {
		return nil, nil
	}
	return definition, err
}

// awaitPool reads a pool until the operation on it is over, and gives what it
// then is; nil when it is gone.
func (r *recreation) awaitPool(ctx context.Context, pool string) (azure.Definition, error) {
	began := r.Clock.Now()
	for {
		definition, err := r.definition(ctx, pool)
		if err != nil || definition == nil || !moving(definition.State()) {
			return definition, err
		}
		if err := clock.Sleep(ctx, r.Clock, backoff.Operations.Next(r.Clock.Since(began), 0)); err != nil {
			return nil, fmt.Errorf("waiting for pool %q, which is %s: %w", pool, definition.State(), err)
		}
	}
}

// moving tells whether a pool's state is that of a running operation.
func moving(state string) bool {
	switch state {
	case "Creating", "Updating", "Upgrading", "Deleting", "Scaling", "Starting", "Stopping":
		return true
	}
	return false
}

// awaitCreated waits until a pool that was put is there.
func (r *recreation) awaitCreated(ctx context.Context, run runbook.Run, pool string) error {
	if err := r.awaitOperation(ctx, run, azure.PoolID(r.clusterID(), pool), "creating pool "+pool); err != nil {
		return err
	}
	definition, err := r.awaitPool(ctx, pool)
	switch {
	case err != nil:
		return err
	case definition == nil:
		return apierr.New(apierr.Conflict, "pool %q is gone", pool)
	case definition.State() != "Succeeded":
		return apierr.New(apierr.Terminal, "pool %q is %s", pool, orNothing(definition.State()))
	}
	return nil
}

// awaitDeleted waits until a pool is gone.
func (r *recreation) awaitDeleted(ctx context.Context, run runbook.Run, pool string) error {
	if err := r.awaitOperation(ctx, run, azure.PoolID(r.clusterID(), pool), "deleting pool "+pool); err != nil {
		return err
	}
	definition, err := r.awaitPool(ctx, pool)
	if err != nil || definition == nil {
		return err
	}
	return apierr.New(apierr.Conflict, "pool %q is still there, %s", pool, orNothing(definition.State()))
}

// awaitCluster reads the cluster until it is as wanted.
func (r *recreation) awaitCluster(ctx context.Context, run runbook.Run, wanted func(azure.Cluster) bool) error {
	began := r.Clock.Now()
	for {
		cluster, err := r.Azure.Cluster(ctx, r.ResourceGroup, r.Cluster)
		if err != nil || wanted(cluster) {
			return err
		}
		run.Report(runbook.Progress{Text: "the cluster is " + orNothing(cluster.State)})
		if err := clock.Sleep(ctx, r.Clock, backoff.Operations.Next(r.Clock.Since(began), 0)); err != nil {
			return fmt.Errorf("waiting for the cluster, which is %s: %w", orNothing(cluster.State), err)
		}
	}
}
