package kube

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Scope narrows a list. The zero Scope is all objects of a resource, in all
// namespaces.
type Scope struct {
	Namespace string
	// Selector is a label selector.
	Selector string
}

// Options are for one page of the scope at a time.
func (s Scope) Options() metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: s.Selector, Limit: pageSize}
}

// EachObject visits the metadata of objects page by page, and gives the version
// from which a watch misses nothing. It holds one page in memory. It fails when the
// list expired between two pages; RetryExpired starts it again.
func (c *Cluster) EachObject(
	ctx context.Context, resource Resource, in Scope, visit func(*metav1.PartialObjectMetadata) error,
) (version string, _ error) {
	list := func(ctx context.Context, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
		page, err := c.Metadata.Resource(resource.GroupVersionResource).Namespace(in.Namespace).List(ctx, options)
		return page, c.ConfirmNotServed(ctx, resource.GroupVersionResource, err)
	}
	err := ListPages(ctx, c, "listing "+resource.String(), in.Options(), list,
		func(list *metav1.PartialObjectMetadataList) error {
			if version == "" {
				version = list.ResourceVersion
			}
			for i := range list.Items {
				if got := list.Items[i].Namespace; in.Namespace != "" && got != in.Namespace {
					return wrongObject(resource.String()+" in namespace", in.Namespace, bounded(got))
				}
				if err := visit(&list.Items[i]); err != nil {
					return err
				}
			}
			return nil
		})
	return version, err
}

// ListPages lists page by page. A page that is refused because the list expired is
// an error at once: its continue token stays invalid.
func ListPages[List metav1.ListInterface](ctx context.Context, c *Cluster, what string, options metav1.ListOptions,
	list func(context.Context, metav1.ListOptions) (List, error), visit func(List) error) error {
	for {
		var page List
		var expired error
		err := c.Read(ctx, what, func(ctx context.Context) (err error) {
			page, err = list(ctx, options)
			if apierrors.IsResourceExpired(err) {
				expired, err = fmt.Errorf("%s: %w", what, Classify(err)), nil
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

// maxListAttempts bounds how often a list is started.
const maxListAttempts = 5

// RetryExpired calls list until it does not fail for having expired. What an earlier
// call saw does not count: list starts from nothing each time.
func RetryExpired(list func() error) error {
	for n := 1; ; n++ {
		err := list()
		if !apierrors.IsResourceExpired(err) || n == maxListAttempts {
			return err
		}
	}
}

// Objects lists the few objects of a scope. A resource that is not served has none.
func (c *Cluster) Objects(ctx context.Context, resource Resource, in Scope) ([]Object, error) {
	var objects []Object
	err := RetryExpired(func() error {
		objects = nil
		_, err := c.EachObject(ctx, resource, in, func(found *metav1.PartialObjectMetadata) error {
			objects = append(objects, ObjectOf(resource, found))
			return nil
		})
		return err
	})
	if IsNotFound(err) { // confirmed by discovery
		return nil, nil
	}
	return objects, err
}
