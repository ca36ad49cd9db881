package azuresim

import (
	"encoding/json"
	"net/http"
	"strings"

	"salve/internal/azuresim/template"
)

// deployResource makes one resource of a deployment what the template says, and tells when that is done.
func (m *model) deployResource(d *deployment, asked *part, done func(*failure)) {
	if asked.Existing {
		if _, there := m.Resource(asked.ID); !there {
			done(d.about(asked, resourceNotFound(asked.ID)))
			return
		}
		done(nil)
		return
	}
	body, err := d.plan.Body(asked.Resource, m, false)
	if err != nil {
		done(d.about(asked, refusedBy(err)))
		return
	}
	_, groupThere := m.findGroup(asked.Group)
	var why *refusal
	switch kind := strings.ToLower(asked.Type); {
	case asked.Group != "" && !groupThere:
		why = refuse(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", asked.Group)
	case m.notRegistered(asked.Type) != nil:
		why = m.notRegistered(asked.Type)
	case m.denied(asked.ID, actionWrite, d.stack) != nil:
		why = m.denied(asked.ID, actionWrite, d.stack)
	case kind == strings.ToLower(template.NestedType):
		why = m.nest(d, asked, body, done)
	case kind == strings.ToLower(template.GroupType):
		m.later(func() {
			_, why := m.putGroup(asked.Name, body)
			done(d.about(asked, why))
		})
	case kind == strings.ToLower(clusterType):
		why = m.deployCluster(asked, d.secrets.conceal(body).(map[string]any), done) // it stays an object
	case kind == strings.ToLower(poolType):
		why = m.deployPool(asked, body, done)
	default:
		shown := d.secrets.conceal(body).(map[string]any) // it stays an object
		m.later(func() {
			m.keep(asked.ID, asked.Group, asked.Type, asked.Name, shown)
			done(nil)
		})
	}
	if why != nil {
		done(d.about(asked, why))
	}
}

// later is when the write of a resource that does nothing is done.
func (m *model) later(do func()) { m.time.after(m.scenario.Durations.Resource.span(), do) }

// about is a refusal as the deployment tells it: with its resource, without secrets. No refusal is no failure.
func (d *deployment) about(asked *part, why *refusal) *failure {
	if why == nil {
		return nil
	}
	told := why.failure
	told.Message, told.Target = d.secrets.hide(told.Message), asked.ID
	return &told
}

func (m *model) deployCluster(asked *part, body map[string]any, done func(*failure)) *refusal {
	op, why := m.writeCluster(asked.Group, asked.Name, body, asked.APIVersion)
	if why != nil {
		return why
	}
	m.watch(op, asked, done)
	return nil
}

func (m *model) deployPool(asked *part, body map[string]any, done func(*failure)) *refusal {
	cluster, name, _ := strings.Cut(asked.Name, "/")
	if !m.isCluster(asked.Group, cluster) {
		return refuse(http.StatusNotFound, "ParentResourceNotFound",
			"Failed to perform 'write' on resource(s) of type '%s', because the parent resource "+
				"'Microsoft.ContainerService/managedClusters/%s' could not be found.", asked.Type, cluster)
	}
	_, op, why := m.writePool(name, body, asked.APIVersion)
	if why != nil {
		return why
	}
	m.watch(op, asked, done)
	return nil
}

// watch tells when an operation has ended. ARM wraps the error of a resource that ended other than Succeeded.
func (m *model) watch(op *operation, asked *part, done func(*failure)) {
	finished := op.finished
	op.finished = func(result string) {
		finished(result)
		if result == stateSucceeded {
			done(nil)
			return
		}
		why := &failure{
			Code: "ResourceDeploymentFailure", Target: asked.ID,
			Message: "The resource write operation failed to complete successfully, " +
				"because it reached terminal provisioning state '" + result + "'.",
		}
		if op.failure != nil {
			why.Details = []failure{*op.failure}
		}
		done(why)
	}
}

// nest runs the deployment that a resource of a deployment is.
func (m *model) nest(outer *deployment, asked *part, body map[string]any, done func(*failure)) *refusal {
	inner, why := m.readNested(outer, asked.Resource, body)
	if why != nil {
		return why
	}
	inner.over = func(why *failure) {
		if why != nil && inner.state == stateFailed {
			why = &failure{
				Code: "ResourceDeploymentFailure", Target: asked.ID, Details: []failure{*why},
				Message: "The resource write operation failed to complete successfully, " +
					"because it reached terminal provisioning state 'Failed'.",
			}
		}
		done(why)
	}
	if _, why := m.deploy(inner); why != nil {
		return why
	}
	asked.nested = inner
	return nil
}

func (m *model) readNested(outer *deployment, asked template.Resource, body map[string]any) (*deployment, *refusal) {
	text, err := json.Marshal(body)
	if err != nil {
		panic("azuresim: encoding a nested deployment: " + err.Error()) // it is made of what JSON has
	}
	var request deploymentRequest
	if err := json.Unmarshal(text, &request); err != nil {
		return nil, refuse(http.StatusBadRequest, "InvalidTemplate",
			"The nested deployment '%s' is not valid: %s.", asked.Name, err)
	}
	if asked.Group != "" {
		request.Location = "" // it only says where a deployment to the subscription is kept
	}
	if why := m.checkRequest(asked.Group, asked.Name, &request); why != nil {
		return nil, why
	}
	if request.Properties.Mode == modeComplete {
		return nil, refuse(http.StatusBadRequest, "InvalidTemplate",
			"The nested deployment '%s' cannot be of mode Complete: only that around it can.", asked.Name)
	}
	parsed, err := outer.plan.Nested(asked, unquoted(request.Properties.Template))
	if err != nil {
		return nil, refusedBy(err)
	}
	inner := &deployment{
		group: asked.Group, name: asked.Name, location: request.Location, tags: request.Tags,
		mode: modeIncremental, secrets: outer.secrets, stack: outer.stack,
	}
	if why := m.bind(inner, parsed, request.Properties.Parameters); why != nil {
		return nil, why
	}
	return inner, nil
}
