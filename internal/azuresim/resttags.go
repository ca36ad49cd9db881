package azuresim

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// tagged is something that has tags: the cluster, a resource group, or what is kept as it was sent.
type tagged struct {
	id   string
	tags map[string]string
	set  func(tags map[string]string)
	// busy is why the tags can't be written now; nil when they can.
	busy func() *failure
}

// tagsRoute is the route to the tags of any scope: they are a resource of their own, below it.
// https://learn.microsoft.com/rest/api/resources/tags
func tagsRoute(method string, parts []string) (route, map[string]string, bool) {
	cut := len(parts) - len(partsOf(inTags))
	if cut < 0 || !strings.EqualFold(strings.Join(parts[cut:], "/"), strings.TrimPrefix(inTags, "/")) {
		return route{}, nil, false
	}
	handle := map[string]func(*World, *request, tagged) answer{
		http.MethodGet: getTags, http.MethodPut: putTags, http.MethodPatch: patchTags, http.MethodDelete: deleteTags,
	}[method]
	if handle == nil {
		return route{}, nil, false
	}
	scope := "/" + strings.Join(parts[:cut], "/")
	return route{
		api: apiARM, method: method, kind: "Microsoft.Resources/tags", versions: supportedVersions().arm,
		mutating: method != http.MethodGet,
		handle: func(w *World, asked *request) answer {
			of, found := w.model.taggedAt(scope)
			if !found {
				return w.absentOrUnknown(asked, parts[:cut])
			}
			return handle(w, asked, of)
		},
	}, scopeParameters(parts), true
}

// scopeParameters are those of a path that the front door looks at.
func scopeParameters(parts []string) map[string]string {
	parameters := map[string]string{}
	if len(parts) > 1 && strings.EqualFold(parts[0], "subscriptions") {
		parameters["subscription"] = parts[1]
	}
	if len(parts) > 3 && strings.EqualFold(parts[2], "resourceGroups") {
		parameters["group"] = parts[3]
	}
	return parameters
}

func (m *model) taggedAt(id string) (tagged, bool) {
	parts, free := partsOf(id), func() *failure { return nil }
	if found, is := matchPath(inCluster, parts); is {
		if !m.isCluster(found["group"], found["cluster"]) {
			return tagged{}, false
		}
		set := func(tags map[string]string) {
			m.mergeTags(func(all map[string]string) { clear(all); maps.Copy(all, tags) })
		}
		return tagged{id: m.clusterID(), tags: m.cluster.tags, set: set, busy: m.busy}, true
	}
	if found, is := matchPath(inGroup, parts); is {
		name, there := m.findGroup(found["group"])
		set := func(tags map[string]string) { m.tagGroup(name, anyMap(tags)) }
		return tagged{id: m.groupID(name), tags: stringsIn(m.groupTags(name)), set: set, busy: free}, there
	}
	if r := m.kept(id); r != nil {
		set := func(tags map[string]string) { r.body["tags"] = anyMap(tags) }
		return tagged{id: r.id, tags: stringsIn(r.body["tags"]), set: set, busy: free}, true
	}
	return tagged{}, false
}

func anyMap(texts map[string]string) map[string]any {
	values := make(map[string]any, len(texts))
	for key, text := range texts {
		values[key] = text
	}
	return values
}

func (of tagged) body(tags map[string]string) answer {
	return ok(map[string]any{
		"id":   of.id + "/providers/Microsoft.Resources/tags/default",
		"name": "default", "type": "Microsoft.Resources/tags",
		"properties": map[string]any{"tags": maps.Clone(tags)},
	})
}

func getTags(_ *World, _ *request, of tagged) answer { return of.body(of.tags) }

// readTags is a change of tags that a body asks for.
func readTags(asked *request) (operation string, tags map[string]string, _ *refusal) {
	var body struct {
		Operation  string `json:"operation"`
		Properties *struct {
			Tags map[string]string `json:"tags"`
		} `json:"properties"`
	}
	err := json.Unmarshal(asked.body, &body)
	switch {
	case err != nil:
		return "", nil, invalidContent(err)
	case body.Properties == nil:
		return "", nil, refuse(http.StatusBadRequest, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'properties is required'.")
	}
	return body.Operation, body.Properties.Tags, nil
}

func invalidContent(err error) *refusal {
	return refuse(http.StatusBadRequest, "InvalidRequestContent",
		"The request content was invalid and could not be deserialized: '%v'.", err)
}

func putTags(_ *World, asked *request, of tagged) answer {
	_, tags, why := readTags(asked)
	if why != nil {
		return why.ofARM()
	}
	return of.change(tags)
}

func patchTags(_ *World, asked *request, of tagged) answer {
	operation, change, why := readTags(asked)
	if why != nil {
		return why.ofARM()
	}
	tags := maps.Clone(of.tags)
	switch operation {
	case "Merge":
		maps.Copy(tags, change)
	case "Replace":
		tags = change
	case "Delete":
		maps.DeleteFunc(tags, func(key, value string) bool {
			named, is := change[key]
			return is && named == value
		})
	default:
		return armError(http.StatusBadRequest, "InvalidTagsOperation",
			fmt.Sprintf("The tags operation '%s' is not one of Merge, Replace, Delete.", operation))
	}
	return of.change(tags)
}

func deleteTags(_ *World, _ *request, of tagged) answer {
	a := of.change(map[string]string{})
	a.body = nil
	return a
}

func (of tagged) change(tags map[string]string) answer {
	if why := of.busy(); why != nil {
		return aksError(http.StatusConflict, why.Code, why.Message)
	}
	if tags == nil {
		tags = map[string]string{}
	}
	tags = maps.Clone(tags)
	of.set(tags)
	return of.body(tags)
}
