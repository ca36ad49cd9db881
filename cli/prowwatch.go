package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	internalclock "salve/internal/clock"
	"salve/internal/permit"
	prowcheck "salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/manifest"
	"salve/internal/prow/stray"
	prowwatch "salve/internal/prow/watch"
	"salve/internal/report"
	"salve/kube"
)

// prowWatchRequest is what the user asked of salve prow watch.
type prowWatchRequest struct {
	prowFiles
	kubernetesFlags
	buildContext string
	cluster      string
	namespaces   []string
	configMap    string
	deployJobs   []string
	until        string
	duration     time.Duration
	settle       time.Duration
	rollout      string
	metrics      string
	events       bool
	form         string
	prowWatchGitHub
}

func newProwWatch(a *app) *cobra.Command {
	asked := &prowWatchRequest{}
	forms := []string{"text", "json"}
	command := &cobra.Command{
		Use: "watch", Short: "Watch a live Prow for pods in the wrong namespace, storms and stuck deploys; change nothing",
		Long: `Watch keeps looking at the ProwJobs and pods of a live Prow and prints a line for each change of
what holds: a finding is new, worse, better or gone, and a rule lacks an input (UNKNOWN) or has
it again. The rules are in docs/prow.md.

With --github it also polls what GitHub protects (B2 to B8).

The configuration is read once. Start the command anew after a change of it, or name with
--config-map what is in the cluster: that its namespaces differ is a finding (P4), and so are
ProwJobs that are made for another pod namespace.

Exit codes: 0 --for has passed, or interrupted without --until; 1 --until was reached; 2 wrong usage;
3 --until was not reached, and the watch was interrupted or a rule could not see all that it needs.`,
		Example: `  # Until somebody interrupts it
  salve prow watch --config config.yaml --job-config jobs --context prow
  # As a gate of a rollout of Prow: fails as soon as there is an alarm
  salve prow watch --config config.yaml --job-config jobs --until ALERT --for 10m
  # As a Deployment
  salve prow watch --config config.yaml --job-config jobs --metrics-address :8080 --events`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := asked.validate(forms, clock.RealClock{}); err != nil {
				return err
			}
			return a.prowWatch(command.Context(), asked)
		},
	}
	asked.prowFiles.addFlags(command.Flags())
	asked.addFlags(command.Flags())
	asked.addGitHubFlags(command.Flags())
	command.Flags().StringVarP(&asked.form, "output", "o", forms[0], "how to print changes: "+orList(forms))
	return command
}

func (r *prowWatchRequest) addFlags(flags *pflag.FlagSet) {
	r.kubernetesFlags.addFlags(flags, "$KUBECONFIG, or ~/.kube/config")
	flags.StringVar(&r.buildContext, "build-context", "",
		"`NAME` of the context of the build cluster (default: --context)")
	flags.StringVar(&r.cluster, "cluster", "default", "the build cluster's alias in the configuration")
	flags.StringArrayVar(&r.namespaces, "namespace", nil,
		"look for pods in this `NAMESPACE` too, where all may not be looked into (besides default and those configured)")
	flags.StringVar(&r.configMap, "config-map", "",
		"`NAME/KEY` of the ConfigMap that Prow's components read, in the namespace of the ProwJobs: "+
			"its namespaces are compared")
	flags.StringArrayVar(&r.deployJobs, "deploy-job", nil,
		"`NAME` of a job that applies --manifests, or none (C5; default: what names and run_if_changed say)")
	flags.StringVar(&r.until, "until", "", "exit 1 as soon as a finding is as severe: `ALERT` or WARN")
	flags.DurationVar(&r.duration, "for", 0, "end after this `time` (default: never)")
	flags.DurationVar(&r.settle, "settle", 30*time.Second,
		"say that something is better when it has been so for this `time`; what is worse is said at once")
	flags.StringVar(&r.rollout, "rollout-since", "",
		"`TIME` (RFC 3339) since when plank is rolled out, where it holds no Lease and runs in another namespace than "+
			"that of the ProwJobs (A2); what is seen counts instead")
	flags.StringVar(&r.metrics, "metrics-address", "", "serve Prometheus metrics at `HOST:PORT`/metrics")
	flags.BoolVar(&r.events, "events", false,
		"write a Kubernetes Event for each change of a WARN or an ALERT, into the namespace of the ProwJobs")
}

