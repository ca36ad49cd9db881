package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"salve/journal"
	"salve/runbook"
	"salve/runbooks/repairprotection"
)

// undoProtection provides undo-branch-protection.
func undoProtection() Provider { return undoProvider{} }

type undoProvider struct{}

func (undoProvider) entry() entry {
	way := &undoWay{}
	return &githubEntry[repairprotection.UndoInputs]{
		clusterEntry: &clusterEntry[repairprotection.UndoInputs]{
			Definition: undoDefinition(way), inputs: repairprotection.UndoDefaults(),
		},
		github: &way.githubFlags, search: way.search, opened: func(kept *journal.Location) { way.kept = kept },
	}
}

// undoWay leads to a GitHub, and to the journal that holds the run to be undone.
type undoWay struct {
	githubFlags
	kept *journal.Location
}

func undoDefinition(way *undoWay) Definition[Cluster, repairprotection.UndoInputs] {
	return Definition[Cluster, repairprotection.UndoInputs]{
		Name:     repairprotection.UndoName,
		Short:    "Restore the branch protection that a run of repair-branch-protection replaced",
		Example:  "--run 20261123-051009-98d586",
		Defaults: repairprotection.UndoDefaults(),
		Flags: func(in *repairprotection.UndoInputs, flags *pflag.FlagSet) {
			flags.StringVar(&in.Run, "run", "", "`name` of the run that is undone")
			flags.Var(&unprotected{&in.AllowUnprotect}, "allow-unprotect",
				"`OWNER/NAME=BRANCH=REASON`: the branch may lose its protection again (repeatable)")
			flags.StringArrayVar(&in.Others, "other-prow-namespace", nil,
				"`namespace` of another Prow that protects none of the same repositories: its branchprotector doesn't "+
					"count (repeatable)")
			flags.DurationVar(&in.Budget.Duration, "budget", in.Budget.Duration, "the time that a run may take in all")
			way.addFlags(flags)
		},
		New: func(cluster Cluster, in repairprotection.UndoInputs) (runbook.Runbook, error) {
			world, err := way.world(context.Background(), cluster, in)
			if err != nil {
				return runbook.Runbook{}, err
			}
			return repairprotection.NewUndo(world, in)
		},
		Replayed: repairprotection.ReplayedUndo,
	}
}

// world reads the record of the run, where the journal is known by now.
func (w *undoWay) world(ctx context.Context, cluster Cluster, in repairprotection.UndoInputs) (
	world repairprotection.UndoWorld, err error,
) {
	world = repairprotection.UndoWorld{Endpoint: w.endpoint, Reserve: w.reserve, Cluster: cluster.Cluster}
	if world.GitHub, err = w.open(); err != nil || w.kept == nil {
		return world, err
	}
	record, err := loadRecord(ctx, w.kept, in.Run)
	switch {
	case err != nil:
		return world, err
	case record.Header.Runbook != repairprotection.Name:
		return world, usage("run %q is of runbook %s, and only one of %s can be undone", in.Run, record.Header.Runbook,
			repairprotection.Name)
	}
	planned, err := inputsOf[repairprotection.Inputs](record.Header)
	if err != nil {
		return world, err
	}
	if planned.GitHub != w.endpoint {
		return world, usage("run %q is about GitHub %s, not %s. hint: --github-endpoint, or GITHUB_API_URL", in.Run,
			planned.GitHub, w.endpoint)
	}
	world.Places = len(planned.Branches)
	world.Previous = func(ctx context.Context, at int) (repairprotection.Previous, bool, error) {
		return previousOf(ctx, record, at)
	}
	return world, nil
}

// previousOf reads what a run kept of a branch. What it noted that it kept has to be there.
func previousOf(ctx context.Context, record *journal.Record, at int) (previous repairprotection.Previous, _ bool,
	_ error) {
	name := repairprotection.ExportName(at)
	if _, noted := record.Stored("", name); !noted {
		return previous, false, nil
	}
	raw, err := record.ReadExport(ctx, name)
	if err == nil {
		err = json.Unmarshal(raw, &previous)
	}
	if err != nil {
		return previous, false, fmt.Errorf("what run %q kept as %s: %w", record.Run, name, err)
	}
	return previous, true, nil
}

// search looks for the branches that are still as the run wrote them.
func (w *undoWay) search(ctx context.Context, cluster Cluster, in repairprotection.UndoInputs) (
	look discovery[repairprotection.UndoInputs], err error,
) {
	world, err := w.world(ctx, cluster, in)
	if err != nil {
		return look, err
	}
	if look.target, err = repairprotection.Target(w.endpoint); err != nil {
		return look, invalidInputs(err)
	}
	look.budget = in.Budget.Duration
	look.find = func(ctx context.Context, in repairprotection.UndoInputs) (repairprotection.UndoInputs, runbook.Finding) {
		return repairprotection.DiscoverUndo(ctx, world, in)
	}
	return look, nil
}

// newUndo is the short form of run undo-branch-protection; nil where the program does not have that.
func newUndo(a *app) *cobra.Command {
	for _, definition := range a.entries() {
		if undo, found := definition.(*githubEntry[repairprotection.UndoInputs]); found {
			return undoCommand(a, undo)
		}
	}
	return nil
}

func undoCommand(a *app, undo *githubEntry[repairprotection.UndoInputs]) *cobra.Command {
	asked := &request{}
	command := &cobra.Command{
		Use:   "undo RUN",
		Short: "Undo a run of repair-branch-protection",
		Long: `Restore the branch protection that a run of repair-branch-protection replaced.
Only branches that are still as that run wrote them are put back; others are named.

It is a run of ` + repairprotection.UndoName + `, with guards, a record and checks of its own.`,
		Example: `  # Show what would be put back; changes nothing
  salve undo 20261123-051009-98d586 --dry-run
  # Put it back
  salve undo 20261123-051009-98d586`,
		Args: aRun(),
		RunE: func(command *cobra.Command, arguments []string) error {
			undo.inputs.Run = arguments[0]
			if err := undo.read(a, asked, command.Flags()); err != nil {
				return err
			}
			if err := asked.read(a, command.Flags()); err != nil {
				return err
			}
			if asked.dryRun {
				return a.perform(command, undo, asked, plan)
			}
			return a.perform(command, undo, asked, act)
		},
	}
	groupFlags(command)
	a.addFlags(command, act, undo, asked)
	_ = command.Flags().MarkHidden("run") // the flag is there: it is the argument here
	return command
}
