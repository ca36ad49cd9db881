package azuresim

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"salve/internal/azuresim/template"
)

// group is a resource group that is neither the cluster's nor that of its nodes.
type group struct {
	name     string
	location string
	tags     map[string]any
}

// holding is a resource that is kept without knowing what it does.
type holding struct {
	id    string
	group string         // empty: of the subscription
	body  map[string]any // as a GET shows it
}

// addResources makes what the scenario says there is besides the cluster.
func (m *model) addResources() error {
	for _, name := range m.scenario.ResourceGroups {
		m.groups = append(m.groups, &group{name: name, location: m.scenario.Location})
	}
	for _, setup := range m.scenario.Resources {
		text, err := json.Marshal(map[string]any{
			"location": setup.Location, "tags": setup.Tags, "properties": setup.Properties,
		})
		if err != nil {
			return err
		}
		body, err := decodeObject(text)
		if err != nil {
			return err
		}
		id := m.groupID(setup.Group) + "/providers/" + template.Path(setup.Type, setup.Name)
		m.keep(id, setup.Group, setup.Type, setup.Name, body)
	}
	return nil
}

// keep makes a resource, or changes it into what body says.
func (m *model) keep(id, group, kind, name string, body map[string]any) {
	properties, _ := body["properties"].(map[string]any)
	properties = maps.Clone(properties)
	if properties == nil {
		properties = map[string]any{}
	}
	properties["provisioningState"] = stateSucceeded
	kept := maps.Clone(body)
	kept["id"], kept["name"] = id, shortName(name)
	kept["type"], kept["properties"] = kind, properties
	if known := m.kept(id); known != nil {
		known.body = kept
		return
	}
	m.resources = append(m.resources, &holding{id: id, group: group, body: kept})
	m.typesSeen[strings.ToLower(kind)] = true
}

func (m *model) kept(id string) *holding {
	for _, r := range m.resources {
		if strings.EqualFold(r.id, id) {
			return r
		}
	}
	return nil
}

// forget deletes a resource and what belongs to it.
func (m *model) forget(id string) {
	m.resources = slices.DeleteFunc(m.resources, func(r *holding) bool {
		return strings.EqualFold(r.id, id) || strings.HasPrefix(strings.ToLower(r.id), strings.ToLower(id)+"/")
	})
}

// Resource is what a GET of an ID shows. It is how a template sees the world.
func (m *model) Resource(id string) (map[string]any, bool) {
	body, there := m.show(id)
	if !there {
		return nil, false
	}
	text, err := json.Marshal(body)
	if err == nil {
		body, err = decodeObject(text)
	}
	if err != nil {
		panic("azuresim: encoding a resource: " + err.Error()) // it is made of what JSON has
	}
	return body, true
}

func (m *model) show(id string) (map[string]any, bool) {
	parts := partsOf(id)
	if len(parts) < 2 || !strings.EqualFold(parts[1], m.scenario.Subscription) {
		return nil, false
	}
	if found, is := matchPath(inGroups+"/{group}", parts); is {
		name, there := m.findGroup(found["group"])
		return m.groupBody(name), there
	}
	if found, is := matchPath(inCluster, parts); is {
		there := m.isCluster(found["group"], found["cluster"])
		if !there {
			return nil, false
		}
		return m.clusterBody(), true
	}
	if found, is := matchPath(inPool, parts); is {
		p := m.pool(found["pool"])
		if p == nil || !m.isCluster(found["group"], found["cluster"]) {
			return nil, false
		}
		return m.poolBody(p), true
	}
	if d := m.deploymentOf(id); d != nil {
		return d.body(), true
	}
	if s := m.stackOf(id); s != nil {
		return s.body(), true
	}
	if r := m.kept(id); r != nil {
		return r.body, true
	}
	return nil, false
}

// isCluster says whether the cluster of the world is meant, and there.
func (m *model) isCluster(group, name string) bool {
	return m.cluster != nil && strings.EqualFold(name, m.scenario.Cluster) &&
		strings.EqualFold(group, m.scenario.ResourceGroup)
}

