package cleanup

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/kube"
	"salve/runbook"
)

// deleters bounds the deletions in flight. It is the only limit on them: how many a
// second that makes is the API server's to say.
const deleters = 32

// deleteEach deletes the very objects that each visits, some at a time, as Delete
// does. It keeps none of them. After the first error no further deletion begins;
// those that were made stand, and making them again changes nothing. An error after
// some were deleted has class Transient, whatever its cause: it has to be observed what
// happened.
func (o *Operator) deleteEach(
	ctx context.Context, total int, each func(visit func(kube.Object) error) error, report func(runbook.Progress),
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	counted := o.newMeter(total, "deleted", report)
	work := make(chan kube.Object)
	var team sync.WaitGroup
	for range deleters {
		team.Go(func() {
			for object := range work {
				err := apierr.Recovered(func() error {
					if err := o.Delete(ctx, object); err != nil {
						return err
					}
					counted.add(1)
					return nil
				})
				if err != nil {
					cancel(err)
				}
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

// deleteAsRead deletes an object, the very one, if it still is as it was read. Whose it is was decided by what it
// holds: one that changed since has to be evaluated again, and is a conflict. One that is gone is no error.
func (o *Operator) deleteAsRead(ctx context.Context, object kube.Object, version string) error {
	if object.UID == "" || version == "" {
		return apierr.New(apierr.Terminal, "deleting %s: it is not known which object of that name is meant, and as what",
			object)
	}
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{
		PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &object.UID, ResourceVersion: &version},
	}
	err := kube.Classify(backoff.Once(ctx, o.Clock, func(ctx context.Context) error {
		served := o.Metadata.Resource(object.Resource.GroupVersionResource).Namespace(object.Namespace)
		return served.Delete(ctx, object.Name, options)
	}))
	switch {
	case err == nil, kube.IsNotFound(err):
		return nil
	case apierr.ClassOf(err) == apierr.Conflict:
		if there, deleting, seen := o.State(ctx, object); seen == nil && (!there || deleting) {
			return nil
		}
	}
	return fmt.Errorf("deleting %s: %w", object, err)
}
