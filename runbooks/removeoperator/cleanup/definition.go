package cleanup

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/internal/apierr"
	"salve/kube"
)

// Definition is one reading of a CustomResourceDefinition.
type Definition struct {
	kube.Object
	// Defines is the resource of its objects, in the version in which they are
	// stored, where that is served: reading them then asks no conversion webhook.
	Defines  kube.Resource
	Deleting bool
	stuck    Stuck
	// conversion is set where the operator itself converts the objects.
	conversion map[string]any
	version    string
}

// inGroup tells whether an API group is a group or one below it.
func inGroup(apiGroup, group string) bool {
	return group != "" && (apiGroup == group || strings.HasSuffix(apiGroup, "."+group))
}

// Definitions lists the definitions of the group and of those below it. Those of
// other groups are told by their names and not read.
func (o *Operator) Definitions(ctx context.Context) ([]Definition, error) {
	if o.Group == "" {
		return nil, apierr.New(apierr.Terminal, "the definitions of a group without a name were asked for")
	}
	var names []string
	err := kube.RetryExpired(func() error {
		names = nil
		_, err := o.EachObject(ctx, definitions, kube.Scope{}, func(found *metav1.PartialObjectMetadata) error {
			if _, apiGroup, _ := strings.Cut(found.Name, "."); inGroup(apiGroup, o.Group) {
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
		raw, err := o.whole(ctx, kube.Object{Resource: definitions, Name: name})
		if kube.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		definition, err := definitionOf(raw)
		if err != nil {
			return nil, err
		}
		definition.stuck, _ = o.stuckOf(definitions, raw)
		definition.conversion, definition.version = conversionOf(raw, o.Namespace), raw.GetResourceVersion()
		all = append(all, definition)
	}
	return all, nil
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
		return Definition{}, apierr.New(apierr.Terminal, "reading CustomResourceDefinition %s: %w", raw.GetName(), err)
	}
	version := ""
	for _, candidate := range crd.Spec.Versions {
		if candidate.Served && (version == "" || candidate.Storage) {
			version = candidate.Name
		}
	}
	if version == "" {
		return Definition{}, apierr.New(apierr.Terminal,
			"CustomResourceDefinition %s serves no version: what there is of it can't be seen", raw.GetName())
	}
	// The API server names a definition by its plural and its group, always:
	// https://github.com/kubernetes/apiextensions-apiserver/blob/master/pkg/apis/apiextensions/validation/validation.go
	// One that says something else in its spec would be taken for one of another group.
	if said := crd.Spec.Names.Plural + "." + crd.Spec.Group; said != raw.GetName() {
		return Definition{}, apierr.New(apierr.Terminal, "conflict: CustomResourceDefinition %q defines %q",
			raw.GetName(), said)
	}
	served := schema.GroupVersionResource{Group: crd.Spec.Group, Version: version, Resource: crd.Spec.Names.Plural}
	return Definition{
		Object: kube.ObjectOf(definitions, raw),
		Defines: kube.Resource{
			GroupVersionResource: served, Kind: crd.Spec.Names.Kind, Namespaced: crd.Spec.Scope == "Namespaced",
		},
		Deleting: raw.GetDeletionTimestamp() != nil,
	}, nil
}

// eachOf visits the metadata of a definition's objects as EachObject does. That they
// are not served means that there are none only when the definition is gone as
// well; the version is empty then.
func (o *Operator) eachOf(
	ctx context.Context, of Definition, visit func(*metav1.PartialObjectMetadata) error,
) (version string, _ error) {
	version, err := o.EachObject(ctx, of.Defines, kube.Scope{}, visit)
	return version, o.unserved(ctx, of, err)
}

// unserved evaluates an error of reading a definition's objects.
func (o *Operator) unserved(ctx context.Context, of Definition, err error) error {
	if !kube.IsNotFound(err) {
		return err
	}
	there, deleting, seen := o.State(ctx, of.Object)
	switch {
	case seen != nil:
		return seen
	case there && !deleting:
		return apierr.New(apierr.Transient, "%s is defined but not served: what there is of it can't be seen", of.Defines)
	}
	return nil
}
