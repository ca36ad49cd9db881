package recreatepool

import (
	"context"
	"errors"

	"salve/azure"
	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

// reader reads what one guard or one step asks for. After the first error it reads
// and changes nothing more, and the error is the answer: none can be forgotten.
type reader struct {
	*recreation
	ctx context.Context // of this one question
	run runbook.Run
	err error
}

// contradiction says that what the record or the world tells can't be true of the
// run that was asked for. No guess follows from it: an operator has to tell.
type contradiction struct{ reason, question string }

func (c *contradiction) Error() string { return c.reason }

// ask makes a guard of what is read and of what is decided from it, as runbook.Ask
// does. A reading that contradicts the inputs needs attention, and no override helps.
func ask[T any](r *recreation, name, question string, read func(*reader) T,
	decide func(T) runbook.Finding) runbook.Guard {
	type reading struct {
		seen  T
		wrong *contradiction
	}
	attempt := func(ctx context.Context, run runbook.Run) (got reading, _ error) {
		rd := &reader{recreation: r, ctx: ctx, run: run}
		got.seen = read(rd)
		if errors.As(rd.err, &got.wrong) {
			return got, nil
		}
		return got, rd.err
	}
	return runbook.Ask(name, question, attempt, func(got reading) runbook.Finding {
		if got.wrong != nil {
			return runbook.No("%s. %s", got.wrong.reason, got.wrong.question).
				WithOutcome(runbook.NeedsAttention).NotOverridable()
		}
		return decide(got.seen)
	})
}

// observe makes a step's Observe in the same way. A reading that contradicts the
// inputs is a question.
func observe[T any](
	r *recreation, read func(*reader) T, decide func(T) runbook.Observation,
) func(context.Context, runbook.Run) runbook.Observation {
	return func(ctx context.Context, run runbook.Run) runbook.Observation {
		rd := &reader{recreation: r, ctx: ctx, run: run}
		seen := read(rd)
		var wrong *contradiction
		switch {
		case errors.As(rd.err, &wrong):
			return runbook.Undecidable(wrong.question, "%s", wrong.reason)
		case rd.err != nil:
			return runbook.NotObserved(rd.err)
		}
		return decide(seen)
	}
}

// do makes a step's Apply or Await. What it returns comes after what could not be read.
func (r *recreation) do(act func(*reader) error) func(context.Context, runbook.Run) error {
	return func(ctx context.Context, run runbook.Run) error {
		rd := &reader{recreation: r, ctx: ctx, run: run}
		err := act(rd)
		if rd.err != nil {
			return rd.err
		}
		return err
	}
}

// attempt calls unless something could not be read before, and keeps its error.
func (rd *reader) attempt(call func() error) {
	if rd.err == nil {
		rd.err = call()
	}
}

// recall reads a note of this run; false when there is none.
func (rd *reader) recall(note string, into any) (found bool) {
	rd.attempt(func() (err error) {
		found, err = rd.run.Recall(note, into)
		return err
	})
	return found
}

func (rd *reader) note(name string, value any) {
	rd.attempt(func() error { return rd.run.Note(rd.ctx, name, value) })
}

// armReading is one reading of the cluster: what ARM answered, or that there is none.
type armReading struct {
	azure.Cluster
	absent error
}

// arm reads the cluster, once in a round. That it is absent is a reading too.
func (rd *reader) arm() (seen armReading) {
	rd.attempt(func() (err error) {
		seen, err = rd.seen.Get(rd.ctx, rd.run, func(ctx context.Context) (armReading, error) {
			cluster, err := rd.Azure.Cluster(ctx, rd.ResourceGroup, rd.Cluster)
			if apierr.ClassOf(err) == apierr.Missing {
				return armReading{absent: err}, nil
			}
			return armReading{Cluster: cluster}, err
		})
		return err
	})
	return seen
}

// cluster is the reading of a cluster that has to be there.
func (rd *reader) cluster() azure.Cluster {
	seen := rd.arm()
	rd.attempt(func() error { return seen.absent })
	return seen.Cluster
}

// definition reads a pool; nil when it is absent.
func (rd *reader) definition(pool string) (definition azure.Definition) {
	rd.attempt(func() (err error) {
		definition, err = rd.Azure.Definition(rd.ctx, rd.poolName(pool))
		if apierr.ClassOf(err) == apierr.Missing {
			definition, err = nil, nil
		}
		return err
	})
	return definition
}

// scaleSets are those behind the pool.
func (rd *reader) scaleSets() (sets []azure.ScaleSet) {
	group := rd.cluster().NodeResourceGroup
	rd.attempt(func() (err error) {
		sets, err = rd.Azure.ScaleSets(rd.ctx, group, rd.Pool)
		return err
	})
	return sets
}

// kubernetes connects to the cluster's API.
func (rd *reader) kubernetes() (cluster *kube.Cluster) {
	rd.attempt(func() (err error) {
		cluster, err = rd.Kubernetes(rd.ctx)
		return err
	})
	return cluster
}
