package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"salve/internal/redact"
	"salve/internal/triage"
	"salve/internal/triage/analysis"
	"salve/internal/triage/catalogue"
)

func newTriageLearn(a *app) *cobra.Command {
	asked := &triageInputs{}
	group := ""
	command := &cobra.Command{
		Use: "learn PATH…", Short: "Propose an entry of the catalogue for failures that no signature knows",
		Long: `Learn proposes an entry of the catalogue: the longest texts that all failures of a group have, and
that no passing scenario has. It prints YAML to be completed: who is told, and what to do.`,
		Example: `  salve triage learn artifacts/ >>.triage/catalogue/new.yaml
  salve triage learn artifacts/ --group g1-3f2a9c0d11e07b55`,
		Args: func(command *cobra.Command, arguments []string) error {
			switch {
			case len(arguments) == 0:
				return usage("%s requires a PATH of results", command.CommandPath())
			case slices.Contains(arguments, "-"):
				return usage("%s reads results twice: standard input can't be", command.CommandPath())
			}
			return nil
		},
		RunE: func(command *cobra.Command, paths []string) error {
			return a.triageLearn(command.Context(), asked, group, paths)
		},
	}
	asked.addFlags(command.Flags())
	command.Flags().StringVar(&group, "group", "",
		"`KEY` of the group (default: the largest one without a signature, a new one first)")
	return command
}

func (a *app) triageLearn(ctx context.Context, asked *triageInputs, key string, paths []string) error {
	request, err := asked.request(ctx, paths)
	if err != nil {
		return unfit(err)
	}
	result, err := analysis.Analyze(ctx, request)
	if errors.Is(err, analysis.ErrNothing) {
		return usage("%v", err)
	}
	if err != nil {
		return err
	}
	chosen, err := unknownGroup(result.Document, key)
	if err != nil {
		return err
	}
	for i := range result.Run.Groups {
		group := &result.Run.Groups[i]
		if string(group.Key) != chosen {
			continue
		}
		sample, err := result.Sample(ctx, request, group)
		if err != nil {
			return err
		}
		proposal, err := catalogue.Propose(masked(sample))
		if err != nil {
			return fmt.Errorf("group %s: %w", chosen, err)
		}
		fmt.Fprintf(a.stdout, "# %s: %d failures. Complete the TODOs; salve triage catalogue lint checks it.\n%s", chosen,
			len(group.Rows), proposal)
		return nil
	}
	return usage("no group %s", chosen)
}

// unknownGroup is the one to learn from.
func unknownGroup(document *triage.Document, key string) (string, error) {
	best := -1
	for i, g := range document.Groups {
		switch {
		case key != "" && g.Key == key:
			return key, nil
		case key != "" || len(g.Signatures) > 0:
		case best < 0, g.Verdict == triage.New && document.Groups[best].Verdict != triage.New,
			g.Verdict == document.Groups[best].Verdict && g.Failures > document.Groups[best].Failures:
			best = i
		}
	}
	switch {
	case key != "":
		return "", usage("no group %s: salve triage prints the keys", key)
	case best < 0:
		return "", usage("no group without a signature: there is nothing to learn")
	}
	return document.Groups[best].Key, nil
}

// masked is the sample without what looks like a credential: a catalogue lies in a repository.
func masked(s catalogue.Sample) catalogue.Sample {
	mask := func(text string) string { return string(redact.Redact([]byte(text))) }
	s.Message = mask(s.Message)
	for i := range s.Failing {
		s.Failing[i] = mask(s.Failing[i])
	}
	for i := range s.Passing {
		s.Passing[i] = mask(s.Passing[i])
	}
	s.Mask = redact.Mark
	return s
}
