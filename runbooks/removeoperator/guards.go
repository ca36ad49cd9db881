package removeoperator

import (
	"context"
	"errors"
	"strings"

	"salve/runbook"
	"salve/runbooks/removeoperator/cleanup"
)

// guard makes one that decides by what is left of the operator.
func (r *removal) guard(name, question string, decide func(*cleanup.Reading) runbook.Finding) runbook.Guard {
	return runbook.Ask(name, question, r.read, decide)
}

// fact is evidence, seen now.
func (r *removal) fact(source string, value any) runbook.Evidence {
	return runbook.NewEvidence(source, "", r.Clock.Now(), value)
}

func (r *removal) somethingLeft() runbook.Guard {
	return r.guard("something-left", "is anything left of the group or its operator?",
		func(left *cleanup.Reading) runbook.Finding {
			return r.in.somethingLeft(left).WithEvidence(left.Evidence(r.Clock.Now())...)
		})
}

func (in Inputs) somethingLeft(left *cleanup.Reading) runbook.Finding {
	if left.None() {
		return runbook.No("there is no CRD of %s, no namespace %s, and nothing else of the operator", in.Group, in.Namespace)
	}
	return runbook.Yes("%s", left)
}

// selectorsSelect: a selector that selects nothing is a mistyped one, or its label was taken away, and what it
// should have selected may be alive. It is asked once, at the start: later, what was selected is gone.
func (r *removal) selectorsSelect() runbook.Guard {
	read := func(ctx context.Context, _ runbook.Run) ([]string, error) { return r.IdleSelectors(ctx) }
	return runbook.Ask("selectors-select", "does each --selector select something?", read, selectorsSelect)
}

func selectorsSelect(idle []string) runbook.Finding {
	if len(idle) > 0 {
		return runbook.Unknownf("not found: nothing has --selector %q. "+
			"hint: leave it out if what it selected is gone", idle[0])
	}
	return runbook.Yes("each selector selects something")
}

func (r *removal) namespaceExpendable() runbook.Guard {
	return r.guard("namespace-expendable", "is nobody else deleting the operator's namespace, and no journal kept in it?",
		r.in.namespaceExpendable)
}

func (in Inputs) namespaceExpendable(left *cleanup.Reading) runbook.Finding {
	switch {
	case left.Namespace == nil:
		return runbook.Yes("there is no namespace %s", in.Namespace)
	case len(left.Namespace.Journal) > 0:
		kept := strings.Join(left.Namespace.Journal, ", ")
		return runbook.No("namespace %s holds a journal of Salve: %s", in.Namespace, kept).
			WithOutcome(runbook.NeedsAttention).NotOverridable()
	case left.Namespace.Deleting:
		return runbook.No("somebody else is deleting namespace %s%s", in.Namespace, left.Namespace.Hold()).
			WithOutcome(runbook.Deferred)
	}
	return runbook.Yes("nobody is deleting namespace %s", in.Namespace)
}

// operatorGone asks whether the operator is gone for good. Where it is stopped
// first, what is at work before that is no obstacle.
func (r *removal) operatorGone(stopped bool) runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (cleanup.Liveness, error) {
		return r.Liveness(ctx, run.Report)
	}
	decide := func(seen cleanup.Liveness) runbook.Finding {
		return operatorGone(seen, stopped).WithEvidence(r.fact("operator in "+r.Namespace, seen))
	}
	return runbook.Ask("operator-gone",
		"is the operator gone for good: no replicas, no pod that has not terminated, no lease that is renewed?", read, decide)
}

func operatorGone(seen cleanup.Liveness, stopped bool) runbook.Finding {
	switch {
	case !seen.Alive():
		return runbook.Yes("nothing of the operator is at work")
	case stopped:
		return runbook.Yes("it is stopped first: %s", seen)
	}
	way := "--stop-operator scales it to zero first"
	if len(seen.Workloads) == 0 && len(seen.Pods) > 0 {
		way = "delete the pods, or wait until they have terminated"
	}
	return runbook.No("it is alive: %s; %s", seen, way).NotOverridable()
}

func (r *removal) cascadeContained() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (cleanup.Cascade, error) {
		left, err := r.read(ctx, run)
		if err != nil {
			return cleanup.Cascade{}, err
		}
		return r.CascadeOf(ctx, left)
	}
	return runbook.Ask("cascade-contained", "does nothing outside of the group go with its objects?", read,
		func(along cleanup.Cascade) runbook.Finding {
			return r.in.cascadeContained(along).WithEvidence(r.fact("objects owned by objects of "+r.Group, along))
		})
}

