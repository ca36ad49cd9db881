package cleanup

import (
	"context"
	"sync"

	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

// deleters bounds the deletions in flight. It is the only limit on them: how many a
// second that makes is the API server's to say.
const deleters = 32

// deleteEach deletes the very objects that each visits, some at a time, as Delete
// does. It keeps none of them. After the first error no further deletion begins;
// those that were made stand, and making them again changes nothing. An error after
// some were deleted has class Transient, whatever its cause: it has to be looked what
// happened.
func (o *Operator) deleteEach(ctx context.Context, total int, each func(visit func(kube.Object) error) error, report func(runbook.Progress)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	counted := o.newMeter(total, "deleted", report)
	work := make(chan kube.Object)
	var team sync.WaitGroup
	for range deleters {
		team.Go(func() {
			for object := range work {
				if err := o.Delete(ctx, object); err != nil {
					cancel(err)
					continue
				}
				counted.add(1)
			}
		})
	}
	err := each(func(object kube.Object) error {
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
		err = cause
	}
	return partly(counted.count(), "deleted", err)
}

// partly is an error of a change to many things, some of which were changed: it
// is not the same as a refusal of all.
func partly(n int, changed string, err error) error {
	if err == nil || n == 0 {
		return err
	}
	return apierr.New(apierr.Transient, "%s were %s: %w", count(n, "object"), changed, err)
}

// DeleteAll deletes a few objects, the very ones.
func (o *Operator) DeleteAll(ctx context.Context, objects []kube.Object, report func(runbook.Progress)) error {
	return o.deleteEach(ctx, len(objects), func(visit func(kube.Object) error) error {
		for _, object := range objects {
			if err := visit(object); err != nil {
				return err
			}
		}
		return nil
	}, report)
}
