package azuresim

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"salve/internal/azuresim/template"
)

// preview is what a deployment would change, in ARM's words.
type preview struct {
	model   *model
	changes []any
	planned map[string]bool // IDs in lower case
}

// whatIfDeployment answers later, as ARM does.
func whatIfDeployment(w *World, asked *request) answer {
	d, request, why := w.deploymentRead(asked)
	if why != nil {
		return why.ofARM()
	}
	f := &preview{model: w.model, planned: map[string]bool{}}
	if why := f.add(d); why != nil {
		return why.ofARM()
	}
	f.others(d)
	if strings.EqualFold(request.Properties.WhatIf.ResultFormat, "ResourceIdOnly") {
		f.changes = onlyIDs(f.changes)
	}
	return w.resultLater(asked,
		ok(map[string]any{"status": stateSucceeded, "properties": map[string]any{"changes": f.changes}}))
}

// add previews every resource of a deployment and of those nested in it.
func (f *preview) add(d *deployment) *refusal {
	for _, resource := range d.plan.Resources {
		f.planned[strings.ToLower(resource.ID)] = true
		if resource.Existing {
			continue
		}
		body, err := d.plan.Body(resource, f.model, true)
		if err != nil {
			return refusedBy(err)
		}
		if strings.EqualFold(resource.Type, template.NestedType) {
			inner, why := f.model.readNested(d, resource, body)
			if why == nil {
				why = f.add(inner)
			}
			if why != nil { // what it is given may only be known once something else is deployed
				f.changes = append(f.changes, map[string]any{
					"resourceId": resource.ID, "changeType": "Unsupported", "unsupportedReason": d.secrets.hide(why.Message),
				})
			}
			continue
		}
		f.compare(resource, d.secrets.conceal(body).(map[string]any))
	}
	return nil
}

func (f *preview) compare(resource template.Resource, after map[string]any) {
	after = maps.Clone(after)
	after["id"], after["name"] = resource.ID, shortName(resource.Name)
	after["type"], after["apiVersion"] = resource.Type, resource.APIVersion
	change := map[string]any{"resourceId": resource.ID, "changeType": "Create", "after": after}
	if before, there := f.model.Resource(resource.ID); there {
		// What AKS and groups fill in by themselves is not taken away by a template that is silent about it.
		delta := differences("", bare(before), bare(after), f.model.kept(resource.ID) != nil)
		change["before"], change["changeType"] = before, "Modify"
		if len(delta) == 0 {
			change["changeType"] = "NoChange"
		}
		change["delta"] = delta
	}
	f.changes = append(f.changes, change)
}

func shortName(name string) string { return name[strings.LastIndex(name, "/")+1:] }

// bare is a resource without what identifies it and what the service computes.
func bare(body map[string]any) map[string]any {
	left := maps.Clone(body)
	for _, field := range []string{"id", "name", "type", "apiVersion", "eTag", "systemData"} {
		delete(left, field)
	}
	if properties, has := left["properties"].(map[string]any); has {
		properties = maps.Clone(properties)
		delete(properties, "provisioningState")
		left["properties"] = properties
		if len(properties) == 0 {
			delete(left, "properties")
		}
	}
	maps.DeleteFunc(left, func(_ string, value any) bool { return value == nil })
	return left
}

// differences lists the properties that differ. With whole, what only before has is deleted, as a PUT does.
func differences(at string, before, after map[string]any, whole bool) []any {
	changes := []any{}
	add := func(kind, path string, old, made any, children []any) {
		change := map[string]any{"path": path, "propertyChangeType": kind}
		if old != nil {
			change["before"] = old
		}
		if made != nil {
			change["after"] = made
		}
		if children != nil {
			change["children"] = children
		}
		changes = append(changes, change)
	}
	keys := slices.Sorted(maps.Keys(after))
	if whole {
		for key := range maps.Keys(before) {
			if _, stays := after[key]; !stays {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
	}
	for _, key := range keys {
		path := strings.TrimPrefix(at+"."+key, ".")
		old, was := before[key]
		made, stays := after[key]
		oldObject, wasObject := old.(map[string]any)
		madeObject, isObject := made.(map[string]any)
		_, wasList := old.([]any)
		_, isList := made.([]any)
		switch {
		case !stays:
			add("Delete", path, old, nil, nil)
		case !was:
			add("Create", path, nil, made, nil)
		case wasObject && isObject:
			changes = append(changes, differences(path, oldObject, madeObject, whole)...)
		case wasList && isList:
			if children := listDifferences(old.([]any), made.([]any), whole); len(children) > 0 {
				add("Array", path, nil, nil, children)
			}
		case !reflect.DeepEqual(old, made):
			add("Modify", path, old, made, nil)
		}
	}
	return changes
}

// listDifferences compares item by item; by their names where all have one, and then a shorter list takes nothing away
// that is not to be compared as a whole.
func listDifferences(before, after []any, whole bool) []any {
	named := hasNames(before) && hasNames(after)
	asObject := func(list []any) map[string]any {
		object := map[string]any{}
		for i, item := range list {
			key := strconv.Itoa(i)
			if named {
				key = fmt.Sprint(item.(map[string]any)["name"])
			}
			object[key] = item
		}
		return object
	}
	return differences("", asObject(before), asObject(after), whole || !named && len(after) < len(before))
}

// hasNames: the items say by their names which they are.
func hasNames(list []any) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(item any) bool {
		object, _ := item.(map[string]any)
		return object["name"] == nil
	})
}

// others are the resources of the resource group that the template says nothing about.
func (f *preview) others(d *deployment) {
	kind := "Ignore"
	if d.mode == modeComplete {
		kind = "Delete"
	}
	ids := []string{}
	if m := f.model; m.cluster != nil && strings.EqualFold(d.group, m.scenario.ResourceGroup) {
		ids = append(ids, m.clusterID())
	}
	for _, r := range f.model.resources {
		if d.group != "" && strings.EqualFold(r.group, d.group) {
			ids = append(ids, r.id)
		}
	}
	for _, id := range ids {
		if f.planned[strings.ToLower(id)] {
			continue
		}
		changeType := kind
		if f.planned[strings.ToLower(topLevel(id))] {
			changeType = "Ignore"
		}
		before, _ := f.model.Resource(id)
		f.changes = append(f.changes, map[string]any{"resourceId": id, "changeType": changeType, "before": before})
	}
}

// onlyIDs is the short form, which does not compare: what the template has is Deploy.
func onlyIDs(changes []any) []any {
	short := []any{}
	for _, entry := range changes {
		change, _ := entry.(map[string]any)
		kind := change["changeType"]
		if kind == "Create" || kind == "Modify" || kind == "NoChange" {
			kind = "Deploy"
		}
		short = append(short, map[string]any{"resourceId": change["resourceId"], "changeType": kind})
	}
	return short
}

var _ template.Azure = (*model)(nil)
