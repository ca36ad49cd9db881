package azuresim

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
)

func getCluster(w *World, _ *request) answer { return ok(w.model.clusterBody()) }

// listClusters lists those of a resource group, or of the subscription.
func listClusters(w *World, asked *request) answer {
	group := asked.parameter("group")
	if w.model.cluster == nil || group != "" && !strings.EqualFold(group, w.scenario.ResourceGroup) {
		return list()
	}
	return list(w.model.clusterBody())
}

func (m *model) clusterBody() map[string]any {
	profiles := make([]any, 0, len(m.pools))
	for _, p := range m.pools {
		properties := m.poolProperties(p)
		properties["name"] = p.name
		profiles = append(profiles, properties)
	}
	properties := maps.Clone(m.cluster.sent)
	if properties == nil {
		properties = map[string]any{}
	}
	maps.Copy(properties, map[string]any{
		"provisioningState":        m.cluster.state,
		"powerState":               map[string]string{"code": "Running"},
		"kubernetesVersion":        m.scenario.KubernetesVersion,
		"currentKubernetesVersion": m.scenario.KubernetesVersion,
		"dnsPrefix":                m.scenario.Cluster,
		"fqdn":                     m.fqdn(),
		"nodeResourceGroup":        m.nodeGroup(),
		"enableRBAC":               true,
		"disableLocalAccounts":     m.scenario.Entra,
		"supportPlan":              "KubernetesOfficial",
		"maxAgentPools":            100,
		"networkProfile": map[string]string{
			"networkPlugin": "azure", "loadBalancerSku": "standard", "outboundType": "loadBalancer",
		},
		"agentPoolProfiles": profiles,
	})
	return map[string]any{
		"id":         m.clusterID(),
		"name":       m.scenario.Cluster,
		"type":       clusterType,
		"location":   m.scenario.Location,
		"tags":       maps.Clone(m.cluster.tags),
		"eTag":       m.cluster.etag,
		"sku":        map[string]string{"name": "Base", "tier": "Standard"},
		"identity":   map[string]string{"type": "SystemAssigned", "tenantId": tenant, "principalId": callerAKS},
		"properties": properties,
	}
}

func abortCluster(w *World, asked *request) answer { return w.startAbort(asked) }

func abortPool(w *World, asked *request) answer {
	p := w.model.pool(asked.parameter("pool"))
	if p == nil {
		return w.poolNotFound(asked)
	}
	if running := w.model.running; running != nil && running.pool != nil && running.pool != p {
		return answer{status: http.StatusNoContent}
	}
	return w.startAbort(asked)
}

func (w *World) startAbort(asked *request) answer {
	op := w.model.abort(byClient)
	if op == nil {
		return answer{status: http.StatusNoContent}
	}
	return answer{status: http.StatusAccepted}.
		with("Location", w.operationURL(asked, "operations", op)).
		with("Azure-AsyncOperation", w.operationURL(asked, "operationStatus", op)).
		with("Retry-After", w.pollAgain())
}

func (w *World) operationURL(asked *request, kind string, op *operation) string {
	return fmt.Sprintf("%s/subscriptions/%s/providers/Microsoft.ContainerService/locations/%s/%s/%s?api-version=%s",
		asked.base, w.scenario.Subscription, w.scenario.Location, kind, op.ID, asked.version())
}

func getOperationStatus(w *World, asked *request) answer {
	op := w.model.operation(asked.parameter("operation"))
	if op == nil {
		return operationNotFound(asked)
	}
	body := map[string]any{"name": op.ID, "status": op.Result, "startTime": op.Started.UTC()}
	a := ok(body)
	if op.Ended.IsZero() {
		return a.with("Retry-After", w.pollAgain())
	}
	body["endTime"] = op.Ended.UTC()
	if op.failure != nil {
		body["error"] = op.failure
	}
	return a
}

// getOperationResult answers 202 while the operation runs, 204 once it succeeded and its error otherwise.
func getOperationResult(w *World, asked *request) answer {
	op := w.model.operation(asked.parameter("operation"))
	switch {
	case op == nil:
		return operationNotFound(asked)
	case op.Ended.IsZero():
		return answer{status: http.StatusAccepted}.with("Retry-After", w.pollAgain()).
			with("Location", w.operationURL(asked, "operationresults", op))
	case op.failure != nil:
		return aksError(http.StatusConflict, op.failure.Code, op.failure.Message)
	}
	return answer{status: http.StatusNoContent}
}

func operationNotFound(asked *request) answer {
	return aksError(http.StatusNotFound, "NotFound",
		fmt.Sprintf("The entity was not found: operation %s", asked.parameter("operation")))
}

func (w *World) pollAgain() string {
	return fmt.Sprint(max(int(w.scenario.RetryAfter.span().Seconds()), 1))
}
