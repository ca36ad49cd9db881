package cleanup

import (
	"context"
	"fmt"
	"slices"

	"salve/runbook"
)

// Part is one of the things that are left, for plans and observations.
type Part struct {
	// All counts what is there, Going how much of it is on its way out.
	All   int `json:"count"`
	Going int `json:"deleting,omitempty"`
	// Names are those of all of it, or of the first of many.
	Names []string `json:"names,omitempty"`
	// Unread are resources that count as one each: see Inventory.
	Unread []string `json:"unread,omitempty"`
	// Objects are all names by resource and namespace, where there is such a list.
	Objects map[string]map[string][]string `json:"objects,omitempty"`
}

// Observation is how far its removal is.
func (p Part) Observation() runbook.Observation {
	seen := runbook.NotStarted("%d are there, %d of them being deleted", p.All, p.Going)
	switch p.All {
	case 0:
		seen.State, seen.Reason = runbook.StateDone, "none is there"
	case p.Going:
		seen.State = runbook.StateInFlight
	}
	return seen
}

// startedNote keeps what a run was first about to remove.
const startedNote = "started"

type started struct {
	Step  string `json:"step"`
	Count int    `json:"count"`
}

// Begin notes in a run how much its first removal is about.
func (p Part) Begin(ctx context.Context, run runbook.Run, step string) error {
	if found, err := run.Recall(startedNote, new(started)); found || err != nil {
		return err
	}
	return run.Note(ctx, startedNote, started{step, p.All - p.Going})
}

// SinceBegun is Observation, and tells whether the run has removed some of what it
// was about to.
func (p Part) SinceBegun(run runbook.Run, step string) runbook.Observation {
	var first started
	found, err := run.Recall(startedNote, &first)
	seen := p.Observation()
	seen.Partial = found && (first.Step != step || p.All-p.Going < first.Count)
	if err != nil {
		return runbook.NotObserved(err)
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
func (r *Reading) HookPart() Part { return Part{All: len(r.Hooks), Names: names(r.Hooks)} }

// ConversionPart is the definitions whose objects the operator converts.
func (r *Reading) ConversionPart() Part {
	var all []Definition
	for _, definition := range r.Definitions {
		if definition.conversion != nil {
			all = append(all, definition)
		}
	}
	return Part{All: len(all), Names: names(all)}
}

// ObjectPart is the custom resources.
func (r *Reading) ObjectPart() Part {
	part := Part{All: r.Objects.Total + len(r.Objects.Unread), Going: r.Objects.Deleting, Names: r.Objects.Examples}
	for _, unread := range r.Objects.Unread {
		part.Unread = append(part.Unread, unread)
		part.Names = append(slices.Clip(part.Names), unread+" that can't be read")
	}
	if r.Objects.Names != nil {
		part.Objects = r.Objects.Names
	}
	return part
}

// StuckPart is the custom resources that finalizers hold which may be removed.
func (r *Reading) StuckPart() Part { return Part{All: r.Objects.Releasable} }

// DefinitionPart is the definitions.
func (r *Reading) DefinitionPart() Part {
	part := Part{All: len(r.Definitions), Names: names(r.Definitions)}
	for _, definition := range r.Definitions {
		if definition.Deleting {
			part.Going++
		}
	}
	return part
}

// OwnedPart is what else is the operator's own.
func (r *Reading) OwnedPart() Part {
	return Part{All: len(r.Owned), Names: names(r.Owned)}
}

// NamespacePart is the namespace, with what keeps it from going.
func (r *Reading) NamespacePart() Part {
	if r.Namespace == nil {
		return Part{}
	}
	part := Part{All: 1, Names: append([]string{r.Namespace.String()}, names(r.Namespace.Stuck)...)}
	if r.Namespace.Deleting {
		part.Going = 1
	}
	return part
}

// RestPart is the definitions and the namespace that are on their way out, and what
// finalizers hold of them that may be removed.
func (r *Reading) RestPart() Part {
	rest, going := r.Rest(), r.DefinitionPart().Going+r.NamespacePart().Going
	return Part{All: len(rest) + going, Going: going, Names: names(rest)}
}

// Rest lists the definitions and the objects of the namespace that are being
// deleted and held by finalizers that may be removed.
func (r *Reading) Rest() []Stuck {
	var stuck []Stuck
	for _, definition := range r.Definitions {
		if len(definition.stuck.Own) > 0 {
			stuck = append(stuck, definition.stuck)
		}
	}
	if r.Namespace != nil {
		for _, held := range r.Namespace.Stuck {
			if len(held.Own) > 0 {
				stuck = append(stuck, held)
			}
		}
	}
	return stuck
}

// names gives the names of things, for people.
func names[T fmt.Stringer](things []T) []string {
	names := make([]string, len(things))
	for i, thing := range things {
		names[i] = thing.String()
	}
	return names
}
