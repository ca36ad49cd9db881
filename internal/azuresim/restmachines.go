package azuresim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// What a pool's machines look like: to AKS machines, to Compute instances of a scale set, to Network interfaces.

func listMachines(w *World, asked *request) answer {
	p := w.model.pool(asked.parameter("pool"))
	if p == nil {
		return w.poolNotFound(asked)
	}
	items := []any{}
	for _, one := range p.scaleSet.machines {
		items = append(items, w.machineBody(p, one))
	}
	return w.page(asked, w.model.poolID(p.name)+"/machines", items)
}

func getMachine(w *World, asked *request) answer {
	p := w.model.pool(asked.parameter("pool"))
	if p == nil {
		return w.poolNotFound(asked)
	}
	for _, one := range p.scaleSet.machines {
		if strings.EqualFold(one.node, asked.parameter("machine")) {
			return ok(w.machineBody(p, one))
		}
	}
	return aksError(http.StatusNotFound, "NotFound", fmt.Sprintf(
		"Could not find the machine: %s in agent pool: %s, managed cluster: %s, subscription: %s, resource group: %s.",
		asked.parameter("machine"), p.name, w.scenario.Cluster, w.scenario.Subscription, w.scenario.ResourceGroup))
}

func (w *World) machineBody(p *pool, one *machine) map[string]any {
	addresses := []any{}
	if !one.broken {
		addresses = append(addresses, map[string]any{"ip": addressOf(one), "family": "IPv4"})
	}
	body := map[string]any{
		"id": w.model.poolID(p.name) + "/machines/" + one.node, "name": one.node, "type": poolType + "/machines",
		"properties": map[string]any{
			"network":    map[string]any{"ipAddresses": addresses},
			"resourceId": w.model.machineID(p.scaleSet.name, one.index),
		},
	}
	if zone := p.zone(one.index); zone != "" {
		body["zones"] = []string{zone}
	}
	return body
}

// addressOf is a machine's address in the nodes' subnet.
func addressOf(one *machine) string {
	return fmt.Sprintf("10.224.%d.%d", one.index/200, 4+one.index%200)
}

func listInstances(w *World, asked *request) answer {
	p := w.findScaleSet(asked)
	if p == nil {
		return scaleSetNotFound(asked)
	}
	items := []any{}
	for _, one := range p.scaleSet.machines {
		body := w.instanceBody(p, one)
		if strings.EqualFold(asked.ask("$expand"), "instanceView") {
			body["properties"].(map[string]any)["instanceView"] = instanceView(p, one) // it was made so
		}
		items = append(items, body)
	}
	return w.page(asked, w.model.scaleSetID(p.scaleSet.name)+"/virtualMachines", items)
}

// findInstance gives the instance that a path names, or Compute's 404.
func (w *World) findInstance(asked *request) (*pool, *machine, *answer) {
	p := w.findScaleSet(asked)
	if p == nil {
		missing := scaleSetNotFound(asked)
		return nil, nil, &missing
	}
	index, err := strconv.Atoi(asked.parameter("instance"))
	i := slices.IndexFunc(p.scaleSet.machines, func(one *machine) bool { return err == nil && one.index == index })
	if i < 0 {
		missing := armError(http.StatusNotFound, "NotFound",
			fmt.Sprintf("The entity was not found: instance %s of %s", asked.parameter("instance"), p.scaleSet.name))
		return nil, nil, &missing
	}
	return p, p.scaleSet.machines[i], nil
}

func getInstance(w *World, asked *request) answer {
	p, one, missing := w.findInstance(asked)
	if missing != nil {
		return *missing
	}
	return ok(w.instanceBody(p, one))
}

func getInstanceView(w *World, asked *request) answer {
	p, one, missing := w.findInstance(asked)
	if missing != nil {
		return *missing
	}
	return ok(instanceView(p, one))
}

func (w *World) instanceBody(p *pool, one *machine) map[string]any {
	id := w.model.machineID(p.scaleSet.name, one.index)
	body := map[string]any{
		"id": id, "name": fmt.Sprintf("%s_%d", p.scaleSet.name, one.index), "instanceId": strconv.Itoa(one.index),
		"type": scaleSetType + "/virtualMachines", "location": w.scenario.Location,
		"sku":  map[string]any{"name": p.text("vmSize"), "tier": "Standard"},
		"tags": map[string]string{"aks-managed-poolName": p.name},
		"properties": map[string]any{
			"latestModelApplied": true, "provisioningState": one.state(),
			"osProfile":      map[string]any{"computerName": one.node},
			"networkProfile": map[string]any{"networkInterfaces": []any{map[string]any{"id": interfaceID(w.model, p, one)}}},
		},
	}
	if zone := p.zone(one.index); zone != "" {
		body["zones"] = []string{zone}
	}
	return body
}

func (one *machine) state() string {
	if one.broken {
		return stateFailed
	}
	return stateSucceeded
}

func instanceView(p *pool, one *machine) map[string]any {
	return map[string]any{
		"computerName": one.node, "osName": p.text("osType"),
		"statuses": []any{
			map[string]any{"code": "ProvisioningState/" + strings.ToLower(one.state()), "level": "Info",
				"displayStatus": "Provisioning " + strings.ToLower(one.state())},
			map[string]any{"code": "PowerState/running", "level": "Info", "displayStatus": "VM running"},
		},
	}
}

func getScaleSetView(w *World, asked *request) answer {
	p := w.findScaleSet(asked)
	if p == nil {
		return scaleSetNotFound(asked)
	}
	summary := []any{}
	for _, state := range []string{stateSucceeded, stateFailed} {
		count := 0
		for _, one := range p.scaleSet.machines {
			if one.state() == state {
				count++
			}
		}
		if count > 0 {
			summary = append(summary, map[string]any{"code": "ProvisioningState/" + strings.ToLower(state), "count": count})
		}
	}
	return ok(map[string]any{
		"virtualMachine": map[string]any{"statusesSummary": summary},
		"statuses": []any{map[string]any{
			"code": "ProvisioningState/" + strings.ToLower(p.scaleSet.state()), "level": "Info",
			"displayStatus": "Provisioning " + strings.ToLower(p.scaleSet.state()),
		}},
	})
}

func listInstanceInterfaces(w *World, asked *request) answer {
	p, one, missing := w.findInstance(asked)
	if missing != nil {
		return *missing
	}
	return list(w.interfaceBody(p, one))
}

func getInterface(w *World, asked *request) answer {
	p, one, missing := w.findInstance(asked)
	if missing != nil {
		return *missing
	}
	if !strings.EqualFold(asked.parameter("interface"), p.scaleSet.name) {
		return resourceNotFound(w.model.machineID(p.scaleSet.name, one.index) + "/networkInterfaces/" +
			asked.parameter("interface")).ofARM()
	}
	return ok(w.interfaceBody(p, one))
}

func interfaceID(m *model, p *pool, one *machine) string {
	return m.machineID(p.scaleSet.name, one.index) + "/networkInterfaces/" + p.scaleSet.name
}
