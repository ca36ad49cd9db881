package apiserver

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// page is what a continue token holds: every page of a list shows the same revision.
type page struct {
	Revision int64                `json:"rv"`
	After    types.NamespacedName `json:"after"`
}

// page is one page of a list: its objects, the continue token of the next one, and the revision.
func (s *Store) page(
	wanted selection, options metav1.ListOptions,
) (objects []runtime.Object, next string, revision int64, err error) {
	from := page{Revision: s.revision}
	if options.Continue != "" {
		text, err := base64.RawURLEncoding.DecodeString(options.Continue)
		if err != nil || json.Unmarshal(text, &from) != nil {
			return nil, "", 0, apierrors.NewBadRequest(fmt.Sprintf("continue key is not valid: %q", options.Continue))
		}
		if err := s.remembers(from.Revision); err != nil {
			return nil, "", 0, err
		}
	}
	found := sorted(s.at(wanted.resource, from.Revision), wanted.namespace)
	found = slices.DeleteFunc(found, func(object runtime.Object) bool {
		head, err := meta.Accessor(object)
		return err != nil || options.Continue != "" && compareKeys(keyOf(head), from.After) <= 0 || !wanted.has(object)
	})
	if limit := int(options.Limit); limit > 0 && len(found) > limit {
		found = found[:limit]
		last, err := meta.Accessor(found[limit-1])
		if err != nil {
			return nil, "", 0, err
		}
		text, err := json.Marshal(page{Revision: from.Revision, After: keyOf(last)})
		if err != nil {
			return nil, "", 0, err
		}
		next = base64.RawURLEncoding.EncodeToString(text)
	}
	return found, next, from.Revision, nil
}

// list answers a list, in its own kind or as metadata alone.
func (s *Server) list(asked *Request, wanted selection) (runtime.Object, error) {
	objects, next, revision, err := s.Store.page(wanted, asked.options)
	if err != nil {
		return nil, err
	}
	head := metav1.ListMeta{ResourceVersion: strconv.FormatInt(revision, 10), Continue: next}
	if asked.format.metadata {
		list := &metav1.PartialObjectMetadataList{ListMeta: head, Items: make([]metav1.PartialObjectMetadata, len(objects))}
		list.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList"))
		for i, object := range objects {
			partial, err := metadataOf(object)
			if err != nil {
				return nil, err
			}
			list.Items[i] = *partial
		}
		return list, nil
	}
	list, err := s.scheme.New(asked.kind.GroupVersion().WithKind(asked.kind.Kind + "List"))
	if err != nil {
		return nil, err
	}
	if err := meta.SetList(list, objects); err != nil {
		return nil, err
	}
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return nil, err
	}
	accessor.SetResourceVersion(head.ResourceVersion)
	accessor.SetContinue(head.Continue)
	return list, nil
}
