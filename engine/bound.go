package engine

import (
	"bytes"
	"context"
	"fmt"

	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// checkInputs refuses to go on with an open run with other inputs than the plan has that it is bound to: from its first
// change on, only the steps of plans are compared.
func (o Options) checkInputs(record *journal.Record, asked journal.Header) error {
	if o.Plan == nil && bytes.Equal(asked.Inputs, record.Header.Inputs) {
		return nil // an approval may have lowered them
	}
	want := o.bound(record.History)
	if want == nil || want.Plan == nil || want.StepsOnly || record.PastReturn() {
		return nil
	}
	other := want.Plan.InputDifferences(asked.Inputs)
	if len(other) == 0 {
		return nil
	}
	return &InvalidError{fmt.Sprintf("run %s is open on this target, and stays open: the plan has changed: %s",
		record.Run, inWordsOf(other))}
}

// bound is the plan that a run may execute, by what was asked for or else by its record; nil where there is none. The
// whole of one that is asked for by its digest may be in the record.
func (o Options) bound(history *journal.History) *ExpectedPlan {
	if o.Plan == nil || o.Plan.Plan == nil && o.Plan.Digest == history.Header.Plan {
		return boundTo(history)
	}
	return o.Plan
}

// checkSuperseding refuses to close an open run in favour of one that would then refuse its plan: that is executed, or
// nothing happens.
func (e *Engine) checkSuperseding(
	ctx context.Context, book runbook.Runbook, open *journal.Record, options Options,
) error {
	if options.Plan == nil {
		return nil
	}
	limited, cancel := clock.WithTimeout(ctx, e.Clock, book.Budget)
	defer cancel()
	x, err := e.previewOf(limited, book, options, nil)
	if err != nil {
		return err
	}
	x.quiet = true // the run itself asks again, and tells of it
	verdict, err := x.preview(limited, true)
	if err == nil && verdict.Outcome != "" {
		err = &InvalidError{fmt.Sprintf("run %s is open on this target, with other inputs or content, and stays open: %s",
			open.Run, verdict.Reason)}
	}
	return err
}
