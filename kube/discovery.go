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

// inGraph are the verbs without which the garbage collector does not follow a
// resource.
var inGraph = []string{"delete", "list", "watch"}

// discoveryPatience is how long a group is waited for that nobody answers for: while a
// definition comes or goes it takes seconds. A server that is down takes hours.
const discoveryPatience = 15 * time.Second

// GarbageCollected gives the resources whose objects can be taken along when their
// owners go. A group that the API server can't answer for is an error, unless its
// failure is passed over: what belongs to it can't be seen.
func (c *Cluster) GarbageCollected(ctx context.Context, passOver func(group string) bool) ([]Resource, error) {
	limited, cancel := clock.WithTimeout(ctx, c.Clock, discoveryPatience)
	defer cancel()
	var lists []*metav1.APIResourceList
	err := c.Read(limited, "asking the API server what it serves", func(ctx context.Context) (err error) {
		lists, err = c.Client.Discovery().ServerPreferredResourcesWithContext(ctx)
		return withoutGroups(err, passOver)
	})
	if err != nil {
		return nil, err
	}
	var resources []Resource
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, apierr.New(apierr.Terminal, "asking the API server what it serves: %w", err)
		}
		for _, served := range list.APIResources {
			if lacks := slices.ContainsFunc(inGraph, func(verb string) bool { return !slices.Contains(served.Verbs, verb) }); !lacks {
				resources = append(resources, Resource{version.WithResource(served.Name), served.Kind, served.Namespaced})
			}
		}
	}
	return resources, nil
}

// withoutGroups is an error of discovery without the groups that are passed over.
func withoutGroups(err error, passOver func(group string) bool) error {
	var partial *discovery.ErrGroupDiscoveryFailed
	if !errors.As(err, &partial) {
		return err
	}
	var failed []string
	for version, cause := range partial.Groups {
		if !passOver(version.Group) {
			failed = append(failed, fmt.Sprintf("%s (%v)", version, cause))
		}
	}
	if failed == nil {
		return nil
	}
	slices.Sort(failed)
	return apierr.New(apierr.Transient, "the API server can't say what is in %s", strings.Join(failed, ", "))
}
