package cleanup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"salve/kube"
	"salve/runbook"
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

// None tells whether nothing is left.
func (r *Reading) None() bool {
	return len(r.Definitions)+len(r.Hooks)+len(r.Owned)+r.Objects.Total == 0 && r.Namespace == nil
}

// String counts what is left.
func (r *Reading) String() string {
	text := fmt.Sprintf("%s with %s, %d of them being deleted; %s into the namespace, %s of the operator's own",
		count(len(r.Definitions), "CRD"), count(r.Objects.Total, "object"), r.Objects.Deleting,
		count(len(r.Hooks), "hook"), count(len(r.Owned), "other object"))
	if len(r.Objects.Unread) > 0 {
		text += "; not all can be read of " + strings.Join(r.Objects.Unread, ", ") +
			", which the operator would have to convert"
	}
	if r.Namespace == nil {
		return text + "; no namespace"
	}
	return text + "; namespace " + r.Namespace.Name
}

// Evidence pins what was read.
func (r *Reading) Evidence(seen time.Time) []runbook.Evidence {
	all := []runbook.Evidence{runbook.NewEvidence("custom resources", r.Objects.Digest, seen, r.Objects.Counts)}
	for _, definition := range r.Definitions {
		all = append(all, runbook.NewEvidence(definition.String(), string(definition.UID), seen,
			map[string]bool{"deleting": definition.Deleting}))
	}
	if r.Namespace != nil {
		all = append(all, runbook.NewEvidence(r.Namespace.String(), string(r.Namespace.UID), seen,
			map[string]bool{"deleting": r.Namespace.Deleting}))
	}
	return all
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
