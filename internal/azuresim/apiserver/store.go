package apiserver

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Store keeps every object under one revision, as etcd does: each change has a resourceVersion, lists carry the current
// one, and a watch from a resourceVersion first gets what changed since.
//
// Stored objects are never changed in place: who reads one must not write to it.
type Store struct {
	identity Identity
	revision int64
	kinds    map[schema.GroupVersionResource]map[types.NamespacedName]runtime.Object
	// history holds the latest changes, oldest first; forgotten is the revision of the last one dropped.
	history   []change
	forgotten int64
	watchers  []*watcher
}

// Identity gives new objects what a server gives them.
type Identity struct {
	Now func() metav1.Time
	// UID is new with each call; of says for what.
	UID func(of string) types.UID
	// Suffix completes a generateName.
	Suffix func(namespace, prefix string) string
}

type change struct {
	kind     watch.EventType
	resource schema.GroupVersionResource
	revision int64
	object   runtime.Object // the last state, when deleted
	before   runtime.Object // nil when added
}

const historyLength = 4096

// NewStore makes an empty store.
func NewStore(identity Identity) *Store {
	return &Store{
		identity: identity, revision: 1, kinds: map[schema.GroupVersionResource]map[types.NamespacedName]runtime.Object{},
	}
}

// record stores a change under the next revision and tells the watchers.
func (s *Store) record(c change) error {
	object, err := meta.Accessor(c.object)
	if err != nil {
		return fmt.Errorf("reading object metadata: %w", err)
	}
	s.revision++
	c.revision = s.revision
	object.SetResourceVersion(strconv.FormatInt(s.revision, 10))
	key := keyOf(object)
	if s.kinds[c.resource] == nil {
		s.kinds[c.resource] = map[types.NamespacedName]runtime.Object{}
	}
	if c.kind == watch.Deleted {
		delete(s.kinds[c.resource], key)
	} else {
		s.kinds[c.resource][key] = c.object
	}
	s.history = append(s.history, c)
	if len(s.history) > historyLength {
		s.forgotten = s.history[0].revision
		s.history = s.history[1:]
	}
	for _, w := range s.watchers {
		w.send(c)
	}
	s.watchers = slices.DeleteFunc(s.watchers, func(w *watcher) bool { return w.stopped() })
	return nil
}

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// Get gives the stored object.
func (s *Store) Get(resource schema.GroupVersionResource, namespace, name string) (runtime.Object, error) {
	object, ok := s.kinds[resource][types.NamespacedName{Namespace: namespace, Name: name}]
	if !ok {
		return nil, apierrors.NewNotFound(resource.GroupResource(), name)
	}
	return object, nil
}

// All gives the stored objects of a resource, by namespace and name; of every namespace when none is named.
func (s *Store) All(resource schema.GroupVersionResource, namespace string) []runtime.Object {
	return sorted(s.kinds[resource], namespace)
}