// clockSkew is how far the clock of who said a time may be ahead.
const clockSkew = 10 * time.Second

func (r *prowWatchRequest) validate(forms []string, clk clock.PassiveClock) error {
	switch {
	case r.config == "":
		return usage("required flag --config not set (for example --config config/prow/config.yaml)")
	case r.until != "" && r.until != string(finding.Alert) && r.until != string(finding.Warn):
		return usage("--until %q: it is ALERT or WARN", r.until)
	case r.duration < 0:
		return usage("--for %s: it must be above 0", r.duration)
	case r.rollout != "" && r.rolloutSince().IsZero():
		return usage("--rollout-since %q: it is a time such as 2026-02-05T08:47:00Z", r.rollout)
	case r.rolloutSince().After(clk.Now().Add(clockSkew)):
		return usage("--rollout-since %s: it is in the future", r.rollout)
	case r.settle < 0:
		return usage("--settle %s: it must be 0 or more", r.settle)
	case slices.Contains(r.namespaces, ""):
		return usage("--namespace is empty")
	case r.cluster == "":
		return usage("--cluster is empty")
	case len(r.deployJobs) > 0 && r.manifests == "":
		return usage("--deploy-job requires --manifests")
	}
	if r.configMap != "" {
		if name, key, both := strings.Cut(r.configMap, "/"); !both || name == "" || key == "" {
			return usage("--config-map %q: it is NAME/KEY, such as config/config.yaml", r.configMap)
		}
	}
	if err := r.prowWatchGitHub.validate(); err != nil {
		return err
	}
	return checkForm(r.form, forms...)
}

// rolloutSince is zero where nothing was said, or no time.
func (r *prowWatchRequest) rolloutSince() time.Time {
	at, err := time.Parse(time.RFC3339, r.rollout)
	if err != nil {
		return time.Time{}
	}
	return at
}

func (a *app) prowWatch(parent context.Context, asked *prowWatchRequest) error {
	options, err := asked.options(a)
	if err != nil {
		return err
	}
	ctx, done := interruptible(parent, func(string) { fmt.Fprintln(a.stderr, "Interrupted: stopping.") }, nil)
	defer done()
	if asked.duration > 0 {
		limited, cancel := internalclock.WithTimeout(ctx, options.Clock, asked.duration)
		defer cancel()
		ctx = limited
	}
	if asked.metrics == "" && !asked.events { // then its lines are all that there is of it
		watched, leave := context.WithCancel(ctx)
		defer leave()
		ctx = watched
		options.Sinks = append(options.Sinks, unreadSink{a.unread, leave})
	}
	if asked.metrics != "" {
		metrics := prowwatch.NewMetrics()
		options.Sinks = append(options.Sinks, metrics)
		stop, err := serveMetrics(ctx, asked.metrics, metrics.Handler())
		if err != nil {
			return usage("--metrics-address: %v", err)
		}
		defer stop()
	}
	fmt.Fprintf(a.stderr, "Watching ProwJobs in namespace %s; pods of cluster %s belong in namespace %s.\n",
		options.Instance.ProwJobs, options.Instance.Cluster, options.Instance.Pods)
	held, err := prowwatch.New(options).Run(ctx)
	if err != nil {
		return err
	}
	return a.prowWatched(ctx, asked, held)
}

// unreadSink ends a watch whose lines nobody reads any more.
type unreadSink struct {
	unread func() bool
	leave  func()
}

// Tell is called after the lines were written.
func (u unreadSink) Tell(context.Context, prowwatch.Report) error {
	if u.unread() {
		u.leave()
	}
	return nil
}

// prowWatched says how a watch ended.
func (a *app) prowWatched(ctx context.Context, asked *prowWatchRequest, held prowwatch.Report) error {
	if len(held.Verdicts) > 0 {
		fmt.Fprintln(a.stderr, report.ProwVerdicts(held.Verdicts))
	}
	if asked.until == "" {
		return nil
	}
	if held.Reached(finding.Severity(asked.until)) {
		a.exit = exitFailed
		return nil
	}
	if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) { // a gate that was cut off has not passed
		return &unseenError{fmt.Errorf("undecided: interrupted before %s was reached or --for had passed", asked.until)}
	}
	if len(held.Verdicts) == 0 {
		return &unseenError{errors.New("undecided: no rule was asked in the time of --for")}
	}
	for _, verdict := range held.Verdicts {
		if verdict.Reason != "" && !verdict.NotGiven {
			return &unseenError{fmt.Errorf("undecided: no %s was seen, and rule %s is UNKNOWN: %s", asked.until, verdict.Rule,
				verdict.Reason)}
		}
	}
	return nil
}

