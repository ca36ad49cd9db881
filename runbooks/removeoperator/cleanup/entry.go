package cleanup

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/kube"
)

// Annotations of exported objects.
const (
	// exportedUID keeps which object it was that was exported.
	exportedUID = "salve-exported-uid"
	// exportedRole keeps why it was exported.
	exportedRole = "salve-exported-as"
	// exportedOwners keeps the owners of an object that the run deletes as well. Were they left where they were,
	// the garbage collector would take the restored object for an orphan: its owners come back under other UIDs.
	exportedOwners = "salve-exported-owners"
)

// Role says why an object is in a bundle, and so which step deletes it.
type Role string

// The roles.
const (
	RoleDefinition Role = "definition" // a CRD of the group
	RoleObject     Role = "object"     // a custom resource of the group
	RoleHook       Role = "hook"       // points into the namespace
	RoleOwned      Role = "owned"      // what else is the operator's own
	RoleNamespace  Role = "namespace"  // the operator's namespace
	RoleContent    Role = "content"    // goes with the namespace
)

// Entry is one object of a bundle.
type Entry struct {
	// The Resource of RoleContent says group and kind alone.
	kube.Object
	Role Role
	// Definition is set for RoleDefinition.
	Definition *Definition
}

// transientFields are the parts of an object's metadata that belong to the one that was exported, and not to what it
// is restored to.
func transientFields() []string {
	return []string{
		"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
		"managedFields", "selfLink",
	}
}

// writeEntry writes an object as kubectl apply can make it again.
func (o *Operator) writeEntry(lines *json.Encoder, object *unstructured.Unstructured, role Role) error {
	notes := object.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	notes[exportedUID], notes[exportedRole] = string(object.GetUID()), string(role)
	var kept, deleted []metav1.OwnerReference
	for _, owner := range object.GetOwnerReferences() {
		group := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).Group
		if inGroup(group, o.Group) || object.GetNamespace() == o.Namespace {
			deleted = append(deleted, owner)
		} else {
			kept = append(kept, owner)
		}
	}
	if deleted != nil {
		raw, err := json.Marshal(deleted)
		if err != nil {
			return err
		}
		notes[exportedOwners] = string(raw)
		object.SetOwnerReferences(kept)
	}
	object.SetAnnotations(notes)
	for _, field := range transientFields() {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	return lines.Encode(object.Object)
}

// longestLine bounds one object of a bundle. etcd takes 1.5 MiB of one.
const longestLine = 16 << 20

// readEntries visits what a bundle holds, in its order, each checked against what the operator is known by. It
// keeps one object.
func (o *Operator) readEntries(from io.Reader, visit func(Entry) error) error {
	unzipped, err := gzip.NewReader(from)
	if err != nil {
		return apierr.New(apierr.Terminal, "the bundle is not gzip: %w", err)
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, longestLine)
	defined := map[schema.GroupKind]kube.Resource{}
	for n := 1; lines.Scan(); n++ {
		raw := &unstructured.Unstructured{}
		if err := json.Unmarshal(lines.Bytes(), &raw.Object); err != nil {
			return apierr.New(apierr.Terminal, "the bundle can't be read at object %d: %w", n, err)
		}
		entry, err := entryOf(raw, defined)
		if err == nil {
			err = o.checkEntry(entry)
		}
		if err != nil {
			return fmt.Errorf("object %d of the bundle: %w", n, err)
		}
		if err := visit(entry); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return apierr.New(apierr.Terminal, "reading the bundle: %w", err)
	}
	return nil
}

// fixedResources are those of hooks, owned objects and namespaces.
func fixedResources() []kube.Resource {
	return slices.Concat(hookResources(), ownedResources(), []kube.Resource{namespaces})
}

func entryOf(raw *unstructured.Unstructured, defined map[schema.GroupKind]kube.Resource) (Entry, error) {
	kind, notes := raw.GroupVersionKind().GroupKind(), raw.GetAnnotations()
	raw.SetUID(types.UID(notes[exportedUID]))
	entry := Entry{Role: Role(notes[exportedRole])}
	resource, known := kube.Resource{}, true
	switch entry.Role {
	case RoleDefinition:
		definition, err := definitionOf(raw)
		if err != nil {
			return entry, err
		}
		defined[schema.GroupKind{Group: definition.Defines.Group, Kind: definition.Defines.Kind}] = definition.Defines
		resource, entry.Definition = definitions, &definition
	case RoleObject:
		resource, known = defined[kind]
	case RoleContent:
		resource = kube.Resource{Kind: kind.Kind, Namespaced: true}
		resource.Group = kind.Group
	default:
		fixed := fixedResources()
		at := slices.IndexFunc(fixed, func(r kube.Resource) bool { return r.Group == kind.Group && r.Kind == kind.Kind })
		if known = at >= 0; known {
			resource = fixed[at]
		}
	}
	if !known {
		return entry, &ForeignError{fmt.Sprintf("%s %s (as %q)", kind, raw.GetName(), entry.Role), "the run's bundle"}
	}
	entry.Object = kube.ObjectOf(resource, raw)
	return entry, nil
}
