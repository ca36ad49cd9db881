package azuresim

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"time"
)

// stackRoutes are those at one scope.
func stackRoutes(scope string, versions versionList) []route {
	call := func(method, path string, handle func(*World, *request) answer) route {
		return route{
			api: apiARM, method: method, path: path, kind: stackType, versions: versions, mutating: method != http.MethodGet,
			handle: handle,
		}
	}
	all := scope + "/providers/" + stackType
	return []route{
		call("GET", all, listStacks),
		call("PUT", all+"/{stack}", putStack),
		call("GET", all+"/{stack}", getStack),
		call("DELETE", all+"/{stack}", deleteStack),
	}
}

// stackStatusRoutes is where it is asked how far an update of a stack is.
func stackStatusRoutes(versions versionList) []route {
	return []route{{
		api: apiARM, method: http.MethodGet, kind: stackType, versions: versions, handle: getStackStatus,
		path: inSubscription + "/providers/Microsoft.Resources/locations/{location}/deploymentStackOperationStatus/{status}",
	}}
}

func (w *World) stackFound(asked *request) (*stack, *refusal) {
	group, _ := w.model.findGroup(asked.parameter("group"))
	name := asked.parameter("stack")
	if s := w.model.stackOf(w.model.stackID(group, name)); s != nil {
		return s, nil
	}
	return nil, refuse(http.StatusNotFound, "DeploymentStackNotFound",
		"The Deployment stack '%s' could not be found.", name)
}

func putStack(w *World, asked *request) answer {
	group, _ := w.model.findGroup(asked.parameter("group"))
	s, created, why := w.model.putStack(group, asked.parameter("stack"), asked.body)
	if why != nil {
		return why.ofARM()
	}
	a := ok(s.body())
	if created {
		a.status = http.StatusCreated
	}
	return a.with("Azure-AsyncOperation", w.stackStatusURL(asked, s)).with("Retry-After", w.pollAgain())
}

func (w *World) stackStatusURL(asked *request, s *stack) string {
	return asked.base + "/subscriptions/" + w.scenario.Subscription + "/providers/Microsoft.Resources/locations/" +
		w.scenario.Location + "/deploymentStackOperationStatus/" + s.statusID + "?api-version=" + asked.version()
}

func getStackStatus(w *World, asked *request) answer {
	for _, s := range w.model.stacks {
		if s.statusID != asked.parameter("status") {
			continue
		}
		body := map[string]any{"id": s.id, "name": s.statusID, "status": s.state}
		if s.failure != nil {
			body["error"] = s.failure
		}
		if a := ok(body); !s.active() {
			return a
		}
		return ok(body).with("Retry-After", w.pollAgain())
	}
	return refuse(http.StatusNotFound, "NotFound", "The operation '%s' could not be found.",
		asked.parameter("status")).ofARM()
}

func getStack(w *World, asked *request) answer {
	s, why := w.stackFound(asked)
	if why != nil {
		return why.ofARM()
	}
	return ok(s.body())
}

func listStacks(w *World, asked *request) answer {
	group, _ := w.model.findGroup(asked.parameter("group"))
	items := []any{}
	for _, s := range w.model.stacks {
		if strings.EqualFold(s.group, group) {
			items = append(items, s.body())
		}
	}
	return w.page(asked, w.model.groupID(group)+"/providers/"+stackType, items)
}

// deleteStack detaches what the query does not say to delete.
func deleteStack(w *World, asked *request) answer {
	s, why := w.stackFound(asked)
	if why != nil {
		return answer{status: http.StatusNoContent}
	}
	if why := s.busy(); why != nil {
		return why.ofARM()
	}
	how := actionOnUnmanage{
		Resources: asked.ask("unmanageAction.Resources"), ResourceGroups: asked.ask("unmanageAction.ResourceGroups"),
	}
	for _, action := range []*string{&how.Resources, &how.ResourceGroups} {
		if setDefault(action, unmanageDetach); !unmanages(*action) {
			return refuse(http.StatusBadRequest, "InvalidDeploymentStack", "'unmanageAction' takes delete and detach.").ofARM()
		}
	}
	a, id := w.keepResult(asked, answer{status: http.StatusOK})
	w.model.deleteStack(s, how, func(why *failure) {
		if why != nil {
			later := w.model.results[id]
			later.answer = answer{status: http.StatusConflict, body: map[string]any{"error": why}}
			w.model.results[id] = later
		}
	})
	return a
}

// body is the stack as ARM shows it. Like a deployment it shows no text of a secure parameter.
func (s *stack) body() map[string]any {
	asked := s.request.Properties
	properties := map[string]any{
		"provisioningState": s.state, "correlationId": s.correlation, "actionOnUnmanage": asked.ActionOnUnmanage,
		"denySettings": asked.DenySettings, "bypassStackOutOfSyncError": asked.Bypass, "deploymentId": s.deployment.id,
		"parameters": s.deployment.shownValues(s.deployment.plan.Parameters()), "duration": iso(s.changed.Sub(s.started)),
		"resources": s.references(), "deletedResources": references(s.deleted), "detachedResources": references(s.detached),
		"failedResources": s.failures(),
	}
	if asked.Description != "" {
		properties["description"] = asked.Description
	}
	if s.deployment.outputs != nil {
		properties["outputs"] = s.deployment.shownValues(s.deployment.outputs)
	}
	if s.failure != nil {
		properties["error"] = s.failure
	}
	body := map[string]any{
		"id": s.id, "name": s.name, "type": stackType, "properties": properties,
		"systemData": map[string]any{"createdAt": s.started.UTC().Format(time.RFC3339Nano)},
	}
	if s.location != "" {
		body["location"] = s.location
	}
	if s.request.Tags != nil {
		body["tags"] = maps.Clone(s.request.Tags)
	}
	return body
}

func (s *stack) references() []any {
	all := []any{}
	for _, one := range s.managed {
		status := "managed"
		if one.failure != nil {
			status = "deleteFailed"
		}
		all = append(all, map[string]any{
			"id": one.id, "status": status, "denyStatus": s.request.Properties.DenySettings.Mode,
		})
	}
	return all
}

func (s *stack) failures() []any {
	all := []any{}
	for _, one := range s.failed {
		all = append(all, map[string]any{"id": one.id, "error": one.failure})
	}
	return all
}

func references(ids []string) []any {
	all := []any{}
	for _, id := range ids {
		all = append(all, map[string]any{"id": id})
	}
	return all
}

// MarshalJSON writes lists that are empty as such.
func (d denySettings) MarshalJSON() ([]byte, error) {
	type plain denySettings
	shown := plain(d)
	shown.ExcludedActions = append([]string{}, shown.ExcludedActions...)
	shown.ExcludedPrincipals = append([]string{}, shown.ExcludedPrincipals...)
	return json.Marshal(shown)
}
