package azuresim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"salve/internal/azuresim/template"
)

const (
	stateAccepted = "Accepted"
	stateRunning  = "Running"

	modeIncremental = "Incremental"
	modeComplete    = "Complete"
)

// deployment is one run of a template.
type deployment struct {
	id       string
	name     string
	group    string // empty: the subscription
	location string // only of those to the subscription
	tags     map[string]any
	mode     string
	hash     string
	plan     *template.Plan
	secrets  secrets

	state       string
	statusID    string
	correlation string
	started     time.Time
	changed     time.Time
	parts       []*part
	outputs     map[string]template.Value
	failure     *failure
	// over tells the deployment that it is nested in, or the stack that it is of.
	over func(*failure)
	// stack is the one that it is of; nil for none.
	stack *stack
}

// part is a resource of a deployment and how far it is.
type part struct {
	template.Resource
	operation string // ID
	state     string // empty: it has not begun
	began     time.Time
	ended     time.Time
	failure   *failure
	nested    *deployment
}

// deploymentRequest is the body of a PUT, of validate and of whatIf.
type deploymentRequest struct {
	Location   string         `json:"location"`
	Tags       map[string]any `json:"tags"`
	Properties *struct {
		Mode           string          `json:"mode"`
		Template       json.RawMessage `json:"template"`
		TemplateLink   any             `json:"templateLink"`
		Parameters     json.RawMessage `json:"parameters"`
		ParametersLink any             `json:"parametersLink"`
		OnError        any             `json:"onErrorDeployment"`
		WhatIf         struct {
			ResultFormat string `json:"resultFormat"`
		} `json:"whatIfSettings"`
	} `json:"properties"`
}

// deploymentID: group is empty at the scope of the subscription.
func (m *model) deploymentID(group, name string) string {
	return m.groupID(group) + "/providers/" + template.NestedType + "/" + name
}

func (m *model) deploymentOf(id string) *deployment {
	for _, d := range m.deployments {
		if strings.EqualFold(d.id, id) {
			return d
		}
	}
	return nil
}

func (d *deployment) active() bool { return d.state == stateAccepted || d.state == stateRunning }

// readDeployment validates a request as ARM does before it begins: its shape, template, parameters, names and
// dependencies.
func (m *model) readDeployment(group, name string, body []byte) (*deployment, *deploymentRequest, *refusal) {
	var request deploymentRequest
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, nil, refuse(http.StatusBadRequest, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: '%s'.", err)
	}
	if why := m.checkRequest(group, name, &request); why != nil {
		return nil, nil, why
	}
	parsed, err := template.Parse(unquoted(request.Properties.Template))
	if err != nil {
		return nil, nil, refusedBy(err)
	}
	d := &deployment{
		group: group, name: name, location: request.Location, tags: request.Tags, mode: request.Properties.Mode,
	}
	if why := m.bind(d, parsed, request.Properties.Parameters); why != nil {
		return nil, nil, why
	}
	return d, &request, nil
}

// checkRequest: the messages about locations and activity are as users reported them. Codes that nobody told are
// assumptions: InvalidDeploymentMode, InvalidTemplateLink, and InvalidDeployment for a template that is missing.
func (m *model) checkRequest(group, name string, request *deploymentRequest) *refusal {
	bad := func(code, format string, arguments ...any) *refusal {
		return refuse(http.StatusBadRequest, code, format, arguments...)
	}
	known := m.deploymentOf(m.deploymentID(group, name))
	asked := request.Properties
	switch {
	case len(name) > 64:
		return bad("InvalidDeploymentName",
			"The provided deployment name '%s' has a length of '%d' which exceeds the maximum length of '64'.", name, len(name))
	case group == "" && request.Location == "":
		return bad("InvalidDeployment", "The 'location' property must be specified for '%s'. Please see "+
			"https://aka.ms/arm-deployment-subscription for usage details.", name)
	case group != "" && request.Location != "":
		return bad("InvalidDeployment", "The 'location' property is not allowed for '%s' at resource group scope. "+
			"Please see https://aka.ms/arm-deployment-subscription for usage details.", name)
	case known != nil && known.location != request.Location:
		return bad("InvalidDeploymentLocation",
			"Invalid deployment location '%s'. The deployment '%s' already exists in location '%s'.",
			request.Location, name, known.location)
	case asked == nil:
		return bad("InvalidDeployment", "The deployment '%s' has no 'properties'.", name)
	case asked.TemplateLink != nil || asked.ParametersLink != nil:
		return bad("InvalidTemplateLink",
			"The embedded Azure follows no links: send the template and its parameters in the request.")
	case asked.OnError != nil:
		return bad("InvalidDeployment", "The embedded Azure does not know 'onErrorDeployment'.")
	case len(asked.Template) == 0 || string(asked.Template) == "null":
		return bad("InvalidDeployment", "The deployment '%s' has neither a 'template' nor a 'templateLink'.", name)
	case asked.Mode != modeIncremental && asked.Mode != modeComplete:
		return bad("InvalidDeploymentMode", "The deployment mode '%s' is neither Incremental nor Complete.", asked.Mode)
	case group == "" && asked.Mode == modeComplete:
		return bad("InvalidDeployment", "The mode Complete is not supported at subscription scope. Please use Incremental.")
	}
	return nil
}

