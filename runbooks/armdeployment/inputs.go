package armdeployment

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"salve/azure"
	"salve/runbooks/resourcegroup"
)

// Inputs name the deployment. They are journaled. What is deployed isn't among
// them: it may hold secrets, and a run that failed may be resumed with it corrected.
type Inputs struct {
	Subscription string `json:"subscription"`
	// ResourceGroup is empty for a deployment of the subscription.
	ResourceGroup string `json:"resourceGroup,omitempty"`
	Deployment    string `json:"deployment"`
}

// Order is what is deployed.
type Order struct {
	Template json.RawMessage
	// Parameters are by name {"value": …} or {"reference": …}.
	Parameters map[string]json.RawMessage
	// Secret names the parameters that must not be written anywhere.
	Secret map[string]bool
	// Complete has ARM delete what is in the resource group and not in the template.
	Complete bool
	// Location is where the record of a deployment of a subscription is kept; not
	// looked at for one of a resource group.
	Location string
	// Group is the resource group that the step belongs to, also where the deployment is of the subscription, and
	// where it is made when it is missing.
	Group resourcegroup.Wanted
	// Budget bounds the run.
	Budget time.Duration
}

// nameRule is ARM's for names of deployments:
// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftresources
var nameRule = regexp.MustCompile(`^[-\w.()]{1,64}$`)

// validate finds invalid inputs.
func (in Inputs) validate(order Order) error {
	switch {
	case !azure.IsSubscriptionID(in.Subscription):
		return fmt.Errorf("subscription %q is not the ID of one", in.Subscription)
	case !nameRule.MatchString(in.Deployment):
		return fmt.Errorf("deployment %q: a name has 1 to 64 letters, digits and -_.()", in.Deployment)
	case !json.Valid(order.Template):
		return fmt.Errorf("the template of deployment %q is no JSON", in.Deployment)
	case order.Complete && in.ResourceGroup == "":
		return fmt.Errorf("deployment %q: only a resource group is deployed to in complete mode", in.Deployment)
	case order.Budget <= 0:
		return fmt.Errorf("deployment %q: its budget must be above 0", in.Deployment)
	}
	return nil
}

// group is the resource group that has to be there.
func (d *deployment) group() resourcegroup.Wanted {
	if wanted := d.order.Group; wanted.Name != "" {
		return wanted
	}
	return resourcegroup.Wanted{Name: d.ResourceGroup}
}

func (in Inputs) name() azure.DeploymentName {
	return azure.DeploymentName{ResourceGroup: in.ResourceGroup, Name: in.Deployment}
}

// Validate finds what no deployment may be of.
func (o Order) Validate() error {
	switch {
	case !json.Valid(o.Template):
		return errors.New("the template is no JSON")
	case o.Budget <= 0:
		return errors.New("the budget must be above 0")
	}
	return nil
}

// body is the order as ARM takes it.
func (o Order) body(tags map[string]string) (azure.DeploymentBody, error) {
	parameters, err := json.Marshal(o.Parameters)
	if err != nil {
		return azure.DeploymentBody{}, fmt.Errorf("encoding the parameters: %w", err)
	}
	return azure.DeploymentBody{
		Template: o.Template, Parameters: parameters, Complete: o.Complete, Location: o.Location, Tags: tags,
	}, nil
}

// Content stands for what is deployed, secrets aside: of a short secret even a
// digest tells too much.
func (o Order) Content() (string, error) {
	open := map[string]json.RawMessage{}
	for name, value := range o.Parameters {
		if open[name] = value; o.Secret[name] {
			open[name] = json.RawMessage(`"***"`)
		}
	}
	parameters, err := json.Marshal(open)
	if err != nil {
		return "", fmt.Errorf("encoding the parameters: %w", err)
	}
	var template bytes.Buffer
	if err := json.Compact(&template, o.Template); err != nil {
		return "", fmt.Errorf("reading the template: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%t\n%s\n%s", o.Complete, template.Bytes(), parameters))
	return hex.EncodeToString(sum[:8]), nil
}
