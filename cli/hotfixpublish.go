package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"salve/internal/clock"
	"salve/internal/hotfix"
	"salve/internal/hotfix/prepublish"
	"salve/internal/hotfix/signing"
	"salve/internal/hotfix/trust"
	"salve/internal/report"
)

// publishRequest is what the user asked of salve hotfix publish-check.
type publishRequest struct {
	pointer, root string
	repositories  []string
	architectures []string
	names         prepublish.Names
}

func newHotfixPublishCheck(a *app) *cobra.Command {
	asked := &publishRequest{}
	command := &cobra.Command{
		Use:   "publish-check --pointer FILE [--repository REPOSITORY…]",
		Short: "Refuse a pointer to what nodes could not fetch",
		Long: `Look whether all that a pointer makes nodes fetch can be had, for each architecture:
in every repository of packages that is given, or, where the pointer names an
artifact, at its address with the digest and the size that it says.

Repositories are written as "deb URL SUITE COMPONENT" or "rpm URL"; $basearch in the
address stands for RPM's name of the architecture.

A signed pointer is verified first, as nodes verify it that have the root of trust
--root. Then the files have to have the digests that are signed, in repositories too.
Of a pointer that nobody signed nodes take packages alone: one with artifacts is refused.

Exit codes: 0 all is there, 1 something is not, 2 wrong usage, 3 something could not
be looked at.`,
		Example: `  # Whether nodes could fetch what a signed pointer names
  salve hotfix publish-check --pointer signed.json --root root-1.json`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if asked.pointer == "" {
				return usage("--pointer is needed")
			}
			return a.checkPublished(command.Context(), asked)
		},
	}
	flags := command.Flags()
	flags.StringVar(&asked.pointer, "pointer", "", "the pointer `FILE`")
	flags.StringVar(&asked.root, "root", "", "the `ROOT` of trust as nodes have it, for a signed pointer")
	flags.StringArrayVar(&asked.repositories, "repository", nil,
		"a `REPOSITORY` that has to have the packages; may be given again")
	flags.StringSliceVar(&asked.architectures, "arch", []string{"amd64", "arm64"},
		"the architectures that have to be there")
	flags.StringVar(&asked.names.Program, "package", "aks-node-controller", "the package of the program")
	flags.StringVar(&asked.names.Scripts, "scripts-package", "",
		"the package of the scripts (default: the program's with -scripts)")
	return command
}

// published is the document of salve hotfix publish-check.
type published struct {
	report.Document
	Targets []prepublish.Presence `json:"targets"`
}

func (a *app) checkPublished(ctx context.Context, asked *publishRequest) error {
	var repositories []prepublish.Repository
	for _, text := range asked.repositories {
		repository, err := prepublish.ParseRepository(text)
		if err != nil {
			return usage("--repository: %v", err)
		}
		repositories = append(repositories, repository)
	}
	if asked.names.Scripts == "" {
		asked.names.Scripts = asked.names.Program + "-scripts"
	}
	pointer, err := asked.read()
	if err != nil {
		return err
	}
	reader := prepublish.NewReader()
	defer reader.Close()
	answer := published{Document: report.NewDocument("hotfix-published")}
	answer.Targets = reader.Published(ctx, pointer, asked.names, asked.architectures, repositories)
	if err := a.printPublished(answer); err != nil {
		return err
	}
	return refusal(answer)
}

// read gives the pointer as nodes would follow it.
func (r *publishRequest) read() (hotfix.Pointer, error) {
	raw, err := readBounded(r.pointer, trust.MaxBundle)
	if err != nil {
		return hotfix.Pointer{}, usage("%v", err)
	}
	by := hotfix.Provenance{}
	switch isSigned := signing.KindOf(raw) == signing.Signed; {
	case isSigned && r.root == "":
		return hotfix.Pointer{}, usage("--root is needed: %s is a signed pointer", r.pointer)
	case !isSigned && r.root != "":
		return hotfix.Pointer{}, unsignedPointer(r.pointer)
	case isSigned:
		accepted, err := r.verify()
		if err != nil {
			return hotfix.Pointer{}, err
		}
		raw, by = accepted.Document.Pointer, accepted.Pointer.Provenance()
	}
	if found := prepublish.LintBy(by, r.pointer, raw, nil); len(found) > 0 {
		return hotfix.Pointer{}, fmt.Errorf("%s; mend what salve hotfix lint names first", found[0])
	}
	pointer, err := hotfix.ParsePointer(raw)
	if err != nil {
		return hotfix.Pointer{}, err
	}
	if named := pointer.ArtifactKeys(); len(named) > 0 && !by.Signed {
		line, column := hotfix.Position(raw, named[0].Offset)
		return hotfix.Pointer{}, fmt.Errorf("%s:%d:%d: an artifact that nobody signed: no node fetches it, nor a package "+
			"in its stead. hint: salve hotfix sign %s, and look at what is signed with --root",
			r.pointer, line, column, r.pointer)
	}
	return pointer.By(by), nil
}

func (r *publishRequest) verify() (trust.Accepted, error) {
	root, err := readTrusted(r.root)
	if err != nil {
		return trust.Accepted{}, err
	}
	return acceptAsNodes(r.pointer, "", root, clock.Real{}.Now())
}

func (a *app) printPublished(answer published) error {
	if a.json() {
		answer.Targets = append([]prepublish.Presence{}, answer.Targets...)
		return a.document(answer)
	}
	if len(answer.Targets) == 0 {
		_, err := fmt.Fprintln(a.stdout, "The pointer makes no node fetch anything.")
		return err
	}
	var rows [][]string
	for _, target := range answer.Targets {
		says := string(target.State)
		if target.Says != "" {
			says += ": " + target.Says
		}
		rows = append(rows, []string{target.Field, target.Package, target.Version, target.Architecture, target.Place, says})
	}
	return report.Table(a.stdout, a.width(), []string{"FIELD", "PACKAGE", "VERSION", "ARCH", "PLACE", "STATE"}, rows)
}

// refusal is the error of a pointer that may not be published. Something that is
// known to be missing weighs more than what could not be seen.
func refusal(answer published) error {
	counts := map[prepublish.State]int{}
	for _, target := range answer.Targets {
		counts[target.State]++
	}
	switch {
	case counts[prepublish.NotThere] > 0:
		return fmt.Errorf("%d of %s not there: don't publish this pointer", counts[prepublish.NotThere],
			report.Count(len(answer.Targets), "target", "targets"))
	case counts[prepublish.Unknown] > 0:
		return &unseenError{fmt.Errorf("%d of %s could not be looked at: don't publish this pointer yet",
			counts[prepublish.Unknown], report.Count(len(answer.Targets), "target", "targets"))}
	}
	return nil
}
