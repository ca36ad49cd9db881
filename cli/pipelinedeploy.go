package cli

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"salve/azure"
	"salve/engine"
	"salve/internal/pipeline"
	"salve/internal/pipeline/deployment"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
	"salve/runbooks/armdeployment"
	"salve/runbooks/recreatepool"
	"salve/runbooks/resourcegroup"
)

// deploying is how long a deployment may take in a step without a timeout. ARM's
// own limit is a week, and a cluster takes half an hour.
const deploying = 4 * time.Hour

// deployAction deploys the templates of ARM steps: each by a run of a runbook, with
// a record of its own in the same journal.
type deployAction struct {
	app  *app
	kept *journal.Location
	// cloud are the ways to Azure.
	cloud    cloudFlags
	renderer *deployment.Renderer
	// region is where missing resource groups are created; empty when that is not known.
	region string
	// serviceGroup tells the steps of two pipelines apart in one resource group.
	serviceGroup string

	mu sync.Mutex
	// subscriptions are IDs by the names that pipelines call them.
	subscriptions map[string]string
}

func (j *pipelineRun) deployAction() *deployAction {
	return &deployAction{
		app: j.app, kept: j.leased, cloud: j.cloud, serviceGroup: j.plan.Inputs.ServiceGroup,
		subscriptions: map[string]string{}, region: j.region(),
		renderer: &deployment.Renderer{
			Folder: j.plan.File.Folder(), Config: j.plan.File.Config(), Environment: j.app.environment, Clock: clock.RealClock{},
		},
	}
}

// Traits: the engine looks by itself what became of a deployment that it began.
func (*deployAction) Capabilities() rollout.Capabilities {
	return rollout.Capabilities{Repeatable: true}
}

// Check reads the step's files.
func (d *deployAction) Check(ctx context.Context, step *pipeline.Step) error {
	return d.renderer.Check(ctx, step)
}

// Secret tells of variables that become secure parameters.
func (d *deployAction) Secret(step *pipeline.Step, variable string) bool {
	return d.renderer.Secret(step, variable)
}

// Run deploys, or resumes what an earlier process began.
func (d *deployAction) Run(ctx context.Context, attempt *rollout.Attempt) rollout.Outcome {
	outcome, err := d.run(ctx, attempt)
	if err != nil {
		return rollout.Outcome{Result: journal.Failure, Reason: err.Error()}
	}
	return outcome
}

func (d *deployAction) run(ctx context.Context, attempt *rollout.Attempt) (rollout.Outcome, error) {
	written, err := d.renderer.Order(ctx, attempt.Step, attempt.Variables)
	if err != nil {
		return rollout.Outcome{}, err
	}
	world, in, order, err := d.order(ctx, attempt.Step, written)
	if err != nil {
		return rollout.Outcome{}, err
	}
	book, err := armdeployment.New(world, in, order)
	if err != nil {
		return rollout.Outcome{}, err
	}
	done, err := d.done(ctx, attempt.Earlier, world, in, order)
	if err != nil {
		return rollout.Outcome{}, err
	}
	if done {
		return d.deployed(ctx, world, in, attempt.Earlier)
	}
	result, err := d.app.stepEngine(attempt, d.kept, world.Clock).Run(ctx, book, engine.Options{})
	if err != nil {
		return rollout.Outcome{}, err
	}
	if result.Outcome != runbook.Remediated {
		return d.failed(ctx, world, in, order, result), nil
	}
	return d.deployed(ctx, world, in, result.Run)
}

// done tells whether the run of an earlier attempt has deployed all that is to be
// deployed: the process may have died before it could write that down.
func (d *deployAction) done(
	ctx context.Context, earlier string, world armdeployment.World, in armdeployment.Inputs, order armdeployment.Order,
) (bool, error) {
	if earlier == "" {
		return false, nil
	}
	record, err := journal.Load(ctx, d.kept, earlier)
	if err != nil || record.Closed == nil || record.Closed.Outcome != runbook.Remediated {
		return false, err
	}
	return armdeployment.Stands(ctx, world, in, order, earlier)
}

// failed is the outcome of a run that did not end well: in the words of ARM where
// the deployment itself has failed.
func (d *deployAction) failed(
	ctx context.Context, world armdeployment.World, in armdeployment.Inputs, order armdeployment.Order,
	result engine.Result,
) rollout.Outcome {
	reason, err := "", context.Cause(ctx)
	if err == nil {
		reason, err = armdeployment.Failed(ctx, world, in, order, result.Run)
	}
	if err != nil || reason == "" {
		reason = fmt.Sprintf("%s: %s", result.Outcome, result.Reason)
	}
	return rollout.Outcome{Result: journal.Failure, Reason: fmt.Sprintf("%s (run %s)", reason, result.Run)}
}

// deployed is the outcome of a deployment that has succeeded.
func (d *deployAction) deployed(
	ctx context.Context, world armdeployment.World, in armdeployment.Inputs, run string,
) (rollout.Outcome, error) {
	outputs, err := d.outputs(ctx, world, in)
	if err != nil {
		return rollout.Outcome{}, err
	}
	return rollout.Outcome{
		Result: journal.Done, Reason: fmt.Sprintf("deployed as %s (run %s)", in.Deployment, run), Outputs: outputs,
	}, nil
}