func (in Inputs) cascadeContained(along cleanup.Cascade) runbook.Finding {
	switch {
	case along.Count == 0:
		return runbook.Yes("nothing outside of the group goes with its objects")
	case in.AllowCascade != "":
		return runbook.Yes("allowed (%s): %s", in.AllowCascade, along)
	}
	return runbook.No("with the group's objects would go %s", along).WithOutcome(runbook.NeedsAttention).NotOverridable()
}

// bundleKept is a condition of every deletion.
func (r *removal) bundleKept() runbook.Guard {
	return runbook.Ask("bundle-kept", "can everything that was exported be read back, and is all of it the operator's?",
		r.readBackup, backupState.bundleKept)
}

// backupState is a bundle that was read back, or why it is not this operator's.
type backupState struct {
	cleanup.Bundle
	foreign *cleanup.ForeignError
}

func (r *removal) readBackup(ctx context.Context, run runbook.Run) (backupState, error) {
	bundle, err := r.ReadBackup(ctx, run)
	var foreign *cleanup.ForeignError
	switch {
	case errors.As(err, &foreign):
		return backupState{foreign: foreign}, nil
	case err != nil:
		return backupState{}, err
	}
	return backupState{Bundle: bundle}, nil
}

func (b backupState) bundleKept() runbook.Finding {
	if b.foreign != nil {
		return runbook.No("%s", b.foreign).WithOutcome(runbook.NeedsAttention).NotOverridable()
	}
	return runbook.Yes("%s were read back", b.Bundle)
}

// namespaceExported: what came into the namespace after the export would be lost with it.
func (r *removal) namespaceExported() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) ([]string, error) {
		left, err := r.read(ctx, run)
		if err != nil {
			return nil, err
		}
		bundle, err := r.ReadBackup(ctx, run)
		if err != nil {
			return nil, err
		}
		return r.Unexported(ctx, left, bundle)
	}
	return runbook.Ask("namespace-exported", "is everything in the bundle that goes with the namespace?",
		read, namespaceExported)
}

func namespaceExported(missing []string) runbook.Finding {
	if len(missing) == 0 {
		return runbook.Yes("what goes with the namespace is in the bundle")
	}
	return runbook.No("not in the bundle: %s", strings.Join(missing, ", ")).WithOutcome(runbook.NeedsAttention)
}

// none asks whether nothing of a part is left.
func (r *removal) none(name, asks string, part func(*cleanup.Reading) cleanup.Part) runbook.Guard {
	return r.guard(name, asks, func(left *cleanup.Reading) runbook.Finding { return noneLeft(part(left).Names) })
}

func noneLeft(names []string) runbook.Finding {
	if len(names) == 0 {
		return runbook.Yes("none is left")
	}
	return runbook.No("still there: %s", strings.Join(names, ", ")).WithOutcome(runbook.NeedsAttention)
}

func (r *removal) noObjectLeft() runbook.Guard {
	return r.none("no-object-left", "is every custom resource of the group gone?", (*cleanup.Reading).ObjectPart)
}

// noneListedOrWatched is noObjectLeft by two sources: with a CRD go all of its objects, listed or not.
func (r *removal) noneListedOrWatched() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) ([]string, error) {
		left, err := r.read(ctx, run)
		if err != nil {
			return nil, err
		}
		if names := left.ObjectPart().Names; len(names) > 0 {
			return names, nil
		}
		return nil, r.ConfirmNone(ctx, left.Definitions)
	}
	return runbook.Ask("no-object-left", "is every custom resource of the group gone, by a list and by a watch?",
		read, noneLeft)
}

func (r *removal) checks() []runbook.Guard {
	return []runbook.Guard{
		r.none("no-definition-left", "is every CRD of the group gone?", (*cleanup.Reading).DefinitionPart), r.noObjectLeft(),
		r.none("no-hook-left", "does no webhook or APIService point into the namespace?", (*cleanup.Reading).HookPart),
		r.none("no-namespace-left", "is the operator's namespace gone?", (*cleanup.Reading).NamespacePart),
		r.none("nothing-owned-left", "are the operator's workloads and rights gone?", (*cleanup.Reading).OwnedPart),
		runbook.Ask("nothing-exported-left", "is everything gone that was exported?", r.Remaining, noneLeft),
	}
}
