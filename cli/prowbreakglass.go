package cli

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"salve/internal/diagnostic"
	"salve/internal/prow/breakglass"
	prowcheck "salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/manifest"
	"salve/internal/report"
)

// prowBreakGlassRequest is what the user asked of salve prow break-glass.
type prowBreakGlassRequest struct {
	prowFiles
	revision       string
	breakGlass     string
	breakGlassDays int
	deployJobs     []string
	context        string
	form           string
}

func newProwBreakGlass(a *app) *cobra.Command {
	asked := &prowBreakGlassRequest{}
	forms := []string{"text", "json"}
	command := &cobra.Command{
		Use: "break-glass", Short: "Print how to deploy a Prow by hand that can't deploy itself; execute nothing",
		Long: `Break-glass prepares the way out of a deadlock: a release of Prow broke what the job needs that
would deploy the way back. From the configuration, and from the manifests as a git revision has them,
it prints what to apply, in which order, with which commands, what that reverts besides, and who may
merge by hand. It reads files and git, and executes nothing.`,
		Example: `  # The way back to the release before
  salve prow break-glass --config config/prow/config.yaml --job-config config/jobs \
    --manifests config/prow/cluster --revision HEAD~1 --context prow`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := asked.validate(forms); err != nil {
				return err
			}
			return a.prowBreakGlass(command.Context(), asked)
		},
	}
	asked.addFlags(command.Flags())
	flags := command.Flags()
	flags.StringVar(&asked.revision, "revision", "", "git `REF` whose manifests are to be applied, such as HEAD~1")
	flags.StringVar(&asked.breakGlass, "break-glass", "",
		"`FILE` that says how Prow is deployed when Prow can't (docs/prow.md)")
	flags.IntVar(&asked.breakGlassDays, "break-glass-days", 180, "how many days ago its last exercise may be")
	flags.StringArrayVar(&asked.deployJobs, "deploy-job", nil,
		"`NAME` of a job that applies --manifests, or none (default: what names and run_if_changed say)")
	flags.StringVar(&asked.context, "context", "",
		"`context` of the kubeconfig for the commands (default: a variable that has to be set)")
	flags.StringVarP(&asked.form, "output", "o", forms[0], "how to print the answer: "+orList(forms))
	return command
}

func (r *prowBreakGlassRequest) validate(forms []string) error {
	err := required(
		given{Flag{Name: "config", Example: "config/prow/config.yaml"}, r.config},
		given{Flag{Name: "manifests", Example: "config/prow/cluster"}, r.manifests},
		given{Flag{Name: "revision", Example: "HEAD~1"}, r.revision},
	)
	if err != nil {
		return err
	}
	if r.breakGlassDays < 1 {
		return usage("--break-glass-days %d: it must be a whole number from 1", r.breakGlassDays)
	}
	return checkForm(r.form, forms...)
}

// breakGlassDocument is what salve prow break-glass prepares; it executes nothing.
type breakGlassDocument struct {
	report.Document
	Executed bool `json:"executed"`
	breakglass.Plan
}

func (a *app) prowBreakGlass(ctx context.Context, asked *prowBreakGlassRequest) error {
	plan, err := asked.prepare(ctx)
	if err != nil {
		return err
	}
	if asked.form == "json" {
		return a.document(breakGlassDocument{report.NewDocument("prow-break-glass"), false, plan})
	}
	return plan.Text(a.stdout)
}

// prepare reads what there is now and what the revision has.
func (r *prowBreakGlassRequest) prepare(ctx context.Context) (breakglass.Plan, error) {
	tree, err := r.open()
	if err != nil {
		return breakglass.Plan{}, err
	}
	then, err := r.readRevision(ctx, "revision", r.revision)
	if err != nil {
		return breakglass.Plan{}, err
	}
	in := breakglass.Input{
		Root: then.root, Ref: r.revision, Commit: then.commit, Context: r.context,
		Now:  manifest.Read(tree.files, tree.manifests, tree.names.Root),
		Then: manifest.Read(then.files, then.manifests, then.names.Root),
	}
	for _, left := range then.left {
		if left.Path == then.manifests || strings.HasPrefix(left.Path, then.manifests+"/") || then.manifests == "." {
			in.Then.LeftAlone = append(in.Then.LeftAlone, manifest.LeftAlone{Reason: left.Reason,
				Position: diagnostic.Position{File: path.Join(then.names.Root, left.Path)}})
		}
	}
	facts := prowcheck.Facts{
		Now: config.Load(tree.files, tree.names), Manifests: in.Now, Options: prowcheck.Options{
			DeployJobs: deployingJobs(r.deployJobs), Now: clock.RealClock{}.Now(),
			MaximumAge: time.Duration(r.breakGlassDays) * 24 * time.Hour,
		},
	}
	if facts.BreakGlass, err = readBreakGlass(r.breakGlass); err != nil {
		return breakglass.Plan{}, err
	}
	if in.Exit, err = prowcheck.FindExit(facts); err != nil {
		return breakglass.Plan{}, usage("%v", err)
	}
	in.Configuration = configurationDiffers(tree, then.prowTree)
	return breakglass.Prepare(in), nil
}

// configurationDiffers says how config.yaml of the revision is another one: whatever carries it into the cluster
// reverts it too.
func configurationDiffers(now, then prowTree) string {
	before, err := fs.ReadFile(then.files, then.names.Config)
	if err != nil {
		return fmt.Sprintf("config.yaml: unknown: the revision's can't be read: %v", err)
	}
	if is, err := fs.ReadFile(now.files, now.names.Config); err == nil && bytes.Equal(is, before) {
		return ""
	}
	const says = "config.yaml differs: what carries it into the cluster reverts it too"
	is, was := config.Load(now.files, now.names).Partial(), config.Load(then.files, then.names).Partial()
	if is.PodNamespace.Value != was.PodNamespace.Value || is.ProwJobNamespace.Value != was.ProwJobNamespace.Value {
		return fmt.Sprintf("%s, and with it where pods and ProwJobs are: from %s and %s to %s and %s (P4)", says,
			is.PodNamespace.Value, is.ProwJobNamespace.Value, was.PodNamespace.Value, was.ProwJobNamespace.Value)
	}
	return says
}
