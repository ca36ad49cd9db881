package azuresim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"salve/internal/azuresim/template"
)

const stackType = "Microsoft.Resources/deploymentStacks"

// The states of a stack, as ARM writes them.
const (
	stackDeploying = "deploying"
	stackDeletes   = "deletingResources"
	stackDeleting  = "deleting"
	stackSucceeded = "succeeded"
	stackFailed    = "failed"
)

// What becomes of a resource that a stack manages no more.
const (
	unmanageDelete = "delete"
	unmanageDetach = "detach"
)

// What a stack denies others.
const (
	denyNothing        = "none"
	denyDelete         = "denyDelete"
	denyWriteAndDelete = "denyWriteAndDelete"

	actionDelete = "delete"
	actionWrite  = "write"
)

// stack is a deployment stack: a template whose resources belong together.
type stack struct {
	id, name string
	group    string // empty: of the subscription
	location string
	request  *stackRequest

	state       string
	statusID    string
	correlation string
	started     time.Time
	changed     time.Time
	deployment  *deployment
	managed     []managedResource
	// deleted, detached and failed are of the last update.
	deleted, detached []string
	failed            []managedResource
	failure           *failure
}

// managedResource is what a stack has; failure is why it could not be deleted.
type managedResource struct {
	id      string
	failure *failure
}

// stackRequest is the body of a PUT.
type stackRequest struct {
	Location   string           `json:"location"`
	Tags       map[string]any   `json:"tags"`
	Properties *stackProperties `json:"properties"`
}

type stackProperties struct {
	Template         json.RawMessage  `json:"template"`
	TemplateLink     any              `json:"templateLink"`
	Parameters       json.RawMessage  `json:"parameters"`
	ParametersLink   any              `json:"parametersLink"`
	ActionOnUnmanage actionOnUnmanage `json:"actionOnUnmanage"`
	DenySettings     *denySettings    `json:"denySettings"`
	DeploymentScope  string           `json:"deploymentScope"`
	Bypass           bool             `json:"bypassStackOutOfSyncError"`
	Description      string           `json:"description"`
}

type actionOnUnmanage struct {
	Resources        string `json:"resources"`
	ResourceGroups   string `json:"resourceGroups,omitempty"`
	ManagementGroups string `json:"managementGroups,omitempty"`
}

type denySettings struct {
	Mode               string   `json:"mode"`
	ApplyToChildScopes bool     `json:"applyToChildScopes"`
	ExcludedActions    []string `json:"excludedActions"`
	ExcludedPrincipals []string `json:"excludedPrincipals"`
}

func (m *model) stackID(group, name string) string {
	return m.groupID(group) + "/providers/" + stackType + "/" + name
}

func (m *model) stackOf(id string) *stack {
	for _, s := range m.stacks {
		if strings.EqualFold(s.id, id) {
			return s
		}
	}
	return nil
}

func (s *stack) active() bool { return s.state != stackSucceeded && s.state != stackFailed }

// busy is the refusal while something works on a stack.
func (s *stack) busy() *refusal {
	if s == nil || !s.active() {
		return nil
	}
	return refuse(http.StatusConflict, "DeploymentStackInNonTerminalState",
		"Deployment Stack resource could not be updated as it is currently in a non-terminal state '%s'.", s.state)
}

// readStack validates a request. The codes of what is missing are assumptions.
func (m *model) readStack(group, name string, body []byte) (*stackRequest, *refusal) {
	var request stackRequest
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, invalidContent(err)
	}
	bad := func(format string, arguments ...any) *refusal {
		return refuse(http.StatusBadRequest, "InvalidDeploymentStack", format, arguments...)
	}
	known, asked := m.stackOf(m.stackID(group, name)), request.Properties
	switch {
	case len(name) > 90:
		return nil, bad("The name of a deployment stack has at most 90 characters.")
	case asked == nil:
		return nil, bad("The deployment stack '%s' has no 'properties'.", name)
	case group == "" && request.Location == "":
		return nil, bad("The 'location' property must be specified for '%s'.", name)
	case known != nil && group == "" && !strings.EqualFold(known.location, request.Location):
		return nil, bad("The location of the deployment stack '%s' is '%s' and can't be changed.", name, known.location)
	case asked.TemplateLink != nil || asked.ParametersLink != nil || asked.DeploymentScope != "":
		return nil, bad("The embedded Azure follows no links and no other scope: send the template and its parameters.")
	case !unmanages(asked.ActionOnUnmanage.Resources):
		return nil, bad("'actionOnUnmanage.resources' must be delete or detach.")
	case asked.DenySettings == nil || !slices.Contains([]string{denyNothing, denyDelete, denyWriteAndDelete},
		asked.DenySettings.Mode):
		return nil, bad("'denySettings.mode' must be none, denyDelete or denyWriteAndDelete.")
	}
	for _, action := range []*string{&asked.ActionOnUnmanage.ResourceGroups, &asked.ActionOnUnmanage.ManagementGroups} {
		if setDefault(action, unmanageDetach); !unmanages(*action) {
			return nil, bad("'actionOnUnmanage' takes delete and detach.")
		}
	}
	return &request, nil
}