// unquoted: template and parameters may be JSON, or JSON in a string.
func unquoted(text json.RawMessage) []byte {
	var inside string
	if json.Unmarshal(text, &inside) == nil && inside != "" {
		return []byte(inside)
	}
	return text
}

// bind makes the plan of a deployment; in the deployment it already has name, group, location and mode.
func (m *model) bind(d *deployment, parsed *template.Template, given json.RawMessage) *refusal {
	parameters := map[string]any{}
	if len(given) > 0 && string(given) != "null" {
		var err error
		if parameters, err = decodeObject(unquoted(given)); err != nil {
			return refuse(http.StatusBadRequest, "InvalidRequestContent", "The parameters of the deployment are not an object.")
		}
	}
	location, _ := m.groupBody(d.group)["location"].(string)
	plan, err := parsed.Bind(parameters, template.Site{
		Tenant: tenant, Subscription: m.scenario.Subscription, Group: d.group, GroupLocation: location,
		Deployment: d.name, Location: d.location, Mode: d.mode, Now: m.time.now,
	})
	if err != nil {
		return refusedBy(err)
	}
	d.id, d.plan, d.hash = m.deploymentID(d.group, d.name), plan, parsed.Hash()
	d.secrets = d.secrets.and(plan.Parameters())
	return nil
}

func refusedBy(err error) *refusal {
	var known *template.Error
	var missing *template.MissingError
	switch {
	case errors.As(err, &known):
		return refuse(http.StatusBadRequest, known.Code, "%s", known.Message)
	case errors.As(err, &missing):
		return resourceNotFound(missing.ID)
	}
	return refuse(http.StatusBadRequest, "InvalidTemplate", "%s", err)
}

// deploy accepts a deployment, in place of the one of its name, and lets it begin soon.
func (m *model) deploy(d *deployment) (created bool, _ *refusal) {
	if known := m.deploymentOf(d.id); known != nil && known.active() {
		const form = "1/2/2006 3:04:05 PM"
		return false, refuse(http.StatusConflict, "DeploymentActive",
			"Unable to edit or replace deployment '%s': previous deployment from '%s' is still "+
				"active (expiration time is '%s'). Please see https://aka.ms/arm-deploy for usage details.",
			d.name, known.started.UTC().Format(form), known.started.Add(7*24*time.Hour).UTC().Format(form))
	}
	before := len(m.deployments)
	m.deployments = slices.DeleteFunc(m.deployments, func(other *deployment) bool {
		return strings.EqualFold(other.id, d.id)
	})
	created = len(m.deployments) == before
	d.state, d.started, d.changed = stateAccepted, m.time.now, m.time.now
	d.statusID, d.correlation = m.names.uuid("status of "+d.id), m.names.uuid("correlation of "+d.id)
	for _, resource := range d.plan.Resources {
		d.parts = append(d.parts, &part{Resource: resource, operation: m.names.uuid("operation of " + d.id)})
	}
	m.deployments = append(m.deployments, d)
	m.time.after(m.scenario.Durations.Resource.span()/5, func() {
		if d.state == stateAccepted {
			d.state = stateRunning
			m.advance(d)
		}
	})
	return created, nil
}

// advance begins every part whose time has come, and ends the deployment when nothing is left to do. After a failure
// nothing begins any more; what runs may finish.
func (m *model) advance(d *deployment) {
	running, waiting, failed := 0, 0, d.failed()
	for _, part := range d.parts {
		if part.state == "" && d.active() && len(failed) == 0 && d.ready(part) {
			if m.beginPart(d, part); part.state == stateFailed {
				failed = d.failed()
			}
		}
		switch part.state {
		case "":
			waiting++
		case stateRunning:
			running++
		}
	}
	switch {
	case !d.active() || running > 0 || waiting > 0 && len(failed) == 0:
		return
	case len(failed) > 0:
		m.endDeployment(d, stateFailed, deploymentFailed(d.id, failed))
	case d.mode == modeComplete:
		m.complete(d)
	default:
		m.succeed(d)
	}
}

