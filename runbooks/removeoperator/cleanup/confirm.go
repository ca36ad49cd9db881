package cleanup

import (
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/kube"
)

// An empty list is not nothing until a second source says so: what is not in a list is deleted together with what
// is, and never exported. The list of definitions is compared with discovery, that of objects with a watch.

const (
	// discoveryLag is how long the API server may still serve what a definition that is gone has defined.
	discoveryLag = 30 * time.Second
	// firstEvents is how long a watch is listened to: it begins with what there is.
	firstEvents = 2 * time.Second
)

// confirmedDefinitions lists the definitions as Definitions does, and fails while the API server serves a resource of
// the group that is neither in that list nor somebody's own server's.
func (o *Operator) confirmedDefinitions(ctx context.Context, aggregated map[string]bool) ([]Definition, error) {
	others := func(group string) bool { return !inGroup(group, o.Group) || aggregated[group] }
	for start := o.Clock.Now(); ; {
		listed, err := o.Definitions(ctx)
		if err != nil {
			return nil, err
		}
		served, err := o.GarbageCollected(ctx, others)
		if err != nil {
			return nil, err
		}
		missing := undefined(slices.DeleteFunc(served, func(r kube.Resource) bool { return others(r.Group) }), listed)
		if len(missing) == 0 {
			return listed, nil
		}
		if o.Clock.Since(start) > discoveryLag {
			return nil, apierr.New(apierr.Transient,
				"conflict: the API server serves %s, and the list of CRDs does not hold it", strings.Join(missing, ", "))
		}
		if err := clock.Sleep(ctx, o.Clock, pollPause(o.Clock.Since(start))); err != nil {
			return nil, err
		}
	}
}

// undefined names the resources that are served and that no definition defines.
func undefined(served []kube.Resource, listed []Definition) (missing []string) {
	for _, resource := range served {
		defined := slices.ContainsFunc(listed, func(d Definition) bool {
			return d.Defines.GroupResource() == resource.GroupResource()
		})
		if !defined {
			missing = append(missing, resource.String())
		}
	}
	return missing
}

// ConfirmNone fails when a watch shows an object of definitions of which a list has just shown none.
func (o *Operator) ConfirmNone(ctx context.Context, of []Definition) error {
	return kube.Parallel(ctx, len(of), func(ctx context.Context, i int) error {
		shown, err := o.watchFirst(ctx, of[i])
		if err == nil && shown != "" {
			err = apierr.New(apierr.Transient, "conflict: %s is there, and the list of %s does not hold it",
				shown, of[i].Defines)
		}
		return o.unserved(ctx, of[i], err)
	})
}

// watchFirst names an object of those with which a watch of a definition's objects begins and that are there a
// moment later; empty when there is none. The watch cache may lag behind: what it shows first may be gone.
func (o *Operator) watchFirst(ctx context.Context, of Definition) (name string, _ error) {
	limited, cancel := clock.WithTimeout(ctx, o.Clock, firstEvents)
	defer cancel()
	// Version 0 begins with what there is now, as the watch cache has it:
	// https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-watch
	watcher, err := o.Metadata.Resource(of.Defines.GroupVersionResource).
		Watch(limited, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return "", kube.Classify(o.ConfirmNotServed(ctx, of.Defines.GroupVersionResource, err))
	}
	defer watcher.Stop()
	for there := 0; ; {
		select {
		case <-limited.Done():
			if there == 0 {
				name = ""
			}
			return name, context.Cause(ctx)
		case event, open := <-watcher.ResultChan():
			found, is := event.Object.(*metav1.PartialObjectMetadata)
			switch {
			case !open && limited.Err() != nil: // its time is over
			case !open, event.Type == watch.Error:
				return "", apierr.New(apierr.Transient, "watching %s ended early", of.Defines)
			case is && event.Type == watch.Added:
				there, name = there+1, kube.ObjectOf(of.Defines, found).String()
			case is && event.Type == watch.Deleted:
				there--
			}
		}
	}
}
