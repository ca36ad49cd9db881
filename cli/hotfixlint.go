package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"salve/internal/hotfix"
	"salve/internal/hotfix/prepublish"
	"salve/internal/hotfix/signing"
	"salve/internal/report"
)

func newHotfixLint(a *app) *cobra.Command {
	base, root := "", ""
	command := &cobra.Command{
		Use:   "lint FILE…",
		Short: "Say what is wrong with pointer files",
		Long: `Say what is wrong with pointer files: fields that are malformed or given twice,
entries that no node could take, artifacts that can't be used. With --base, also
versions that are lower than in that git revision; with --root, as nodes read them that
have this root of trust, once they are signed.

Exit codes: 0 nothing is wrong, 1 something is, 2 wrong usage.`,
		Example: `  # What is wrong with a pointer, also beside the one in git
  salve hotfix lint pointer.json --base origin/main`,
		Args: cobra.MatchAll(func(command *cobra.Command, arguments []string) error {
			if len(arguments) == 0 {
				return usage("%s takes the files to look at", command.CommandPath())
			}
			return nil
		}),
		RunE: func(command *cobra.Command, arguments []string) error {
			return a.lintHotfixes(command.Context(), arguments, base, root)
		},
	}
	command.Flags().StringVar(&base, "base", "", "a git revision; versions that are lower than there are wrong")
	command.Flags().StringVar(&root, "root", "", "a `ROOT` document; what its keys sign is read by other rules")
	return command
}

// hotfixFindings is the document of salve hotfix lint.
type hotfixFindings struct {
	report.Document
	Findings []prepublish.Finding `json:"findings"`
}

func (a *app) lintHotfixes(ctx context.Context, files []string, base, root string) error {
	by := hotfix.Provenance{}
	if root != "" {
		roots, err := readRoots([]string{root}, nil)
		if err != nil {
			return err
		}
		by = signing.Provenance(roots.Newest())
	}
	found := hotfixFindings{Document: report.NewDocument("hotfix-findings"), Findings: []prepublish.Finding{}}
	for _, file := range files {
		raw, err := readBounded(file, largestDocument)
		if err != nil {
			return usage("%v", err)
		}
		if err := refuseSigned(file, raw); err != nil {
			return err
		}
		var before []byte
		if base != "" {
			if before, err = prepublish.Before(ctx, base, file); err != nil {
				return usage("--base: %v", err)
			}
		}
		found.Findings = append(found.Findings, prepublish.LintBy(by, file, raw, before)...)
	}
	if a.json() {
		if err := a.document(found); err != nil {
			return err
		}
	} else {
		for _, finding := range found.Findings {
			fmt.Fprintln(a.stdout, finding)
		}
	}
	if n := len(found.Findings); n > 0 {
		return fmt.Errorf("%s in %s", report.Count(n, "problem", "problems"), report.Count(len(files), "file", "files"))
	}
	if !a.json() {
		fmt.Fprintf(a.stdout, "Nothing is wrong with %s.\n", report.Count(len(files), "file", "files"))
	}
	return nil
}
