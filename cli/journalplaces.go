package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"salve/internal/report"
	"salve/journal"
)

// place is a journal that a command about runs looks in.
type place struct {
	// flags lead there, and to nothing else.
	flags []string
	open  func(ctx context.Context) (*journal.Location, error)
}

// places are where runs may be, in the order in which they are looked for: what flags name, and nothing else then; or
// the cluster that the environment names, as kubectl finds it, and the folder of the user.
func (s *journalFlags) places(a *app) ([]place, error) {
	switch {
	case s.folder != "":
		return []place{s.inNamedFolder(a)}, nil
	case s.cloud.kubeconfig != "":
		return []place{s.inNamedCluster(a)}, nil
	}
	var places []place
	named, found := s.cloud.kubernetesFlags.fromEnvironment(a)
	switch {
	case s.cloud.context == "" && s.named():
		if places = []place{s.inNamedCluster(a)}; s.given {
			return places, nil
		}
	case found:
		places = append(places, s.inKubeconfig(a, named))
	case s.cloud.context != "":
		return nil, usage("--context requires a kubeconfig. hint: --kubeconfig FILE, or export KUBECONFIG=FILE")
	}
	if s.cloud.context != "" {
		return places, nil
	}
	home, there, err := s.atHome(a)
	if err != nil {
		return nil, err
	}
	if len(places) == 0 && !there {
		folder, _ := a.stateFolder("journal") // it was found above
		return nil, usage("journal not found: no cluster is named, and folder %s does not exist. "+
			"hint: salve runs list --kubeconfig FILE, or export KUBECONFIG=FILE", folder)
	}
	if there {
		places = append(places, home)
	}
	return places, nil
}

func (s *journalFlags) inNamedFolder(a *app) place {
	return place{[]string{"--journal", s.folder}, func(ctx context.Context) (*journal.Location, error) {
		if _, err := os.Stat(s.folder); errors.Is(err, os.ErrNotExist) {
			return nil, usage("journal not found: folder %q does not exist", s.folder)
		}
		return s.open(ctx, a)
	}}
}

func (s *journalFlags) inNamedCluster(a *app) place {
	return place{nil, func(ctx context.Context) (*journal.Location, error) { return s.open(ctx, a) }}
}

func (s *journalFlags) inKubeconfig(a *app, named kubernetesFlags) place {
	flags := []string{"--kubeconfig", named.kubeconfig}
	return place{flags, func(ctx context.Context) (*journal.Location, error) {
		s.cloud.kubernetesFlags = named
		kept, err := s.open(ctx, a)
		if err != nil {
			s.cloud.kubernetesFlags = kubernetesFlags{} // what is looked at next is elsewhere
			return nil, err
		}
		return kept, nil
	}}
}

// atHome is the journal of the user, and whether there is one.
func (s *journalFlags) atHome(a *app) (home place, there bool, err error) {
	folder, err := a.stateFolder("journal")
	if err != nil {
		return place{}, false, usage("home folder not found. hint: --journal FOLDER, or --kubeconfig FILE")
	}
	_, missing := os.Stat(folder)
	return place{[]string{"--journal", folder}, func(context.Context) (*journal.Location, error) {
		s.cloud.kubernetesFlags, s.back = kubernetesFlags{}, nil
		return a.inFolder(folder)
	}}, missing == nil, nil
}

// locate opens the journal that knows of a run. Where none of several does, it is the first one, and what couldn't be
// seen is an error.
func (a *app) locate(command *cobra.Command, from *journalFlags, run string) (*journal.Location, error) {
	if err := from.read(a, command.Flags()); err != nil {
		return nil, err
	}
	ctx := command.Context()
	places, err := from.places(a)
	if err != nil {
		return nil, err
	}
	if len(places) == 1 {
		return places[0].open(ctx)
	}
	missing := &journal.MissingError{Run: run}
	var unseen error
	for i, place := range places {
		kept, err := place.open(ctx)
		known := false
		if err == nil {
			known, err = knows(ctx, kept, run)
		}
		switch {
		case err != nil && (i == len(places)-1 || ctx.Err() != nil):
			return nil, errors.Join(unseen, err)
		case err != nil:
			unseen = fmt.Errorf("looking for run %q: %w", run, err)
			continue
		case known:
			if unseen != nil {
				fmt.Fprintf(a.stderr, "The run was found in %s; elsewhere nothing could be seen: %s.\n", kept.Where,
					a.worded(unseen))
			}
			return kept, nil
		}
		if missing.Where != "" {
			missing.Where += ", nor in that at "
		}
		missing.Where += kept.Where
	}
	if unseen != nil {
		return nil, &unseenError{errors.Join(unseen, missing)}
	}
	return nil, missing
}

// knows tells whether a journal has the record of a run, or a lease that says that it should.
func knows(ctx context.Context, kept *journal.Location, run string) (bool, error) {
	runs, err := kept.Runs(ctx)
	if err != nil || slices.Contains(runs, run) {
		return err == nil, err
	}
	open, err := kept.OpenRuns(ctx)
	return slices.ContainsFunc(open, func(one journal.OpenRun) bool {
		return one.Run == run && one.Location == kept.Location()
	}), err
}

// elsewhere says where runs may be that a list of those in the first place does not have. none says that it has none.
func (s *journalFlags) elsewhere(ctx context.Context, a *app, places []place, none bool) string {
	if s.folder != "" || s.cloud.kubeconfig != "" && s.cloud.from == "" || s.given {
		return ""
	}
	if len(places) > 1 {
		return a.moreIn(ctx, places[1]) // the folder of the user is the only other place
	}
	if none && s.cloud.from == "" && !s.named() {
		return " No cluster was looked at: no kubeconfig was found. hint: " + a.name() + " runs list --kubeconfig FILE"
	}
	return ""
}

// moreIn says how many runs are in a folder; nothing when there are none.
func (a *app) moreIn(ctx context.Context, folder place) string {
	kept, err := folder.open(ctx)
	if err != nil {
		return ""
	}
	names, err := kept.Runs(ctx)
	if err != nil || len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" %s more in %s. hint: %s", report.Count(len(names), "run", "runs"), kept.Where,
		shell(append([]string{a.name(), "runs", "list"}, folder.flags...)))
}
