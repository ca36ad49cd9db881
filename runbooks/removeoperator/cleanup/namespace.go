package cleanup

import (
	"context"
	"strings"

	"salve/kube"
)

// recordLabel is on the records of runs that are kept in a cluster.
const recordLabel = "salve-run"

// Namespace is one reading of a namespace.
type Namespace struct {
	kube.Object
	Deleting bool
	// Records tells whether the journal of a run is kept in it.
	Records bool
	// Stuck are the objects that keep it from going, once it is being deleted.
	Stuck []Stuck
}

// Hold says what keeps the namespace; empty when nothing is seen to.
func (n *Namespace) Hold() string {
	if len(n.Stuck) == 0 {
		return ""
	}
	shownHeld := names(n.Stuck[:min(len(n.Stuck), shown)])
	return ", and it waits for " + strings.Join(shownHeld, ", ")
}

// namespace reads the operator's namespace; it is nil when there is none.
func (o *Operator) namespace(ctx context.Context, passOver func(group string) bool) (*Namespace, error) {
	found, err := o.MetadataOf(ctx, kube.Object{Resource: namespaces, Name: o.Namespace})
	if found == nil || err != nil {
		return nil, err
	}
	seen := &Namespace{Object: kube.ObjectOf(namespaces, found), Deleting: found.DeletionTimestamp != nil}
	records, err := o.Objects(ctx, configMaps, kube.Scope{Namespace: o.Namespace, Selector: recordLabel})
	if seen.Records = len(records) > 0; err == nil && seen.Deleting {
		seen.Stuck, err = o.stuckIn(ctx, passOver)
	}
	return seen, err
}
