package cleanup

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/kube"
)

const (
	// wholePage is how many whole objects one list request asks for: each may have
	// more than a megabyte.
	wholePage = 100
	// exportedUID keeps which object it was that was exported.
	exportedUID = "salve-exported-uid"
	// exportedOwners keeps the owners that an object had inside of the group. Were
	// they left where they were, the garbage collector would take the restored object
	// for an orphan: its owners come back under other UIDs.
	exportedOwners = "salve-exported-owners"
)

// transient are the parts of an object's metadata that belong to the one that was
// exported, and not to what it is restored to.
var transient = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink",
}

// Entry is one object of a bundle.
type Entry struct {
	kube.Object
	// Definition is set where the object is a CustomResourceDefinition.
	Definition *Definition
}

// export writes definitions and then all of their objects, gzipped, one object in
// JSON a line: what kubectl apply reads. It keeps one page.
func (o *Operator) export(ctx context.Context, all []Definition, to *gzip.Writer, counted *meter) (objects int, _ error) {
	lines := json.NewEncoder(to)
	lines.SetEscapeHTML(false)
	for _, definition := range all {
		raw, err := o.definition(ctx, definition.Name)
		if err != nil {
			return 0, err
		}
		if raw.GetUID() != definition.UID {
			return 0, apierr.New(apierr.Conflict, "exporting %s: it was made anew meanwhile", definition.Object)
		}
		unstructured.RemoveNestedField(raw.Object, "status")
		if err := writeEntry(lines, raw, o.Group); err != nil {
			return 0, err
		}
	}
	for _, definition := range all {
		n, err := o.exportObjects(ctx, definition, lines, counted)
		if err != nil {
			return 0, err
		}
		objects += n
	}
	return objects, to.Close()
}

func (o *Operator) exportObjects(ctx context.Context, of Definition, lines *json.Encoder, counted *meter) (n int, _ error) {
	list := func(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
		return o.Dynamic.Resource(of.Defines.GroupVersionResource).List(ctx, options)
	}
	err := kube.ListPages(ctx, o.Cluster, "exporting "+of.Defines.String(), metav1.ListOptions{Limit: wholePage}, list, func(page *unstructured.UnstructuredList) error {
		for i := range page.Items {
			if err := writeEntry(lines, &page.Items[i], o.Group); err != nil {
				return err
			}
		}
		n += len(page.Items)
		counted.add(len(page.Items))
		return nil
	})
	return n, o.unserved(ctx, of, err)
}

// writeEntry writes an object as kubectl apply can make it again.
func writeEntry(lines *json.Encoder, object *unstructured.Unstructured, group string) error {
	notes := object.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	notes[exportedUID] = string(object.GetUID())
	var kept, inside []metav1.OwnerReference
	for _, owner := range object.GetOwnerReferences() {
		if inGroup(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).Group, group) {
			inside = append(inside, owner)
		} else {
			kept = append(kept, owner)
		}
	}
	if inside != nil {
		raw, err := json.Marshal(inside)
		if err != nil {
			return err
		}
		notes[exportedOwners] = string(raw)
		object.SetOwnerReferences(kept)
	}
	object.SetAnnotations(notes)
	for _, field := range transient {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	return lines.Encode(object.Object)
}

// readBundle visits what a bundle holds, in its order. It keeps one object.
func readBundle(from io.Reader, visit func(Entry) error) error {
	unzipped, err := gzip.NewReader(from)
	if err != nil {
		return apierr.New(apierr.Terminal, "the bundle is not gzip: %w", err)
	}
	lines := json.NewDecoder(unzipped)
	defined := map[schema.GroupKind]kube.Resource{}
	for n := 1; ; n++ {
		raw := &unstructured.Unstructured{}
		if err := lines.Decode(&raw.Object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return apierr.New(apierr.Terminal, "the bundle can't be read at object %d: %w", n, err)
		}
		entry, err := entryOf(raw, defined)
		if err != nil {
			return fmt.Errorf("object %d of the bundle: %w", n, err)
		}
		if err := visit(entry); err != nil {
			return err
		}
	}
}

func entryOf(raw *unstructured.Unstructured, defined map[schema.GroupKind]kube.Resource) (Entry, error) {
	kind := raw.GroupVersionKind().GroupKind()
	raw.SetUID(types.UID(raw.GetAnnotations()[exportedUID]))
	if raw.GetUID() == "" {
		return Entry{}, apierr.New(apierr.Terminal, "%s %s does not say which one it was", kind, raw.GetName())
	}
	if kind.Group == definitions.Group && kind.Kind == definitions.Kind {
		definition, err := definitionOf(raw)
		if err != nil {
			return Entry{}, err
		}
		defined[schema.GroupKind{Group: definition.Defines.Group, Kind: definition.Defines.Kind}] = definition.Defines
		return Entry{Object: definition.Object, Definition: &definition}, nil
	}
	resource, known := defined[kind]
	if !known {
		return Entry{}, apierr.New(apierr.Terminal, "%s %s comes without its definition", kind, raw.GetName())
	}
	return Entry{Object: kube.ObjectOf(resource, raw)}, nil
}
