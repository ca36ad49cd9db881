package azuresim

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"salve/internal/azuresim/template"
)

// route leads a method and a path to a handler. Literal parts of the path match without case, as ARM's do.
type route struct {
	api      string
	method   string
	path     string
	kind     string      // resource type, for errors
	versions versionList // none: any api-version that has the form of one
	mutating bool
	handle   func(*World, *request) answer
	// unknown: nobody knows the call, so that nothing of it is looked at.
	unknown bool
}

const (
	inSubscription = "/subscriptions/{subscription}"
	inGroups       = inSubscription + "/resourceGroups"
	inGroup        = inGroups + "/{group}"
	inClusters     = "/providers/Microsoft.ContainerService/managedClusters"
	inCluster      = inGroup + inClusters + "/{cluster}"
	inPool         = inCluster + "/agentPools/{pool}"
	inLocation     = inSubscription + "/providers/Microsoft.ContainerService/locations/{location}"
	inSets         = "/providers/Microsoft.Compute/virtualMachineScaleSets"
	inSet          = inGroup + inSets + "/{set}"
	inInstance     = inSet + "/virtualMachines/{instance}"
	inTags         = "/providers/Microsoft.Resources/tags/default"
	inLog          = inSubscription + "/providers/Microsoft.Insights/eventtypes/management/values"
)

// allRoutes is everything that the embedded Azure knows, but for resources that it keeps: see keptRoute.
func allRoutes() []route {
	v := supportedVersions()
	return slices.Concat(clusterRoutes(v.aks), poolRoutes(v.aks), computeRoutes(v), directoryRoutes(v), loginRoutes(),
		deploymentRoutes(inSubscription, v.arm), deploymentRoutes(inGroup, v.arm), registrationRoutes(v),
		stackRoutes(inSubscription, v.stacks), stackRoutes(inGroup, v.stacks), stackStatusRoutes(v.stacks))
}

func clusterRoutes(aks versionList) []route {
	call := func(method, path string, mutating bool, handle func(*World, *request) answer) route {
		return route{
			api: apiARM, method: method, path: path, kind: managedClusters, versions: aks, mutating: mutating, handle: handle,
		}
	}
	return []route{
		call("GET", inSubscription+inClusters, false, listClusters),
		call("GET", inGroup+inClusters, false, listClusters),
		call("GET", inCluster, false, getCluster),
		call("PUT", inGroup+inClusters+"/{newCluster}", true, putCluster),
		call("PATCH", inCluster, true, patchCluster),
		call("POST", inCluster+"/abort", true, abortCluster),
		call("POST", inCluster+"/listClusterUserCredential", false, listUserCredential),
		call("POST", inCluster+"/listClusterMonitoringUserCredential", false, listUserCredential),
		call("POST", inCluster+"/listClusterAdminCredential", false, listAdminCredential),
		call("POST", inCluster+"/accessProfiles/{profile}/listCredential", false, listAccessProfile),
		call("GET", inCluster+"/upgradeProfiles/default", false, getUpgradeProfile),
		call("GET", inCluster+"/availableAgentPoolVersions", false, listPoolVersions),
		call("GET", inLocation+"/kubernetesVersions", false, listKubernetesVersions),
		call("GET", inLocation+"/operations/{operation}", false, getOperationStatus),
		call("GET", inLocation+"/operationStatus/{operation}", false, getOperationStatus),
		call("GET", inLocation+"/operationresults/{operation}", false, getOperationResult),
	}
}

func poolRoutes(aks versionList) []route {
	call := func(method, path string, handle func(*World, *request) answer) route {
		return route{
			api: apiARM, method: method, path: path, kind: poolType, versions: aks, mutating: method != http.MethodGet,
			handle: handle,
		}
	}
	return []route{
		call("GET", inCluster+"/agentPools", listPools),
		call("GET", inPool, getPool),
		call("PUT", inPool, putPool),
		call("DELETE", inPool, deletePool),
		call("POST", inPool+"/abort", abortPool),
		call("GET", inPool+"/upgradeProfiles/default", getPoolUpgradeProfile),
		call("GET", inPool+"/machines", listMachines),
		call("GET", inPool+"/machines/{machine}", getMachine),
	}
}

func computeRoutes(v apiVersions) []route {
	call := func(path string, versions versionList, handle func(*World, *request) answer) route {
		return route{api: apiARM, method: "GET", path: path, kind: scaleSetType, versions: versions, handle: handle}
	}
	return []route{
		call(inSubscription+inSets, v.compute, listScaleSets),
		call(inGroup+inSets, v.compute, listScaleSets),
		call(inSet, v.compute, getScaleSet),
		call(inSet+"/instanceView", v.compute, getScaleSetView),
		call(inSet+"/virtualMachines", v.compute, listInstances),
		call(inInstance, v.compute, getInstance),
		call(inInstance+"/instanceView", v.compute, getInstanceView),
		call(inSet+"/networkInterfaces", v.network, listInterfaces),
		call(inInstance+"/networkInterfaces", v.network, listInstanceInterfaces),
		call(inInstance+"/networkInterfaces/{interface}", v.network, getInterface),
	}
}

