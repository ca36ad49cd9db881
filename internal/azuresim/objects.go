package azuresim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// objects keeps every Kubernetes object under one revision, as etcd does: each change has a resourceVersion, lists carry
// the current one, and a watch from a resourceVersion first gets what changed since.
//
// It implements client-go's ObjectTracker, so that the fake clientset's own code applies patches to it. Stored objects are
// never changed in place: readers get copies. The World's lock guards it.
type objects struct {
	names    *seeded
	now      func() metav1.Time
	revision int64
	kinds    map[schema.GroupVersionResource]map[types.NamespacedName]runtime.Object
	// history holds the latest changes, oldest first; forgotten is the revision of the last one dropped.
	history   []change
	forgotten int64
	watchers  []*watcher
}

type change struct {
	kind     watch.EventType
	resource schema.GroupVersionResource
	revision int64
	object   runtime.Object // the last state, when deleted
	before   runtime.Object // nil when added
}

const historyLength = 4096

func newObjects(names *seeded, now func() metav1.Time) *objects {
	return &objects{names: names, now: now, revision: 1, kinds: map[schema.GroupVersionResource]map[types.NamespacedName]runtime.Object{}}
}

// record stores a change under the next revision and tells the watchers.
func (o *objects) record(c change) error {
	object, err := meta.Accessor(c.object)
	if err != nil {
		return fmt.Errorf("reading object metadata: %w", err)
	}
	o.revision++
	c.revision = o.revision
	object.SetResourceVersion(strconv.FormatInt(o.revision, 10))
	key := types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
	if o.kinds[c.resource] == nil {
		o.kinds[c.resource] = map[types.NamespacedName]runtime.Object{}
	}
	if c.kind == watch.Deleted {
		delete(o.kinds[c.resource], key)
	} else {
		o.kinds[c.resource][key] = c.object
	}
	o.history = append(o.history, c)
	if len(o.history) > historyLength {
		o.forgotten = o.history[0].revision
		o.history = o.history[1:]
	}
	for _, w := range o.watchers {
		w.tell(c)
	}
	o.watchers = slices.DeleteFunc(o.watchers, func(w *watcher) bool { return w.stopped() })
	return nil
}

func (o *objects) find(resource schema.GroupVersionResource, namespace, name string) (runtime.Object, error) {
	object, ok := o.kinds[resource][types.NamespacedName{Namespace: namespace, Name: name}]
	if !ok {
		return nil, apierrors.NewNotFound(resource.GroupResource(), name)
	}
	return object, nil
}

// sorted lists what is stored of a resource, by namespace and name.
func (o *objects) sorted(resource schema.GroupVersionResource, namespace string) []runtime.Object {
	var keys []types.NamespacedName
	for key := range o.kinds[resource] {
		if namespace == "" || key.Namespace == namespace {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b types.NamespacedName) int {
		if order := strings.Compare(a.Namespace, b.Namespace); order != 0 {
			return order
		}
		return strings.Compare(a.Name, b.Name)
	})
	found := make([]runtime.Object, 0, len(keys))
	for _, key := range keys {
		found = append(found, o.kinds[resource][key])
	}
	return found
}

// Get implements ObjectTracker.
func (o *objects) Get(resource schema.GroupVersionResource, namespace, name string, _ ...metav1.GetOptions) (runtime.Object, error) {
	object, err := o.find(resource, namespace, name)
	if err != nil {
		return nil, err
	}
	return object.DeepCopyObject(), nil
}

// List implements ObjectTracker. Unlike client-go's own tracker it honours field selectors.
func (o *objects) List(resource schema.GroupVersionResource, kind schema.GroupVersionKind, namespace string, options ...metav1.ListOptions) (runtime.Object, error) {
	wanted, err := newSelection(resource, namespace, options)
	if err != nil {
		return nil, err
	}
	list, err := scheme.Scheme.New(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", resource.Resource, err)
	}
	var items []runtime.Object
	for _, object := range o.sorted(resource, namespace) {
		if wanted.has(object) {
			items = append(items, object.DeepCopyObject())
		}
	}
	if err := meta.SetList(list, items); err != nil {
		return nil, fmt.Errorf("listing %s: %w", resource.Resource, err)
	}
	head, err := meta.ListAccessor(list)
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", resource.Resource, err)
	}
	head.SetResourceVersion(strconv.FormatInt(o.revision, 10))
	return list, nil
}

// Add implements ObjectTracker.
func (o *objects) Add(runtime.Object) error {
	return apierrors.NewMethodNotSupported(schema.GroupResource{Resource: "objects"}, "add")
}

// Create implements ObjectTracker.
func (o *objects) Create(resource schema.GroupVersionResource, object runtime.Object, namespace string, _ ...metav1.CreateOptions) error {
	created, err := meta.Accessor(object)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	created.SetNamespace(namespace)
	if created.GetName() == "" && created.GetGenerateName() != "" {
		prefix := created.GetGenerateName()
		created.SetName(prefix + o.names.suffix(namespace, prefix, strconv.Itoa(o.names.next(namespace+"/"+prefix))))
	}
	if created.GetName() == "" {
		return apierrors.NewBadRequest("name or generateName is required")
	}
	if _, err := o.find(resource, namespace, created.GetName()); err == nil {
		return apierrors.NewAlreadyExists(resource.GroupResource(), created.GetName())
	}
	object = object.DeepCopyObject()
	stored, err := meta.Accessor(object)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	stored.SetUID(types.UID(o.names.uuid("uid of " + resource.Resource + " " + namespace + "/" + stored.GetName())))
	stored.SetCreationTimestamp(o.now())
	return o.record(change{kind: watch.Added, resource: resource, object: object})
}

