package azuresim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"salve/internal/azuresim/template"
)

// ofARM is a refusal in ARM's envelope.
func (r *refusal) ofARM() answer {
	return answer{status: r.status, body: map[string]any{"error": r.failure}}.with("x-ms-failure-cause", "gateway")
}

// deploymentFound gives the deployment of a path, or ARM's 404.
func (w *World) deploymentFound(asked *request) (*deployment, *refusal) {
	group, _ := w.model.findGroup(asked.parameter("group"))
	name := asked.parameter("deployment")
	if d := w.model.deploymentOf(w.model.deploymentID(group, name)); d != nil {
		return d, nil
	}
	return nil, refuse(http.StatusNotFound, "DeploymentNotFound", "Deployment '%s' could not be found.", name)
}

// deploymentRead validates the deployment that a request describes.
func (w *World) deploymentRead(asked *request) (*deployment, *deploymentRequest, *refusal) {
	group, _ := w.model.findGroup(asked.parameter("group"))
	return w.model.readDeployment(group, asked.parameter("deployment"), asked.body)
}

func putDeployment(w *World, asked *request) answer {
	d, _, why := w.deploymentRead(asked)
	if why != nil {
		return why.ofARM()
	}
	created, why := w.model.deploy(d)
	if why != nil {
		return why.ofARM()
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return answer{status: status, body: d.body()}.
		with("Azure-AsyncOperation",
			asked.base+d.id+"/operationStatuses/"+d.statusID+"?api-version="+asked.version()).
		with("Retry-After", w.pollAgain())
}

func getDeployment(w *World, asked *request) answer {
	d, why := w.deploymentFound(asked)
	if why != nil {
		return why.ofARM()
	}
	return ok(d.body())
}

func listDeployments(w *World, asked *request) answer {
	group, items := asked.parameter("group"), []any{}
	for _, d := range slices.Backward(w.model.deployments) { // the newest first
		if strings.EqualFold(d.group, group) {
			items = append(items, d.body())
		}
	}
	group, _ = w.model.findGroup(group)
	return w.page(asked, w.model.groupID(group)+"/providers/"+template.NestedType+"/", items)
}

// deleteDeployment takes a deployment out of the history; what it made stays. The code of the 409 is an assumption.
func deleteDeployment(w *World, asked *request) answer {
	m := w.model
	d, why := w.deploymentFound(asked)
	switch {
	case why != nil:
		return answer{status: http.StatusNoContent}
	case d.active():
		return refuse(http.StatusConflict, "DeploymentActive",
			"The deployment '%s' is still active: cancel it first.", d.name).ofARM()
	}
	m.deployments = slices.DeleteFunc(m.deployments, func(other *deployment) bool { return other == d })
	return w.resultLater(asked, answer{status: http.StatusNoContent})
}

func cancelDeployment(w *World, asked *request) answer {
	d, why := w.deploymentFound(asked)
	if why == nil {
		why = w.model.cancel(d)
	}
	if why != nil {
		return why.ofARM()
	}
	return answer{status: http.StatusNoContent}
}

// validateDeployment answers at once, as ARM may.
func validateDeployment(w *World, asked *request) answer {
	d, _, why := w.deploymentRead(asked)
	if why != nil {
		return why.ofARM()
	}
	d.state, d.started, d.changed = stateSucceeded, w.time.now, w.time.now
	d.correlation = w.model.names.uuid("validation of " + d.id)
	body := d.body()
	properties := body["properties"].(map[string]any) // body made it so
	validated := []any{}
	for _, resource := range d.plan.Resources {
		validated = append(validated, map[string]any{"id": resource.ID})
	}
	properties["validatedResources"] = validated
	delete(properties, "outputResources")
	return ok(body)
}

func getDeploymentStatus(w *World, asked *request) answer {
	d, why := w.deploymentFound(asked)
	if why == nil && d.statusID != asked.parameter("status") {
		why = refuse(http.StatusNotFound, "DeploymentOperationNotFound",
			"Deployment operation '%s' could not be found.", asked.parameter("status"))
	}
	if why != nil {
		return why.ofARM()
	}
	body := map[string]any{"status": d.state}
	if d.failure != nil {
		body["error"] = d.shownFailure(d.failure)
	}
	a := ok(body)
	if d.active() {
		a = a.with("Retry-After", w.pollAgain())
	}
	return a
}

func listDeploymentOperations(w *World, asked *request) answer {
	d, why := w.deploymentFound(asked)
	if why != nil {
		return why.ofARM()
	}
	items := []any{}
	for _, part := range d.parts {
		if part.state != "" {
			items = append(items, d.operationBody(part, w.time.now))
		}
	}
	return w.page(asked, d.id+"/operations", items)
}

func getDeploymentOperation(w *World, asked *request) answer {
	d, why := w.deploymentFound(asked)
	if why != nil {
		return why.ofARM()
	}
	for _, part := range d.parts {
		if part.state != "" && part.operation == asked.parameter("operation") {
			return ok(d.operationBody(part, w.time.now))
		}
	}
	return refuse(http.StatusNotFound, "DeploymentOperationNotFound",
		"Deployment operation '%s' could not be found.", asked.parameter("operation")).ofARM()
}

// result is an answer that is asked for later, at the URL of a Location header.
type result struct {
	due    time.Time
	answer answer
}

// resultLater answers 202 and keeps the answer for who asks again.
func (w *World) resultLater(asked *request, later answer) answer {
	a, _ := w.keepResult(asked, later)
	return a
}

// keepResult is resultLater with the name under which the answer is kept.
func (w *World) keepResult(asked *request, later answer) (_ answer, id string) {
	m := w.model
	id = m.names.uuid("result")
	m.results[id] = result{due: m.time.now.Add(m.scenario.Durations.Resource.span()), answer: later}
	return w.notYet(asked, id), id
}

func (w *World) notYet(asked *request, id string) answer {
	return answer{status: http.StatusAccepted}.with("Retry-After", w.pollAgain()).
		with("Location", fmt.Sprintf("%s/subscriptions/%s/operationresults/%s?api-version=%s",
			asked.base, w.scenario.Subscription, id, asked.version()))
}

func getResult(w *World, asked *request) answer {
	id := asked.parameter("result")
	found, there := w.model.results[id]
	switch {
	case !there:
		return refuse(http.StatusNotFound, "NotFound", "The result '%s' could not be found.", id).ofARM()
	case w.time.now.Before(found.due):
		return w.notYet(asked, id)
	}
	return found.answer
}
