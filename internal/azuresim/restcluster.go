package azuresim

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
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
		asked.base, w.scenario.Subscription, w.scenario.Location, kind, op.ID, asked.query.Get("api-version"))
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

func getTags(w *World, _ *request) answer { return ok(w.tagsResource()) }

func (w *World) tagsResource() map[string]any {
	return map[string]any{
		"id":   w.model.clusterID() + "/providers/Microsoft.Resources/tags/default",
		"name": "default", "type": "Microsoft.Resources/tags",
		"properties": map[string]any{"tags": maps.Clone(w.model.cluster.tags)},
	}
}

func patchTags(w *World, asked *request) answer {
	var patch struct {
		Operation  string `json:"operation"`
		Properties struct {
			Tags map[string]string `json:"tags"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(asked.body, &patch); err != nil {
		return armError(http.StatusBadRequest, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: '"+err.Error()+"'.")
	}
	change := map[string]func(map[string]string){
		"Merge": func(tags map[string]string) { maps.Copy(tags, patch.Properties.Tags) },
		"Replace": func(tags map[string]string) {
			clear(tags)
			maps.Copy(tags, patch.Properties.Tags)
		},
		"Delete": func(tags map[string]string) {
			maps.DeleteFunc(tags, func(key, value string) bool { return patch.Properties.Tags[key] == value })
		},
	}[patch.Operation]
	if change == nil {
		return armError(http.StatusBadRequest, "InvalidTagsOperation",
			fmt.Sprintf("The tags operation '%s' is not one of Merge, Replace, Delete.", patch.Operation))
	}
	if why := w.model.busy(); why != nil {
		return aksError(http.StatusConflict, why.Code, why.Message)
	}
	w.model.mergeTags(change)
	return ok(w.tagsResource())
}

// Client IDs that AKS writes into the kubeconfig of a cluster with Entra ID.
const (
	aksServerApplication = "6dae42f8-4368-4678-94ff-3960e28e3630"
	aksClientApplication = "80faf920-1908-4b52-b5ef-a8e7bedfc67a"
)

func listUserCredential(w *World, _ *request) answer {
	text := w.kubeconfig
	if text == nil {
		var err error
		if text, err = yaml.Marshal(w.madeUpKubeconfig()); err != nil {
			panic("azuresim: encoding a kubeconfig: " + err.Error()) // it is made of maps and texts
		}
	}
	return ok(map[string]any{
		"kubeconfigs": []any{map[string]string{"name": "clusterUser", "value": base64.StdEncoding.EncodeToString(text)}},
	})
}

// hostOf is the host of a kubeconfig's server: AKS names it in the cluster's fqdn.
func hostOf(kubeconfig []byte) (string, error) {
	if kubeconfig == nil {
		return "", nil
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return "", fmt.Errorf("reading the given kubeconfig: %w", err)
	}
	server, err := url.Parse(config.Host)
	if err != nil {
		return "", fmt.Errorf("reading the given kubeconfig: %w", err)
	}
	return server.Hostname(), nil
}

func (w *World) kubernetesServer() string { return "https://" + w.model.fqdn() + ":443" }

// madeUpKubeconfig has the form of the real one and leads nowhere.
func (w *World) madeUpKubeconfig() map[string]any {
	user := "clusterUser_" + w.scenario.ResourceGroup + "_" + w.scenario.Cluster
	cluster := map[string]any{"server": w.kubernetesServer()}
	identity := map[string]any{
		"client-certificate-data": base64.StdEncoding.EncodeToString([]byte("embedded certificate")),
		"client-key-data":         base64.StdEncoding.EncodeToString([]byte("embedded key")),
	}
	if w.scenario.Entra {
		identity = map[string]any{"exec": map[string]any{
			"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "kubelogin", "env": nil,
			"provideClusterInfo": false,
			"args": []string{
				"get-token", "--environment", "AzurePublicCloud", "--server-id", aksServerApplication,
				"--client-id", aksClientApplication, "--tenant-id", tenant, "--login", "devicecode",
			},
		}}
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Config", "preferences": map[string]any{}, "current-context": w.scenario.Cluster,
		"clusters": []any{map[string]any{"name": w.scenario.Cluster, "cluster": cluster}},
		"contexts": []any{map[string]any{
			"name": w.scenario.Cluster, "context": map[string]string{"cluster": w.scenario.Cluster, "user": user},
		}},
		"users": []any{map[string]any{"name": user, "user": identity}},
	}
}
