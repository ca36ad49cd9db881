package azuresim

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// place is what a path says of a resource that is kept: its ID, or that of a list.
type place struct {
	id     string // as the path has it
	within string // the resource that it is below: a subscription, a resource group, or another resource
	group  string
	kind   string
	name   string // the names, divided by slashes; of a list without the last
	list   bool
}

// placeOf reads a path such as /subscriptions/S/resourceGroups/G/providers/N.S/type/name/subtype/name. What follows the
// last "providers" is the resource; what comes before it is where it is.
func placeOf(parts []string) (place, bool) {
	isProviders := func(part string) bool { return strings.EqualFold(part, "providers") }
	first, last := slices.IndexFunc(parts, isProviders), -1
	for i, part := range parts {
		if isProviders(part) {
			last = i
		}
	}
	if first != 2 && first != 4 || !strings.EqualFold(parts[0], "subscriptions") || len(parts) < last+3 ||
		first == 4 && !strings.EqualFold(parts[2], "resourceGroups") {
		return place{}, false
	}
	decoded := make([]string, len(parts))
	for i, part := range parts {
		text, err := url.PathUnescape(part)
		if err != nil {
			return place{}, false
		}
		decoded[i] = text
	}
	p := place{id: "/" + strings.Join(decoded, "/"), within: "/" + strings.Join(decoded[:last], "/"),
		kind: decoded[last+1]}
	if first == 4 {
		p.group = decoded[3]
	}
	var names []string
	for i, part := range decoded[last+2:] {
		if i%2 == 0 {
			p.kind += "/" + part
		} else {
			names = append(names, part)
		}
	}
	p.name, p.list = strings.Join(names, "/"), (len(parts)-last)%2 == 1
	return p, true
}

// keptRoute is the route to resources that are kept without knowing what they do. Of the type itself nothing is known,
// so that any api-version will do.
func keptRoute(method string, parts []string) (route, map[string]string, bool) {
	at, is := placeOf(parts)
	handle := map[string]func(*World, *request, place) answer{
		http.MethodGet: getKept, http.MethodHead: headKept, http.MethodPut: putKept, http.MethodPatch: patchKept,
		http.MethodDelete: deleteKept,
	}[method]
	if at.list {
		handle = map[string]func(*World, *request, place) answer{http.MethodGet: listKept}[method]
	}
	if !is || handle == nil || strings.HasPrefix(strings.ToLower(at.kind), strings.ToLower(managedClusters)) {
		return route{}, nil, false
	}
	return route{
		api: apiARM, method: method, kind: at.kind, mutating: method != http.MethodGet && method != http.MethodHead,
		handle: func(w *World, asked *request) answer { return handle(w, asked, at) },
	}, scopeParameters(parts), true
}

// absentOrUnknown answers about something that is not kept: that it is absent, where a resource of its type would be
// known; otherwise that nobody knows.
func (w *World) absentOrUnknown(asked *request, parts []string) answer {
	if at, is := placeOf(parts); is && !at.list && w.model.keeps(at.kind) {
		return w.absent(at).ofARM()
	}
	return unknownCall(asked.method, "/"+strings.Join(parts, "/"))(w, asked)
}

// absent is ARM's answer about a resource that is not there: it names the one above it where that lacks too.
func (w *World) absent(at place) *refusal {
	if above, lacks := w.model.missingAbove(at); lacks {
		return resourceNotFound(above)
	}
	return resourceNotFound(at.id)
}

// missingAbove is the nearest resource to the root that a resource is below and that is not there.
func (m *model) missingAbove(at place) (string, bool) {
	parts, within := partsOf(at.id), partsOf(at.within)
	if _, there := m.show(at.within); len(within) > 4 && !there {
		return at.within, true
	}
	end := len(within) + 2 // "providers" and the namespace
	for end += 2; end < len(parts); end += 2 {
		above := "/" + strings.Join(parts[:end], "/")
		if _, there := m.show(above); !there {
			return above, true
		}
	}
	return "", false
}

func getKept(w *World, asked *request, at place) answer {
	if r := w.model.kept(at.id); r != nil {
		return ok(r.body)
	}
	return w.absentOrUnknown(asked, partsOf(at.id))
}

func headKept(w *World, asked *request, at place) answer {
	return headOf(func(w *World, asked *request) answer { return getKept(w, asked, at) })(w, asked)
}

// listKept lists what is kept of one type, directly below where it is asked for, or in all of a subscription or group.
func listKept(w *World, asked *request, at place) answer {
	if !w.model.keeps(at.kind) {
		return unknownCall(asked.method, at.id)(w, asked)
	}
	if above, lacks := w.model.missingAbove(at); lacks {
		return resourceNotFound(above).ofARM()
	}
	depth, within := strings.Count(at.kind, "/"), strings.ToLower(at.within)+"/"
	items := []any{}
	for _, r := range w.model.resources {
		if strings.EqualFold(r.kind(), at.kind) && strings.HasPrefix(strings.ToLower(r.id), within) &&
			(depth == 1 || strings.HasPrefix(strings.ToLower(r.id), strings.ToLower(at.id)+"/")) {
			items = append(items, r.body)
		}
	}
	return w.page(asked, at.id, items)
}