// options are what is watched.
func (r *prowWatchRequest) options(a *app) (prowwatch.Options, error) {
	facts, err := r.facts()
	if err != nil {
		return prowwatch.Options{}, err
	}
	instance := r.instance(facts)
	if err := r.orDefault(a); err != nil {
		return prowwatch.Options{}, err
	}
	jobs, err := r.openCluster()
	if err != nil {
		return prowwatch.Options{}, err
	}
	pods := jobs
	if r.buildContext != "" {
		build := kubernetesFlags{kubeconfig: r.kubeconfig, context: r.buildContext}
		if pods, err = build.openCluster(); err != nil {
			return prowwatch.Options{}, err
		}
	}
	poller, err := r.poller(a, facts, jobs)
	if err != nil {
		return prowwatch.Options{}, err
	}
	options := prowwatch.Options{
		Instance: instance, ProwJobs: jobs, Pods: pods, Clock: clock.RealClock{}, ConfigMap: r.configMap,
		Named:  append([]string{instance.Pods, instance.ProwJobs, "default"}, r.namespaces...),
		Poller: poller, Every: r.every, Settle: r.settle, RolloutSince: r.rolloutSince(),
		Until: finding.Severity(r.until),
		Sinks: []prowwatch.Sink{prowwatch.Lines{Out: a.stdout}}, Warn: once(func(text string) {
			fmt.Fprintf(a.stderr, "%s: %s\n", a.name(), text)
		}),
	}
	if r.form == "json" {
		options.Sinks = []prowwatch.Sink{prowwatch.JSON{Out: a.stdout}}
	}
	if r.events {
		client, err := kube.EventClient(jobs, permit.ForEvents(instance.ProwJobs))
		if err != nil {
			return prowwatch.Options{}, err
		}
		options.Sinks = append(options.Sinks, prowwatch.Events{Client: client, Namespace: instance.ProwJobs,
			Clock: options.Clock})
	}
	return options, nil
}

// once leaves out what was said just before.
func once(say func(string)) func(string) {
	last := ""
	return func(text string) {
		if text != last {
			last = text
			say(text)
		}
	}
}

// instance is the Prow that the files configure.
func (r *prowWatchRequest) instance(facts prowcheck.Facts) stray.Instance {
	read := facts.Now.Partial()
	instance := stray.Instance{Cluster: r.cluster, ProwJobs: read.ProwJobNamespace.Value, Pods: read.PodNamespace.Value,
		PendingTimeout: read.Plank.PodPendingTimeout}
	for _, job := range read.Jobs() {
		if job.Agent == "kubernetes" && job.Cluster != r.cluster && !slices.Contains(instance.Others, job.Cluster) {
			instance.Others = append(instance.Others, job.Cluster)
		}
	}
	slices.Sort(instance.Others)
	deploys, lack := prowcheck.SelfDeploys(facts)
	for _, deploy := range deploys {
		instance.Deploys = append(instance.Deploys, stray.Deploy{Job: deploy.Job, Components: deploy.Needs})
	}
	instance.DeploysLack = lack
	return instance
}

// facts are what the files say.
func (r *prowWatchRequest) facts() (prowcheck.Facts, error) {
	tree, err := r.open()
	if err != nil {
		return prowcheck.Facts{}, err
	}
	facts := prowcheck.Facts{
		Now: config.Load(tree.files, tree.names), Options: prowcheck.Options{DeployJobs: deployingJobs(r.deployJobs)},
	}
	if facts.Now.Incomplete() {
		_, err := facts.Now.Config()
		return prowcheck.Facts{}, usage("%v. hint: salve prow check --config %s", err, r.config)
	}
	if tree.manifests != "" {
		facts.Manifests = manifest.Read(tree.files, tree.manifests, tree.names.Root)
	}
	facts.Options.External, err = readPatterns(r.external)
	return facts, err
}
