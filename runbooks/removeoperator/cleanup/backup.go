package cleanup

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

// wholePage is how many whole objects one list request asks for: each may have more than a megabyte.
const wholePage = 100

// Backup exports everything that a run deletes, as it was read, to the operator's bundle file or else to the
// run's exports, and reads it back from there. Of objects that change meanwhile it holds some state that they were
// in.
func (o *Operator) Backup(ctx context.Context, run runbook.Run, left *Reading) error {
	var bundle Bundle
	err := kube.RetryExpired(func() (err error) {
		bundle, err = o.writeBundle(ctx, run, left)
		return err
	})
	if err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	if bundle.File == "" {
		if err := export(ctx, run, bundle.content); err != nil {
			return err
		}
	}
	if err := run.Note(ctx, bundleNote, bundle); err != nil {
		return err
	}
	_, err = o.ReadBackup(ctx, run)
	return err
}

func (o *Operator) writeBundle(ctx context.Context, run runbook.Run, left *Reading) (Bundle, error) {
	bundle := Bundle{of: o, File: o.Bundle}
	if left.Namespace != nil {
		bundle.Namespace, bundle.NamespaceUID = left.Namespace.Name, left.Namespace.UID
	}
	to, err := openStore(o.Bundle, run.ID())
	if err != nil {
		return bundle, err
	}
	zipped := gzip.NewWriter(to)
	zipped.Comment = runMark + run.ID()
	lines := json.NewEncoder(zipped)
	lines.SetEscapeHTML(false)
	e := &bundling{Operator: o, lines: lines, bundle: &bundle}
	e.counted = o.newMeter(left.Objects.Total, "exported", run.Report)
	err = e.all(ctx, left)
	if err == nil {
		err = zipped.Close()
	}
	if err == nil {
		err = to.keep()
	}
	bundle.Bytes, bundle.SHA256, bundle.content = to.size, hex.EncodeToString(to.digest.Sum(nil)), to.small
	return bundle, errors.Join(err, to.discard())
}

// bundling is a bundle in the making: gzipped, one object in JSON a line, which kubectl apply reads.
type bundling struct {
	*Operator
	lines   *json.Encoder
	bundle  *Bundle
	counted *meter
}

// all writes the definitions, what else is deleted, and then the custom resources. It keeps one page.
func (e *bundling) all(ctx context.Context, left *Reading) error {
	written := map[types.UID]bool{}
	one := func(object kube.Object, role Role) error {
		written[object.UID] = true
		return e.one(ctx, object, role)
	}
	for _, definition := range left.Definitions {
		if err := one(definition.Object, RoleDefinition); err != nil {
			return err
		}
	}
	if left.Namespace != nil {
		if err := one(left.Namespace.Object, RoleNamespace); err != nil {
			return err
		}
	}
	for _, hook := range left.Hooks {
		if err := one(hook.Object, RoleHook); err != nil {
			return err
		}
	}
	for _, object := range left.Owned {
		if err := one(object.Object, RoleOwned); err != nil {
			return err
		}
	}
	if err := e.content(ctx, left, written); err != nil {
		return err
	}
	for _, definition := range left.Definitions {
		if err := e.objects(ctx, definition); err != nil {
			return err
		}
	}
	return nil
}

func (e *bundling) write(object *unstructured.Unstructured, role Role) error {
	e.bundle.add(role)
	return e.writeEntry(e.lines, object, role)
}

// one writes one object, the very one. One that is gone is not deleted any more, and need not be kept.
func (e *bundling) one(ctx context.Context, object kube.Object, role Role) error {
	raw, err := e.whole(ctx, object)
	switch {
	case kube.IsNotFound(err) && role != RoleDefinition:
		return nil
	case err != nil:
		return err
	case raw.GetUID() != object.UID:
		return apierr.New(apierr.Conflict, "exporting %s: it was made anew meanwhile", object)
	}
	unstructured.RemoveNestedField(raw.Object, "status")
	return e.write(raw, role)
}

// whole reads an object whole.
func (o *Operator) whole(ctx context.Context, object kube.Object) (*unstructured.Unstructured, error) {
	var raw *unstructured.Unstructured
	err := o.Read(ctx, "reading "+object.String(), func(ctx context.Context) (err error) {
		served := o.Dynamic.Resource(object.Resource.GroupVersionResource).Namespace(object.Namespace)
		raw, err = served.Get(ctx, object.Name, metav1.GetOptions{})
		return err
	})
	if err == nil && (raw.GetName() != object.Name || raw.GetNamespace() != object.Namespace) {
		return nil, apierr.New(apierr.Terminal, "conflict: reading %s gave %s/%s", object, raw.GetNamespace(), raw.GetName())
	}
	return raw, err
}

// content writes what goes with the namespace.
func (e *bundling) content(ctx context.Context, left *Reading, written map[types.UID]bool) error {
	if left.Namespace == nil {
		return nil
	}
	served, err := e.contentResources(ctx, left)
	if err != nil {
		return err
	}
	for _, resource := range served {
		err := e.pages(ctx, resource, e.Namespace, func(found *unstructured.Unstructured) error {
			if written[found.GetUID()] || !e.exportable(resource, found) {
				return nil
			}
			return e.write(found, RoleContent)
		})
		if err != nil && !kube.IsNotFound(err) { // what is not served any more has no objects
			return err
		}
	}
	return nil
}

// objects writes the custom resources of a definition.
func (e *bundling) objects(ctx context.Context, of Definition) error {
	err := e.pages(ctx, of.Defines, metav1.NamespaceAll, func(found *unstructured.Unstructured) error {
		e.counted.add(1)
		return e.write(found, RoleObject)
	})
	return e.unserved(ctx, of, err)
}

func (e *bundling) pages(
	ctx context.Context, of kube.Resource, namespace string, visit func(*unstructured.Unstructured) error,
) error {
	list := func(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
		page, err := e.Dynamic.Resource(of.GroupVersionResource).Namespace(namespace).List(ctx, options)
		return page, e.ConfirmNotServed(ctx, of.GroupVersionResource, err)
	}
	every := metav1.ListOptions{Limit: wholePage}
	return kube.ListPages(ctx, e.Cluster, "exporting "+of.String(), every, list,
		func(page *unstructured.UnstructuredList) error {
			for i := range page.Items {
				found := &page.Items[i]
				// The items of a list need not say what they are.
				found.SetGroupVersionKind(of.GroupVersion().WithKind(of.Kind))
				if err := visit(found); err != nil {
					return err
				}
			}
			return nil
		})
}
