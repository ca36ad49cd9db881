package kube

import (
	"context"
	"fmt"
	"slices"
	"time"

	"salve/runbook"
)

// Leftovers is one reading of what there is of an operator.
type Leftovers struct {
	Definitions []Definition
	Objects     Census
	Hooks       []Hook
	Belongings  []Object
	// Namespace is nil when there is none.
	Namespace *Namespace
}

// Leftovers reads what there is of an operator. What can't be read is an error: it
// is never taken for absent.
func (c *Cluster) Leftovers(ctx context.Context, of Operator, own Finalizers) (*Leftovers, error) {
	left := &Leftovers{}
	for _, read := range []func() error{
		func() (err error) { left.Definitions, err = c.Definitions(ctx, own); return err },
		func() (err error) { left.Objects, err = c.Census(ctx, left.Definitions, own); return err },
		func() (err error) { left.Hooks, err = c.Hooks(ctx, of.Namespace); return err },
		func() (err error) { left.Belongings, err = c.Belongings(ctx, of); return err },
		func() (err error) {
			left.Namespace, err = c.namespace(ctx, of.Namespace, own, left.Unanswered)
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
func (l *Leftovers) None() bool {
	return len(l.Definitions)+len(l.Hooks)+len(l.Belongings)+l.Objects.Total == 0 && l.Namespace == nil
}

// String counts what is left.
func (l *Leftovers) String() string {
	text := fmt.Sprintf("%s with %s, %d of them being deleted; %s into the namespace, %s of the operator's own",
		count(len(l.Definitions), "CRD"), count(l.Objects.Total, "object"), l.Objects.Deleting,
		count(len(l.Hooks), "hook"), count(len(l.Belongings), "other object"))
	if l.Namespace == nil {
		return text + "; no namespace"
	}
	return text + "; " + l.Namespace.String()
}

// Evidence pins what was read.
func (l *Leftovers) Evidence(seen time.Time) []runbook.Evidence {
	all := []runbook.Evidence{runbook.Saw("custom resources", l.Objects.Digest, seen, l.Objects.Counts)}
	for _, definition := range l.Definitions {
		all = append(all, runbook.Saw(definition.String(), string(definition.UID), seen, map[string]bool{"deleting": definition.Deleting}))
	}
	if l.Namespace != nil {
		all = append(all, runbook.Saw(l.Namespace.String(), string(l.Namespace.UID), seen, map[string]bool{"deleting": l.Namespace.Deleting}))
	}
	return all
}

// Unanswered tells the groups that the operator's own servers answer for. Discovery
// fails for them while there are APIServices and nobody who serves.
func (l *Leftovers) Unanswered(group string) bool {
	return slices.ContainsFunc(l.Hooks, func(hook Hook) bool { return hook.Serves != "" && hook.Serves == group })
}

// Names gives the names of things, for people.
func Names[T fmt.Stringer](things []T) []string {
	names := make([]string, len(things))
	for i, thing := range things {
		names[i] = thing.String()
	}
	return names
}

// RecordLabel is on the records of runs that are kept in a cluster.
const RecordLabel = "salve-run"

// Namespace is one reading of a namespace.
type Namespace struct {
	Object
	Deleting bool
	// Records tells whether the journal of a run is kept in it.
	Records bool
	// Held are the objects that keep it from going, once it is being deleted.
	Held []Held
}

// namespace reads a namespace; it is nil when there is none.
func (c *Cluster) namespace(ctx context.Context, name string, own Finalizers, passOver func(group string) bool) (*Namespace, error) {
	found, err := c.metadataOf(ctx, Object{Resource: namespaces, Name: name})
	if found == nil || err != nil {
		return nil, err
	}
	seen := &Namespace{Object: objectOf(namespaces, found), Deleting: found.DeletionTimestamp != nil}
	records, err := c.Objects(ctx, configMaps, Scope{Namespace: name, Selector: RecordLabel})
	if seen.Records = len(records) > 0; err == nil && seen.Deleting {
		seen.Held, err = c.heldIn(ctx, name, own, passOver)
	}
	return seen, err
}

// DefinitionObjects are the definitions, as objects.
func (l *Leftovers) DefinitionObjects() []Object {
	objects := make([]Object, len(l.Definitions))
	for i, definition := range l.Definitions {
		objects[i] = definition.Object
	}
	return objects
}

// NamespaceObjects is the namespace, if there is one.
func (l *Leftovers) NamespaceObjects() []Object {
	if l.Namespace == nil {
		return nil
	}
	return []Object{l.Namespace.Object}
}

// RestObjects are the definitions and the namespace.
func (l *Leftovers) RestObjects() []Object {
	return append(l.DefinitionObjects(), l.NamespaceObjects()...)
}

// Part is one of the things that are left, for plans and observations.
type Part struct {
	// All counts what is there, Going how much of it is on its way out.
	All   int `json:"count"`
	Going int `json:"deleting,omitempty"`
	// Names are those of all of it, or of the first of many.
	Names []string `json:"names,omitempty"`
	// Objects are all names by resource and namespace, where there is such a list.
	Objects map[string]map[string][]string `json:"objects,omitempty"`
}

// Observation is how far its removal is.
func (p Part) Observation() runbook.Observation {
	seen := runbook.Observation{State: runbook.NotStarted, Reason: fmt.Sprintf("%d are there, %d of them being deleted", p.All, p.Going)}
	switch p.All {
	case 0:
		seen.State, seen.Reason = runbook.Done, "none is there"
	case p.Going:
		seen.State = runbook.InFlight
	}
	return seen
}

// Input is a part as a plan and an intent show it: the plan names every object, and
// for the intent the bundle does.
func (p Part) Input(run runbook.Run) (any, error) {
	exported, err := run.Recall(bundleNote, &Bundle{})
	if p.Objects != nil {
		p.Names = nil
	}
	if exported {
		p.Objects = nil
	}
	return p, err
}

// HookPart is what points into the namespace.
func (l *Leftovers) HookPart() Part { return Part{All: len(l.Hooks), Names: Names(l.Hooks)} }

// ObjectPart is the custom resources.
func (l *Leftovers) ObjectPart() Part {
	part := Part{All: l.Objects.Total, Going: l.Objects.Deleting, Names: l.Objects.Examples}
	if l.Objects.Names != nil {
		part.Objects = l.Objects.Names
	}
	return part
}

// StuckPart is the custom resources that finalizers hold which may be removed.
func (l *Leftovers) StuckPart() Part { return Part{All: l.Objects.Releasable} }

// DefinitionPart is the definitions.
func (l *Leftovers) DefinitionPart() Part {
	part := Part{All: len(l.Definitions), Names: Names(l.Definitions)}
	for _, definition := range l.Definitions {
		if definition.Deleting {
			part.Going++
		}
	}
	return part
}

// BelongingPart is what else is the operator's own.
func (l *Leftovers) BelongingPart() Part {
	return Part{All: len(l.Belongings), Names: Names(l.Belongings)}
}

// NamespacePart is the namespace, with what keeps it from going.
func (l *Leftovers) NamespacePart() Part {
	if l.Namespace == nil {
		return Part{}
	}
	part := Part{All: 1, Names: append([]string{l.Namespace.String()}, Names(l.Namespace.Held)...)}
	if l.Namespace.Deleting {
		part.Going = 1
	}
	return part
}

// RestPart is the definitions and the namespace that are on their way out, and what
// finalizers hold of them that may be removed.
func (l *Leftovers) RestPart() Part {
	rest, going := l.Rest(), l.DefinitionPart().Going+l.NamespacePart().Going
	return Part{All: len(rest) + going, Going: going, Names: Names(rest)}
}

// Rest lists the definitions and the objects of the namespace that are being
// deleted and held by finalizers that may be removed.
func (l *Leftovers) Rest() []Held {
	var stuck []Held
	for _, definition := range l.Definitions {
		if len(definition.held.Own) > 0 {
			stuck = append(stuck, definition.held)
		}
	}
	if l.Namespace != nil {
		for _, held := range l.Namespace.Held {
			if len(held.Own) > 0 {
				stuck = append(stuck, held)
			}
		}
	}
	return stuck
}
