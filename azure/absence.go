package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"salve/internal/apierr"
)

// A 404 says least of all that a resource is gone: ARM answers so for a
// subscription in another cloud or tenant (SubscriptionNotFound), for a group or a
// parent that it doesn't see (ResourceGroupNotFound, ParentResourceNotFound), and
// proxies do for anything. classify makes none of them class Missing. What is
// Missing was made so here: by the resource's own code, under a parent that was
// seen, and that does not list it where it could.
//
// The codes are those of
// https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-not-found,
// https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-parent-resource
// and, for deployments,
// https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors.
//
//nolint:gochecknoglobals // tables that nobody writes to
var (
	resourceNotFound   = []string{"ResourceNotFound", "NotFound"}
	deploymentNotFound = []string{"DeploymentNotFound"}
	groupNotFound      = []string{"ResourceGroupNotFound"}
	// Those of stacks, of providers' namespaces and of features:
	// https://github.com/Azure/azure-cli/blob/dev/src/azure-cli/azure/cli/command_modules/resource/custom.py,
	// https://github.com/Azure/azure-cli/issues/6354,
	// https://learn.microsoft.com/azure/azure-resource-manager/management/preview-features.
	stackNotFound     = []string{"DeploymentStackNotFound", "ResourceNotFound", "NotFound"}
	namespaceNotFound = []string{"InvalidResourceNamespace"}
	featureNotFound   = []string{"FeatureNotFound"}
	// operationNotFound are those of the operations of AKS and of deployments, whose
	// status can answer DeploymentNotFound: https://github.com/Azure/azure-cli/issues/28834.
	operationNotFound = []string{
		"NotFound", "ResourceNotFound", "OperationNotFound", "DeploymentOperationNotFound", "DeploymentNotFound",
	}
)

// isNotFound tells whether ARM answered 404 with one of the codes.
func isNotFound(err error, codes []string) bool {
	var response *azcore.ResponseError
	return errors.As(err, &response) && response.StatusCode == http.StatusNotFound &&
		slices.Contains(codes, response.ErrorCode)
}

// absentUnless tells that a resource is absent, as class Missing, unless the second
// source can't be seen or has it.
func absentUnless(id string, cause error, listed bool, err error) error {
	switch {
	case err != nil:
		// Not class Missing, although the parent's may be: the parent was not seen.
		class := apierr.ClassOf(err)
		if class == apierr.Missing {
			class = apierr.Denied
		}
		return &apierr.Error{Class: class, RetryAfter: apierr.RetryAfter(err),
			Err: fmt.Errorf("%q may be absent, but its parent could not be seen: %w", id, err)}
	case listed:
		return apierr.New(apierr.Transient, "%q answers not found, but its parent still lists it: %w", id, cause)
	}
	return apierr.New(apierr.Missing, "not found: %q: %w", id, cause)
}

// clusterAbsent asks the resource group's list about a cluster that answered 404.
func (c *Client) clusterAbsent(ctx context.Context, resourceGroup, name string, cause error) error {
	id := ClusterID(c.subscription, resourceGroup, name)
	listed := false
	clusters := strings.TrimSuffix(id, "/"+name)
	err := list(ctx, c, fmt.Sprintf("listing the clusters of resource group %q", resourceGroup),
		c.address(clusters, aksVersion, nil), func(one identity) (bool, error) {
			listed = listed || SameID(one.ID, id)
			return !listed, nil
		})
	return absentUnless(id, cause, listed, err)
}

// absentInScope asks for the scope of a deployment or a stack that answered 404: its resource group, or without one the
// subscription.
func (c *Client) absentInScope(ctx context.Context, resourceGroup, id string, cause error) error {
	var err error
	if resourceGroup != "" {
		_, err = c.GroupLocation(ctx, resourceGroup)
	} else {
		err = c.subscriptionSeen(ctx)
	}
	return absentUnless(id, cause, false, err)
}

// readInGroup reads what is in a resource group. Where that is said not to be there, the group is asked for: what would
// be in it is absent where the group is, in a subscription that was seen. A group that is there has been made since, as
// by a step beside this one: then it is read again.
func (c *Client) readInGroup(ctx context.Context, resourceGroup, id string, read func() error) error {
	const attempts = 3 // it is made once
	var err error
	for range attempts {
		if err = read(); !isNotFound(err, groupNotFound) {
			return err
		}
		_, unseen := c.GroupLocation(ctx, resourceGroup)
		switch {
		case apierr.ClassOf(unseen) == apierr.Missing:
			return apierr.New(apierr.Missing, "not found: %q: %w", id, unseen)
		case unseen != nil:
			return absentUnless(id, err, false, unseen)
		}
	}
	return absentUnless(id, err, true, nil)
}

// subscriptionSeen reads the client's subscription.
func (c *Client) subscriptionSeen(ctx context.Context) error {
	scope := SubscriptionScope(c.subscription)
	doing := fmt.Sprintf("reading subscription %q", c.subscription)
	var answer struct {
		ID string `json:"id"`
	}
	err := c.read(ctx, doing, func(ctx context.Context) error {
		return c.get(ctx, c.address(scope, subscriptionsVersion, nil), &answer)
	})
	if err == nil && !SameID(answer.ID, scope) {
		err = apierr.New(apierr.Terminal, "%s: ARM answered with %q", doing, short(answer.ID))
	}
	return err
}
