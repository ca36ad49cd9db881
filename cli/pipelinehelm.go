package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/diagnostic"
	"salve/internal/helm"
	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/helmrelease"
	"salve/runbooks/recreatepool"
)

// actionHelm is run by a runbook: each step by a run of its own in the same journal.
const actionHelm = pipeline.ActionHelm

// releasing is how long a release may take to be ready in a step without a timeout.
const releasing = 5 * time.Minute

// helmAction installs and upgrades the releases of Helm steps.
type helmAction struct {
	app    *app
	kept   *journal.Location
	cloud  cloudFlags
	folder string
	// config is where templates of values files lead; nil where there is none.
	config *pipeline.Config
	// subscription is the ID of one that a pipeline names.
	subscription func(ctx context.Context, named string) (string, error)
	// charts is nil where registries are not asked.
	charts *registryCharts
	// unbuilt: the build step may yet make the chart.
	unbuilt bool
}

// invalidFileError is a file of a step that is not of the form that it must have: what is wrong stands in it, and named
// is how the step names it.
type invalidFileError struct {
	named string
	found diagnostic.List
}

func (e *invalidFileError) Error() string {
	says := make([]string, 0, len(e.found))
	for _, one := range e.found {
		where := e.named
		if one.Position.Line > 0 {
			where = fmt.Sprintf("%s:%d", e.named, one.Position.Line)
		}
		says = append(says, where+": "+one.Message)
	}
	return strings.Join(says, "; ")
}

// invalidFilesError is all that is wrong with the files of a step.
type invalidFilesError struct{ each []error }

func (e *invalidFilesError) Error() string {
	return strings.ReplaceAll(errors.Join(e.each...).Error(), "\n", "; ")
}

func (e *invalidFilesError) Unwrap() []error { return e.each }

func (h *helmAction) invalid(named, message string) error {
	at := diagnostic.Position{File: h.path(named)}
	return &invalidFileError{named, diagnostic.List{{
		Position: at, Severity: diagnostic.Error, Rule: "undeployable", Message: message,
	}}}
}

// released is what a Helm step says, with values in the place of references.
type released struct {
	AKSCluster        string         `json:"aksCluster"`
	ReleaseName       string         `json:"releaseName"`
	ReleaseNamespace  string         `json:"releaseNamespace"`
	ChartDir          string         `json:"chartDir"`
	ValuesFile        string         `json:"valuesFile"`
	NamespaceFiles    []string       `json:"namespaceFiles"`
	RollbackOnFailure bool           `json:"rollbackOnFailure"`
	InputVariables    map[string]any `json:"inputVariables"`
}

// Capabilities say that the runbook looks by itself what became of a release that it began, and that a rollback begins
// when the timeout has passed.
func (*helmAction) Capabilities() rollout.Capabilities {
	return rollout.Capabilities{Repeatable: true, OwnTimeout: true,
		Ignores: []string{"identityFrom", "kustoDatabase", "kustoEndpoint", "kustoTable", "subnetName"}}
}

// Check reads the step's files, and its chart where that is in a registry: what was read then is what is released. One
// that isn't there yet may be put there by an earlier step.
func (h *helmAction) Check(ctx context.Context, step *pipeline.Step) error {
	values := make([]any, 0, len(step.Fields))
	for _, field := range step.Fields {
		values = append(values, field.Literal)
	}
	var said released
	if err := step.Decode(values, &said); err != nil {
		return err
	}
	names := helmrelease.Inputs{Namespace: said.ReleaseNamespace, Release: said.ReleaseName}
	if err := names.ValidateNames(); err != nil {
		return err
	}
	given := map[string]string{}
	for name := range said.InputVariables {
		given[name] = "" // what another step will say
	}
	_, err := h.order(ctx, step, said, given)
	var unread *unreadError
	if errors.As(err, &unread) {
		return nil
	}
	return err
}

// order is what a step releases, with values in the place of its input variables.
func (h *helmAction) order(
	ctx context.Context, step *pipeline.Step, said released, given map[string]string,
) (helmrelease.Order, error) {
	order := helmrelease.Order{Timeout: releasing, Rollback: said.RollbackOnFailure, Values: map[string]any{}}
	if step.Timeout != nil {
		order.Timeout = step.Timeout.Duration
	}
	var wrong []error
	if err := h.read(said.ValuesFile, given, &order.Values); err != nil {
		wrong = append(wrong, err)
	}
	for _, file := range said.NamespaceFiles {
		var namespace corev1.Namespace
		err := h.read(file, given, &namespace)
		if err == nil && (namespace.Kind != "Namespace" || namespace.Name == "") {
			err = h.invalid(file, "it is no Namespace with a name")
		}
		if err != nil {
			wrong = append(wrong, err)
		}
		order.Namespaces = append(order.Namespaces, namespace)
	}
	// The chart comes last: what else is wrong is said although it isn't in its registry yet.
	err := h.chart(ctx, said, &order)
	if len(wrong) == 0 {
		return order, err
	}
	var unread *unreadError
	if err != nil && !errors.As(err, &unread) {
		wrong = append(wrong, err)
	}
	return order, &invalidFilesError{wrong}
}

