package azuresim

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// poolProperties is the definition with what the service computes.
func (m *model) poolProperties(p *pool) map[string]any {
	properties := maps.Clone(p.definition)
	properties["provisioningState"] = p.state
	properties["eTag"] = p.etag
	properties["powerState"] = map[string]string{"code": "Running"}
	properties["currentOrchestratorVersion"] = m.scenario.KubernetesVersion
	properties["nodeImageVersion"] = "AKS" + p.text("osSKU") + "-2204gen2containerd-202505.14.0"
	return properties
}

func (m *model) poolBody(p *pool) map[string]any {
	return map[string]any{"id": m.poolID(p.name), "name": p.name, "type": poolType, "properties": m.poolProperties(p)}
}

func listPools(w *World, _ *request) answer {
	list := make([]any, 0, len(w.model.pools))
	for _, p := range w.model.pools {
		list = append(list, w.model.poolBody(p))
	}
	return ok(map[string]any{"value": list})
}

func getPool(w *World, asked *request) answer {
	p := w.model.pool(asked.parameter("pool"))
	if p == nil {
		return w.poolNotFound(asked)
	}
	return ok(w.model.poolBody(p))
}

func (w *World) poolNotFound(asked *request) answer {
	return aksError(http.StatusNotFound, "NotFound",
		fmt.Sprintf("Could not find the agent pool: %s in managed cluster: %s, subscription: %s, resource group: %s.",
			asked.parameter("pool"), w.scenario.Cluster, w.scenario.Subscription, w.scenario.ResourceGroup))
}

func putPool(w *World, asked *request) answer {
	m, name := w.model, asked.parameter("pool")
	p := m.pool(name)
	if refusal, refused := refusePrecondition(p, asked); refused {
		return refusal
	}
	document, err := decodeObject(asked.body)
	if err != nil {
		return armError(http.StatusBadRequest, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: '"+err.Error()+"'.")
	}
	properties, _ := document["properties"].(map[string]any)
	status := http.StatusOK
	if p == nil {
		status = http.StatusCreated
	}
	p, op, why := m.writePool(name, properties)
	if why != nil {
		return why.ofAKS()
	}
	return answer{status: status, body: m.poolBody(p)}.
		with("Azure-AsyncOperation", w.operationURL(asked, "operations", op)).
		with("Retry-After", w.pollAgain())
}

func deletePool(w *World, asked *request) answer {
	m := w.model
	p := m.pool(asked.parameter("pool"))
	if refusal, refused := refusePrecondition(p, asked); refused {
		return refusal
	}
	if p == nil {
		return answer{status: http.StatusNoContent}
	}
	if why := m.busy(); why != nil {
		return aksError(http.StatusConflict, why.Code, why.Message)
	}
	if m.lastSystemPool(p) {
		return aksError(http.StatusBadRequest, "MustDefineAtLeastOneSystemPool", "Must define at least one system pool.")
	}
	op := m.deletePool(p, byClient)
	return answer{status: http.StatusAccepted}.with("Location", w.operationURL(asked, "operationresults", op)).
		with("Retry-After", w.pollAgain())
}

// refusePrecondition checks If-Match and If-None-Match against the pool, nil when there is none.
func refusePrecondition(p *pool, asked *request) (answer, bool) {
	match := strings.Trim(asked.header.Get("If-Match"), `"`)
	noneMatch := strings.Trim(asked.header.Get("If-None-Match"), `"`)
	switch {
	case match != "" && p == nil:
		return aksError(http.StatusPreconditionFailed, "PreconditionFailed",
			"Resource not found but ETag header is provided. If this is a request to create, please do not provide ETag."), true
	case match != "" && match != "*" && match != p.etag:
		return aksError(http.StatusConflict, "EtagMismatch", "Operation is not allowed: Another operation is in progress",
			failure{Code: "Unspecified", Message: "Etag mismatched"}), true
	case noneMatch != "" && p != nil && (noneMatch == "*" || noneMatch == p.etag):
		return aksError(http.StatusPreconditionFailed, "PreconditionFailed",
			fmt.Sprintf("The agent pool %s exists, but the request asks that it does not (If-None-Match).", p.name)), true
	}
	return answer{}, false
}

// ofAKS is a refusal as AKS writes it.
func (r *refusal) ofAKS() answer { return aksError(r.status, r.Code, r.Message, r.Details...) }

// writePool starts what a pool's PUT asks for, or says why not.
func (m *model) writePool(name string, properties map[string]any) (*pool, *operation, *refusal) {
	p := m.pool(name)
	if why := checkPool(name, properties); why != nil {
		return nil, nil, why
	}
	if p != nil && properties["vmSize"] != nil && p.text("vmSize") != properties["vmSize"] {
		return nil, nil, refuse(http.StatusBadRequest, "PropertyChangeNotAllowed",
			"Changing property 'properties.vmSize' is not allowed.")
	}
	if why := m.busy(); why != nil {
		return nil, nil, &refusal{http.StatusConflict, *why}
	}
	if p != nil {
		return p, m.updatePool(p, properties, byClient, m.scenario.Durations.Update.span()), nil
	}
	if quota := m.quotaFault(name, properties); quota != nil {
		return nil, nil, refuse(http.StatusBadRequest, "ErrCode_InsufficientVCPUQuota",
			"Insufficient vcpu quota requested %d, remaining %d for family %s for region %s.",
			4*intIn(properties, "count"), 4*quota.Over, "standardDDSv5Family", m.scenario.Location)
	}
	p, op := m.createPool(name, properties, byClient)
	return p, op, nil
}

// checkPool is what AKS refuses at once in a pool's properties.
func checkPool(name string, properties map[string]any) *refusal {
	invalid := func(parameter, reason string) *refusal {
		return refuse(http.StatusBadRequest, "InvalidParameter",
			"The value of parameter %s is invalid. Error details: %s. Please see https://aka.ms/aks-naming-rules "+
				"for more details.", parameter, reason)
	}
	os, _ := properties["osType"].(string)
	mode, _ := properties["mode"].(string)
	scaling, _ := properties["enableAutoScaling"].(bool)
	count, counted := intOf(properties["count"])
	least, bounded := intOf(properties["minCount"])
	most, limited := intOf(properties["maxCount"])
	switch {
	case !validPoolName(name, os):
		return invalid("agentPoolProfile.name", "invalid agent pool name '"+name+"'")
	case properties == nil:
		return invalid("properties", "required parameter is missing (null)")
	case properties["vmSize"] == nil || properties["vmSize"] == "":
		return invalid("agentPoolProfile.vmSize", "required parameter is missing (null)")
	case !counted && !(scaling && bounded):
		return invalid("agentPoolProfile.count", "required parameter is missing (null)")
	case mode != "" && mode != modeSystem && mode != modeUser:
		return invalid("agentPoolProfile.mode", "mode '"+mode+"' is neither System nor User")
	case !scaling && (bounded || limited):
		return invalid("agentPoolProfile.minCount", "minCount and maxCount need enableAutoScaling")
	case scaling && (!bounded || !limited || least > most):
		return invalid("agentPoolProfile.minCount", "enableAutoScaling needs minCount <= maxCount")
	case counted && (count < 0 || count == 0 && mode == modeSystem):
		return invalid("agentPoolProfile.count", fmt.Sprintf("%d nodes in a pool of mode %s", count, mode))
	case scaling && counted && (count < least || count > most):
		return invalid("agentPoolProfile.count",
			fmt.Sprintf("count %d is not between minCount %d and maxCount %d", count, least, most))
	}
	return nil
}
