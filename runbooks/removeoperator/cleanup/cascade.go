package cleanup

import (
	"context"
	"slices"
	"strings"
	"sync"

	"salve/kube"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// shown is how many objects are named where there may be many.
const shown = 50

// Cascade is what the garbage collector deletes along with others.
type Cascade struct {
	Count int `json:"count"`
	// Names are those of the first of them, sorted.
	Names []string `json:"names,omitempty"`
}

// CascadeOf finds objects outside of the group that go when the group's objects
// go: those that no other owner keeps. What is in the operator's namespace is not
// counted, nor what is being deleted anyway.
func (o *Operator) CascadeOf(ctx context.Context, left *Reading) (Cascade, error) {
	served, err := o.GarbageCollected(ctx, left.unanswered)
	if err != nil {
		return Cascade{}, err
	}
	candidates := served[:0:0]
	for _, resource := range served {
		// Events come by the thousands, and their owners are never asked for.
		if !inGroup(resource.Group, o.Group) && resource.Kind != "Event" {
			candidates = append(candidates, resource)
		}
	}
	var mu sync.Mutex
	var all []kube.Object
	err = kube.Parallel(ctx, len(candidates), func(ctx context.Context, i int) error {
		found, err := o.ownedBy(ctx, candidates[i], served)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, found...)
		return err
	})
	if err != nil {
		return Cascade{}, err
	}
	names := make([]string, len(all))
	for i, object := range all {
		names[i] = object.String()
	}
	slices.Sort(names)
	return Cascade{Count: len(all), Names: names[:min(len(names), shown)]}, nil
}

// ownedBy lists the objects of a resource that the group's objects alone keep.
func (o *Operator) ownedBy(ctx context.Context, resource kube.Resource, served []kube.Resource) ([]kube.Object, error) {
	type shared struct {
		object kube.Object
		others []kube.Object
	}
	var owned []shared
	err := kube.RetryExpired(func() error {
		owned = nil
		_, err := o.EachObject(ctx, resource, kube.Scope{}, func(found *metav1.PartialObjectMetadata) error {
			inside, others := ownersOf(found, o.Group, served)
			if inside && found.DeletionTimestamp == nil && found.Namespace != o.Namespace {
				owned = append(owned, shared{kube.ObjectOf(resource, found), others})
			}
			return nil
		})
		return err
	})
	if err != nil && !kube.IsNotFound(err) { // what is not served any more has no objects
		return nil, err
	}
	var taken []kube.Object
	for _, one := range owned {
		kept, err := o.anyThere(ctx, one.others)
		if err != nil {
			return nil, err
		}
		if !kept {
			taken = append(taken, one.object)
		}
	}
	return taken, nil
}

// ownersOf tells whether one of an object's owners is in the group, and gives the
// others. An owner of a kind that nobody serves keeps nothing.
func ownersOf(
	found *metav1.PartialObjectMetadata, group string, served []kube.Resource,
) (inside bool, others []kube.Object) {
	for _, owner := range found.OwnerReferences {
		kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()
		if inGroup(kind.Group, group) {
			inside = true
			continue
		}
		at := slices.IndexFunc(served, func(r kube.Resource) bool { return r.Group == kind.Group && r.Kind == kind.Kind })
		if at < 0 {
			continue
		}
		other := kube.Object{Resource: served[at], Name: owner.Name, UID: owner.UID}
		if other.Resource.Namespaced {
			other.Namespace = found.Namespace
		}
		others = append(others, other)
	}
	return inside, others
}

func (o *Operator) anyThere(ctx context.Context, objects []kube.Object) (bool, error) {
	for _, object := range objects {
		if there, _, err := o.State(ctx, object); there || err != nil {
			return there, err
		}
	}
	return false, nil
}

// String counts and names the objects.
func (t Cascade) String() string {
	text := count(t.Count, "object") + ": " + strings.Join(t.Names, ", ")
	if t.Count > len(t.Names) {
		text += " and more"
	}
	return text
}
