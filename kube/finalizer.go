package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/fault"
	"salve/pace"
	"salve/runbook"
)

// Finalizers says which finalizers may be removed: those whose domain is the group
// or lies below it, and those that are named, character for character.
type Finalizers struct {
	Group string
	Named []string
}

// Own tells whether a finalizer may be removed. Its domain is what stands before
// the slash; one without a slash is a domain, as the oldest ones are.
func (f Finalizers) Own(finalizer string) bool {
	domain, _, _ := strings.Cut(finalizer, "/")
	return InGroup(domain, f.Group) || slices.Contains(f.Named, finalizer)
}

// Held is an object that is being deleted and can't go.
type Held struct {
	Object
	// Own are the finalizers that may be removed, Foreign all others.
	Own, Foreign []string
}

// String names the object and who holds it.
func (h Held) String() string {
	return fmt.Sprintf("%s (held by %s)", h.Object, strings.Join(append(slices.Clone(h.Own), h.Foreign...), ", "))
}

// heldOf is false for an object that is not being deleted, or that nothing holds.
func heldOf(resource Resource, found metav1.Object, own Finalizers) (Held, bool) {
	held := Held{Object: objectOf(resource, found)}
	if found.GetDeletionTimestamp() == nil {
		return held, false
	}
	for _, finalizer := range found.GetFinalizers() {
		if own.Own(finalizer) {
			held.Own = append(held.Own, finalizer)
		} else {
			held.Foreign = append(held.Foreign, finalizer)
		}
	}
	return held, len(found.GetFinalizers()) > 0
}

// heldAtOnce is how many held objects are collected before they are released.
const heldAtOnce = 256

// ReleaseAll releases every object of some definitions that is being deleted; total
// is how many are expected. It keeps a batch of them at the most.
func (c *Cluster) ReleaseAll(ctx context.Context, permit runbook.Permit, own Finalizers, of []Definition, total int, report func(runbook.Progress)) error {
	released := c.newMeter(total, "released", report)
	for _, definition := range of {
		if err := c.releaseOf(ctx, permit, own, definition, released.add); err != nil {
			return err
		}
	}
	return nil
}

// releaseOf releases the objects of a definition. One that is gone has none.
func (c *Cluster) releaseOf(ctx context.Context, permit runbook.Permit, own Finalizers, of Definition, released func(n int)) error {
	return Afresh(func() error {
		var stuck []Held
		flush := func() error {
			err := c.Release(ctx, permit, own, stuck)
			released(len(stuck))
			stuck = stuck[:0]
			return err
		}
		_, err := c.EachOf(ctx, of, func(found *metav1.PartialObjectMetadata) error {
			if held, is := heldOf(of.Defines, found, own); is && len(held.Own) > 0 {
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

// heldIn lists the objects of a namespace that are being deleted and held. Groups
// that discovery fails for are passed over where passOver says so.
func (c *Cluster) heldIn(ctx context.Context, namespace string, own Finalizers, passOver func(group string) bool) ([]Held, error) {
	served, err := c.GarbageCollected(ctx, passOver)
	if err != nil {
		return nil, err
	}
	var all []Held
	for _, resource := range served {
		if resource.Namespaced && resource.Kind != "Event" {
			held, err := c.held(ctx, resource, Scope{Namespace: namespace}, own)
			if err != nil {
				return nil, err
			}
			all = append(all, held...)
		}
	}
	return all, nil
}

func (c *Cluster) held(ctx context.Context, resource Resource, in Scope, own Finalizers) ([]Held, error) {
	var all []Held
	err := Afresh(func() error {
		all = nil
		_, err := c.EachObject(ctx, resource, in, func(found *metav1.PartialObjectMetadata) error {
			if held, is := heldOf(resource, found, own); is {
				all = append(all, held)
			}
			return nil
		})
		return err
	})
	if IsMissing(err) { // what is not served any more has no objects
		return nil, nil
	}
	return all, err
}

// Release removes their own finalizers from objects, the very ones, while they are
// being deleted, some objects at a time. Objects that are gone, and that are not
// being deleted, are left alone without an error.
func (c *Cluster) Release(ctx context.Context, permit runbook.Permit, own Finalizers, stuck []Held) error {
	return sideBySide(ctx, len(stuck), func(ctx context.Context, i int) error {
		return c.release(ctx, permit, own, stuck[i].Object)
	})
}

// releaseRounds bounds how often an object is read anew because it changed between
// reading and writing.
const releaseRounds = 8

func (c *Cluster) release(ctx context.Context, permit runbook.Permit, own Finalizers, object Object) error {
	found, err := c.metadataOf(ctx, object)
	for refused := 0; err == nil && found != nil && found.DeletionTimestamp != nil; {
		at := slices.IndexFunc(found.Finalizers, own.Own)
		if at < 0 {
			return nil
		}
		after, refusal := c.removeFinalizer(ctx, permit, object, at, found.Finalizers[at])
		switch class := fault.ClassOf(refusal); {
		case refusal == nil:
			found = after
			continue
		case class == fault.Missing:
			return nil
		case class != fault.Conflict && class != fault.Terminal, refused == releaseRounds, permit.Authorize(ctx) != nil:
			return refusal
		}
		refused++ // the test of the patch failed, most likely: another one writes too
		found, err = c.metadataOf(ctx, object)
	}
	return err
}

// removeFinalizer removes one finalizer of the very object, if it still stands
// where it was read.
func (c *Cluster) removeFinalizer(ctx context.Context, permit runbook.Permit, object Object, at int, finalizer string) (*metav1.PartialObjectMetadata, error) {
	if err := permit.Authorize(ctx); err != nil {
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
	err = pace.Once(ctx, c.Clock, func(ctx context.Context) (err error) {
		after, err = c.Metadata.Resource(object.Resource.GroupVersionResource).Namespace(object.Namespace).
			Patch(ctx, object.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: "salve"})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("removing finalizer %s of %s: %w", finalizer, object, classify(err))
	}
	return after, nil
}
