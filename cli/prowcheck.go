package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"salve/internal/diagnostic"
	"salve/internal/pipeline/changedfiles"
	prowcheck "salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/manifest"
	"salve/internal/report"
)

// prowCheckRequest is what the user asked of salve prow check.
type prowCheckRequest struct {
	prowFiles
	base           string
	external       string
	breakGlass     string
	breakGlassDays int
	deployJobs     []string
	pullRequests   string
	staging        bool
	live           prowLiveFlags
	failOn         string
	form           string
}

const never = "never"

func newProwCheck(a *app) *cobra.Command {
	asked := &prowCheckRequest{}
	forms := []string{"table", "json", "sarif", "github"}
	command := &cobra.Command{
		Use: "check", Short: "Say what would go wrong with a Prow's configuration, and change nothing",
		Long: `Check holds the configuration of a Prow instance, the manifests that it is deployed from, and a
change of them against rules: what checkconfig does not see, before it is merged. Each finding
has a severity: ALERT, WARN, UNKNOWN (an input is missing or could not be read), INFO.

Exit codes: 0 nothing as bad as --fail-on; 1 something is; 2 wrong usage.`,
		Example: `  # As a presubmit
  salve prow check --config config/prow/config.yaml --job-config config/jobs \
    --manifests config/prow/cluster --base origin/master --output github
  # With what the build cluster says
  salve prow check --config config.yaml --job-config jobs --live --kubeconfig ~/.kube/config --context prow \
    --plank-user system:serviceaccount:prow:prow-controller-manager
  # With what GitHub says, and no cluster
  GITHUB_TOKEN=… salve prow check --config config.yaml --job-config jobs --live --github
  # What is wrong now, without a change
  salve prow check --config config.yaml --job-config jobs`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := asked.validate(forms); err != nil {
				return err
			}
			return a.prowCheck(command.Context(), asked)
		},
	}
	asked.addFlags(command.Flags())
	asked.live.addFlags(command.Flags())
	flags := command.Flags()
	flags.StringVar(&asked.base, "base", "", "compare with this git `REF`, such as origin/main: rules about the change")
	flags.StringVar(&asked.external, "external-checks", "",
		"`FILE` with contexts that others than Prow report, one a line; * stands for anything but a slash")
	flags.StringVar(&asked.breakGlass, "break-glass", "",
		"`FILE` that says how Prow is deployed when Prow can't (docs/prow.md)")
	flags.IntVar(&asked.breakGlassDays, "break-glass-days", 180, "how many days ago its last exercise may be")
	flags.StringArrayVar(&asked.deployJobs, "deploy-job", nil,
		"`NAME` of a job that applies --manifests, or none (default: what names and run_if_changed say)")
	flags.StringVar(&asked.pullRequests, "pull-requests", "",
		"`FILE` with open pull requests: gh pr list --json number,url,baseRefName,isDraft,statusCheckRollup "+
			"(default: with --live --github, what GitHub says)")
	flags.BoolVar(&asked.staging, "staging", false, "this instance is there to find mistakes first (P1)")
	flags.StringVar(&asked.failOn, "fail-on", string(finding.Alert),
		"exit 1 from this severity on: ALERT, WARN, UNKNOWN or never")
	flags.StringVarP(&asked.form, "output", "o", forms[0], "how to print the answer: "+orList(forms))
	return command
}

func (r *prowCheckRequest) validate(forms []string) error {
	if r.config == "" {
		return usage("required flag --config not set (for example --config config/prow/config.yaml)")
	}
	if r.breakGlassDays < 1 {
		return usage("--break-glass-days %d: it must be a whole number from 1", r.breakGlassDays)
	}
	if err := r.live.validate(); err != nil {
		return err
	}
	switch r.failOn {
	case never, string(finding.Unknown), string(finding.Warn), string(finding.Alert):
	default:
		return usage("--fail-on %q: it is ALERT, WARN, UNKNOWN or never", r.failOn)
	}
	return checkForm(r.form, forms...)
}

func (a *app) prowCheck(ctx context.Context, asked *prowCheckRequest) error {
	facts, err := asked.read(ctx, a)
	if err != nil {
		return err
	}
	result, err := prowcheck.Run(facts)
	if err != nil {
		return err
	}
	if asked.fails(result) {
		a.exit = exitFailed
	}
	return a.prowFindings(ctx, asked.form, result)
}

