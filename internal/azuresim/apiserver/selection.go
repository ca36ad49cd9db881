package apiserver

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// selection is a list's or a watch's choice of objects.
type selection struct {
	resource  schema.GroupVersionResource
	namespace string
	labels    labels.Selector
	fields    fields.Selector
}

func newSelection(
	resource schema.GroupVersionResource, namespace string, options metav1.ListOptions,
) (selection, error) {
	s := selection{resource: resource, namespace: namespace, labels: labels.Everything(), fields: fields.Everything()}
	var err error
	if s.labels, err = labels.Parse(options.LabelSelector); err != nil {
		return s, apierrors.NewBadRequest(fmt.Sprintf("unable to parse label selector: %v", err))
	}
	if s.fields, err = fields.ParseSelector(options.FieldSelector); err != nil {
		return s, apierrors.NewBadRequest(fmt.Sprintf("unable to parse field selector: %v", err))
	}
	for _, requirement := range s.fields.Requirements() {
		if !s.selectable(requirement.Field) {
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

// selectable tells whether a field selector can name the field of this resource.
func (s selection) selectable(field string) bool {
	switch field {
	case "metadata.name", "metadata.namespace":
		return true
	case "spec.nodeName", "status.phase":
		return s.resource.Resource == "pods"
	case "spec.unschedulable":
		return s.resource.Resource == "nodes"
	}
	return false
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