func (m *model) groupID(name string) string {
	if name == "" {
		return "/subscriptions/" + m.scenario.Subscription
	}
	return "/subscriptions/" + m.scenario.Subscription + "/resourceGroups/" + name
}

// groupNames are the resource groups that there are.
func (m *model) groupNames() []string {
	names := []string{m.scenario.ResourceGroup}
	if m.cluster != nil {
		names = append(names, m.nodeGroup())
	}
	for _, g := range m.groups {
		names = append(names, g.name)
	}
	return names
}

// findGroup gives a resource group's name as it was created.
func (m *model) findGroup(name string) (string, bool) {
	for _, known := range m.groupNames() {
		if strings.EqualFold(name, known) {
			return known, true
		}
	}
	return "", false
}

// groupBody: the node resource group belongs to the cluster.
func (m *model) groupBody(name string) map[string]any {
	body := map[string]any{
		"id": m.groupID(name), "name": name, "type": template.GroupType,
		"location": m.scenario.Location, "properties": map[string]any{"provisioningState": stateSucceeded},
	}
	if name == m.nodeGroup() {
		body["managedBy"] = m.clusterID()
	}
	if g := m.ownGroup(name); g != nil {
		body["location"] = g.location
	}
	if tags := m.groupTags(name); tags != nil {
		body["tags"] = tags
	}
	return body
}

// ownGroup is a resource group that is neither the cluster's nor that of its nodes; nil for these.
func (m *model) ownGroup(name string) *group {
	for _, g := range m.groups {
		if strings.EqualFold(g.name, name) {
			return g
		}
	}
	return nil
}

func (m *model) groupTags(name string) map[string]any {
	if g := m.ownGroup(name); g != nil {
		return g.tags
	}
	return m.clusterGroupTags[name]
}

func (m *model) tagGroup(name string, tags map[string]any) {
	if g := m.ownGroup(name); g != nil {
		g.tags = tags
		return
	}
	m.clusterGroupTags[name] = tags
}

// putGroup makes a resource group, or changes its tags.
func (m *model) putGroup(name string, body map[string]any) (created bool, _ *refusal) {
	location, _ := body["location"].(string)
	location = regionName(location)
	tags, _ := body["tags"].(map[string]any)
	known, there := m.findGroup(name)
	switch {
	case location == "":
		return false, refuse(http.StatusBadRequest, "LocationRequired",
			"The location property is required for this definition.")
	case !there:
		if why := m.refuseGroup(name, location); why != nil {
			return false, why
		}
		m.groups = append(m.groups, &group{name: name, location: location, tags: tags})
		return true, nil
	case regionName(fmt.Sprint(m.groupBody(known)["location"])) != location:
		return false, refuse(http.StatusConflict, "InvalidResourceGroupLocation", "Invalid resource group location '%s'. "+
			"The Resource group already exists in location '%s'.", location, m.groupBody(known)["location"])
	}
	m.tagGroup(known, tags)
	return false, nil
}

// patchGroup changes a resource group's tags; those that are not sent stay as they are.
func (m *model) patchGroup(name string, body map[string]any) {
	if tags, sent := body["tags"].(map[string]any); sent {
		m.tagGroup(name, tags)
	}
}

// resourceNotFound is ARM's answer about an ID that nothing has.
func resourceNotFound(id string) *refusal {
	within, after, _ := strings.Cut(id, "/providers/")
	if parts := partsOf(after); len(parts) > 2 {
		types, names := parts[:1], []string{}
		for i, part := range parts[1:] {
			if i%2 == 0 {
				types = append(slices.Clip(types), part)
			} else {
				names = append(names, part)
			}
		}
		after = strings.Join(types, "/") + "/" + strings.Join(names, "/")
	}
	return refuse(http.StatusNotFound, "ResourceNotFound", "The Resource '%s' under resource group '%s' was not found. "+
		"For more details please go to https://aka.ms/ARMResourceNotFoundFix", after,
		within[strings.LastIndex(within, "/")+1:])
}
