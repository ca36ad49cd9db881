package azuresim

import (
	"fmt"
	"net/http"
	"strings"
)

// putCluster makes the cluster, or writes over it.
func putCluster(w *World, asked *request) answer {
	m, name := w.model, asked.parameter("newCluster")
	body, err := decodeObject(asked.body)
	if err != nil {
		return invalidContent(err).ofARM()
	}
	exists := m.isCluster(asked.parameter("group"), name)
	if why := w.refuseLocation(body, name, exists); why != nil {
		return why.ofARM()
	}
	if exists {
		if refusal, refused := refuseClusterETag(m.cluster, asked); refused {
			return refusal
		}
		if why := m.refuseUpgrade(body); why != nil {
			return why.ofAKS()
		}
	}
	op, why := m.writeCluster(asked.parameter("group"), name, body, asked.version())
	switch {
	case why != nil && why.status == http.StatusNotImplemented:
		return why.ofARM()
	case why != nil:
		return why.ofAKS()
	}
	status := http.StatusCreated
	if exists {
		status = http.StatusOK
	}
	return w.clusterWritten(asked, status, op)
}

func (w *World) clusterWritten(asked *request, status int, op *operation) answer {
	return answer{status: status, body: w.model.clusterBody()}.
		with("Azure-AsyncOperation", w.operationURL(asked, "operations", op)).with("Retry-After", w.pollAgain())
}

// refuseLocation is ARM's: every resource of its own has a location, and keeps it.
func (w *World) refuseLocation(body map[string]any, name string, exists bool) *refusal {
	location, _ := body["location"].(string)
	same := strings.EqualFold(strings.ReplaceAll(location, " ", ""), w.scenario.Location)
	switch {
	case location == "":
		return refuse(http.StatusBadRequest, "LocationRequired", "The location property is required for this definition.")
	case exists && !same:
		return refuse(http.StatusConflict, "InvalidResourceLocation", "The resource '%s' already exists in location '%s' in "+
			"resource group '%s'. A resource with the same name cannot be created in location '%s'. Please select a new "+
			"resource name.", name, w.scenario.Location, w.scenario.ResourceGroup, location)
	}
	return nil
}

func refuseClusterETag(c *cluster, asked *request) (answer, bool) {
	match := strings.Trim(asked.header.Get("If-Match"), `"`)
	noneMatch := strings.Trim(asked.header.Get("If-None-Match"), `"`)
	switch {
	case match != "" && match != "*" && match != c.etag:
		return aksError(http.StatusConflict, "EtagMismatch", "Operation is not allowed: Another operation is in progress",
			failure{Code: "Unspecified", Message: "Etag mismatched"}), true
	case noneMatch != "" && (noneMatch == "*" || noneMatch == c.etag):
		return aksError(http.StatusPreconditionFailed, "PreconditionFailed",
			"The managed cluster exists, but the request asks that it does not (If-None-Match)."), true
	}
	return answer{}, false
}

// refuseUpgrade: the embedded Azure upgrades no control plane.
func (m *model) refuseUpgrade(body map[string]any) *refusal {
	properties, _ := body["properties"].(map[string]any)
	named, _ := properties["kubernetesVersion"].(string)
	version, ok := parseKubernetesVersion(m.poolVersion(named))
	own, known := m.controlPlaneVersion()
	switch {
	case named == "" || named == m.scenario.KubernetesVersion || known && ok && version == own:
		return nil
	case !ok || len(m.upgradesFrom(own, version)) == 0:
		return refuse(http.StatusBadRequest, "K8sVersionNotSupported",
			"Managed cluster %s: version %s is not supported in this "+
				"region. Please use [az aks get-versions] command to get the supported version list in this region. For more "+
				"information, please check https://aka.ms/supported-version-list", m.scenario.Cluster, named)
	}
	return refuse(http.StatusNotImplemented, "NotImplemented",
		"the embedded Azure does not know this call: an upgrade of the "+
			"control plane from %s to %s", m.scenario.KubernetesVersion, named)
}

// patchCluster changes the cluster's tags, all of them, and nothing else.
// https://learn.microsoft.com/rest/api/aks/managed-clusters/update-tags
func patchCluster(w *World, asked *request) answer {
	m := w.model
	body, err := decodeObject(asked.body)
	if err != nil {
		return invalidContent(err).ofARM()
	}
	for field := range body {
		if !strings.EqualFold(field, "tags") {
			return unmarshalError(fmt.Errorf("json: unknown field %q", field)).ofAKS()
		}
	}
	if refusal, refused := refuseClusterETag(m.cluster, asked); refused {
		return refusal
	}
	if why := m.busy(); why != nil {
		return aksError(http.StatusConflict, why.Code, why.Message)
	}
	return w.clusterWritten(asked, http.StatusOK, m.updateCluster(stringsIn(body["tags"]), m.cluster.sent, nil))
}
