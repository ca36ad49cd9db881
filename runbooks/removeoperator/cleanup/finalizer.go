package cleanup

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/kube"
	"salve/runbook"
)

// Owns tells whether a finalizer is the operator's and may be removed: one whose
// domain is the group or lies below it, and one that is named, character for
// character. The domain is what stands before the slash; a finalizer without a slash
// is a domain, as the oldest ones are.
func (o *Operator) Owns(finalizer string) bool {
	domain, _, _ := strings.Cut(finalizer, "/")
	return inGroup(domain, o.Group) || slices.Contains(o.Finalizers, finalizer)
}

// Stuck is an object that is being deleted and can't go.
type Stuck struct {
	kube.Object
	// Own are the finalizers that may be removed, Foreign all others.
	Own, Foreign []string
}

// String names the object and who holds it.
func (h Stuck) String() string {
	return fmt.Sprintf("%s (held by %s)", h.Object, strings.Join(append(slices.Clone(h.Own), h.Foreign...), ", "))
}

// stuckOf is false for an object that is not being deleted, or that nothing holds.
func (o *Operator) stuckOf(resource kube.Resource, found metav1.Object) (Stuck, bool) {
	held := Stuck{Object: kube.ObjectOf(resource, found)}
	if found.GetDeletionTimestamp() == nil {
		return held, false
	}
	for _, finalizer := range found.GetFinalizers() {
		if o.Owns(finalizer) {
			held.Own = append(held.Own, finalizer)
		} else {
			held.Foreign = append(held.Foreign, finalizer)
		}
	}
	return held, len(found.GetFinalizers()) > 0
}

// heldAtOnce is how many held objects are collected before they are released.
const heldAtOnce = 256

// ReleaseObjects releases every custom resource that is being deleted and was exported. It keeps a batch of them at
// the most, and the identities of those that were exported.
func (o *Operator) ReleaseObjects(ctx context.Context, run runbook.Run, now *Reading) error {
	exported, err := o.exported(ctx, run, func(entry Entry) bool { return entry.Role == RoleObject })
	if err != nil {
		return err
	}
	released := o.newMeter(now.Objects.Releasable, "released", run.Report)
	for _, definition := range now.Definitions {
		if err := o.releaseOf(ctx, definition, exported, released.add); err != nil {
			return err
		}
	}
	return nil
}

// ReleaseRest releases the definitions and the objects of the namespace that are being deleted and were exported.
func (o *Operator) ReleaseRest(ctx context.Context, run runbook.Run, now *Reading) error {
	exported, err := o.exported(ctx, run, notObject)
	if err != nil {
		return err
	}
	rest := slices.DeleteFunc(now.Rest(), func(one Stuck) bool { return !exported[one.UID] })
	return o.Release(ctx, rest)
}

// releaseOf releases the objects of a definition. One that is gone has none.
func (o *Operator) releaseOf(
	ctx context.Context, of Definition, exported map[types.UID]bool, released func(n int),
) error {
	return kube.RetryExpired(func() error {
		var stuck []Stuck
		flush := func() error {
			err := o.Release(ctx, stuck)
			released(len(stuck))
			stuck = stuck[:0]
			return err
		}
		_, err := o.eachOf(ctx, of, func(found *metav1.PartialObjectMetadata) error {
			if held, is := o.stuckOf(of.Defines, found); is && len(held.Own) > 0 && exported[held.UID] {
				stuck = append(stuck, held)
			}
			if len(stuck) < heldAtOnce {
				return nil
			}
			return flush()
		})
		if err != nil {
			return err
		}
		return flush()
	})
}

// heldIn lists the objects of the namespace that are being deleted and held. Groups
// that discovery fails for are passed over where passOver says so.
func (o *Operator) stuckIn(ctx context.Context, passOver func(group string) bool) ([]Stuck, error) {
	served, err := o.GarbageCollected(ctx, passOver)
	if err != nil {
		return nil, err
	}
	var all []Stuck
	for _, resource := range served {
		if resource.Namespaced && resource.Kind != "Event" {
			held, err := o.stuckOfResource(ctx, resource, kube.Scope{Namespace: o.Namespace})
			if err != nil {
				return nil, err
			}
			all = append(all, held...)
		}
	}
	return all, nil
}

func (o *Operator) stuckOfResource(ctx context.Context, resource kube.Resource, in kube.Scope) ([]Stuck, error) {
	var all []Stuck
	err := kube.RetryExpired(func() error {
		all = nil
		_, err := o.EachObject(ctx, resource, in, func(found *metav1.PartialObjectMetadata) error {
			if held, is := o.stuckOf(resource, found); is {
				all = append(all, held)
			}
			return nil
		})
		return err
	})
	if kube.IsNotFound(err) { // what is not served any more has no objects
		return nil, nil
	}
	return all, err
}

// Release removes their own finalizers from objects, the very ones, while they are
// being deleted, some objects at a time. Objects that are gone, and that are not
// being deleted, are left alone without an error.
func (o *Operator) Release(ctx context.Context, stuck []Stuck) error {
	return kube.Parallel(ctx, len(stuck), func(ctx context.Context, i int) error {
		return o.release(ctx, stuck[i].Object)
	})
}

// releaseRounds bounds how often an object is read anew because it changed between
// reading and writing.
const releaseRounds = 8

func (o *Operator) release(ctx context.Context, object kube.Object) error {
	found, err := o.MetadataOf(ctx, object)
	for refused := 0; err == nil && found != nil && found.DeletionTimestamp != nil; {
		at := slices.IndexFunc(found.Finalizers, o.Owns)
		if at < 0 {
			return nil
		}
		after, refusal := o.removeFinalizer(ctx, object, at, found.Finalizers[at])
		switch class := apierr.ClassOf(refusal); {
		case refusal == nil:
			found = after
			continue
		case class == apierr.Missing:
			return nil
		case class != apierr.Conflict && class != apierr.Terminal, refused == releaseRounds,
			runbook.PermitFrom(ctx).Authorize(ctx) != nil:
			return refusal
		}
		refused++ // the test of the patch failed, most likely: another one writes too
		found, err = o.MetadataOf(ctx, object)
	}
	return err
}

// removeFinalizer removes one finalizer of the very object, if it still stands
// where it was read.
func (o *Operator) removeFinalizer(
	ctx context.Context, object kube.Object, at int, finalizer string,
) (*metav1.PartialObjectMetadata, error) {
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return nil, err
	}
	place := fmt.Sprintf("/metadata/finalizers/%d", at)
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": object.UID},
		{"op": "test", "path": place, "value": finalizer},
		{"op": "remove", "path": place},
	})
	if err != nil {
		return nil, err
	}
	var after *metav1.PartialObjectMetadata
	err = backoff.Once(ctx, o.Clock, func(ctx context.Context) (err error) {
		after, err = o.Metadata.Resource(object.Resource.GroupVersionResource).Namespace(object.Namespace).
			Patch(ctx, object.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: "salve"})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("removing finalizer %s of %s: %w", finalizer, object, kube.Classify(err))
	}
	return after, nil
}
