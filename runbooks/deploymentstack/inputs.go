package deploymentstack

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"

	"salve/azure"
	"salve/runbooks/armdeployment"
)

// Inputs name the stack. They are journaled. What it is to hold isn't among them: it may hold secrets, and a run that
// failed may be resumed with it corrected.
type Inputs struct {
	Subscription string `json:"subscription"`
	// ResourceGroup is empty for a stack of the subscription.
	ResourceGroup string `json:"resourceGroup,omitempty"`
	Stack         string `json:"stack"`
}

// What ARM does with what the stack had and the template has no more.
const (
	Delete = "delete"
	Detach = "detach"
)

// Order is what the stack is to hold.
type Order struct {
	armdeployment.Order
	// OnUnmanage is Delete or Detach.
	OnUnmanage string
	// BypassOutOfSync has ARM go on although it can't be sure of what the stack has.
	BypassOutOfSync bool
}

// nameRule is ARM's for names of stacks, and so short that they name deployments:
// https://learn.microsoft.com/rest/api/resources/deployment-stacks/create-or-update-at-resource-group
var nameRule = regexp.MustCompile(`^[-\w.()]{1,64}$`)

// validate finds invalid inputs.
func (in Inputs) validate(order Order) error {
	switch {
	case !azure.IsSubscriptionID(in.Subscription):
		return fmt.Errorf("subscription %q is not the ID of one", in.Subscription)
	case !nameRule.MatchString(in.Stack):
		return fmt.Errorf("stack %q: a name has 1 to 64 letters, digits and -_.()", in.Stack)
	case order.OnUnmanage != Delete && order.OnUnmanage != Detach:
		return fmt.Errorf("stack %q: what becomes of what it lets go is %s or %s, not %q", in.Stack, Delete, Detach,
			order.OnUnmanage)
	}
	if err := order.Validate(); err != nil {
		return fmt.Errorf("stack %q: %w", in.Stack, err)
	}
	return nil
}

func (in Inputs) name() azure.StackName {
	return azure.StackName{ResourceGroup: in.ResourceGroup, Name: in.Stack}
}

// body is the order as ARM takes it.
func (o Order) body(tags map[string]string) (azure.StackBody, error) {
	parameters, err := json.Marshal(o.Parameters)
	if err != nil {
		return azure.StackBody{}, fmt.Errorf("encoding the parameters: %w", err)
	}
	return azure.StackBody{
		Template: o.Template, Parameters: parameters, OnUnmanage: o.OnUnmanage, BypassOutOfSync: o.BypassOutOfSync,
		Location: o.Location, Tags: tags,
	}, nil
}

// Content stands for what the stack is to hold, secrets aside.
func (o Order) Content() (string, error) {
	deployed, err := o.Order.Content()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%t", deployed, o.OnUnmanage, o.BypassOutOfSync))
	return hex.EncodeToString(sum[:8]), nil
}
