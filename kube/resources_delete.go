package kube

import (
	"context"
	"sync"

	"salve/runbook"
)

// deleters bounds the deletions in flight. It is the only limit on them: how many a
// second that makes is the API server's to say.
const deleters = 32

// DeleteEach deletes the very objects that each visits, some at a time, as Delete
// does. It keeps none of them. After the first error no further deletion begins;
// those that were made stand, and making them again changes nothing.
func (c *Cluster) DeleteEach(ctx context.Context, permit runbook.Permit, total int, each func(visit func(Object) error) error, report func(runbook.Progress)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	counted := c.newMeter(total, "deleted", report)
	work := make(chan Object)
	var team sync.WaitGroup
	for range deleters {
		team.Go(func() {
			for object := range work {
				if err := c.Delete(ctx, permit, object); err != nil {
					cancel(err)
				}
				counted.add(1)
			}
		})
	}
	err := each(func(object Object) error {
		select {
		case work <- object:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(work)
	team.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// DeleteAll deletes a few objects, the very ones.
func (c *Cluster) DeleteAll(ctx context.Context, permit runbook.Permit, objects []Object, report func(runbook.Progress)) error {
	return c.DeleteEach(ctx, permit, len(objects), func(visit func(Object) error) error {
		for _, object := range objects {
			if err := visit(object); err != nil {
				return err
			}
		}
		return nil
	}, report)
}

// RemoveHooks removes what points into a namespace.
func (c *Cluster) RemoveHooks(ctx context.Context, permit runbook.Permit, hooks []Hook) error {
	for _, hook := range hooks {
		if err := c.RemoveHook(ctx, permit, hook); err != nil {
			return err
		}
	}
	return nil
}
