package recreatepool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/runbook"
)

// deletingNote is written right before the pool's deletion is asked for: from
// then on its absence is our doing.
const deletingNote = "deleting"

// deletedByUs tells whether this run asked for the pool's deletion: it noted that, and
// announced it before. A record that says so without a snapshot of the pool contradicts
// itself.
func (rd *reader) deletedByUs() (deleting bool) {
	if rd.recall(deletingNote, &deleting); !deleting || rd.run.Step("delete-pool").Attempts == 0 {
		return false
	}
	rd.snapshot()
	return true
}

func (r *recreation) deletePool() runbook.Step {
	return runbook.Step{
		Name:          "delete-pool",
		Changes:       fmt.Sprintf("delete pool %s, and its corrupted scale set with it", r.Pool),
		Irreversible:  true,
		Guards:        allGuards(),
		Preconditions: []runbook.Guard{r.snapshotKept(), r.standInReady()},
		Budget:        25 * time.Minute,
		Observe: observe(r, (*reader).deletion, func(seen deletion) runbook.Observation {
			return deleted(seen,
				r.Pool)
		}),
		Apply: r.do((*reader).deleteAsCompared),
		Await: r.do(func(rd *reader) error { return rd.awaitDeleted(rd.Pool) }),
	}
}

// kept is the snapshot as it was read back from the journal, and the pool as it is
// now; nil when it is absent.
type kept struct {
	taken   snapshot
	current azure.Definition
	now     time.Time
}

// snapshotKept is a precondition of the deletion: the snapshot can be read back from
// the journal, and it still describes the pool.
func (r *recreation) snapshotKept() runbook.Guard {
	decide := func(seen kept) runbook.Finding { return snapshotKept(seen, r.Pool) }
	return ask(r, "snapshot-kept", "does the journal hold a snapshot that still describes the pool?", (*reader).compared,
		decide)
}

// compared reads once in a round: what is deleted is what was compared.
func (rd *reader) compared() (seen kept) {
	rd.attempt(func() (err error) {
		seen, err = rd.kept.Get(rd.ctx, rd.run, func(context.Context) (kept, error) {
			taken := rd.snapshot()
			rd.verify(taken)
			return kept{taken, rd.definition(rd.Pool), rd.Clock.Now()}, rd.err
		})
		return err
	})
	return seen
}

func snapshotKept(seen kept, pool string) runbook.Finding {
	if seen.current == nil {
		return runbook.No("somebody else deleted pool %q", pool).WithOutcome(runbook.NeedsAttention)
	}
	etag := seen.current.ETag()
	saw := runbook.NewEvidence("ARM pool "+pool, etag, seen.now, map[string]string{"etag": etag})
	different, err := seen.taken.Definition.Differences(seen.current)
	switch {
	case err != nil:
		return runbook.Unknown(err).WithEvidence(saw)
	case len(different) > 0:
		return runbook.No("somebody changed pool %q since the snapshot: %v", pool, different).WithEvidence(saw).
			WithOutcome(runbook.Failed)
	}
	return runbook.Yes("the snapshot was read back and still describes the pool").WithEvidence(saw)
}

// deleteAsCompared deletes the pool under the ETag with which it was compared with
// the snapshot: a change that somebody made since then is not deleted with it.
func (rd *reader) deleteAsCompared() error {
	seen := rd.compared()
	if rd.err != nil {
		return rd.err
	}
	if finding := snapshotKept(seen, rd.Pool); finding.Answer != runbook.AnswerHolds {
		return apierr.New(apierr.Conflict, "precondition failed: snapshot-kept: %s", finding.Reason)
	}
	rd.note(deletingNote, true)
	return rd.start(func() (*azure.Operation, error) {
		operation, err := rd.Azure.DeletePool(rd.ctx, rd.poolName(rd.Pool), seen.current.ETag())
		if err != nil && !apierr.MayHaveHappened(err) {
			err = errors.Join(err, rd.run.Note(rd.ctx, deletingNote, false)) // refused: its absence would not be our doing
		}
		return operation, err
	})
}

// deletion is what tells how far the pool's deletion is.
type deletion struct {
	definition azure.Definition
	// ours: this run asked for the deletion.
	ours bool
	// newSets are scale sets that the snapshot doesn't know: those of a pool that
	// somebody made in place of the deleted one.
	newSets []string
}

func (rd *reader) deletion() deletion {
	seen := deletion{definition: rd.definition(rd.Pool), ours: rd.deletedByUs()}
	if seen.definition != nil && seen.definition.State() != "Deleting" {
		old := rd.snapshot().ScaleSets
		seen.newSets = slices.DeleteFunc(scaleSetNames(rd.scaleSets()), func(name string) bool {
			return slices.Contains(old,
				name)
		})
	}
	return seen
}

func deleted(seen deletion, pool string) runbook.Observation {
	switch {
	case seen.definition == nil && seen.ours:
		return runbook.Done("pool %s is gone", pool)
	case seen.definition == nil:
		return runbook.Undecidable(fmt.Sprintf(
			"Who deleted pool %q? Its definition is in this run's journal (salve runs show --output json); "+
				"the stand-in serves.", pool),
			"somebody else deleted pool %s", pool)
	case seen.definition.State() == "Deleting":
		return runbook.InFlight("pool %s is being deleted", pool)
	case len(seen.newSets) > 0:
		sets := strings.Join(seen.newSets, ", ")
		return runbook.Undecidable(fmt.Sprintf(
			"Who made pool %q anew? Its scale set %s is not the one of the snapshot. If it is as it should be, "+
				"abandon this run and remove the stand-in.",
			pool, sets), "pool %s has another scale set, %s", pool, sets)
	}
	return runbook.NotStarted("pool %s is %s", pool, orNone(seen.definition.State()))
}
