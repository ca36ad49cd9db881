package azure

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	"salve/internal/apierr"
)

// DeploymentName names a deployment. Without a resource group it is
// one of the subscription.
type DeploymentName struct{ ResourceGroup, Name string }

// DeploymentID is the resource ID of a deployment.
func DeploymentID(subscription string, name DeploymentName) string {
	scope := SubscriptionScope(subscription)
	if name.ResourceGroup != "" {
		scope = GroupID(subscription, name.ResourceGroup)
	}
	return scope + "/providers/" + deploymentType + "/" + name.Name
}

// DeploymentBody is what is deployed.
type DeploymentBody struct {
	// Template is an ARM template.
	Template json.RawMessage
	// Parameters are by name {"value": …} or {"reference": …}. They may hold secrets.
	Parameters json.RawMessage
	// Complete has ARM delete what is in the resource group and not in the template.
	Complete bool
	Tags     map[string]string
	// Location is where ARM keeps the record of a deployment of a subscription;
	// empty for one of a resource group.
	Location string
}

// Deployment is what ARM says of a deployment.
type Deployment struct {
	ID string
	// State is Accepted, Running, Succeeded, Failed, Canceled and the like.
	State string
	// CorrelationID leads to its events in the Activity Log.
	CorrelationID string
	Tags          map[string]string
	Outputs       map[string]DeploymentOutput
	// Failure is why it failed, of each resource that did; empty if it hasn't.
	Failure string
}

// DeploymentOutput is one output of a template.
type DeploymentOutput struct {
	Type string
	// Value is nil for outputs of a secure type, which ARM doesn't give.
	Value json.RawMessage
}

// Active tells whether the deployment still goes on.
func (d Deployment) Active() bool {
	switch d.State {
	case "Succeeded", "Failed", "Canceled", "Deleted":
		return false
	}
	return true
}

func (c *Client) deployments() (*armresources.DeploymentsClient, error) {
	return armresources.NewDeploymentsClient(c.subscription, c.credential, c.options)
}

// scope is the path of what a deployment is of.
func (c *Client) scope(name DeploymentName) string {
	id := DeploymentID(c.subscription, name)
	return strings.TrimPrefix(id[:strings.Index(id, "/providers/")], "/")
}

// Deployment reads a deployment. One that isn't there, in a scope that was seen, is
// class Missing.
func (c *Client) Deployment(ctx context.Context, name DeploymentName) (Deployment, error) {
	deployments, err := c.deployments()
	if err != nil {
		return Deployment{}, err
	}
	var body []byte
	read := func() error {
		return c.read(ctx, fmt.Sprintf("reading deployment %q", name.Name), func(ctx context.Context) error {
			var raw *http.Response
			_, err := deployments.GetAtScope(policy.WithCaptureResponse(ctx, &raw), c.scope(name), name.Name, nil)
			if err != nil {
				return err
			}
			body, err = runtime.Payload(raw)
			return err
		})
	}
	err = c.readInGroup(ctx, name.ResourceGroup, DeploymentID(c.subscription, name), read)
	if isNotFound(err, deploymentNotFound) {
		err = c.absentInScope(ctx, name.ResourceGroup, DeploymentID(c.subscription, name), err)
	}
	if err != nil {
		return Deployment{}, err
	}
	return readDeployment(DeploymentID(c.subscription, name), body)
}

// readDeployment reads ARM's answer itself: the SDK would make floats of the
// outputs' numbers.
func readDeployment(id string, body []byte) (Deployment, error) {
	var answer struct {
		identity
		Tags       map[string]string
		Properties struct {
			ProvisioningState string
			CorrelationID     string `json:"correlationId"`
			Outputs           map[string]DeploymentOutput
			Error             *failure
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return Deployment{}, apierr.New(apierr.Terminal, "reading deployment %q: %w", id, err)
	}
	if err := answer.check(deploymentType, id); err != nil {
		return Deployment{}, err
	}
	if answer.Properties.ProvisioningState == "" {
		return Deployment{}, apierr.New(apierr.Terminal, "reading deployment %q: the answer has no state", id)
	}
	read := Deployment{
		ID: answer.ID, State: answer.Properties.ProvisioningState, CorrelationID: answer.Properties.CorrelationID,
		Tags: answer.Tags, Outputs: answer.Properties.Outputs,
	}
	if failed := answer.Properties.Error; failed != nil {
		read.Failure = failed.causes(0)
	}
	return read, nil
}

// Deploy begins a deployment. It fails with class Conflict while one of that name
// is active.
func (c *Client) Deploy(ctx context.Context, name DeploymentName, body DeploymentBody) (*Operation, error) {
	deployments, err := c.deployments()
	if err != nil {
		return nil, err
	}
	order := armresources.Deployment{
		Properties: &armresources.DeploymentProperties{
			Mode: mode(body), Template: body.Template, Parameters: body.Parameters,
		},
		Tags:     map[string]*string{},
		Location: location(body),
	}
	for key, text := range body.Tags {
		order.Tags[key] = to.Ptr(text)
	}
	var operation *Operation
	err = c.change(ctx, fmt.Sprintf("starting deployment %q", name.Name), func(ctx context.Context) error {
		poller, err := deployments.BeginCreateOrUpdateAtScope(ctx, c.scope(name), name.Name, order, nil)
		if err != nil {
			return err
		}
		operation = c.operation(putDeployment, DeploymentID(c.subscription, name), untyped(poller))
		return nil
	})
	return operation, err
}

func mode(body DeploymentBody) *armresources.DeploymentMode {
	if body.Complete {
		return to.Ptr(armresources.DeploymentModeComplete)
	}
	return to.Ptr(armresources.DeploymentModeIncremental)
}

func location(body DeploymentBody) *string {
	if body.Location == "" {
		return nil
	}
	return &body.Location
}
