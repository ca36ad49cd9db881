package kube

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"salve/fault"
	"salve/pace"
	"salve/runbook"
)

var configMaps = Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Kind: "ConfigMap", Namespaced: true}

// Scope narrows a list. The zero Scope is all objects of a resource, in all
// namespaces.
type Scope struct {
	Namespace string
	// Selector is a label selector.
	Selector string
}

func (s Scope) options() metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: s.Selector, Limit: page}
}

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

func objectOf(resource Resource, found metav1.Object) Object {
	return Object{Resource: resource, Namespace: found.GetNamespace(), Name: found.GetName(), UID: found.GetUID()}
}

// EachObject visits the metadata of objects page by page, and gives the version
// from which a watch misses nothing. What it keeps is one page. It fails when the
// list grew too old between two pages; Afresh begins it again.
func (c *Cluster) EachObject(ctx context.Context, resource Resource, in Scope, visit func(*metav1.PartialObjectMetadata) error) (version string, _ error) {
	list := func(ctx context.Context, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
		return c.Metadata.Resource(resource.GroupVersionResource).Namespace(in.Namespace).List(ctx, options)
	}
	err := eachPage(ctx, c, "listing "+resource.String(), in.options(), list, func(list *metav1.PartialObjectMetadataList) error {
		if version == "" {
			version = list.ResourceVersion
		}
		for i := range list.Items {
			if err := visit(&list.Items[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return version, err
}

// eachPage lists page by page. A page that is refused because the list grew too old
// is an error at once: asking again gives the same answer.
func eachPage[List metav1.ListInterface](ctx context.Context, c *Cluster, what string, options metav1.ListOptions,
	list func(context.Context, metav1.ListOptions) (List, error), visit func(List) error) error {
	for {
		var page List
		var expired error
		err := c.read(ctx, what, func(ctx context.Context) (err error) {
			page, err = list(ctx, options)
			if apierrors.IsResourceExpired(err) {
				expired, err = fmt.Errorf("%s: %w", what, classify(err)), nil
			}
			return err
		})
		if err := errors.Join(err, expired); err != nil {
			return err
		}
		if err := visit(page); err != nil {
			return err
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// beginnings bounds how often a list is begun.
const beginnings = 5

// Afresh calls list until it does not fail for having grown too old. What an
// earlier call saw does not count.
func Afresh(list func() error) error {
	for n := 1; ; n++ {
		err := list()
		if !apierrors.IsResourceExpired(err) || n == beginnings {
			return err
		}
	}
}

// Objects lists the few objects that a scope holds. A resource that is not served
// has none.
func (c *Cluster) Objects(ctx context.Context, resource Resource, in Scope) ([]Object, error) {
	var objects []Object
	err := Afresh(func() error {
		objects = nil
		_, err := c.EachObject(ctx, resource, in, func(found *metav1.PartialObjectMetadata) error {
			objects = append(objects, objectOf(resource, found))
			return nil
		})
		return err
	})
	if IsMissing(err) {
		return nil, nil
	}
	return objects, err
}

// IsMissing tells whether an error says that a thing, or what serves it, is gone.
func IsMissing(err error) bool { return err != nil && fault.ClassOf(err) == fault.Missing }

// metadataOf reads an object's metadata. It is nil when there is no object of that
// name, or another one than was meant.
func (c *Cluster) metadataOf(ctx context.Context, object Object) (*metav1.PartialObjectMetadata, error) {
	var found *metav1.PartialObjectMetadata
	err := c.read(ctx, "reading "+object.String(), func(ctx context.Context) (err error) {
		found, err = c.Metadata.Resource(object.Resource.GroupVersionResource).Namespace(object.Namespace).Get(ctx, object.Name, metav1.GetOptions{})
		return err
	})
	if IsMissing(err) || err == nil && object.UID != "" && found.UID != object.UID {
		return nil, nil
	}
	return found, err
}

// State tells whether an object, the very one, is there, and whether it is being
// deleted.
func (c *Cluster) State(ctx context.Context, object Object) (there, deleting bool, _ error) {
	found, err := c.metadataOf(ctx, object)
	if err != nil || found == nil {
		return false, false, err
	}
	return true, found.DeletionTimestamp != nil, nil
}

// Delete deletes an object, the very one, and lets the garbage collector take along
// what it owns. An object that is gone, one that was replaced, and a resource that
// is not served any more are no errors.
func (c *Cluster) Delete(ctx context.Context, permit runbook.Permit, object Object) error {
	if object.UID == "" {
		return fault.New(fault.Terminal, "deleting %s: it is not known which object of that name is meant", object)
	}
	if err := permit.Authorize(ctx); err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: metav1.NewUIDPreconditions(string(object.UID))}
	err := classify(pace.Once(ctx, c.Clock, func(ctx context.Context) error {
		return c.Metadata.Resource(object.Resource.GroupVersionResource).Namespace(object.Namespace).Delete(ctx, object.Name, options)
	}))
	if err == nil || IsMissing(err) {
		return nil
	}
	if fault.ClassOf(err) == fault.Conflict {
		if there, _, seen := c.State(ctx, object); seen == nil && !there {
			return nil
		}
	}
	return fmt.Errorf("deleting %s: %w", object, err)
}
