package rescuepods

import (
	"context"
	"fmt"
	"time"

	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

// While pods are deleted, that some are left is no condition any more.
var (
	beforeDeleting = []string{"homes-exist", "pods-elsewhere", "cannot-start", "source-stopped", "within-max"}
	whileDeleting  = []string{"homes-exist", "source-stopped", "within-max"}
)

// extent comes first, for what a person has to hear first. It stops nothing.
func (r *rescue) summary() runbook.Guard {
	return ask("extent", "how many pods are stranded: is it a leak or an outage?", r.look,
		func(ctx context.Context, _ runbook.Run, seen *stranded.Reading) runbook.Finding {
			extent, err := seen.Summary(ctx)
			if err != nil {
				return runbook.Unknown(err)
			}
			return runbook.Yes("%s", extent.String()).WithEvidence(runbook.NewEvidence("pods "+r.Selector, "", seen.Seen, extent))
		})
}

func (r *rescue) namespacesExist() runbook.Guard {
	return runbook.Guard{Name: "homes-exist", NotOverridable: true, Question: "do the namespaces exist where the pods belong?",
		Evaluate: func(ctx context.Context, _ runbook.Run) runbook.Finding {
			missing, err := r.MissingNamespace(ctx)
			switch {
			case err != nil:
				return runbook.Unknown(err)
			case missing != "":
				return runbook.No("%s", missing).WithOutcome(runbook.NeedsAttention)
			}
			return runbook.Yes("there: %s", r.in.expected())
		}}
}

func (r *rescue) podsElsewhere() runbook.Guard {
	return r.guard("pods-elsewhere", "are there such pods outside of these namespaces?", func(seen *stranded.Reading) runbook.Finding {
		if elsewhere := len(seen.Elsewhere()); elsewhere > 0 {
			return runbook.Yes("outside of %s: %d", r.in.expected(), elsewhere)
		}
		return runbook.No("outside of %s: none; inside: %d", r.in.expected(), len(seen.Expected)).NotOverridable()
	})
}

func (r *rescue) cannotStart() runbook.Guard {
	return r.guard("cannot-start", "can some of them not start because of where they are?", func(seen *stranded.Reading) runbook.Finding {
		switch {
		case seen.Blind != nil:
			return runbook.Unknown(seen.Blind).WithEvidence(seen.Evidence()...).NotOverridable()
		case len(seen.Stranded) == 0:
			return runbook.No("none lacks what is in %s; left alone: %d", r.in.expected(), len(seen.Left)).WithEvidence(seen.Evidence()...).NotOverridable()
		}
		return runbook.Yes("stranded for lack of what is in %s: %d; left alone: %d", r.in.expected(), len(seen.Stranded), len(seen.Left)).WithEvidence(seen.Evidence()...)
	})
}

// sourceStopped looks at all pods that no controller made, whether or not they can
// start: each shows that something makes pods in the wrong place.
func (r *rescue) sourceStopped() runbook.Guard {
	return r.guard("source-stopped", "has the source stopped making pods in the wrong place?", func(seen *stranded.Reading) runbook.Finding {
		youngest, found := seen.Youngest()
		if !found {
			return runbook.Yes("no pod is left")
		}
		age := seen.Seen.Sub(youngest.Created)
		said := fmt.Sprintf("the youngest, %s, is %s old", youngest, age.Round(time.Second))
		saw := runbook.NewEvidence("pod "+youngest.String(), string(youngest.UID), seen.Seen, map[string]time.Time{"created": youngest.Created})
		if age < r.in.MinAge.Duration {
			said += fmt.Sprintf(", less than %s: to clean up while the fault lives would only hide it", r.in.MinAge.Duration)
			return runbook.No("%s", said).WithEvidence(saw).WithOutcome(runbook.Deferred)
		}
		return runbook.Yes("%s", said).WithEvidence(saw)
	})
}

func (r *rescue) withinMax() runbook.Guard {
	return r.guard("within-max", "are they as few as a run may delete?", func(seen *stranded.Reading) runbook.Finding {
		said := fmt.Sprintf("stranded: %d; --max is %d", len(seen.Stranded), r.in.Max)
		if len(seen.Stranded) > r.in.Max {
			return runbook.No("%s", said).WithOutcome(runbook.NeedsAttention).NotOverridable()
		}
		return runbook.Yes("%s", said)
	})
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