func (d *deployment) failed() []failure {
	var all []failure
	for _, part := range d.parts {
		if part.failure != nil {
			all = append(all, *part.failure)
		}
	}
	return all
}

func (d *deployment) ready(waiting *part) bool {
	return !slices.ContainsFunc(waiting.Needs, func(i int) bool { return d.parts[i].state != stateSucceeded })
}

// deploymentFailed is ARM's wrapping of what went wrong in a deployment.
func deploymentFailed(id string, details []failure) *failure {
	return &failure{
		Code: "DeploymentFailed", Target: id, Details: details,
		Message: "At least one resource deployment operation failed. Please list deployment operations for details. " +
			"Please see https://aka.ms/arm-deployment-operations for usage details.",
	}
}

func (m *model) beginPart(d *deployment, begun *part) {
	begun.state, begun.began = stateRunning, m.time.now
	m.deployResource(d, begun, func(why *failure) {
		if begun.state != stateRunning {
			return
		}
		begun.state, begun.ended, begun.failure = stateSucceeded, m.time.now, why
		if why != nil {
			begun.state = stateFailed
		}
		m.time.after(0, func() { m.advance(d) })
	})
}

// succeed ends a deployment whose parts are all there with its outputs. The code of an output that fails is an
// assumption.
func (m *model) succeed(d *deployment) {
	outputs, err := d.plan.Outputs(m)
	if err != nil {
		why := refusedBy(err).failure
		if why.Code == "InvalidTemplate" {
			why.Code = "DeploymentOutputEvaluationFailed"
		}
		m.endDeployment(d, stateFailed, &why)
		return
	}
	d.outputs = outputs
	m.endDeployment(d, stateSucceeded, nil)
}

func (m *model) endDeployment(d *deployment, state string, why *failure) {
	d.state, d.changed, d.failure = state, m.time.now, why
	if d.over != nil {
		d.over(why)
	}
}

// cancel ends a deployment and those nested in it. What its parts began goes on. The refusal's code is an assumption.
func (m *model) cancel(d *deployment) *refusal {
	if !d.active() {
		return refuse(http.StatusConflict, "DeploymentCannotBeCancelled",
			"The deployment '%s' cannot be cancelled because it is in terminal provisioning state '%s'.", d.name, d.state)
	}
	m.endDeployment(d, stateCanceled,
		&failure{Code: "DeploymentCanceled", Message: fmt.Sprintf("The deployment '%s' was canceled.", d.name)})
	for _, part := range d.parts {
		if part.state == stateRunning {
			part.state, part.ended = stateCanceled, m.time.now
		}
		if part.nested != nil && part.nested.active() {
			_ = m.cancel(part.nested) // it is active
		}
	}
	return nil
}

// complete deletes what the template does not have, then ends the deployment. Children stay or go with their parents.
func (m *model) complete(d *deployment) {
	if m.cluster != nil && strings.EqualFold(d.group, m.scenario.ResourceGroup) && !d.has(m.clusterID()) {
		m.endDeployment(d, stateFailed, deploymentFailed(d.id, []failure{{
			Code: "NotSupported", Target: m.clusterID(),
			Message: "The mode Complete would delete the managed cluster, which the embedded Azure does not do. " +
				"Nothing was deleted.",
		}}))
		return
	}
	m.time.after(m.scenario.Durations.Resource.span(), func() {
		if !d.active() {
			return
		}
		for _, id := range m.superfluous(d) {
			m.forget(id)
		}
		m.succeed(d)
	})
}

// superfluous is what a complete deployment deletes: what is in its resource group, and neither in its template nor
// part of something that is.
func (m *model) superfluous(d *deployment) []string {
	var ids []string
	for _, r := range m.resources {
		if strings.EqualFold(r.group, d.group) && !d.has(topLevel(r.id)) {
			ids = append(ids, r.id)
		}
	}
	return ids
}

// has says whether the template, or one nested in it, has that resource.
func (d *deployment) has(id string) bool {
	return slices.ContainsFunc(d.parts, func(p *part) bool {
		return strings.EqualFold(p.ID, id) || p.nested != nil && p.nested.has(id)
	})
}

// topLevel is the ID of the resource in the resource group that an ID belongs to:
// /subscriptions/s/resourceGroups/g/providers/n/t/name.
func topLevel(id string) string {
	const segments = 8
	return "/" + strings.Join(partsOf(id)[:min(len(partsOf(id)), segments)], "/")
}
