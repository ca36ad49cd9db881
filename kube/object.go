package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/runbook"
)

// Object identifies one object: by its name, and by the UID that tells it from
// another one of that name.
type Object struct {
	Resource  Resource
	Namespace string
	Name      string
	UID       types.UID
}

// String names the object as in "widgets.example.io team-a/first".
func (o Object) String() string {
	if o.Namespace == "" {
		return o.Resource.String() + " " + o.Name
	}
	return o.Resource.String() + " " + podName(o.Namespace, o.Name)
}

// ObjectOf names an object that was read.
func ObjectOf(resource Resource, found metav1.Object) Object {
	return Object{Resource: resource, Namespace: found.GetNamespace(), Name: found.GetName(), UID: found.GetUID()}
}

// MetadataOf reads an object's metadata. It is nil when the object does not exist:
// there is none of that name, or one with another UID.
func (c *Cluster) MetadataOf(ctx context.Context, object Object) (*metav1.PartialObjectMetadata, error) {
	gvr := object.Resource.GroupVersionResource
	var found *metav1.PartialObjectMetadata
	err := c.Read(ctx, "reading "+object.String(), func(ctx context.Context) (err error) {
		found, err = c.Metadata.Resource(gvr).Namespace(object.Namespace).Get(ctx, object.Name, metav1.GetOptions{})
		if err == nil && (found.Name != object.Name || found.Namespace != object.Namespace) {
			return wrongObject(object.Resource.String(), object.String(), podName(found.Namespace, found.Name))
		}
		return c.confirmAbsent(ctx, object, err)
	})
	if IsNotFound(err) || err == nil && object.UID != "" && found.UID != object.UID {
		return nil, nil
	}
	return found, err
}

// confirmAbsent leaves class Missing only to the object's own 404 and to that of a
// resource which discovery does not list.
func (c *Cluster) confirmAbsent(ctx context.Context, object Object, err error) error {
	if err = c.ConfirmNotServed(ctx, object.Resource.GroupVersionResource, err); !apierrors.IsNotFound(err) ||
		isUnserved(err) {
		return err
	}
	if isAbsent(err, object.Resource.Resource, object.Name) {
		return err
	}
	return notAbsence(object.String(), err)
}

// State tells whether an object exists, the one with that UID, and whether it is
// being deleted.
func (c *Cluster) State(ctx context.Context, object Object) (exists, deleting bool, _ error) {
	found, err := c.MetadataOf(ctx, object)
	if err != nil || found == nil {
		return false, false, err
	}
	return true, found.DeletionTimestamp != nil, nil
}

// Delete deletes an object, the one with that UID, and lets the garbage collector
// delete what it owns. An object that does not exist any more, one that was
// replaced, and a resource that is not served any more are no errors.
func (c *Cluster) Delete(ctx context.Context, object Object) error {
	if object.UID == "" {
		return apierr.New(apierr.Terminal, "deleting %s: required UID not set", object)
	}
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &background,
		Preconditions: metav1.NewUIDPreconditions(string(object.UID))}
	gvr := object.Resource.GroupVersionResource
	err := Classify(backoff.Once(ctx, c.Clock, func(ctx context.Context) error {
		err := c.Metadata.Resource(gvr).Namespace(object.Namespace).Delete(ctx, object.Name, options)
		return c.confirmAbsent(ctx, object, err)
	}))
	if err == nil || IsNotFound(err) {
		return nil
	}
	if apierr.ClassOf(err) == apierr.Conflict {
		if exists, _, seen := c.State(ctx, object); seen == nil && !exists {
			return nil
		}
	}
	return fmt.Errorf("deleting %s: %w", object, err)
}
