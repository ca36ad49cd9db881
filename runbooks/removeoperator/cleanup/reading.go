package cleanup

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"salve/kube"
)

// Reading is one reading of what there is of an operator.
type Reading struct {
	Definitions []Definition
	Objects     Inventory
	Hooks       []Hook
	Owned       []Owned
	// Namespace is nil when there is none.
	Namespace *Namespace
	// aggregated are the API groups that somebody's own servers answer for.
	aggregated map[string]bool
}

// defines tells whether a definition, the very one, was read.
func (r *Reading) defines(definition types.UID) bool {
	return slices.ContainsFunc(r.Definitions, func(d Definition) bool { return d.UID == definition })
}

// ReadState reads what there is of the operator. What can't be read is an error: it is
// never taken for absent.
func (o *Operator) ReadState(ctx context.Context) (*Reading, error) {
	left := &Reading{}
	for _, read := range []func() error{
		func() (err error) { left.Hooks, left.aggregated, err = o.hooks(ctx); return err },
		func() (err error) { left.Definitions, err = o.confirmedDefinitions(ctx, left.aggregated); return err },
		func() (err error) { left.Objects, err = o.inventory(ctx, left.Definitions); return err },
		func() (err error) { left.Owned, err = o.ownedObjects(ctx); return err },
		func() (err error) {
			left.Namespace, err = o.namespace(ctx, left.unanswered)
			return err
		},
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// unanswered tells the groups that the operator's own servers answer for. Discovery
// fails for them while there are APIServices and nobody who serves.
func (r *Reading) unanswered(group string) bool {
	return slices.ContainsFunc(r.Hooks, func(hook Hook) bool { return hook.Serves != "" && hook.Serves == group })
}

// DefinitionObjects are the definitions, as objects.
func (r *Reading) DefinitionObjects() []kube.Object {
	objects := make([]kube.Object, len(r.Definitions))
	for i, definition := range r.Definitions {
		objects[i] = definition.Object
	}
	return objects
}

// NamespaceObjects is the namespace, if there is one.
func (r *Reading) NamespaceObjects() []kube.Object {
	if r.Namespace == nil {
		return nil
	}
	return []kube.Object{r.Namespace.Object}
}

// RestObjects are the definitions and the namespace.
func (r *Reading) RestObjects() []kube.Object {
	return append(r.DefinitionObjects(), r.NamespaceObjects()...)
}