// chart reads what a step releases.
func (h *helmAction) chart(ctx context.Context, said released, order *helmrelease.Order) (err error) {
	switch inRegistry := strings.HasPrefix(said.ChartDir, "oci://"); {
	case h.unbuilt, inRegistry && h.charts == nil:
		err = &unreadError{fmt.Errorf("chartDir: %s is not read yet", said.ChartDir)}
	case !inRegistry:
		if order.Chart, err = helm.ReadChart(h.path(said.ChartDir)); err != nil {
			err = fmt.Errorf("chartDir: %w", err)
		}
	default:
		order.Chart, order.Origin, err = h.charts.chart(ctx, said.ChartDir)
	}
	return err
}

func (h *helmAction) path(named string) string {
	if filepath.IsAbs(named) {
		return named
	}
	return filepath.Join(h.folder, named)
}

// read reads a YAML file: first its templates are filled from the configuration, then __NAME__ from input variables.
func (h *helmAction) read(named string, given map[string]string, into any) error {
	content, err := pipeline.ReadNamed(h.path(named))
	if err != nil {
		return err
	}
	text, found := h.config.Fill(named, string(content), func(value string) string { return value })
	if found.Errors() > 0 {
		for i := range found {
			found[i].Position.File = h.path(named)
		}
		return &invalidFileError{named, found}
	}
	places := make([]string, 0, 2*len(given))
	for name, value := range given {
		places = append(places, "__"+name+"__", value)
	}
	text = strings.NewReplacer(places...).Replace(text)
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		// The error's own words show values.
		return h.invalid(named, "with its values filled in it is no YAML of the right form")
	}
	return nil
}

// Run releases, or resumes what an earlier process began.
func (h *helmAction) Run(ctx context.Context, attempt *rollout.Attempt) rollout.Outcome {
	outcome, err := h.run(ctx, attempt)
	if err != nil {
		return rollout.Outcome{Result: journal.Failure, Reason: err.Error()}
	}
	return outcome
}

func (h *helmAction) run(ctx context.Context, attempt *rollout.Attempt) (rollout.Outcome, error) {
	world, in, order, err := h.asked(ctx, attempt)
	if err != nil {
		return rollout.Outcome{}, err
	}
	book, err := helmrelease.New(world, in, order)
	if err != nil {
		return rollout.Outcome{}, err
	}
	result, err := h.app.stepEngine(attempt, h.kept, world.Clock).Run(ctx, book, engine.Options{})
	if err != nil {
		return rollout.Outcome{}, err
	}
	if result.Outcome != runbook.Remediated {
		return rollout.Outcome{
			Result: journal.Failure, Reason: fmt.Sprintf("%s: %s (run %s)", result.Outcome, result.Reason, result.Run),
		}, nil
	}
	return rollout.Outcome{
		Result: journal.Done,
		Reason: fmt.Sprintf("released %s in namespace %s (run %s)", in.Release, in.Namespace, result.Run),
	}, nil
}

// Preview compares the release with what it would become.
func (h *helmAction) Preview(ctx context.Context, attempt *rollout.Attempt) (string, error) {
	world, in, order, err := h.asked(ctx, attempt)
	if err != nil {
		return "", err
	}
	return helmrelease.Preview(ctx, world, in, order)
}

// asked is what a step asks for, and where.
func (h *helmAction) asked(
	ctx context.Context, attempt *rollout.Attempt,
) (world helmrelease.World, in helmrelease.Inputs, order helmrelease.Order, err error) {
	given, secrets := map[string]string{}, []string{}
	for _, one := range attempt.Variables {
		if name, input := strings.CutPrefix(one.Name, "inputVariables."); input {
			given[name] = one.Text()
		}
		if one.Secret {
			// A Secret's manifest has it encoded.
			secrets = append(secrets, one.Text(), base64.StdEncoding.EncodeToString([]byte(one.Text())))
		}
	}
	var said released
	if err := attempt.Decode(&said); err != nil {
		return world, in, order, err
	}
	if order, err = h.order(ctx, attempt.Step, said, given); err != nil {
		return world, in, order, err
	}
	order.Mask = func(text string) string { return attempt.Mask(text, secrets...) }
	world.Clock = clock.Real{}
	if world.Kubernetes, err = h.cluster(ctx, attempt.Step, said.AKSCluster); err != nil {
		return world, in, order, err
	}
	in = helmrelease.Inputs{ClusterName: said.AKSCluster, Namespace: said.ReleaseNamespace, Release: said.ReleaseName}
	in.Cluster, err = world.Kubernetes.ID(ctx)
	return world, in, order, err
}

// cluster is that of --kubeconfig, or the one in the step's resource group that the step names.
func (h *helmAction) cluster(ctx context.Context, step *pipeline.Step, named string) (*kube.Cluster, error) {
	if h.cloud.kubeconfig != "" {
		return h.cloud.openCluster()
	}
	in := recreatepool.Inputs{ResourceGroup: step.Group.ResourceGroup.Value, Cluster: named}
	var err error
	if in.Subscription, err = h.subscription(ctx, step.Group.Subscription.Value); err != nil {
		return nil, err
	}
	world, err := h.app.connect(h.cloud, in)
	if err != nil {
		return nil, err
	}
	return world.Kubernetes(ctx)
}
