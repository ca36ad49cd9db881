package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"salve/internal/apierr"
	"salve/internal/clock"
)

// Resource is one kind of objects, in the version that it is read in.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

// String names the resource as kubectl does.
func (r Resource) String() string { return r.GroupResource().String() }

// garbageCollectorVerbs are the verbs without which the garbage collector ignores a
// resource
// (https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/garbagecollector/garbagecollector.go,
// GetDeletableResources).
func garbageCollectorVerbs() []string { return []string{"delete", "list", "watch"} }

// discoveryTimeout is how long a group is waited for whose server does not answer:
// while a definition is created or deleted it takes seconds, while an aggregated API
// server is down it takes hours.
const discoveryTimeout = 15 * time.Second

// GarbageCollected gives the resources whose objects the garbage collector can
// delete with their owners. A group that discovery fails for is an error unless
// ignoreGroup says otherwise: what is in it can't be seen.
func (c *Cluster) GarbageCollected(ctx context.Context, ignoreGroup func(group string) bool) ([]Resource, error) {
	limited, cancel := clock.WithTimeout(ctx, c.Clock, discoveryTimeout)
	defer cancel()
	var lists []*metav1.APIResourceList
	err := c.Read(limited, "discovering the API server's resources", func(ctx context.Context) (err error) {
		lists, err = c.Client.Discovery().ServerPreferredResourcesWithContext(ctx)
		return withoutGroups(err, ignoreGroup)
	})
	if err != nil {
		return nil, err
	}
	if err := complete(lists); err != nil {
		return nil, err
	}
	var resources []Resource
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, apierr.New(apierr.Terminal, "discovering the API server's resources: %w", err)
		}
		for _, served := range list.APIResources {
			if lacks := slices.ContainsFunc(garbageCollectorVerbs(),
				func(verb string) bool { return !slices.Contains(served.Verbs, verb) }); !lacks {
				resources = append(resources, Resource{version.WithResource(served.Name), served.Kind, served.Namespaced})
			}
		}
	}
	return resources, nil
}

// complete refuses an answer that lacks what every API server has: discovery gives what it has read so far, without an
// error, when its time ends between two groups. What is missing from it would count as gone.
func complete(lists []*metav1.APIResourceList) error {
	for _, always := range []struct{ version, resource string }{{"v1", "pods"}, {"apps/v1", "deployments"}} {
		if !slices.ContainsFunc(lists, func(list *metav1.APIResourceList) bool {
			return list.GroupVersion == always.version && slices.ContainsFunc(list.APIResources,
				func(served metav1.APIResource) bool { return served.Name == always.resource })
		}) {
			return apierr.New(apierr.Transient, "discovery gave no %s of %s: its answer is incomplete",
				always.resource, always.version)
		}
	}
	return nil
}

// withoutGroups is an error of discovery without the groups that are ignored.
func withoutGroups(err error, ignoreGroup func(group string) bool) error {
	var partial *discovery.ErrGroupDiscoveryFailed
	if !errors.As(err, &partial) {
		return err
	}
	var failed []string
	for version, cause := range partial.Groups {
		if !ignoreGroup(version.Group) {
			failed = append(failed, fmt.Sprintf("%s (%s)", version, bounded(cause.Error())))
		}
	}
	if failed == nil {
		return nil
	}
	slices.Sort(failed)
	return apierr.New(apierr.Transient, "discovery failed for %s", strings.Join(failed, ", "))
}