// Update implements ObjectTracker. A resourceVersion or UID in the object is a precondition.
func (o *objects) Update(resource schema.GroupVersionResource, object runtime.Object, namespace string, _ ...metav1.UpdateOptions) error {
	updated, err := meta.Accessor(object)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	before, err := o.find(resource, namespace, updated.GetName())
	if err != nil {
		return err
	}
	stored, err := meta.Accessor(before)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if uid := updated.GetUID(); uid != "" && uid != stored.GetUID() {
		return conflict(resource, updated.GetName(), fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, stored.GetUID()))
	}
	if version := updated.GetResourceVersion(); version != "" && version != stored.GetResourceVersion() {
		return conflict(resource, updated.GetName(), "the object has been modified; please apply your changes to the latest version and try again")
	}
	object = object.DeepCopyObject()
	fresh, err := meta.Accessor(object)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	fresh.SetNamespace(namespace)
	fresh.SetUID(stored.GetUID())
	fresh.SetCreationTimestamp(stored.GetCreationTimestamp())
	return o.record(change{kind: watch.Modified, resource: resource, object: object, before: before})
}

func conflict(resource schema.GroupVersionResource, name, reason string) error {
	return apierrors.NewConflict(resource.GroupResource(), name, fmt.Errorf("%s", reason))
}

// Patch implements ObjectTracker; the object is already patched. A patch without resourceVersion kept the stored one.
func (o *objects) Patch(resource schema.GroupVersionResource, object runtime.Object, namespace string, _ ...metav1.PatchOptions) error {
	return o.Update(resource, object, namespace)
}

// Apply implements ObjectTracker by saying that there is no server-side apply.
func (o *objects) Apply(resource schema.GroupVersionResource, _ runtime.Object, _ string, _ ...metav1.PatchOptions) error {
	return apierrors.NewMethodNotSupported(resource.GroupResource(), "apply")
}

// Delete implements ObjectTracker.
func (o *objects) Delete(resource schema.GroupVersionResource, namespace, name string, options ...metav1.DeleteOptions) error {
	before, err := o.find(resource, namespace, name)
	if err != nil {
		return err
	}
	if len(options) > 0 {
		if err := preconditionsHold(resource, before, options[0].Preconditions); err != nil {
			return err
		}
	}
	return o.record(change{kind: watch.Deleted, resource: resource, object: before.DeepCopyObject(), before: before})
}

func preconditionsHold(resource schema.GroupVersionResource, object runtime.Object, wanted *metav1.Preconditions) error {
	stored, err := meta.Accessor(object)
	if err != nil || wanted == nil {
		return err
	}
	if wanted.UID != nil && *wanted.UID != stored.GetUID() {
		return conflict(resource, stored.GetName(), fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", *wanted.UID, stored.GetUID()))
	}
	if wanted.ResourceVersion != nil && *wanted.ResourceVersion != stored.GetResourceVersion() {
		return conflict(resource, stored.GetName(), "Precondition failed: resourceVersion does not match")
	}
	return nil
}

// selection is a list's or a watch's choice of objects.
type selection struct {
	resource  schema.GroupVersionResource
	namespace string
	labels    labels.Selector
	fields    fields.Selector
}

func newSelection(resource schema.GroupVersionResource, namespace string, options []metav1.ListOptions) (selection, error) {
	s := selection{resource: resource, namespace: namespace, labels: labels.Everything(), fields: fields.Everything()}
	if len(options) == 0 {
		return s, nil
	}
	var err error
	if s.labels, err = labels.Parse(options[0].LabelSelector); err != nil {
		return s, apierrors.NewBadRequest(fmt.Sprintf("unable to parse label selector: %v", err))
	}
	if s.fields, err = fields.ParseSelector(options[0].FieldSelector); err != nil {
		return s, apierrors.NewBadRequest(fmt.Sprintf("unable to parse field selector: %v", err))
	}
	for _, requirement := range s.fields.Requirements() {
		if _, known := fieldsOf(&corev1.Pod{})[requirement.Field]; !known && requirement.Field != "spec.unschedulable" {
			return s, apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", requirement.Field))
		}
	}
	return s, nil
}

func (s selection) has(object runtime.Object) bool {
	if object == nil {
		return false
	}
	head, err := meta.Accessor(object)
	return err == nil && (s.namespace == "" || s.namespace == head.GetNamespace()) &&
		s.labels.Matches(labels.Set(head.GetLabels())) && s.fields.Matches(fieldsOf(object))
}

// fieldsOf are the fields that a field selector can name.
func fieldsOf(object runtime.Object) fields.Set {
	set := fields.Set{}
	if head, err := meta.Accessor(object); err == nil {
		set["metadata.name"], set["metadata.namespace"] = head.GetName(), head.GetNamespace()
	}
	switch object := object.(type) {
	case *corev1.Pod:
		set["spec.nodeName"], set["status.phase"] = object.Spec.NodeName, string(object.Status.Phase)
	case *corev1.Node:
		set["spec.unschedulable"] = strconv.FormatBool(object.Spec.Unschedulable)
	}
	return set
}
