package recreatepool

import (
	"context"
	"fmt"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/runbook"
)

// put creates a pool, or writes over the one that failed to be created: present, as it was read and
// found to be ours.
func (r *recreation) put(ctx context.Context, run runbook.Run, pool string, present, body azure.Definition) error {
	var operation *azure.Operation
	var err error
	if present == nil {
		operation, err = r.Azure.CreatePool(ctx, r.poolName(pool), body)
	} else {
		operation, err = r.Azure.UpdatePool(ctx, r.poolName(pool), body, present.ETag())
	}
	if err != nil {
		return err
	}
	return operation.Note(ctx, run)
}

// awaitPool waits until the operation on a pool is over, and gives what the pool then is; nil when
// it is gone.
func (r *recreation) awaitPool(
	ctx context.Context, run runbook.Run, pool, doing string,
) (definition azure.Definition, err error) {
	run.Report(runbook.Progress{Text: fmt.Sprintf("ARM is %s pool %s", doing, pool)})
	if err := r.Azure.AwaitNoted(ctx, run, azure.PoolID(r.clusterID(), pool)); err != nil {
		return nil, err
	}
	err = backoff.Poll(ctx, r.Clock, func(ctx context.Context) (bool, error) {
		definition, err = r.definition(ctx, pool)
		return definition == nil || !changing(definition.State()), err
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for pool %q: %w", pool, err)
	}
	return definition, nil
}

func (r *recreation) awaitCreated(ctx context.Context, run runbook.Run, pool string) error {
	definition, err := r.awaitPool(ctx, run, pool, "creating")
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

func (r *recreation) awaitDeleted(ctx context.Context, run runbook.Run, pool string) error {
	definition, err := r.awaitPool(ctx, run, pool, "deleting")
	if azure.DrainBlocked(err) {
		return r.blockedAtAKS(ctx, run, pool, err)
	}
	if err == nil && definition == nil {
		run.Report(runbook.Progress{Text: fmt.Sprintf("pool %s is gone", pool), Pools: r.poolGone(pool)})
	}
	if err != nil || definition == nil {
		return err
	}
	return apierr.New(apierr.Conflict, "conflict: pool %q is still there, %s", pool, orNone(definition.State()))
}
