package azure

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	"salve/internal/apierr"
)

// Change is what a deployment would do to one resource.
type Change struct {
	ResourceID string
	// Type is Create, Delete, Modify, Deploy, NoChange, Ignore or Unsupported. Deploy
	// is one of which ARM can't tell whether it changes anything.
	Type string
	// Properties are the paths of those that would change.
	Properties []string
}

// WhatIf asks what a deployment would change, and changes nothing.
func (c *Client) WhatIf(ctx context.Context, name DeploymentName, body DeploymentBody) ([]Change, error) {
	doing := fmt.Sprintf("asking what deployment %q would change", name.Name)
	result, err := c.prediction(ctx, doing, name, body)
	switch {
	case err != nil:
		return nil, err
	case result.Error != nil:
		return nil, apierr.New(apierr.Terminal, "%s: %w", doing, &predictionError{failureOf(result.Error)})
	case result.Properties == nil:
		return nil, apierr.New(apierr.Terminal, "%s: the answer has no changes, not even none", doing)
	}
	var changes []Change
	for _, predicted := range result.Properties.Changes {
		change := Change{ResourceID: value(predicted.ResourceID), Type: string(value(predicted.ChangeType))}
		for _, delta := range predicted.Delta {
			change.Properties = append(change.Properties, value(delta.Path))
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// prediction waits for ARM's prediction, at either scope.
func (c *Client) prediction(
	ctx context.Context, doing string, name DeploymentName, body DeploymentBody,
) (armresources.WhatIfOperationResult, error) {
	deployments, err := c.deployments()
	if err != nil {
		return armresources.WhatIfOperationResult{}, err
	}
	order := armresources.DeploymentWhatIf{
		Properties: &armresources.DeploymentWhatIfProperties{
			Mode: mode(body), Template: body.Template, Parameters: body.Parameters,
		},
		Location: location(body),
	}
	if name.ResourceGroup == "" {
		type poller = *runtime.Poller[armresources.DeploymentsClientWhatIfAtSubscriptionScopeResponse]
		answer, err := awaited(ctx, c, doing, func(ctx context.Context) (poller, error) {
			return deployments.BeginWhatIfAtSubscriptionScope(ctx, name.Name, order, nil)
		})
		return answer.WhatIfOperationResult, err
	}
	type poller = *runtime.Poller[armresources.DeploymentsClientWhatIfResponse]
	answer, err := awaited(ctx, c, doing, func(ctx context.Context) (poller, error) {
		return deployments.BeginWhatIf(ctx, name.ResourceGroup, name.Name, order, nil)
	})
	return answer.WhatIfOperationResult, err
}

// awaited begins an operation that changes nothing, so that it may be started again,
// and gives what it ends with.
func awaited[T any](
	ctx context.Context, c *Client, doing string, begin func(context.Context) (*runtime.Poller[T], error),
) (result T, err error) {
	var started *runtime.Poller[T]
	err = c.read(ctx, doing, func(ctx context.Context) (err error) {
		started, err = begin(ctx)
		return err
	})
	if err != nil {
		return result, err
	}
	if err := c.operation(whatIf, "", untyped(started)).Wait(ctx); err != nil {
		return result, fmt.Errorf("%s: %w", doing, err)
	}
	return started.Result(ctx)
}
