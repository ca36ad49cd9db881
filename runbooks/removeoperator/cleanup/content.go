package cleanup

import (
	"context"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/kube"
)

// contentResources are the resources of which the namespace may hold objects, besides the group's.
func (o *Operator) contentResources(ctx context.Context, left *Reading) ([]kube.Resource, error) {
	served, err := o.GarbageCollected(ctx, left.unanswered)
	return slices.DeleteFunc(served, func(resource kube.Resource) bool {
		madeByItself := resource.Kind == "Event" || resource.Kind == "Endpoints" // the latter from Services
		return !resource.Namespaced || madeByItself || inGroup(resource.Group, o.Group)
	}), err
}

// exportable tells whether an object of the namespace has to be in a bundle for the namespace to be deleted. What
// a controller makes again by itself need not be, unless its finalizers may be removed.
func (o *Operator) exportable(resource kube.Resource, found metav1.Object) bool {
	switch {
	case slices.ContainsFunc(found.GetFinalizers(), o.Owns):
		return true
	case metav1.GetControllerOf(found) != nil:
		return false
	case resource.Kind == "ServiceAccount" && found.GetName() == "default":
		return false // every namespace has one
	case resource.Kind == "ConfigMap" && found.GetName() == "kube-root-ca.crt":
		return false // this one too
	}
	return true
}

// Unexported names what would go with the namespace and is not in a bundle, the first of them when they are many.
func (o *Operator) Unexported(ctx context.Context, left *Reading, in Bundle) ([]string, error) {
	if left.Namespace == nil {
		return nil, nil
	}
	exported, err := in.uids(notObject)
	if err != nil {
		return nil, err
	}
	served, err := o.contentResources(ctx, left)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var missing []string
	err = kube.Parallel(ctx, len(served), func(ctx context.Context, i int) error {
		_, err := o.EachObject(ctx, served[i], kube.Scope{Namespace: o.Namespace},
			func(found *metav1.PartialObjectMetadata) error {
				if !exported[found.UID] && found.DeletionTimestamp == nil && o.exportable(served[i], found) {
					mu.Lock()
					defer mu.Unlock()
					missing = append(missing, kube.ObjectOf(served[i], found).String())
				}
				return nil
			})
		if kube.IsNotFound(err) { // what is not served any more has no objects
			return nil
		}
		return err
	})
	slices.Sort(missing)
	return missing[:min(len(missing), shown)], err
}

// notObject tells custom resources, which may be many, from all else.
func notObject(entry Entry) bool { return entry.Role != RoleObject }

// uids are those of some objects in a bundle.
func (b Bundle) uids(of func(Entry) bool) (map[types.UID]bool, error) {
	all := map[types.UID]bool{}
	err := b.Each(func(entry Entry) error {
		if of(entry) {
			all[entry.UID] = true
		}
		return nil
	})
	return all, err
}
