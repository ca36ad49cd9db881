package kube

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/internal/apierr"
)

// ConfirmNotServed evaluates a 404 of a whole path: it means that the API server does
// not serve the resource, or that something in between answered. Only when the API
// server's discovery does not list the resource either is the error of class
// Missing, as absence needs a second source; otherwise it is Transient. Any other
// error is given back as it is.
func (c *Cluster) ConfirmNotServed(ctx context.Context, resource schema.GroupVersionResource, err error) error {
	if !isUnserved(err) {
		return err
	}
	served, seen := c.isServed(ctx, resource)
	switch {
	case seen != nil:
		return fmt.Errorf("asking whether %s is served: %w", resource.GroupResource(), Classify(seen))
	case served:
		return apierr.New(apierr.Transient, "unexpected answer: %s is served, yet its path was not found: %w",
			resource.GroupResource(), err)
	}
	return apierr.New(apierr.Missing, "not found: resource %s is not served: %w", resource.GroupResource(), err)
}

// isServed asks for the list of groups first, which every API server answers: a
// group version that is not in it has no list of resources to be asked for.
func (c *Cluster) isServed(ctx context.Context, resource schema.GroupVersionResource) (bool, error) {
	groups, err := c.Client.Discovery().ServerGroupsWithContext(ctx)
	if err != nil {
		return false, err
	}
	// client-go gives an incomplete list when it may not read one of its two halves.
	for _, always := range []string{"v1", "apps/v1"} {
		if !lists(groups, always) {
			return false, apierr.New(apierr.Transient,
				"unexpected answer: discovery does not list %s, which every API server serves", always)
		}
	}
	wanted := resource.GroupVersion().String()
	if !lists(groups, wanted) {
		return false, nil
	}
	list, err := c.Client.Discovery().ServerResourcesForGroupVersionWithContext(ctx, wanted)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.APIResources,
		func(one metav1.APIResource) bool { return one.Name == resource.Resource }), nil
}

func lists(groups *metav1.APIGroupList, wanted string) bool {
	return slices.ContainsFunc(groups.Groups, func(group metav1.APIGroup) bool {
		return slices.ContainsFunc(group.Versions, func(version metav1.GroupVersionForDiscovery) bool {
			return version.GroupVersion == wanted
		})
	})
}
