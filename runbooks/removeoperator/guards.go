package removeoperator

import (
	"context"
	"strings"

	"salve/runbook"
	"salve/runbooks/removeoperator/cleanup"
)

// judge answers for what is left of the operator; an error means that it can't see.
type judge = decision[*cleanup.Reading]

func (r *removal) guard(name, asks string, judge judge) runbook.Guard {
	return ask(name, asks, r.look, judge)
}

func (r *removal) somethingLeft() runbook.Guard {
	return r.guard("something-left", "is anything left of the group or its operator?", func(_ context.Context, _ runbook.Run, left *cleanup.Reading) runbook.Finding {
		if left.None() {
			return runbook.No("there is no CRD of %s, no namespace %s, and nothing else of the operator", r.Group, r.Namespace)
		}
		return runbook.Yes("%s", left.String()).WithEvidence(left.Evidence(r.Clock.Now())...)
	})
}

func (r *removal) namespaceExpendable() runbook.Guard {
	return r.guard("namespace-expendable", "is nobody else deleting the operator's namespace, and no journal kept in it?",
		func(_ context.Context, _ runbook.Run, left *cleanup.Reading) runbook.Finding {
			switch {
			case left.Namespace == nil:
				return runbook.Yes("there is no namespace %s", r.Namespace)
			case left.Namespace.Records:
				return runbook.No("%s", "namespace "+r.Namespace+" holds the records of runs").WithOutcome(runbook.NeedsAttention).NotOverridable()
			case left.Namespace.Deleting:
				return runbook.No("%s", "somebody else is deleting namespace "+r.Namespace+left.Namespace.Hold()).WithOutcome(runbook.Deferred)
			}
			return runbook.Yes("nobody is deleting namespace %s", r.Namespace)
		})
}

// operatorGone asks whether the operator is gone for good. Where it is stopped
// first, what is at work before that is no obstacle.
func (r *removal) operatorGone(stopped bool) runbook.Guard {
	return r.guard("operator-gone", "is the operator gone for good: no replicas, no ready pod, no lease that is renewed?",
		func(ctx context.Context, _ runbook.Run, _ *cleanup.Reading) runbook.Finding {
			signs, err := r.Liveness(ctx)
			saw, named := runbook.NewEvidence("operator in "+r.Namespace, "", r.Clock.Now(), signs), strings.Join(signs, ", ")
			switch {
			case err != nil || len(signs) == 0:
				if err != nil {
					return runbook.Unknown(err)
				}
				return runbook.Yes("nothing of the operator is at work").WithEvidence(saw)
			case stopped:
				return runbook.Yes("it is stopped first: %s", named).WithEvidence(saw)
			}
			return runbook.No("%s", "it is alive: "+named+"; --stop-operator scales it to zero first").WithEvidence(saw).NotOverridable()
		})
}

func (r *removal) cascadeContained() runbook.Guard {
	return r.guard("cascade-contained", "does nothing outside of the group go with its objects?",
		func(ctx context.Context, _ runbook.Run, left *cleanup.Reading) runbook.Finding {
			taken, err := r.CascadeOf(ctx, left)
			saw := runbook.NewEvidence("objects owned by objects of "+r.Group, "", r.Clock.Now(), taken)
			switch {
			case err != nil || taken.Count == 0:
				if err != nil {
					return runbook.Unknown(err)
				}
				return runbook.Yes("nothing outside of the group goes with its objects").WithEvidence(saw)
			case r.in.AllowCascade != "":
				return runbook.Yes("allowed (%s): %s", r.in.AllowCascade, taken).WithEvidence(saw)
			}
			return runbook.No("with the group's objects would go %s", taken.String()).WithEvidence(saw).WithOutcome(runbook.NeedsAttention).NotOverridable()
		})
}

// bundleKept is a condition of every deletion.
func (r *removal) bundleKept() runbook.Guard {
	return r.guard("bundle-kept", "can everything that was exported be read back?", func(ctx context.Context, run runbook.Run, _ *cleanup.Reading) runbook.Finding {
		bundle, err := cleanup.Kept(ctx, run)
		if err != nil {
			return runbook.Unknown(err)
		}
		return runbook.Yes("%s", bundle.String()+" were read back")
	})
}

// none asks whether nothing of a part is left.
func (r *removal) none(name, asks string, part func(*cleanup.Reading) cleanup.Part) runbook.Guard {
	return r.guard(name, asks, func(_ context.Context, _ runbook.Run, left *cleanup.Reading) runbook.Finding {
		return stillThere(part(left).Names)
	})
}

func stillThere(names []string) runbook.Finding {
	if len(names) == 0 {
		return runbook.Yes("none is left")
	}
	return runbook.No("still there: %s", strings.Join(names, ", ")).WithOutcome(runbook.NeedsAttention)
}

func (r *removal) noObjectLeft() runbook.Guard {
	return r.none("no-object-left", "is every custom resource of the group gone?", (*cleanup.Reading).ObjectPart)
}

func (r *removal) checks() []runbook.Guard {
	return []runbook.Guard{
		r.none("no-definition-left", "is every CRD of the group gone?", (*cleanup.Reading).DefinitionPart), r.noObjectLeft(),
		r.none("no-hook-left", "does no webhook or APIService point into the namespace?", (*cleanup.Reading).HookPart),
		r.none("no-namespace-left", "is the operator's namespace gone?", (*cleanup.Reading).NamespacePart),
		r.guard("nothing-exported-left", "is everything gone that was exported?", func(ctx context.Context, run runbook.Run, _ *cleanup.Reading) runbook.Finding {
			there, err := r.Remaining(ctx, run)
			if err != nil {
				return runbook.Unknown(err)
			}
			return stillThere(there)
		}),
	}
}

// decision answers from what was read and from what the run holds.
type decision[T any] func(context.Context, runbook.Run, T) runbook.Finding

// ask makes a guard of a reading and a decision.
func ask[T any](
	name, question string, read func(context.Context, runbook.Run) (T, error), decide decision[T],
) runbook.Guard {
	return runbook.Guard{Name: name, Question: question, Evaluate: func(ctx context.Context, run runbook.Run) runbook.Finding {
		seen, err := read(ctx, run)
		if err != nil {
			return runbook.Unknown(err)
		}
		return decide(ctx, run, seen)
	}}
}
