package removeoperator

import (
	"context"
	"errors"
	"strings"

	"salve/runbook"
	"salve/runbooks/removeoperator/cleanup"
)

// readLeft is what decisions take of the round's reading.
func (r *removal) readLeft(ctx context.Context, run runbook.Run) (cleanup.Left, error) {
	left, err := r.read(ctx, run)
	if err != nil {
		return cleanup.Left{}, err
	}
	return left.Left(r.Clock.Now()), nil
}

func (r *removal) somethingLeft() runbook.Guard {
	return runbook.Ask("something-left", "is anything left of the group or its operator?", r.readLeft, r.in.somethingLeft)
}

func (in Inputs) somethingLeft(left cleanup.Left) runbook.Finding {
	finding := runbook.Yes("%s", left)
	if left.None() {
		finding = runbook.No("there is no CRD of %s, no namespace %s, and nothing else of the operator", in.Group,
			in.Namespace)
	}
	return finding.WithEvidence(left.Evidence()...)
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
	read := func(ctx context.Context, run runbook.Run) (*cleanup.LeftNamespace, error) {
		left, err := r.readLeft(ctx, run)
		return left.Namespace, err
	}
	return runbook.Ask("namespace-expendable",
		"is nobody else deleting the operator's namespace, and no journal kept in it?", read, r.in.namespaceExpendable)
}

func (in Inputs) namespaceExpendable(namespace *cleanup.LeftNamespace) runbook.Finding {
	switch {
	case namespace == nil:
		return runbook.Yes("there is no namespace %s", in.Namespace)
	case len(namespace.Journal) > 0:
		kept := strings.Join(namespace.Journal, ", ")
		return runbook.No("namespace %s holds a journal of Salve: %s", in.Namespace, kept).
			WithOutcome(runbook.NeedsAttention).NotOverridable()
	case namespace.Deleting:
		return runbook.No("somebody else is deleting namespace %s%s", in.Namespace, namespace.Hold).
			WithOutcome(runbook.Deferred)
	}
	return runbook.Yes("nobody is deleting namespace %s", in.Namespace)
}

// evidence is what was seen, as evidence.
func evidence[T any](source string, seen runbook.Seen[T]) runbook.Evidence {
	return runbook.NewEvidence(source, "", seen.Seen, seen.What)
}

// operatorGone asks whether the operator is gone for good. Where it is stopped
// first, what is at work before that is no obstacle.
func (r *removal) operatorGone(stopped bool) runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (runbook.Seen[cleanup.Liveness], error) {
		seen, err := r.Liveness(ctx, run.Report)
		return runbook.SeenAt(seen, r.Clock.Now()), err
	}
	return runbook.Ask("operator-gone",
		"is the operator gone for good: no replicas, no pod that has not terminated, no lease that is renewed?", read,
		func(seen runbook.Seen[cleanup.Liveness]) runbook.Finding {
			return operatorGone(seen.What, stopped).WithEvidence(evidence("operator in "+r.Namespace, seen))
		})
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
	read := func(ctx context.Context, run runbook.Run) (runbook.Seen[cleanup.Cascade], error) {
		left, err := r.read(ctx, run)
		if err != nil {
			return runbook.Seen[cleanup.Cascade]{}, err
		}
		along, err := r.CascadeOf(ctx, left)
		return runbook.SeenAt(along, r.Clock.Now()), err
	}
	return runbook.Ask("cascade-contained", "does nothing outside of the group go with its objects?", read,
		func(seen runbook.Seen[cleanup.Cascade]) runbook.Finding {
			return r.in.cascadeContained(seen.What).WithEvidence(evidence("objects owned by objects of "+r.Group, seen))
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
	// Holds says what is in the bundle.
	Holds string `json:"holds"`
	// Foreign is why it is another's; empty when it is ours.
	Foreign string `json:"foreign"`
}

func (r *removal) readBackup(ctx context.Context, run runbook.Run) (backupState, error) {
	bundle, err := r.ReadBackup(ctx, run)
	var foreign *cleanup.ForeignError
	switch {
	case errors.As(err, &foreign):
		return backupState{Foreign: foreign.Error()}, nil
	case err != nil:
		return backupState{}, err
	}
	return backupState{Holds: bundle.String()}, nil
}

func (b backupState) bundleKept() runbook.Finding {
	if b.Foreign != "" {
		return runbook.No("%s", b.Foreign).WithOutcome(runbook.NeedsAttention).NotOverridable()
	}
	return runbook.Yes("%s were read back", b.Holds)
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
	read := func(ctx context.Context, run runbook.Run) ([]string, error) {
		left, err := r.read(ctx, run)
		if err != nil {
			return nil, err
		}
		return part(left).Names, nil
	}
	return runbook.Ask(name, asks, read, noneLeft)
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