func unmanages(action string) bool { return action == unmanageDelete || action == unmanageDetach }

// putStack begins to make a stack what a request says. Its deployment comes first; what it lets go goes after that.
func (m *model) putStack(group, name string, body []byte) (_ *stack, created bool, _ *refusal) {
	known := m.stackOf(m.stackID(group, name))
	if why := known.busy(); why != nil {
		return nil, false, why
	}
	request, why := m.readStack(group, name, body)
	if why != nil {
		return nil, false, why
	}
	s := known
	if s == nil {
		s = &stack{id: m.stackID(group, name), name: name, group: group, location: request.Location}
	}
	d, why := m.stackDeployment(s, request)
	if why == nil {
		_, why = m.deploy(d)
	}
	if why != nil {
		return nil, false, why
	}
	if known == nil {
		m.stacks = append(m.stacks, s)
	}
	s.request, s.deployment, s.state, s.started, s.changed = request, d, stackDeploying, m.time.now, m.time.now
	s.deleted, s.detached, s.failed, s.failure = nil, nil, nil, nil
	s.statusID, s.correlation = m.names.uuid("status of "+s.id), m.names.uuid("correlation of "+s.id)
	return s, known == nil, nil
}

// stackDeployment is the deployment that a stack makes, under a name of its own each time.
func (m *model) stackDeployment(s *stack, request *stackRequest) (*deployment, *refusal) {
	const kept = 50
	name := s.name[:min(len(s.name), kept)] + "-" + m.names.uuid("deployment of " + s.id)[:8]
	order := map[string]any{"properties": map[string]any{
		"mode": modeIncremental, "template": request.Properties.Template, "parameters": request.Properties.Parameters,
	}}
	if s.group == "" {
		order["location"] = s.location
	}
	body, err := json.Marshal(order)
	if err != nil {
		return nil, invalidContent(err)
	}
	d, _, why := m.readDeployment(s.group, name, body)
	if why != nil {
		return nil, why
	}
	d.stack, d.over = s, func(why *failure) { m.stackDeployed(s, d, why) }
	return d, nil
}

// stackDeployed goes on when a stack's deployment has ended. After one that failed nothing is let go.
func (m *model) stackDeployed(s *stack, d *deployment, why *failure) {
	s.changed = m.time.now
	now := d.made()
	let := slices.DeleteFunc(slices.Clone(s.managed), func(one managedResource) bool {
		return slices.ContainsFunc(now, func(id string) bool { return strings.EqualFold(id, one.id) })
	})
	s.managed = nil
	for _, id := range now {
		s.managed = append(s.managed, managedResource{id: id})
	}
	if why != nil {
		s.managed = append(s.managed, let...)
		s.state, s.failure = stackFailed, d.shownFailure(&failure{
			Code: "DeploymentStackDeploymentFailed", Details: []failure{*why},
			Message: fmt.Sprintf("One or more resources could not be deployed. Correlation id: '%s'.", s.correlation),
		})
		return
	}
	if len(let) == 0 {
		s.state = stackSucceeded
		return
	}
	s.state = stackDeletes
	m.time.after(m.scenario.Durations.Resource.span(), func() {
		m.unmanage(s, let, s.request.Properties.ActionOnUnmanage)
		if s.state = stackSucceeded; len(s.failed) > 0 {
			s.state, s.failure = stackFailed, s.deletionFailed()
		}
		s.changed = m.time.now
	})
}

// made are the IDs of what a deployment, and those nested in it, have made.
func (d *deployment) made() []string {
	var ids []string
	for _, part := range d.parts {
		switch {
		case part.nested != nil:
			ids = append(ids, part.nested.made()...)
		case part.state == stateSucceeded && !part.Existing:
			ids = append(ids, part.ID)
		}
	}
	return ids
}

