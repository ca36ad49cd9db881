package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"salve/engine"
	"salve/internal/triage"
	"salve/internal/triage/analysis"
	"salve/internal/triage/catalogue"
	"salve/internal/triage/change"
	"salve/internal/triage/show"
)

// triageInputs are what a triage reads; learn and lint read the same.
type triageInputs struct {
	catalogue string
	baseline  []string
	diff      string
	base      string
	changedAt string
	mapping   string
}

func (t *triageInputs) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&t.catalogue, "catalogue", "",
		"`DIR` with signatures and patterns of attributes (docs/triage-catalogue.md)")
	flags.StringArrayVar(&t.baseline, "baseline", nil,
		"`PATH` of the results of one run without the change; several times for several")
	flags.StringVar(&t.diff, "diff", "", "`FILE` with the change under test, as git diff writes it; - is standard input")
	flags.StringVar(&t.base, "base", "", "the change under test is what HEAD has and this git `REF` hasn't")
	flags.StringVar(&t.changedAt, "changed-at", "",
		"`TIME` at which the change was built or deployed, as 2006-01-02T15:04:05Z")
	flags.StringVar(&t.mapping, "map", "",
		"`FILE` that says which paths and which scenarios belong to which component (docs/triage.md)")
}

// request reads what the flags name.
func (t *triageInputs) request(ctx context.Context, paths []string) (analysis.Request, error) {
	r := analysis.Request{
		Paths: paths, Stdin: os.Stdin, Baseline: t.baseline, Now: time.Now(), Thresholds: triage.Default(),
	}
	if t.diff != "" && t.base != "" {
		return r, usage("--diff and --base both name the change: one is enough")
	}
	if slices.Contains(paths, "-") && t.diff == "-" {
		return r, usage("standard input can't be results and --diff at once")
	}
	var err error
	if t.changedAt != "" {
		if r.ChangedAt, err = time.Parse(time.RFC3339, t.changedAt); err != nil {
			return r, usage("--changed-at %q: it must be a time with a zone, such as 2026-02-05T13:04:05Z", t.changedAt)
		}
	}
	if r.Change, err = t.readChange(ctx); err != nil {
		return r, err
	}
	if t.mapping != "" {
		if r.Map, err = change.LoadMap(t.mapping); err != nil {
			return r, fmt.Errorf("--map: %w", err)
		}
	}
	if t.catalogue != "" {
		if r.Catalogue, err = catalogue.Load(t.catalogue); err != nil {
			return r, fmt.Errorf("--catalogue: %w", err)
		}
	}
	return r, nil
}

func (t *triageInputs) readChange(ctx context.Context) (*change.Change, error) {
	switch {
	case t.base != "":
		folder, err := folderOfWork()
		if err != nil {
			return nil, err
		}
		found, err := change.Since(ctx, folder, t.base)
		if err != nil {
			return nil, fmt.Errorf("--base: %w", err)
		}
		return found, nil
	case t.diff == "-":
		return change.ReadDiff(os.Stdin)
	case t.diff != "":
		file, err := os.Open(t.diff)
		if err != nil {
			return nil, fmt.Errorf("--diff: %w", err)
		}
		defer file.Close()
		found, err := change.ReadDiff(file)
		if err != nil {
			return nil, fmt.Errorf("--diff %s: %w", t.diff, err)
		}
		return found, nil
	}
	return nil, nil //nolint:nilnil // nobody named a change
}

// triageRequest is what the user asked of salve triage.
type triageRequest struct {
	triageInputs
	identity triageIdentity
	history  string
	record   bool
	html     string
	evidence string
	redact   bool
	failOn   []string
	form     string
	post     triagePost
}