func sorted(objects map[types.NamespacedName]runtime.Object, namespace string) []runtime.Object {
	keys := make([]types.NamespacedName, 0, len(objects))
	for key := range objects {
		if namespace == "" || key.Namespace == namespace {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, compareKeys)
	found := make([]runtime.Object, 0, len(keys))
	for _, key := range keys {
		found = append(found, objects[key])
	}
	return found
}

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// at gives the objects of a resource as they were at a revision that is not forgotten.
func (s *Store) at(resource schema.GroupVersionResource, revision int64) map[types.NamespacedName]runtime.Object {
	if revision >= s.revision {
		return s.kinds[resource]
	}
	then := maps.Clone(s.kinds[resource])
	for _, c := range slices.Backward(s.history) {
		if c.revision <= revision {
			break
		}
		object, err := meta.Accessor(c.object)
		if c.resource != resource || err != nil {
			continue
		}
		if c.before == nil {
			delete(then, keyOf(object))
		} else {
			then[keyOf(object)] = c.before
		}
	}
	return then
}

// Create stores a copy of an object under a UID of its own and gives it.
func (s *Store) Create(
	resource schema.GroupVersionResource, object runtime.Object, namespace string,
) (runtime.Object, error) {
	object = object.DeepCopyObject()
	created, err := meta.Accessor(object)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if created.GetResourceVersion() != "" {
		return nil, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	created.SetNamespace(namespace)
	if created.GetName() == "" && created.GetGenerateName() != "" {
		created.SetName(created.GetGenerateName() + s.identity.Suffix(namespace, created.GetGenerateName()))
	}
	if created.GetName() == "" {
		return nil, apierrors.NewBadRequest("name or generateName is required")
	}
	if _, err := s.Get(resource, namespace, created.GetName()); err == nil {
		return nil, apierrors.NewAlreadyExists(resource.GroupResource(), created.GetName())
	}
	created.SetUID(s.identity.UID(resource.Resource + " " + namespace + "/" + created.GetName()))
	created.SetCreationTimestamp(s.identity.Now())
	return object, s.record(change{kind: watch.Added, resource: resource, object: object})
}

// Update stores a copy of an object in place of the one of its name and gives it. A resourceVersion or UID in the
// object is a precondition.
func (s *Store) Update(
	resource schema.GroupVersionResource, object runtime.Object, namespace string,
) (runtime.Object, error) {
	object = object.DeepCopyObject()
	updated, err := meta.Accessor(object)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	before, err := s.Get(resource, namespace, updated.GetName())
	if err != nil {
		return nil, err
	}
	stored, err := meta.Accessor(before)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if uid := updated.GetUID(); uid != "" && uid != stored.GetUID() {
		return nil, conflict(resource, updated.GetName(), wrongUID(uid, stored.GetUID()))
	}
	if version := updated.GetResourceVersion(); version != "" && version != stored.GetResourceVersion() {
		return nil, conflict(resource, updated.GetName(),
			"the object has been modified; please apply your changes to the latest version and try again")
	}
	updated.SetNamespace(namespace)
	updated.SetUID(stored.GetUID())
	updated.SetCreationTimestamp(stored.GetCreationTimestamp())
	return object, s.record(change{kind: watch.Modified, resource: resource, object: object, before: before})
}

// Delete removes an object at once.
func (s *Store) Delete(
	resource schema.GroupVersionResource, namespace, name string, preconditions *metav1.Preconditions,
) error {
	before, err := s.Get(resource, namespace, name)
	if err != nil {
		return err
	}
	if err := CheckPreconditions(resource, before, preconditions); err != nil {
		return err
	}
	return s.record(change{kind: watch.Deleted, resource: resource, object: before.DeepCopyObject(), before: before})
}

// CheckPreconditions refuses another object, or another version of it, than was meant; nil means any.
func CheckPreconditions(
	resource schema.GroupVersionResource, object runtime.Object, wanted *metav1.Preconditions,
) error {
	stored, err := meta.Accessor(object)
	if err != nil || wanted == nil {
		return err
	}
	if wanted.UID != nil && *wanted.UID != stored.GetUID() {
		return conflict(resource, stored.GetName(), wrongUID(*wanted.UID, stored.GetUID()))
	}
	if wanted.ResourceVersion != nil && *wanted.ResourceVersion != stored.GetResourceVersion() {
		return conflict(resource, stored.GetName(), fmt.Sprintf(
			"Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s",
			*wanted.ResourceVersion, stored.GetResourceVersion()))
	}
	return nil
}

func wrongUID(wanted, stored types.UID) string {
	return fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", wanted, stored)
}

func conflict(resource schema.GroupVersionResource, name, reason string) error {
	return apierrors.NewConflict(resource.GroupResource(), name, errors.New(reason))
}

// Each calls do with the current state of every object of a resource; do may change the store.
func Each[T runtime.Object](s *Store, resource schema.GroupVersionResource, do func(T)) {
	for _, object := range s.All(resource, "") {
		if typed, ok := object.(T); ok {
			do(typed)
		}
	}
}

// Edit stores a changed copy of an object.
func Edit[T runtime.Object](s *Store, resource schema.GroupVersionResource, object T, change func(T)) {
	copied, ok := object.DeepCopyObject().(T)
	if !ok {
		return // a copy has the type of its original
	}
	change(copied)
	head, err := meta.Accessor(copied)
	if err != nil {
		return // every API object has metadata
	}
	_, _ = s.Update(resource, copied, head.GetNamespace()) // it exists and is the latest
}
