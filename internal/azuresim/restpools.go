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
	properties["currentOrchestratorVersion"] = m.poolVersion(p.text("orchestratorVersion"))
	properties["nodeImageVersion"] = nodeImage(p)
	return properties
}

func nodeImage(p *pool) string { return "AKS" + p.text("osSKU") + "-2204gen2containerd-202505.14.0" }

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
		return invalidContent(err).ofARM()
	}
	status := http.StatusOK
	if p == nil {
		status = http.StatusCreated
	}
	p, op, why := m.writePool(name, document, asked.version())
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
	ignore, why := ignoresBudgets(asked)
	if why != nil {
		return why.ofAKS()
	}
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
	op := m.deletePool(p, byClient, ignore)
	// Both, as recorded in azure-cli's test_aks_nodepool_delete_with_ignore_pod_disruption_budget.yaml.
	return answer{status: http.StatusAccepted}.
		with("Azure-AsyncOperation", w.operationURL(asked, "operations", op)).
		with("Location", w.operationURL(asked, "operationresults", op)).
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