// putKept makes a resource or replaces it. Its type has to be one that is kept: of what another would do nothing is
// known.
func putKept(w *World, asked *request, at place) answer {
	m := w.model
	if !m.keeps(at.kind) {
		return unknownCall(asked.method, at.id)(w, asked)
	}
	if why := m.refusesWrite(at.id, at.kind); why != nil {
		return why.ofARM()
	}
	body, err := decodeObject(asked.body)
	if err != nil {
		return invalidContent(err).ofARM()
	}
	if above, lacks := m.missingAbove(at); lacks {
		return refuse(http.StatusNotFound, "ParentResourceNotFound",
			"Failed to perform 'write' on resource(s) of type '%s', "+
				"because the parent resource '%s' could not be found.", typeOnly(at.kind), above).ofARM()
	}
	status := http.StatusOK
	if m.kept(at.id) == nil {
		status = http.StatusCreated
	}
	m.keep(at.id, at.group, at.kind, at.name, body)
	return answer{status: status, body: m.kept(at.id).body}
}

// patchKept changes the fields that are sent, and of its properties those that are sent.
func patchKept(w *World, asked *request, at place) answer {
	r := w.model.kept(at.id)
	if r == nil {
		return w.absentOrUnknown(asked, partsOf(at.id))
	}
	if why := w.model.refusesWrite(at.id, at.kind); why != nil {
		return why.ofARM()
	}
	change, err := decodeObject(asked.body)
	if err != nil {
		return invalidContent(err).ofARM()
	}
	body := maps.Clone(r.body)
	for field, value := range change {
		sent, isObject := value.(map[string]any)
		had, hadObject := body[field].(map[string]any)
		if field == "properties" && isObject && hadObject {
			merged := maps.Clone(had)
			maps.Copy(merged, sent)
			body[field] = merged
			continue
		}
		body[field] = value
	}
	w.model.keep(r.id, r.group, r.kind(), at.name, body)
	return ok(w.model.kept(at.id).body)
}

func deleteKept(w *World, asked *request, at place) answer {
	switch r := w.model.kept(at.id); {
	case r != nil && w.model.denied(r.id, actionDelete, nil) != nil:
		return w.model.denied(r.id, actionDelete, nil).ofARM()
	case r != nil:
		w.model.forget(r.id)
		return answer{status: http.StatusOK}
	case w.model.keeps(at.kind):
		return answer{status: http.StatusNoContent}
	}
	return unknownCall(asked.method, at.id)(w, asked)
}

// listResources lists the cluster, the scale sets, and what is kept and has a location.
// https://learn.microsoft.com/rest/api/resources/resources/list
func listResources(w *World, asked *request) answer {
	filter, err := parseResourceFilter(asked.ask("$filter"))
	if err != nil {
		return armError(http.StatusBadRequest, "InvalidFilterInQueryString",
			fmt.Sprintf("Invalid $filter '%s' specified in the query string.", asked.ask("$filter")))
	}
	m, group := w.model, asked.parameter("group")
	items := []any{}
	add := func(of string, body map[string]any) {
		if (group == "" || strings.EqualFold(group, of)) && filter.wants(of, body) {
			items = append(items, summaryOf(body))
		}
	}
	if m.cluster != nil {
		add(m.scenario.ResourceGroup, m.clusterBody())
	}
	for _, p := range m.pools {
		add(m.nodeGroup(), w.scaleSetBody(p))
	}
	for _, r := range m.resources {
		if r.body["location"] != nil {
			add(r.group, r.body)
		}
	}
	path := m.groupID(group) + "/resources"
	if name, there := m.findGroup(group); there {
		path = m.groupID(name) + "/resources"
	}
	return w.page(asked, path, items)
}

// summaryOf is a resource as a list of all resources shows it: without its properties.
func summaryOf(body map[string]any) map[string]any {
	summary := map[string]any{}
	for _, field := range []string{"id", "name", "type", "location", "tags", "sku", "kind", "identity", "managedBy",
		"zones"} {
		if value := body[field]; value != nil {
			summary[field] = value
		}
	}
	return summary
}

// resourceFilter selects resources; empty texts select everything.
type resourceFilter struct{ kind, name, location, group, tagName, tagValue string }

// parseResourceFilter reads clauses of the form field eq 'value', joined by and.
func parseResourceFilter(text string) (resourceFilter, error) {
	var filter resourceFilter
	if strings.TrimSpace(text) == "" {
		return filter, nil
	}
	for _, clause := range logAnd.Split(strings.TrimSpace(text), -1) {
		parts := logClause.FindStringSubmatch(strings.TrimSpace(clause))
		if parts == nil || parts[2] != "eq" {
			return filter, fmt.Errorf("invalid $filter: cannot read '%s'", clause)
		}
		place := map[string]*string{
			"resourcetype": &filter.kind, "name": &filter.name, "location": &filter.location, "resourcegroup": &filter.group,
			"tagname": &filter.tagName, "tagvalue": &filter.tagValue,
		}[strings.ToLower(parts[1])]
		if place == nil {
			return filter, fmt.Errorf("invalid $filter: cannot read '%s'", clause)
		}
		*place = parts[3]
	}
	return filter, nil
}

func (f resourceFilter) wants(group string, body map[string]any) bool {
	is := func(wanted string, got any) bool { return wanted == "" || strings.EqualFold(wanted, fmt.Sprint(got)) }
	if !is(f.kind, body["type"]) || !is(f.name, body["name"]) || !is(f.location, body["location"]) || !is(f.group, group) {
		return false
	}
	if f.tagName == "" {
		return true
	}
	for name, value := range tagsOf(body) {
		if strings.EqualFold(name, f.tagName) && (f.tagValue == "" || f.tagValue == value) {
			return true
		}
	}
	return false
}

func tagsOf(body map[string]any) map[string]string {
	if tags, is := body["tags"].(map[string]string); is {
		return tags
	}
	return stringsIn(body["tags"])
}