// order is what a step deploys, of which the content is written, and where.
func (d *deployAction) order(
	ctx context.Context, step *pipeline.Step, written *deployment.Order,
) (world armdeployment.World, in armdeployment.Inputs, order armdeployment.Order, err error) {
	in.Deployment = d.name(step)
	if in.Subscription, err = d.subscription(ctx, step.Group.Subscription.Value); err != nil {
		return world, in, order, err
	}
	if world, err = d.world(in.Subscription); err != nil {
		return world, in, order, err
	}
	order = armdeployment.Order{
		Template: written.Template, Parameters: written.Parameters, Secret: written.Secret, Budget: deploying,
	}
	if step.Timeout != nil {
		order.Budget = step.Timeout.Duration
	}
	order.Group = d.group(step)
	if in.ResourceGroup = step.Group.ResourceGroup.Value; step.ARM.DeploymentLevel.Value == "Subscription" {
		order.Location, err = d.recordedIn(ctx, world.Azure, order.Group)
		in.ResourceGroup = ""
	}
	return world, in, order, err
}

// group is the resource group that a step works in.
func (d *deployAction) group(step *pipeline.Step) resourcegroup.Wanted {
	return resourcegroup.Wanted{Name: step.Group.ResourceGroup.Value, Location: d.region}
}

// recordedIn is where the record of what a step deploys to its subscription is kept: where the things are that it
// belongs to, or will be.
func (d *deployAction) recordedIn(
	ctx context.Context, client *azure.Client, wanted resourcegroup.Wanted,
) (string, error) {
	seen, err := wanted.Read(ctx, client)
	if err != nil || seen.Found {
		return seen.Location, err
	}
	return seen.CreateIn, nil // without one the runbook's guard says so
}

// name is the same for the same step each time: ARM lets one deployment of a name
// be active.
func (d *deployAction) name(step *pipeline.Step) string {
	return stepName(step, d.serviceGroup)
}

// notInAzure are the characters of a step's name that names of deployments and stacks don't have.
var notInAzure = regexp.MustCompile(`[^a-zA-Z0-9-]`)

// stepName is a name of a step in Azure: its own, and a digest of what tells it from steps of the same name.
func stepName(step *pipeline.Step, apart string) string {
	name := step.Group.Name.Value + "-" + step.Name.Value
	if plain := notInAzure.ReplaceAllString(name, "-"); plain != name {
		name, apart = plain, apart+"\n"+name // "deploy svc" is not "deploy-svc"
	}
	sum := sha256.Sum256([]byte(strings.ToLower(apart)))
	return fmt.Sprintf("%s-%x", name, sum[:4])
}

func (d *deployAction) world(subscription string) (armdeployment.World, error) {
	world, err := d.app.connect(d.cloud, recreatepool.Inputs{Subscription: subscription})
	return armdeployment.World{Azure: world.Azure, Clock: world.Clock}, err
}

// subscription is the ID of the one that a pipeline names, by its ID or by the name
// that people see.
func (d *deployAction) subscription(ctx context.Context, named string) (string, error) {
	if azure.IsSubscriptionID(named) {
		return named, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if id := d.subscriptions[named]; id != "" {
		return id, nil
	}
	world, err := d.world("")
	if err != nil {
		return "", err
	}
	id, err := world.Azure.SubscriptionID(ctx, named)
	if err != nil {
		return "", err
	}
	d.subscriptions[named] = id
	return id, nil
}

// outputs are those of the deployment that has succeeded. ARM keeps those of a
// secure type to itself.
func (d *deployAction) outputs(
	ctx context.Context, world armdeployment.World, in armdeployment.Inputs,
) (map[string]rollout.Output, error) {
	made, err := world.Azure.Deployment(ctx, azure.DeploymentName{ResourceGroup: in.ResourceGroup, Name: in.Deployment})
	if err != nil {
		return nil, err
	}
	return handedOn(made.Outputs, "deployment "+in.Deployment)
}

// handedOn are the outputs of a template as steps hand them on.
func handedOn(made map[string]azure.DeploymentOutput, of string) (map[string]rollout.Output, error) {
	outputs := map[string]rollout.Output{}
	for name, output := range made {
		if output.Value == nil {
			continue
		}
		decoder := json.NewDecoder(strings.NewReader(string(output.Value)))
		decoder.UseNumber() // a number is handed on as ARM wrote it
		var value any
		if err := decoder.Decode(&value); err != nil {
			return nil, fmt.Errorf("output %q of %s: %w", name, of, err)
		}
		outputs[name] = rollout.Output{Value: value}
	}
	return outputs, nil
}

// Preview asks ARM what would change.
func (d *deployAction) Preview(ctx context.Context, attempt *rollout.Attempt) (string, error) {
	written, err := d.renderer.Order(ctx, attempt.Step, attempt.Variables)
	if err != nil {
		return "", err
	}
	says := "looks things up, and changes nothing"
	if !attempt.Step.ARM.OutputOnly {
		world, in, order, err := d.order(ctx, attempt.Step, written)
		if err != nil {
			return "", orAbsent(err)
		}
		if says, err = armdeployment.Preview(ctx, world, in, order); err != nil {
			return "", orAbsent(err)
		}
	}
	return strings.Join(append(written.Shown(attempt.Variables), says), "\n"), nil
}
