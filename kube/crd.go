package kube

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/fault"
)

// definitions are the CustomResourceDefinitions, as a resource.
var definitions = Resource{
	GroupVersionResource: schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	Kind:                 "CustomResourceDefinition",
}

// Definition is one reading of a CustomResourceDefinition.
type Definition struct {
	Object
	// Defines is the resource of its objects, in the version in which they are
	// stored, where that is served: reading them then asks no conversion webhook.
	Defines  Resource
	Deleting bool
	held     Held
}

// InGroup tells whether an API group is a group or one below it.
func InGroup(apiGroup, group string) bool {
	return group != "" && (apiGroup == group || strings.HasSuffix(apiGroup, "."+group))
}

// Definitions lists the definitions of the group of finalizers and of those below
// it. Those of other groups are told by their names and not read.
func (c *Cluster) Definitions(ctx context.Context, own Finalizers) ([]Definition, error) {
	if own.Group == "" {
		return nil, fault.New(fault.Terminal, "the definitions of a group without a name were asked for")
	}
	var names []string
	err := Afresh(func() error {
		names = nil
		_, err := c.EachObject(ctx, definitions, Scope{}, func(found *metav1.PartialObjectMetadata) error {
			if _, apiGroup, _ := strings.Cut(found.Name, "."); InGroup(apiGroup, own.Group) {
				names = append(names, found.Name)
			}
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []Definition
	for _, name := range names {
		raw, err := c.definition(ctx, name)
		if IsMissing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		definition, err := definitionOf(raw)
		if err != nil {
			return nil, err
		}
		definition.held, _ = heldOf(definitions, raw, own)
		all = append(all, definition)
	}
	return all, nil
}

// definition reads a definition whole.
func (c *Cluster) definition(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	var raw *unstructured.Unstructured
	err := c.read(ctx, "reading CustomResourceDefinition "+name, func(ctx context.Context) (err error) {
		raw, err = c.Dynamic.Resource(definitions.GroupVersionResource).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return raw, err
}

// definitionOf reads what there is to know from a definition. A definition that
// serves no version is an error: its objects can't be seen.
func definitionOf(raw *unstructured.Unstructured) (Definition, error) {
	var crd struct {
		Spec struct {
			Group string `json:"group"`
			Scope string `json:"scope"`
			Names struct {
				Plural string `json:"plural"`
				Kind   string `json:"kind"`
			} `json:"names"`
			Versions []struct {
				Name    string `json:"name"`
				Served  bool   `json:"served"`
				Storage bool   `json:"storage"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw.Object, &crd); err != nil {
		return Definition{}, fault.New(fault.Terminal, "reading CustomResourceDefinition %s: %w", raw.GetName(), err)
	}
	version := ""
	for _, candidate := range crd.Spec.Versions {
		if candidate.Served && (version == "" || candidate.Storage) {
			version = candidate.Name
		}
	}
	if version == "" {
		return Definition{}, fault.New(fault.Terminal, "CustomResourceDefinition %s serves no version: what there is of it can't be seen", raw.GetName())
	}
	served := schema.GroupVersionResource{Group: crd.Spec.Group, Version: version, Resource: crd.Spec.Names.Plural}
	return Definition{
		Object:   objectOf(definitions, raw),
		Defines:  Resource{GroupVersionResource: served, Kind: crd.Spec.Names.Kind, Namespaced: crd.Spec.Scope == "Namespaced"},
		Deleting: raw.GetDeletionTimestamp() != nil,
	}, nil
}

// EachOf visits the metadata of a definition's objects as EachObject does. That they
// are not served means that there are none only when the definition is gone as
// well; the version is empty then.
func (c *Cluster) EachOf(ctx context.Context, of Definition, visit func(*metav1.PartialObjectMetadata) error) (version string, _ error) {
	version, err := c.EachObject(ctx, of.Defines, Scope{}, visit)
	return version, c.unserved(ctx, of, err)
}

// unserved judges an error of reading a definition's objects.
func (c *Cluster) unserved(ctx context.Context, of Definition, err error) error {
	if !IsMissing(err) {
		return err
	}
	there, deleting, seen := c.State(ctx, of.Object)
	switch {
	case seen != nil:
		return seen
	case there && !deleting:
		return fault.New(fault.Transient, "%s is defined but not served: what there is of it can't be seen", of.Defines)
	}
	return nil
}
