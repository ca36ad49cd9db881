package azuresim

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"salve/internal/azuresim/template"
)

// body is the deployment as ARM shows it.
func (d *deployment) body() map[string]any {
	properties := map[string]any{
		"provisioningState": d.state,
		"mode":              d.mode,
		"templateHash":      d.hash,
		"correlationId":     d.correlation,
		"timestamp":         d.changed.UTC().Format(time.RFC3339Nano),
		"duration":          iso(d.changed.Sub(d.started)),
		"parameters":        d.shownValues(d.plan.Parameters()),
		"dependencies":      d.dependencies(),
		"providers":         d.providers(),
	}
	if d.outputs != nil {
		properties["outputs"] = d.shownValues(d.outputs)
	}
	made := []any{}
	for _, part := range d.parts {
		if part.state == stateSucceeded && !part.Existing && part.nested == nil {
			made = append(made, map[string]any{"id": part.ID})
		}
		if part.nested != nil {
			inner, _ := part.nested.body()["properties"].(map[string]any)["outputResources"].([]any)
			made = append(made, inner...)
		}
	}
	if !d.active() {
		properties["outputResources"] = made
	}
	if d.failure != nil {
		properties["error"] = d.shownFailure(d.failure)
	}
	body := map[string]any{"id": d.id, "name": d.name, "type": template.NestedType, "properties": properties}
	if d.location != "" {
		body["location"] = d.location
	}
	if d.tags != nil {
		body["tags"] = d.tags
	}
	return body
}

// shownValues: secure ones are shown as types only.
func (d *deployment) shownValues(values map[string]template.Value) map[string]any {
	shown := map[string]any{}
	for name, value := range values {
		about := map[string]any{"type": value.Type}
		if !value.Secure() {
			about["value"] = d.secrets.conceal(value.Value)
		}
		shown[name] = about
	}
	return shown
}

func (d *deployment) shownFailure(why *failure) *failure {
	shown := *why
	shown.Message = d.secrets.hide(why.Message)
	shown.Details = nil
	for _, detail := range why.Details {
		shown.Details = append(shown.Details, *d.shownFailure(&detail))
	}
	return &shown
}

func about(resource template.Resource) map[string]any {
	return map[string]any{"id": resource.ID, "resourceType": resource.Type, "resourceName": resource.Name}
}

func (d *deployment) dependencies() []any {
	all := []any{}
	for _, resource := range d.plan.Resources {
		if len(resource.Needs) == 0 {
			continue
		}
		needs := []any{}
		for _, i := range resource.Needs {
			needs = append(needs, about(d.plan.Resources[i]))
		}
		entry := about(resource)
		entry["dependsOn"] = needs
		all = append(all, entry)
	}
	return all
}

// providers are the namespaces that the template has resources of.
func (d *deployment) providers() []any {
	all, types := []any{}, map[string]map[string]bool{}
	for _, resource := range d.plan.Resources {
		namespace, kind, _ := strings.Cut(resource.Type, "/")
		if types[namespace] == nil {
			types[namespace] = map[string]bool{}
			all = append(all, map[string]any{"namespace": namespace, "resourceTypes": []any{}})
		}
		if types[namespace][kind] {
			continue
		}
		types[namespace][kind] = true
		for _, entry := range all {
			if provider := entry.(map[string]any); provider["namespace"] == namespace {
				provider["resourceTypes"] = append(provider["resourceTypes"].([]any), map[string]any{"resourceType": kind})
			}
		}
	}
	return all
}

// operationBody is one part of a deployment as ARM lists it.
func (d *deployment) operationBody(part *part, now time.Time) map[string]any {
	verb, code := "Create", "OK"
	if part.Existing {
		verb = "Read"
	}
	until := part.ended
	if until.IsZero() {
		until, code = now, "Accepted"
	}
	properties := map[string]any{
		"provisioningOperation": verb, "provisioningState": part.state, "timestamp": until.UTC().Format(time.RFC3339Nano),
		"duration":       iso(until.Sub(part.began)),
		"targetResource": about(part.Resource),
	}
	if part.failure != nil {
		code = "Conflict"
		properties["statusMessage"] = map[string]any{"status": stateFailed, "error": d.shownFailure(part.failure)}
	}
	properties["statusCode"] = code
	return map[string]any{
		"id": d.id + "/operations/" + part.operation, "operationId": part.operation, "properties": properties,
	}
}

// iso writes a duration as ISO 8601 does.
func iso(d time.Duration) string {
	text := "PT"
	if hours := int(d.Hours()); hours > 0 {
		text += fmt.Sprintf("%dH", hours)
	}
	if minutes := int(d.Minutes()) % 60; minutes > 0 {
		text += fmt.Sprintf("%dM", minutes)
	}
	seconds := (d % time.Minute).Seconds()
	return text + strconv.FormatFloat(seconds, 'f', -1, 64) + "S"
}