func directoryRoutes(v apiVersions) []route {
	call := func(method, path, kind string, mutating bool, handle func(*World, *request) answer) route {
		return route{
			api: apiARM, method: method, path: path, kind: kind, versions: v.arm, mutating: mutating, handle: handle,
		}
	}
	return []route{
		call("GET", "/tenants", "tenants", false, listTenants),
		call("GET", "/subscriptions", "subscriptions", false, listSubscriptions),
		call("GET", inSubscription, "subscriptions", false, getSubscription),
		call("GET", inSubscription+"/locations", "locations", false, listLocations),
		call("GET", inGroups, "resourceGroups", false, listGroups),
		call("GET", inGroup, "resourceGroups", false, getGroup),
		call("PUT", inGroups+"/{newGroup}", "resourceGroups", true, putGroup),
		call("PATCH", inGroup, "resourceGroups", true, patchGroup),
		call("GET", inSubscription+"/resources", "resources", false, listResources),
		call("GET", inGroup+"/resources", "resources", false, listResources),
		call("GET", inSubscription+"/operationresults/{result}", "operationresults", false, getResult),
		{
			api: apiARM, method: "GET", path: inLog, kind: "Microsoft.Insights/eventtypes", versions: v.logs, handle: listEvents,
		},
	}
}

func loginRoutes() []route {
	call := func(method, path string, handle func(*World, *request) answer) route {
		return route{api: apiLogin, method: method, path: path, handle: handle}
	}
	return []route{
		call("GET", "/metadata/endpoints", describeCloud),
		call("GET", "/common/discovery/instance", discoverInstance),
		call("GET", "/{tenant}/v2.0/.well-known/openid-configuration", openIDConfiguration),
		call("GET", "/{tenant}/discovery/v2.0/keys", listKeys),
		call("POST", "/{tenant}/oauth2/v2.0/token", issueToken),
	}
}

// deploymentRoutes are those at one scope. A resource group's operations have a path of their own, without the
// provider.
func deploymentRoutes(scope string, versions versionList) []route {
	call := func(method, path string, mutating bool, handle func(*World, *request) answer) route {
		return route{
			api: apiARM, method: method, path: path, kind: template.NestedType, versions: versions, mutating: mutating,
			handle: handle,
		}
	}
	all := scope + "/providers/Microsoft.Resources/deployments"
	one, operations := all+"/{deployment}", scope+"/deployments/{deployment}/operations"
	return []route{
		call("GET", all, false, listDeployments),
		call("PUT", one, true, putDeployment),
		call("GET", one, false, getDeployment),
		call("DELETE", one, true, deleteDeployment),
		call("POST", one+"/cancel", true, cancelDeployment),
		call("POST", one+"/validate", false, validateDeployment),
		call("POST", one+"/whatIf", false, whatIfDeployment),
		call("GET", one+"/operationStatuses/{status}", false, getDeploymentStatus),
		call("GET", one+"/operations", false, listDeploymentOperations),
		call("GET", one+"/operations/{operation}", false, getDeploymentOperation),
		call("GET", operations, false, listDeploymentOperations),
		call("GET", operations+"/{operation}", false, getDeploymentOperation),
	}
}

// findRoute never fails: what nobody knows is answered so.
func (w *World) findRoute(method string, address *url.URL) (route, map[string]string) {
	parts := partsOf(address.EscapedPath())
	owned := false // the path is one of the model's, whatever the method
	for _, candidate := range w.routes {
		parameters, matches := matchPath(candidate.path, parts)
		switch {
		case matches && candidate.method == method:
			return candidate, parameters
		case matches && method == http.MethodHead && candidate.method == http.MethodGet:
			candidate.method, candidate.handle = method, headOf(candidate.handle)
			return candidate, parameters
		}
		owned = owned || matches && candidate.api == apiARM
	}
	if found, parameters, is := tagsRoute(method, parts); is {
		return found, parameters
	}
	if !owned {
		if found, parameters, is := keptRoute(method, parts); is {
			return found, parameters
		}
	}
	mutating := method != http.MethodGet && method != http.MethodHead
	return route{
		api: apiARM, method: method, mutating: mutating, unknown: true, handle: unknownCall(method, address.Path),
	}, nil
}

// headOf answers a HEAD by what a GET would come to.
func headOf(get func(*World, *request) answer) func(*World, *request) answer {
	return func(w *World, asked *request) answer {
		if a := get(w, asked); a.status != http.StatusOK {
			return answer{status: a.status}
		}
		return answer{status: http.StatusNoContent}
	}
}

// partsOf splits a path and drops empty parts: ARM takes // for /.
func partsOf(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(part string) bool { return part == "" })
}

func matchPath(pattern string, parts []string) (map[string]string, bool) {
	wanted := partsOf(pattern)
	if len(wanted) != len(parts) {
		return nil, false
	}
	parameters := map[string]string{}
	for i, want := range wanted {
		if name, isParameter := strings.CutPrefix(want, "{"); isParameter {
			value, err := url.PathUnescape(parts[i])
			if err != nil {
				return nil, false
			}
			parameters[strings.TrimSuffix(name, "}")] = value
		} else if !strings.EqualFold(want, parts[i]) {
			return nil, false
		}
	}
	return parameters, true
}
