package apiserver

import (
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
)

// merge applies a JSON merge patch (RFC 7386). A resourceVersion or UID in it is a precondition.
func (s *Server) merge(asked *Request) (runtime.Object, error) {
	before, err := s.Store.Get(asked.kind.GroupVersionResource, asked.Namespace, asked.Name)
	if err != nil {
		return nil, err
	}
	var patch map[string]any
	if err := json.Unmarshal(asked.patch, &patch); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the patch is not valid: %v", err))
	}
	merged, err := mergedInto(before, patch)
	if err != nil {
		return nil, err
	}
	after, err := s.scheme.New(asked.kind.gvk())
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(merged, after); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the patched object is not valid: %v", err))
	}
	if head, err := meta.Accessor(after); err != nil || head.GetName() != asked.Name ||
		head.GetNamespace() != asked.Namespace {
		return nil, apierrors.NewBadRequest("a patch must not change an object's name or namespace")
	}
	return s.Store.Update(asked.kind.GroupVersionResource, after, asked.Namespace)
}

func mergedInto(before runtime.Object, patch map[string]any) ([]byte, error) {
	text, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	return json.Marshal(mergePatch(fields, patch))
}

// mergePatch is RFC 7386: null removes, objects merge, anything else replaces.
func mergePatch(target any, patch any) any {
	changes, isObject := patch.(map[string]any)
	if !isObject {
		return patch
	}
	merged, isObject := target.(map[string]any)
	if !isObject {
		merged = map[string]any{}
	}
	for key, value := range changes {
		if value == nil {
			delete(merged, key)
		} else {
			merged[key] = mergePatch(merged[key], value)
		}
	}
	return merged
}