// fails is whether the exit code is 1. An input that was given and could not be read
// counts as UNKNOWN; one that was not given doesn't count.
func (r *prowCheckRequest) fails(result prowcheck.Result) bool {
	if r.failOn == never {
		return false
	}
	least := finding.Severity(r.failOn)
	if worst, ok := result.Findings.Worst(); ok && worst.AtLeast(least) {
		return true
	}
	for _, verdict := range result.Verdicts {
		if verdict.Reason != "" && !verdict.NotGiven && verdict.Severity.AtLeast(least) {
			return true
		}
	}
	return false
}

// read reads all that the user named.
func (r *prowCheckRequest) read(ctx context.Context, a *app) (prowcheck.Facts, error) {
	tree, err := r.open()
	if err != nil {
		return prowcheck.Facts{}, err
	}
	facts := prowcheck.Facts{Now: config.Load(tree.files, tree.names), Options: prowcheck.Options{
		Staging: r.staging, DeployJobs: deployingJobs(r.deployJobs), Now: clock.RealClock{}.Now(),
		MaximumAge: time.Duration(r.breakGlassDays) * 24 * time.Hour,
	}}
	if tree.manifests != "" {
		facts.Manifests = manifest.Read(tree.files, tree.manifests, tree.names.Root)
	}
	if r.base != "" {
		if facts.Base, err = r.readBase(ctx); err != nil {
			return prowcheck.Facts{}, err
		}
	}
	if facts.Options.External, err = readPatterns(r.external); err != nil {
		return prowcheck.Facts{}, err
	}
	if facts.BreakGlass, err = readBreakGlass(r.breakGlass); err != nil {
		return prowcheck.Facts{}, err
	}
	if r.pullRequests != "" {
		content, err := readBounded(r.pullRequests, largestDocument)
		if err != nil {
			return prowcheck.Facts{}, usage("--pull-requests: %v", err)
		}
		if facts.PullRequests, err = prowcheck.ParsePullRequests(content); err != nil {
			return prowcheck.Facts{}, usage("--pull-requests %s: %v", r.pullRequests, err)
		}
	}
	return r.live.ask(ctx, a, facts, r.base != "" && facts.PullRequests == nil)
}

// deployingJobs are the jobs that the user names; empty and not nil for none.
func deployingJobs(named []string) []string {
	if len(named) == 1 && named[0] == "none" {
		return []string{}
	}
	return named
}

// largestList bounds what people write by hand, in bytes.
const largestList = 1 << 20

func readPatterns(file string) ([]prowcheck.Pattern, error) {
	if file == "" {
		return nil, nil
	}
	content, err := readBounded(file, largestList)
	if err != nil {
		return nil, usage("--external-checks: %v", err)
	}
	patterns := []prowcheck.Pattern{}
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		text := strings.TrimSpace(line)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		patterns = append(patterns, prowcheck.Pattern{Text: text,
			Position: diagnostic.Position{File: file, Line: number, Column: 1}})
	}
	return patterns, nil
}

func readBreakGlass(file string) (*prowcheck.BreakGlass, error) {
	if file == "" {
		return nil, nil
	}
	content, err := readBounded(file, largestList)
	if err != nil {
		return nil, usage("--break-glass: %v", err)
	}
	read, err := prowcheck.ParseBreakGlass(file, content, func(name string) bool {
		info, err := os.Stat(filepath.Join(filepath.Dir(file), filepath.FromSlash(name)))
		return err == nil && info.Mode().IsRegular() && info.Size() > 0
	})
	if err != nil {
		return nil, usage("--break-glass: %v", err)
	}
	return read, nil
}

// prowFindingsDocument is what salve prow check found.
type prowFindingsDocument struct {
	report.Document
	Exit     int               `json:"exitCode"`
	Says     string            `json:"says"`
	Findings finding.List      `json:"findings"`
	Rules    []finding.Verdict `json:"rules"`
}

// prowFindings prints what was found. Documents go to standard output alone.
func (a *app) prowFindings(ctx context.Context, form string, result prowcheck.Result) error {
	says := report.ProwVerdicts(result.Verdicts)
	switch form {
	case "json":
		return a.document(prowFindingsDocument{
			report.NewDocument("prow-findings"), a.exit, says, append(finding.List{}, result.Findings...), result.Verdicts,
		})
	case "sarif":
		fmt.Fprintln(a.stderr, says)
		folder, err := folderOfWork()
		if err != nil {
			return err
		}
		return finding.SARIF(a.stdout, result.Findings, prowcheck.Diagnostics(),
			diagnostic.Log{Tag: "prow", Root: changedfiles.Root(ctx, folder), Version: builtFrom().Version})
	case "github":
		fmt.Fprintln(a.stderr, says)
		return finding.GitHub(a.stdout, result.Findings.Printable())
	}
	return report.ProwFindings(a.stdout, a.width(), result.Findings, result.Verdicts)
}
