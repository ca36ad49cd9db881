package removeoperator

import (
	"context"
	"fmt"
	"strings"

	"salve/runbook"
	"salve/runbooks/removeoperator/cleanup"
)

// judge answers for what is left of the operator; an error means that it can't see.
type judge func(ctx context.Context, run runbook.Run, left *cleanup.Reading) (runbook.Finding, error)

func (r *removal) guard(name, asks string, judge judge) runbook.Guard {
	return runbook.Ask(name, asks, r.look, judge)
}

func (r *removal) somethingLeft() runbook.Guard {
	return r.guard("something-left", "is anything left of the group or its operator?", func(_ context.Context, _ runbook.Run, left *cleanup.Reading) (runbook.Finding, error) {
		if left.None() {
			return runbook.No(fmt.Sprintf("there is no CRD of %s, no namespace %s, and nothing else of the operator", r.Group, r.Namespace)), nil
		}
		return runbook.Yes(left.String(), left.Evidence(r.Clock.Now())...), nil
	})
}

func (r *removal) namespaceExpendable() runbook.Guard {
	return r.guard("namespace-expendable", "is nobody else deleting the operator's namespace, and no journal kept in it?",
		func(_ context.Context, _ runbook.Run, left *cleanup.Reading) (runbook.Finding, error) {
			switch {
			case left.Namespace == nil:
				return runbook.Yes("there is no namespace " + r.Namespace), nil
			case left.Namespace.Records:
				return runbook.No("namespace " + r.Namespace + " holds the records of runs").WithOutcome(runbook.NeedsAttention).NotOverridable(), nil
			case left.Namespace.Deleting:
				return runbook.No("somebody else is deleting namespace " + r.Namespace + left.Namespace.Hold()).WithOutcome(runbook.Deferred), nil
			}
			return runbook.Yes("nobody is deleting namespace " + r.Namespace), nil
		})
}

// operatorGone asks whether the operator is gone for good. Where it is stopped
// first, what is at work before that is no obstacle.
func (r *removal) operatorGone(stopped bool) runbook.Guard {
	return r.guard("operator-gone", "is the operator gone for good: no replicas, no ready pod, no lease that is renewed?",
		func(ctx context.Context, _ runbook.Run, _ *cleanup.Reading) (runbook.Finding, error) {
			signs, err := r.Liveness(ctx)
			saw, named := runbook.NewEvidence("operator in "+r.Namespace, "", r.Clock.Now(), signs), strings.Join(signs, ", ")
			switch {
			case err != nil || len(signs) == 0:
				return runbook.Yes("nothing of the operator is at work", saw), err
			case stopped:
				return runbook.Yes("it is stopped first: "+named, saw), nil
			}
			return runbook.No("it is alive: "+named+"; --stop-operator scales it to zero first", saw).NotOverridable(), nil
		})
}

func (r *removal) cascadeContained() runbook.Guard {
	return r.guard("cascade-contained", "does nothing outside of the group go with its objects?",
		func(ctx context.Context, _ runbook.Run, left *cleanup.Reading) (runbook.Finding, error) {
			taken, err := r.CascadeOf(ctx, left)
			saw := runbook.NewEvidence("objects owned by objects of "+r.Group, "", r.Clock.Now(), taken)
			switch {
			case err != nil || taken.Count == 0:
				return runbook.Yes("nothing outside of the group goes with its objects", saw), err
			case r.in.AllowCascade != "":
				return runbook.Yes(fmt.Sprintf("allowed (%s): %s", r.in.AllowCascade, taken), saw), nil
			}
			return runbook.No("with the group's objects would go "+taken.String(), saw).WithOutcome(runbook.NeedsAttention).NotOverridable(), nil
		})
}

// bundleKept is a condition of every deletion.
func (r *removal) bundleKept() runbook.Guard {
	return r.guard("bundle-kept", "can everything that was exported be read back?", func(ctx context.Context, run runbook.Run, _ *cleanup.Reading) (runbook.Finding, error) {
		bundle, err := cleanup.Kept(ctx, run)
		return runbook.Yes(bundle.String() + " were read back"), err
	})
}

// none asks whether nothing of a part is left.
func (r *removal) none(name, asks string, part func(*cleanup.Reading) cleanup.Part) runbook.Guard {
	return r.guard(name, asks, func(_ context.Context, _ runbook.Run, left *cleanup.Reading) (runbook.Finding, error) {
		return stillThere(part(left).Names), nil
	})
}

func stillThere(names []string) runbook.Finding {
	if len(names) == 0 {
		return runbook.Yes("none is left")
	}
	return runbook.No("still there: " + strings.Join(names, ", ")).WithOutcome(runbook.NeedsAttention)
}

func (r *removal) noObjectLeft() runbook.Guard {
	return r.none("no-object-left", "is every custom resource of the group gone?", (*cleanup.Reading).ObjectPart)
}

func (r *removal) checks() []runbook.Guard {
	return []runbook.Guard{
		r.none("no-definition-left", "is every CRD of the group gone?", (*cleanup.Reading).DefinitionPart), r.noObjectLeft(),
		r.none("no-hook-left", "does no webhook or APIService point into the namespace?", (*cleanup.Reading).HookPart),
		r.none("no-namespace-left", "is the operator's namespace gone?", (*cleanup.Reading).NamespacePart),
		r.guard("nothing-exported-left", "is everything gone that was exported?", func(ctx context.Context, run runbook.Run, _ *cleanup.Reading) (runbook.Finding, error) {
			there, err := r.Remaining(ctx, run)
			return stillThere(there), err
		}),
	}
}
