package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

func newAbandon(a *app) *cobra.Command {
	from, reason := &shelf{}, ""
	command := &cobra.Command{
		Use:   "abandon RUN --reason TEXT",
		Short: "Close an open run as it is, and change nothing else",
		Long: `Close an open run as it is: nothing is undone and nothing is finished. What it
left in the cluster is for a person to look after.`,
		Args: oneArgument("the name of a run"),
		RunE: func(command *cobra.Command, arguments []string) error {
			if reason == "" {
				return usage("abandon needs --reason: who looks at the run later wants to know")
			}
			kept, record, err := a.load(command, from, arguments[0])
			if err != nil {
				return err
			}
			if err := a.abandon(command.Context(), kept, record.Header.Target.ID, arguments[0], reason); err != nil {
				return err
			}
			record, err = journal.Load(command.Context(), kept, arguments[0])
			if err != nil {
				return err
			}
			return a.show(record.History, from)
		},
	}
	from.addFlags(command.Flags())
	command.Flags().StringVar(&reason, "reason", "", "why the run is given up")
	return command
}

// abandon writes the verdict under the lease on the target: nobody else is at
// work on it meanwhile.
func (a *app) abandon(ctx context.Context, kept *journal.Place, target, run, reason string) (err error) {
	holder := a.holder()
	holder.Run, holder.Since = run, time.Now().UTC()
	lease, err := kept.Lock(ctx, journal.Claim{Target: target, Holder: holder})
	if err != nil {
		return fmt.Errorf("abandoning run %q: %w", run, err)
	}
	defer func() { err = errors.Join(err, lease.Release(ctx)) }()
	record, err := journal.Load(ctx, kept, run)
	if err != nil {
		return err
	}
	if record.Closed != nil {
		return usage("run %q is closed already: %s (%s)", run, record.Closed.Outcome, record.Closed.Reason)
	}
	record.Continue(time.Now, lease.Epoch())
	return record.Append(ctx, journal.Closed, "", journal.Verdict{
		Outcome: runbook.Failed,
		Reason:  fmt.Sprintf("abandoned by %s: %s; what it had done stays as it is", report.Person(holder), reason),
	})
}
