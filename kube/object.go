package kube

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/runbook"
)

// Object names one object, and which one of that name it is.
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

// IsNotFound tells whether an error says that a thing, or what serves it, is gone.
func IsNotFound(err error) bool { return err != nil && apierr.ClassOf(err) == apierr.Missing }

// MetadataOf reads an object's metadata. It is nil when there is no object of that
// name, or another one than was meant.
func (c *Cluster) MetadataOf(ctx context.Context, object Object) (*metav1.PartialObjectMetadata, error) {
	var found *metav1.PartialObjectMetadata
	err := c.Read(ctx, "reading "+object.String(), func(ctx context.Context) (err error) {
		found, err = c.Metadata.Resource(object.Resource.GroupVersionResource).Namespace(object.Namespace).Get(ctx, object.Name, metav1.GetOptions{})
		return err
	})
	if IsNotFound(err) || err == nil && object.UID != "" && found.UID != object.UID {
		return nil, nil
	}
	return found, err
}

// State tells whether an object, the very one, is there, and whether it is being
// deleted.
func (c *Cluster) State(ctx context.Context, object Object) (there, deleting bool, _ error) {
	found, err := c.MetadataOf(ctx, object)
	if err != nil || found == nil {
		return false, false, err
	}
	return true, found.DeletionTimestamp != nil, nil
}

// Delete deletes an object, the very one, and lets the garbage collector take along
// what it owns. An object that is gone, one that was replaced, and a resource that
// is not served any more are no errors.
func (c *Cluster) Delete(ctx context.Context, object Object) error {
	if object.UID == "" {
		return apierr.New(apierr.Terminal, "deleting %s: it is not known which object of that name is meant", object)
	}
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: metav1.NewUIDPreconditions(string(object.UID))}
	err := Classify(backoff.Once(ctx, c.Clock, func(ctx context.Context) error {
		return c.Metadata.Resource(object.Resource.GroupVersionResource).Namespace(object.Namespace).Delete(ctx, object.Name, options)
	}))
	if err == nil || IsNotFound(err) {
		return nil
	}
	if apierr.ClassOf(err) == apierr.Conflict {
		if there, _, seen := c.State(ctx, object); seen == nil && !there {
			return nil
		}
	}
	return fmt.Errorf("deleting %s: %w", object, err)
}