// unmanage lets resources of a stack go. Those that can't be deleted stay its own.
func (m *model) unmanage(s *stack, let []managedResource, how actionOnUnmanage) {
	for _, one := range let {
		action := how.Resources
		parts := partsOf(one.id)
		if _, isGroup := matchPath(inGroup, parts); isGroup {
			action = how.ResourceGroups
		}
		if action == unmanageDetach {
			s.detached = append(s.detached, one.id)
			continue
		}
		if m.deleteManaged(one.id) {
			s.deleted = append(s.deleted, one.id)
			continue
		}
		one.failure = &failure{
			Code: "DeletionFailed", Message: "Resource could not be deleted. Resource is still present in stack.",
		}
		s.failed, s.managed = append(s.failed, one), append(s.managed, one)
	}
}

// deleteManaged deletes what a stack has let go. The cluster and its pools are not deleted so, nor the groups of the
// cluster.
func (m *model) deleteManaged(id string) bool {
	parts := partsOf(id)
	if found, is := matchPath(inGroup, parts); is {
		name, there := m.findGroup(found["group"])
		if there && m.ownGroup(name) == nil {
			return false
		}
		m.groups = slices.DeleteFunc(m.groups, func(g *group) bool { return strings.EqualFold(g.name, name) })
		m.forget(m.groupID(name))
		return true
	}
	if strings.Contains(strings.ToLower(id), strings.ToLower("/providers/"+managedClusters+"/")) {
		_, there := m.show(id)
		return !there
	}
	m.forget(id)
	return true
}

func (s *stack) deletionFailed() *failure {
	return &failure{
		Code:    "DeploymentStackDeleteResourcesFailed",
		Message: fmt.Sprintf("One or more resources could not be deleted. Correlation id: '%s'.", s.correlation),
		Details: []failure{{
			Code: "DeploymentStackDeleteResourcesFailed",
			Message: "An unknown error occurred while trying to delete resources. These resources are still present in the " +
				"stack but can be deleted manually.",
		}},
	}
}

// deleteStack ends a stack, and lets go all that it has. One that can't let go of something stays, and has failed.
func (m *model) deleteStack(s *stack, how actionOnUnmanage, over func(*failure)) {
	s.state, s.changed, s.correlation = stackDeleting, m.time.now, m.names.uuid("correlation of "+s.id)
	s.deleted, s.detached, s.failed, s.failure = nil, nil, nil, nil
	m.time.after(m.scenario.Durations.Resource.span(), func() {
		let := s.managed
		s.managed = nil
		if m.unmanage(s, let, how); len(s.failed) > 0 {
			s.state, s.failure = stackFailed, s.deletionFailed()
			over(s.failure)
			return
		}
		m.stacks = slices.DeleteFunc(m.stacks, func(other *stack) bool { return other == s })
		over(nil)
	})
}

// refusesWrite is why a resource may not be written by somebody who sends a request for it; nil when it may.
func (m *model) refusesWrite(id, kind string) *refusal {
	if why := m.notRegistered(kind); why != nil {
		return why
	}
	return m.denied(id, actionWrite, nil)
}

// denied is the refusal of a change that a stack denies to all but itself; nil when none does. Who is excluded from it
// can't be known: whoever asks is nobody in particular.
func (m *model) denied(id, action string, by *stack) *refusal {
	for _, s := range m.stacks {
		deny := s.request.Properties.DenySettings
		if s == by || deny.Mode == denyNothing || action == actionWrite && deny.Mode != denyWriteAndDelete ||
			!s.has(id, deny.ApplyToChildScopes) || excluded(deny.ExcludedActions, id, action) {
			continue
		}
		return refuse(http.StatusForbidden, "DenyAssignmentAuthorizationFailed",
			"The client has permission to perform action '%s' on scope '%s'; however, the access is denied because of the "+
				"deny assignment with name 'Deny assignment created by Deployment Stack %s'.", actionOf(id, action), id, s.id)
	}
	return nil
}

// has tells whether a stack manages a resource, or with children what it is below.
func (s *stack) has(id string, children bool) bool {
	return slices.ContainsFunc(s.managed, func(one managedResource) bool {
		return strings.EqualFold(one.id, id) ||
			children && strings.HasPrefix(strings.ToLower(id), strings.ToLower(one.id)+"/")
	})
}

func excluded(actions []string, id, action string) bool {
	return slices.ContainsFunc(actions, func(one string) bool { return strings.EqualFold(one, actionOf(id, action)) })
}

// actionOf is a change of a resource as roles name it: Microsoft.KeyVault/vaults/delete.
func actionOf(id, action string) string {
	at, is := placeOf(partsOf(id))
	if !is {
		return template.GroupType + "/" + action
	}
	return at.kind + "/" + action
}
