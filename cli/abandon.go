package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"salve/internal/apierr"
	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

func newAbandon(a *app) *cobra.Command {
	from, reason, target := &journalFlags{}, "", ""
	command := &cobra.Command{
		Use:   "abandon RUN --reason TEXT",
		Short: "Close an open run as it is, and change nothing else",
		Long: `Close an open run as it is: nothing is undone and nothing is finished. What it
left in the cluster is for an operator to look after.

A run whose record is broken, unsealed or lost is closed in the lease of its target,
which then lets other runs begin. Its record stays as it is.

Of a run whose record is in a folder, name the cluster as well as the folder: the
lease in the cluster names the run too.`,
		Example: `  # Give a run up; what it has done stays as it is
  salve runs abandon 20261122-021300-4f1a2b --reason "the pool was recreated by hand" --kubeconfig ~/.kube/config
  # Free the target of a run whose record is lost
  salve runs abandon 20261122-021300-4f1a2b --target "lamp/1" --reason "the record is lost" --journal /srv/salve`,
		Args: aRun(),
		RunE: func(command *cobra.Command, arguments []string) error {
			if reason == "" {
				return usage("required flag --reason not set (for example --reason \"the cluster is going away\")")
			}
			kept, err := a.locate(command, from, arguments[0])
			if err == nil {
				kept, err = from.withWorld(command.Context(), a, kept)
			}
			if err != nil {
				return err
			}
			record, err := journal.Load(command.Context(), kept, arguments[0])
			if err != nil || len(record.Entries) == 0 {
				return a.forget(command.Context(), kept, arguments[0], target, err)
			}
			if err := a.abandon(command.Context(), kept, record, reason); err != nil {
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
	command.Flags().StringVar(&target, "target", "", "`ID` of the target of a run whose record is lost")
	return command
}

// forget closes a run in its target's lease alone, as its record can't be written.
func (a *app) forget(ctx context.Context, kept *journal.Location, run, target string, damage error) (err error) {
	if target == "" {
		target = targetOf(damage)
	}
	switch {
	case target == "" && damage == nil:
		return usage("the record of run %q has no entry: --target ID names its target", run)
	case target == "":
		return damage
	}
	lease, err := kept.Lock(ctx, a.claim(target, run))
	if err != nil {
		return fmt.Errorf("abandoning run %q: %w", run, err)
	}
	defer func() { err = errors.Join(err, lease.Release(ctx)) }()
	switch err := journal.Forget(ctx, kept, lease, run); {
	case err != nil && apierr.ClassOf(err) == apierr.Missing:
		fmt.Fprintf(a.stdout, "The lease on %s does not name run %s: it is in nobody's way. "+
			"Keep a copy of its record before salve runs prune --broken deletes it.\n", target, run)
	case err != nil:
		return fmt.Errorf("abandoning run %q: %w", run, err)
	default:
		fmt.Fprintf(a.stdout, "Run %s is closed in the lease on %s; what it had done stays as it is.\n", run, target)
	}
	return nil
}

// targetOf is the target that a record names which can't be believed: enough to look
// whether the target's lease names the run.
func targetOf(damage error) string {
	var broken *journal.BrokenError
	var unsealed *journal.UnsealedError
	switch {
	case errors.As(damage, &broken):
		return broken.Target
	case errors.As(damage, &unsealed):
		return unsealed.Target
	}
	return ""
}

func (a *app) claim(target, run string) journal.Claim {
	holder := a.holder()
	holder.Run, holder.Since = run, time.Now().UTC()
	return journal.Claim{Target: target, Holder: holder}
}

// abandon writes the verdict under the lease on the target: nobody else is at
// work on it meanwhile. The lease need not vouch for the record.
func (a *app) abandon(
	ctx context.Context, kept *journal.Location, seen *journal.Record, reason string,
) (err error) {
	run := seen.Run
	claim := a.claim(seen.Header.Target.ID, run)
	claim.Above = seen.Epoch // a lease that was removed begins to count anew
	lease, err := kept.Lock(ctx, claim)
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
	if err := record.Adopt(ctx, lease, time.Now); err != nil {
		return err
	}
	return record.Append(ctx, journal.Closed, "", journal.Verdict{
		Outcome: runbook.Failed,
		Reason:  fmt.Sprintf("abandoned by %s: %s; what it had done stays as it is", report.Person(claim.Holder), reason),
	})
}
