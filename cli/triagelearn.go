package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"salve/internal/redact"
	"salve/internal/report"
	"salve/internal/triage"
	"salve/internal/triage/analysis"
	"salve/internal/triage/catalogue"
)

func newTriageLearn(a *app) *cobra.Command {
	asked := &triageInputs{}
	group, form := "", "yaml"
	command := &cobra.Command{
		Use: "learn PATH…", Short: "Propose an entry of the catalogue for failures that no signature knows",
		Long: `Learn proposes an entry of the catalogue: the longest texts that all failures of a group have, and
that no passing scenario has. It prints a file of the catalogue to be completed: who is told, and what to do.`,
		Example: `  salve triage learn artifacts/ >.triage/catalogue/NAME.yaml
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
			if a.json() {
				form = "json"
			}
			if err := checkForm(form, "yaml", "json"); err != nil {
				return err
			}
			return a.triageLearn(command.Context(), asked, group, form, paths)
		},
	}
	asked.addFlags(command.Flags())
	command.Flags().StringVar(&group, "group", "",
		"`KEY` of the group (default: the largest one without a signature; of two, a new one)")
	command.Flags().StringVarP(&form, "output", "o", form, "how to print the proposal: yaml or json")
	return command
}

func (a *app) triageLearn(ctx context.Context, asked *triageInputs, key, form string, paths []string) error {
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
	known, err := unknownGroup(result.Document, key)
	if err != nil {
		return err
	}
	for i := range result.Run.Groups {
		group := &result.Run.Groups[i]
		if string(group.Key) != known.Key {
			continue
		}
		sample, err := result.Sample(ctx, request, group)
		if err != nil {
			return err
		}
		sample.Class = classOf(known.Verdict)
		proposed, err := catalogue.Propose(masked(sample))
		if err != nil {
			return fmt.Errorf("group %s: %w", known.Key, err)
		}
		return a.proposal(form, known, proposed)
	}
	return usage("no group %s", known.Key)
}

// learnDocument is a proposed signature.
type learnDocument struct {
	report.Document
	Group      string `json:"group"`
	Failures   int    `json:"failures"`
	Signatures []any  `json:"signatures"`
}

// proposal prints it.
func (a *app) proposal(form string, of triage.Group, proposed string) error {
	if form == "json" {
		document := learnDocument{Document: report.NewDocument("triage-learn"), Group: of.Key, Failures: of.Failures}
		var entries struct{ Signatures []any }
		if err := yaml.Unmarshal([]byte(proposed), &entries); err != nil {
			return fmt.Errorf("group %s: reading the proposal: %w", of.Key, err)
		}
		document.Signatures = entries.Signatures
		return a.document(document)
	}
	_, err := fmt.Fprintf(a.stdout, "# %s: %s. Complete the TODOs; salve triage catalogue lint checks it.\n%s", of.Key,
		counted(of.Failures, "failure"), proposed)
	if err != nil {
		return fmt.Errorf("writing the proposal: %w", err)
	}
	return nil
}

// classOf is the class that a group without a signature goes by: its causes say so, if the verdict is on them.
func classOf(verdict triage.Verdict) catalogue.Class {
	switch verdict {
	case triage.KnownInfrastructure:
		return catalogue.Infrastructure
	case triage.KnownProduct:
		return catalogue.Product
	default:
		return ""
	}
}

// unknownGroup is the one to learn from.
func unknownGroup(document *triage.Document, key string) (triage.Group, error) {
	best := -1
	for i, g := range document.Groups {
		switch {
		case key != "" && g.Key == key:
			return g, nil
		case key != "" || len(g.Signatures) > 0:
		case best < 0, g.Failures > document.Groups[best].Failures,
			g.Failures == document.Groups[best].Failures && g.Verdict == triage.New &&
				document.Groups[best].Verdict != triage.New:
			best = i
		}
	}
	switch {
	case key != "":
		return triage.Group{}, usage("no group %s: salve triage prints the keys", key)
	case best < 0:
		return triage.Group{}, usage("no group without a signature: there is nothing to learn")
	}
	return document.Groups[best], nil
}

// masked is the sample without what looks like a credential: a catalogue lies in a repository.
func masked(s catalogue.Sample) catalogue.Sample {
	mask := func(text string) string { return string(redact.Redact([]byte(text))) }
	if redact.Remains(s.Message, append(slices.Clone(s.Failing), s.Message)...) {
		s.Message = firstRedacted(s.Failing)
	}
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

// firstRedacted is the first line that has a credential, without it: the group's message has parts of one.
func firstRedacted(texts []string) string {
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if shown := redact.String(line); shown != line {
				return strings.TrimSpace(shown)
			}
		}
	}
	return redact.Mark
}

// counted is a number of things in words.
func counted(number int, thing string) string {
	if number == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", number, thing)
}
