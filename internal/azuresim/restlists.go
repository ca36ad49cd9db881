package azuresim

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// skipToken carries where the next page begins, in the nextLink of a list.
const skipToken = "$skipToken"

// nextLink is the request's own URL with a new skip token.
func (w *World) nextLink(asked *request, path, token string) string {
	query := url.Values{}
	for key, values := range asked.query {
		if !strings.EqualFold(key, skipToken) {
			query[key] = values
		}
	}
	query.Set(skipToken, token)
	return asked.base + path + "?" + query.Encode()
}

// listScaleSets lists those of a resource group, or of the subscription.
func listScaleSets(w *World, asked *request) answer {
	items, group := []any{}, asked.parameter("group")
	if group == "" || strings.EqualFold(group, w.model.nodeGroup()) {
		for _, p := range w.model.pools {
			items = append(items, w.scaleSetBody(p))
		}
	}
	name, _ := w.model.findGroup(group) // empty: the subscription
	return w.page(asked, w.model.groupID(name)+"/providers/"+scaleSetType, items)
}

// page cuts a list of resources.
func (w *World) page(asked *request, path string, items []any) answer {
	start := 0
	if token := asked.ask(skipToken); token != "" {
		var err error
		if start, err = strconv.Atoi(token); err != nil || start < 0 || start > len(items) {
			return armError(http.StatusBadRequest, "InvalidSkipToken", "The skip token '"+token+"' is invalid.")
		}
	}
	size := w.scenario.PageSize
	if top := asked.ask("$top"); top != "" {
		n, err := strconv.Atoi(top)
		if err != nil || n < 1 {
			return armError(http.StatusBadRequest, "InvalidTop", "The value of $top '"+top+"' is invalid.")
		}
		size = min(size, n)
	}
	end := min(start+size, len(items))
	body := map[string]any{"value": items[start:end]}
	if end < len(items) {
		body["nextLink"] = w.nextLink(asked, path, strconv.Itoa(end))
	}
	return ok(body)
}

func (w *World) scaleSetBody(p *pool) map[string]any {
	set := p.scaleSet
	tags := map[string]string{
		"aks-managed-poolName": p.name, "aks-managed-orchestrator": "Kubernetes:" + w.scenario.KubernetesVersion,
	}
	for key, value := range p.tags() {
		tags[key] = value
	}
	return map[string]any{
		"id": w.model.scaleSetID(set.name), "name": set.name, "type": scaleSetType,
		"location": w.scenario.Location, "tags": tags,
		"sku": map[string]any{"name": p.text("vmSize"), "tier": "Standard", "capacity": len(set.machines)},
		"properties": map[string]any{
			"provisioningState": set.state(), "uniqueId": set.uniqueID, "orchestrationMode": "Uniform",
			"timeCreated": set.created.UTC().Format(time.RFC3339Nano),
		},
	}
}

func (s *scaleSet) state() string {
	if s.corrupted {
		return stateFailed
	}
	return stateSucceeded
}

func (w *World) findScaleSet(asked *request) *pool {
	if !strings.EqualFold(asked.parameter("group"), w.model.nodeGroup()) {
		return nil
	}
	for _, p := range w.model.pools {
		if strings.EqualFold(p.scaleSet.name, asked.parameter("set")) {
			return p
		}
	}
	return nil
}

func scaleSetNotFound(asked *request) answer {
	return armError(http.StatusNotFound, "ResourceNotFound", fmt.Sprintf(
		"The Resource 'Microsoft.Compute/virtualMachineScaleSets/%s' under resource group '%s' was not found. "+
			"For more details please go to https://aka.ms/ARMResourceNotFoundFix", asked.parameter("set"),
		asked.parameter("group")))
}

func getScaleSet(w *World, asked *request) answer {
	if p := w.findScaleSet(asked); p != nil {
		return ok(w.scaleSetBody(p))
	}
	return scaleSetNotFound(asked)
}

func listInterfaces(w *World, asked *request) answer {
	p := w.findScaleSet(asked)
	if p == nil {
		return scaleSetNotFound(asked)
	}
	items := make([]any, 0, len(p.scaleSet.machines))
	for _, machine := range p.scaleSet.machines {
		items = append(items, w.interfaceBody(p, machine))
	}
	// The Network provider writes its next links in this case.
	path := w.model.groupID(w.model.nodeGroup()) + "/providers/microsoft.Compute/virtualMachineScaleSets/" +
		p.scaleSet.name + "/networkInterfaces"
	return w.page(asked, path, items)
}

// interfaceBody is a machine's network interface. A machine that never came has one without addresses.
func (w *World) interfaceBody(p *pool, machine *machine) map[string]any {
	set := p.scaleSet
	owner := w.model.machineID(set.name, machine.index)
	id := interfaceID(w.model, p, machine)
	properties := map[string]any{
		"provisioningState": stateSucceeded, "primary": true, "virtualMachine": map[string]string{"id": owner},
		"ipConfigurations": []any{map[string]any{
			"id": id + "/ipConfigurations/ipconfig1", "name": "ipconfig1",
			"properties": map[string]any{
				"provisioningState": stateSucceeded, "primary": true, "privateIPAddressVersion": "IPv4",
				"privateIPAddress": addressOf(machine),
				"subnet":           map[string]string{"id": p.text("vnetSubnetID")},
			},
		}},
	}
	if machine.broken {
		properties["provisioningState"] = stateFailed
		switch set.interfaces {
		case interfacesAbsent:
			delete(properties, "ipConfigurations")
		case interfacesNull:
			properties["ipConfigurations"] = nil
		default:
			properties["ipConfigurations"] = []any{}
		}
	}
	return map[string]any{
		"id": id, "name": set.name, "type": "Microsoft.Network/networkInterfaces",
		"location": w.scenario.Location, "properties": properties,
	}
}