func newTriage(a *app) *cobra.Command {
	asked := &triageRequest{}
	forms := []string{"text", "json", "markdown"}
	command := &cobra.Command{
		Use: "triage PATH…", Short: "Say why test runs fail, and whether the change under test did it",
		Long: `Triage reads the results of a test run, groups its failures, and asks of each group which cluster,
region or other attribute it goes with, and whether the change under test did it. Every sentence
has its numbers, and every verdict says what would change it.

PATH is a file or a folder: go test -json, JUnit XML, plain logs, also as .gz or .zst; - is
standard input. Passing scenarios are needed as well as failing ones. Nothing else is: no
catalogue, no history, no map. With them it says more (docs/triage.md).

Exit codes: 0 triaged; 1 a verdict is one of --fail-on; 2 wrong usage or no results; 4 triaged and
printed, but the history, the page, the evidence or the comment could not be written.`,
		Example: `  # The last run, on the first day
  go test -json ./... | salve triage -
  # A rollout gate: is it this change?
  salve triage artifacts/ --base origin/main --map .triage/map.yaml --catalogue .triage/catalogue \
    --history .triage/history --fail-on suspected-change,new
  # On the pull request
  GITHUB_TOKEN=… salve triage artifacts/ --base origin/main --post github --repo org/repo --pr 17`,
		Args: func(command *cobra.Command, arguments []string) error {
			if len(arguments) == 0 {
				return usage("%s requires a PATH of results, or - for standard input", command.CommandPath())
			}
			return nil
		},
		RunE: func(command *cobra.Command, paths []string) error {
			if a.json() && !command.Flags().Changed("output") {
				asked.form = "json"
			}
			if err := asked.validate(forms); err != nil {
				return err
			}
			return a.triage(command.Context(), asked, paths)
		},
	}
	flags := command.Flags()
	asked.addFlags(flags)
	asked.identity.addFlags(flags)
	asked.post.addFlags(flags)
	flags.StringVar(&asked.history, "history", "", "`DIR` with earlier runs; this one is added to it")
	flags.BoolVar(&asked.record, "record", true, "add this run to --history")
	flags.StringVar(&asked.html, "html", "", "write a page to this `FILE` as well")
	flags.StringVar(&asked.evidence, "evidence", "", "write what the verdicts rest on to this `FILE` as well, for salve "+
		"replay (docs/replay.md); compressed when its name ends in .gz")
	flags.BoolVar(&asked.redact, "redact", true,
		"replace what looks like a credential, in Markdown and HTML; text and JSON never show one")
	flags.StringSliceVar(&asked.failOn, "fail-on", nil, "exit 1 if a verdict is one of these: "+verdictNames())
	flags.StringVarP(&asked.form, "output", "o", forms[0], "how to print the answer: "+orList(forms))
	command.AddCommand(newTriageLearn(a), newTriageCatalogue(a), newTriageHistory(a))
	return command
}

func verdictNames() string {
	var names []string
	for _, v := range triage.Verdicts() {
		if v != triage.Passed {
			names = append(names, string(v))
		}
	}
	return orList(names)
}

func (r *triageRequest) validate(forms []string) error {
	for _, verdict := range r.failOn {
		if !slices.Contains(triage.Verdicts(), triage.Verdict(verdict)) {
			return usage("--fail-on %q: it is %s", verdict, verdictNames())
		}
	}
	if err := r.post.validate(); err != nil {
		return err
	}
	return checkForm(r.form, forms...)
}

func (a *app) triage(ctx context.Context, asked *triageRequest, paths []string) error {
	request, err := asked.request(ctx, paths)
	if err != nil {
		return unfit(err)
	}
	identity, err := asked.identity.read(a.lookup)
	if err != nil {
		return err
	}
	request.Build = identity.Build
	past, err := openPast(ctx, asked.history, identity, request.Now)
	if err != nil {
		return unfit(err)
	}
	if past != nil {
		request.Past = past.asked
	}
	result, err := analysis.Analyze(ctx, request)
	if errors.Is(err, analysis.ErrNothing) {
		return usage("%v", err)
	}
	if err != nil {
		return err
	}
	document := result.Document
	if past != nil {
		document.Notes = append(document.Notes, past.notes...)
	}
	if asked.fails(document) {
		a.exit = exitFailed
	}
	if err := a.showTriage(asked, *document); err != nil {
		return err
	}
	if err := asked.keep(ctx, a, past, result); err != nil {
		return &attentionError{err}
	}
	return nil
}

// keep writes the page, the evidence, the history and the comment, after the answer was printed: that one of them can't
// be written takes nothing away from it, and is no verdict.
func (r *triageRequest) keep(ctx context.Context, a *app, past *past, result *analysis.Result) error {
	document := *result.Document
	var failed []error
	if r.evidence != "" {
		if err := a.keepEvidence(r.evidence, result); err != nil {
			failed = append(failed, err)
		}
	}
	if r.html != "" {
		err := writeWhole(r.html, func(file *os.File) error {
			return show.HTML(file, document, show.Options{KeepSecrets: !r.redact})
		})
		if err != nil {
			failed = append(failed, fmt.Errorf("--html: %w", err))
		}
	}
	if past != nil && r.record {
		if err := past.record(); err != nil {
			failed = append(failed, err)
		}
	}
	if err := r.post.send(ctx, a, document); err != nil {
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// unfit is the error of inputs that can't be read: nothing was triaged, and a gate must not take it for a verdict.
func unfit(err error) error {
	var wrong *engine.InvalidError
	if errors.As(err, &wrong) {
		return err
	}
	return usage("%v", err)
}

// fails says whether a verdict is one that the user wants to fail on.
func (r *triageRequest) fails(document *triage.Document) bool {
	asked := func(v triage.Verdict) bool { return slices.Contains(r.failOn, string(v)) }
	return asked(document.Verdict) ||
		slices.ContainsFunc(document.Groups, func(g triage.Group) bool { return asked(g.Verdict) })
}

func (a *app) showTriage(asked *triageRequest, document triage.Document) error {
	options := show.Options{KeepSecrets: !asked.redact}
	switch asked.form {
	case "json":
		a.answered = true
		return show.JSON(a.stdout, document)
	case "markdown":
		_, err := fmt.Fprint(a.stdout, show.Markdown(document, options))
		return err
	}
	color := a.width() > 0 && a.style().Colour
	return show.Text(a.stdout, document, show.Style{Color: color, Width: a.width()})
}
