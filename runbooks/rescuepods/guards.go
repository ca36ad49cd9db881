package rescuepods

import (
	"context"
	"fmt"
	"time"

	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

// While pods are deleted, that some are left is no condition any more.
func (r *rescue) whileDeleting() []string {
	return append([]string{"namespaces-exist", "source-stopped", "within-max"}, r.prowConditions()...)
}

func (r *rescue) beforeDeleting() []string {
	return append([]string{"namespaces-exist", "pods-elsewhere", "cannot-start", "source-stopped", "within-max"},
		r.prowConditions()...)
}

// counted is a summary, and when it was made.
type counted struct {
	stranded.Summary
	Seen time.Time `json:"seen"`
}

// summary comes first, for what an operator has to hear first. It stops nothing.
func (r *rescue) summary() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (counted, error) {
		seen, err := r.read(ctx, run)
		if err != nil {
			return counted{}, err
		}
		summary, err := seen.Summary(ctx)
		return counted{summary, r.Clock.Now()}, err
	}
	return runbook.Ask("summary", "how many pods are stranded: is it a leak or an outage?", read, r.in.summary)
}

func (in Inputs) summary(seen counted) runbook.Finding {
	return runbook.Yes("%s", seen.Summary).
		WithEvidence(runbook.NewEvidence("pods "+in.Selector, "", seen.Seen, seen.Summary))
}

func (r *rescue) namespacesExist() runbook.Guard {
	read := func(ctx context.Context, _ runbook.Run) (string, error) { return r.MissingNamespace(ctx) }
	guard := runbook.Ask("namespaces-exist", "do the namespaces exist where the pods belong?", read, r.in.namespacesExist)
	guard.NotOverridable = true
	return guard
}

func (in Inputs) namespacesExist(missing string) runbook.Finding {
	if missing != "" {
		return runbook.No("%s", missing).WithOutcome(runbook.NeedsAttention)
	}
	return runbook.Yes("there: %s", in.expected())
}

// pods is a tally, and what else is there when no pod is.
type pods struct {
	tally
	stranded.Others
}

func (r *rescue) podsElsewhere() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (pods, error) {
		seen, err := r.read(ctx, run)
		if err != nil {
			return pods{}, err
		}
		found := pods{tally: tallyOf(seen)}
		if seen.None() {
			found.Others, err = r.Others(ctx, r.jobs())
		}
		return found, err
	}
	return runbook.Ask("pods-elsewhere", "are there such pods outside of these namespaces?", read, r.in.podsElsewhere)
}

func (in Inputs) podsElsewhere(seen pods) runbook.Finding {
	switch elsewhere := seen.Stranded + seen.Left; {
	case elsewhere > 0:
		return runbook.Yes("outside of %s: %d", in.expected(), elsewhere)
	case seen.RunningJobs > 0:
		return runbook.Unknownf("not found: no pod has --selector %q, and %d jobs say that theirs run", in.Selector,
			seen.RunningJobs)
	case seen.LivePods > 0:
		return runbook.Unknownf("not found: no pod has --selector %q, and in %s there are %d without it. "+
			"hint: kubectl get pods -A -l '%s'",
			in.Selector, in.expected(), seen.LivePods, in.Selector)
	}
	return runbook.No("outside of %s: none; inside: %d", in.expected(), seen.Expected).NotOverridable()
}

func (r *rescue) cannotStart() runbook.Guard {
	return runbook.Ask("cannot-start", "can some of them not start because of where they are?", r.readShown,
		func(seen shown) runbook.Finding { return r.in.cannotStart(seen.tally).WithEvidence(seen.Evidence...) })
}

func (in Inputs) cannotStart(seen tally) runbook.Finding {
	switch {
	case seen.Blind != nil:
		return runbook.Unknown(seen.Blind).NotOverridable()
	case seen.Stranded == 0:
		return runbook.No("none lacks what is in %s; left alone: %d", in.expected(), seen.Left).NotOverridable()
	}
	return runbook.Yes("stranded for lack of what is in %s: %d; left alone: %d", in.expected(), seen.Stranded, seen.Left)
}

// sourceStopped considers all pods that no controller made, whether or not they can
// start: each shows that something makes pods in the wrong place.
func (r *rescue) sourceStopped() runbook.Guard {
	return r.guard("source-stopped", "has the source stopped making pods in the wrong place?", r.in.sourceStopped)
}

// sourceStopped tells the youngest pod's age by the API server's clock, which dated the pod.
func (in Inputs) sourceStopped(seen tally) runbook.Finding {
	if seen.Youngest == nil {
		return runbook.Yes("no pod is left")
	}
	age := seen.Now.Sub(seen.Youngest.Created)
	said := fmt.Sprintf("the youngest, %s, is %s old", seen.Youngest.Pod, age.Round(time.Second))
	fact := runbook.NewEvidence("pod "+seen.Youngest.Pod, string(seen.Youngest.UID), seen.Seen,
		map[string]time.Time{"created": seen.Youngest.Created.UTC()})
	if age < in.MinAge.Duration {
		return runbook.No("%s, less than %s: deleting while the source is at work would only hide it",
			said, in.MinAge.Duration).
			WithEvidence(fact).WithOutcome(runbook.Deferred)
	}
	return runbook.Yes("%s", said).WithEvidence(fact)
}

func (r *rescue) withinMax() runbook.Guard {
	return r.guard("within-max", "are they as few as a run may delete?", r.in.withinMax)
}

func (in Inputs) withinMax(seen tally) runbook.Finding {
	said := fmt.Sprintf("stranded: %d; --max is %d", seen.Stranded, in.Max)
	if seen.Stranded > in.Max {
		return runbook.No("%s", said).WithOutcome(runbook.NeedsAttention).NotOverridable()
	}
	return runbook.Yes("%s", said)
}

// recordKept is a condition of every deletion: the record is read back, and names no pod that was not asked for.
func (r *rescue) recordKept() runbook.Guard {
	return runbook.Ask("record-kept", "can the record of the pods be read back, and does it name none but such pods?",
		r.readRecord, record.kept)
}
