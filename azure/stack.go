package azure

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"salve/internal/apierr"
)

const (
	stackType = "Microsoft.Resources/deploymentStacks"
	// https://learn.microsoft.com/rest/api/resources/deployment-stacks
	stacksVersion = "2024-03-01"
)

// StackName names a deployment stack. Without a resource group it is one of the subscription.
type StackName struct{ ResourceGroup, Name string }

// StackID is the resource ID of a deployment stack.
func StackID(subscription string, name StackName) string {
	scope := SubscriptionScope(subscription)
	if name.ResourceGroup != "" {
		scope = GroupID(subscription, name.ResourceGroup)
	}
	return scope + "/providers/" + stackType + "/" + name.Name
}

// StackBody is what a stack is to hold.
type StackBody struct {
	Template json.RawMessage
	// Parameters are by name {"value": …} or {"reference": …}. They may hold secrets.
	Parameters json.RawMessage
	// OnUnmanage is delete or detach: what ARM does with what the stack had and the template has no more.
	OnUnmanage string
	// BypassOutOfSync has ARM go on although it can't be sure of what the stack has.
	BypassOutOfSync bool
	Tags            map[string]string
	// Location is where ARM keeps the record of a stack of a subscription; empty for one of a resource group.
	Location string
}

// Stack is what ARM says of a stack.
type Stack struct {
	// State is creating, deploying, succeeded and the like, as ARM writes it.
	State         string
	CorrelationID string
	Tags          map[string]string
	Outputs       map[string]DeploymentOutput
	// Resources are the IDs of what the stack manages; Deleted and Detached those of what its last update let go.
	Resources, Deleted, Detached []string
	// Failure is why it failed, of each resource that did; empty if it hasn't.
	Failure string
}

// Active tells whether something still works on the stack.
func (s Stack) Active() bool {
	switch strings.ToLower(s.State) {
	case "succeeded", "failed", "canceled":
		return false
	}
	return true
}

// Succeeded tells whether ARM has made all of the stack's last update.
func (s Stack) Succeeded() bool { return strings.EqualFold(s.State, "succeeded") }

// stackAnswer is a stack as ARM writes it.
type stackAnswer struct {
	identity
	Tags       map[string]string `json:"tags"`
	Properties struct {
		State         string                      `json:"provisioningState"`
		CorrelationID string                      `json:"correlationId"`
		Outputs       map[string]DeploymentOutput `json:"outputs"`
		Resources     []stackResource             `json:"resources"`
		Deleted       []stackResource             `json:"deletedResources"`
		Detached      []stackResource             `json:"detachedResources"`
		Failed        []stackResource             `json:"failedResources"`
		Error         *failure                    `json:"error"`
	} `json:"properties"`
}

type stackResource struct {
	ID    string   `json:"id"`
	Error *failure `json:"error"`
}

func idsOf(resources []stackResource) []string {
	ids := make([]string, 0, len(resources))
	for _, one := range resources {
		ids = append(ids, one.ID)
	}
	return ids
}

// Stack reads a stack. One that isn't there, in a scope that was seen, is class Missing.
func (c *Client) Stack(ctx context.Context, name StackName) (Stack, error) {
	id, doing := StackID(c.subscription, name), fmt.Sprintf("reading deployment stack %q", name.Name)
	var answer stackAnswer
	err := c.readInGroup(ctx, name.ResourceGroup, id, func() error {
		return c.read(ctx, doing, func(ctx context.Context) error {
			answer = stackAnswer{}
			return c.get(ctx, c.address(id, stacksVersion, nil), &answer)
		})
	})
	switch {
	case isNotFound(err, stackNotFound):
		return Stack{}, c.absentInScope(ctx, name.ResourceGroup, id, err)
	case err != nil:
		return Stack{}, err
	}
	if err := answer.check(stackType, id); err != nil {
		return Stack{}, err
	}
	said := answer.Properties
	if said.State == "" {
		return Stack{}, apierr.New(apierr.Terminal, "%s: the answer has no state", doing)
	}
	return Stack{
		State: said.State, CorrelationID: said.CorrelationID, Tags: answer.Tags, Outputs: said.Outputs,
		Resources: idsOf(said.Resources), Deleted: idsOf(said.Deleted), Detached: idsOf(said.Detached),
		Failure: answer.failure(),
	}, nil
}

// failure is what ARM says of a stack that failed, and of each of its resources.
func (a stackAnswer) failure() string {
	var causes []string
	if a.Properties.Error != nil {
		causes = append(causes, a.Properties.Error.causes(0))
	}
	for _, one := range a.Properties.Failed {
		text := short(one.ID)
		if one.Error != nil {
			text += ": " + one.Error.causes(0)
		}
		causes = append(causes, text)
	}
	return line(strings.Join(causes, "; "))
}

// PutStack begins to make a stack what a template says. It fails with class Conflict while something works on it.
func (c *Client) PutStack(ctx context.Context, name StackName, body StackBody) error {
	// The settings are those that rollout tools send: what the stack manages is not locked.
	properties := map[string]any{
		"template": body.Template, "parameters": body.Parameters,
		"actionOnUnmanage": map[string]string{
			"resources": body.OnUnmanage, "resourceGroups": body.OnUnmanage, "managementGroups": body.OnUnmanage,
		},
		"denySettings": map[string]any{
			"mode": "none", "applyToChildScopes": false, "excludedActions": []string{}, "excludedPrincipals": []string{},
		},
		"bypassStackOutOfSyncError": body.BypassOutOfSync,
	}
	order := map[string]any{"properties": properties, "tags": body.Tags}
	if body.Location != "" {
		order["location"] = body.Location
	}
	return c.change(ctx, fmt.Sprintf("updating deployment stack %q", name.Name), func(ctx context.Context) error {
		address := c.address(StackID(c.subscription, name), stacksVersion, nil)
		return c.send(ctx, http.MethodPut, address, order)
	})
}
