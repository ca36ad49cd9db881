package azuresim

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"salve/internal/azuresim/template"
)

// route leads a method and a path to a handler. Literal parts of the path match without case, as ARM's do.
type route struct {
	api      string
	method   string
	path     string
	kind     string   // resource type, for errors
	versions []string // api-versions; none: the parameter is not looked at
	mutating bool
	handle   func(*World, *request) answer
}

const (
	inSubscription = "/subscriptions/{subscription}"
	inGroups       = inSubscription + "/resourceGroups"
	inGroup        = inGroups + "/{group}"
	inClusters     = "/providers/Microsoft.ContainerService/managedClusters"
	inCluster      = inGroup + inClusters + "/{cluster}"
	inPool         = inCluster + "/agentPools/{pool}"
	inLocation     = inSubscription + "/providers/Microsoft.ContainerService/locations/{location}"
	inSets         = inGroup + "/providers/Microsoft.Compute/virtualMachineScaleSets"
	inTags         = inCluster + "/providers/Microsoft.Resources/tags/default"
	inLog          = inSubscription + "/providers/Microsoft.Insights/eventtypes/management/values"
)

// apiVersions are those that are taken, for each kind of resource.
type apiVersions struct {
	aks, compute, network, logs, groups, tenants, deployments, tags []string
}

func supportedVersions() apiVersions {
	return apiVersions{
		aks: []string{
			"2024-09-01", "2024-10-01", "2025-01-01", "2025-02-01", "2025-03-01", "2025-04-01", "2025-05-01", "2025-07-01",
			"2025-08-01",
		},
		compute: []string{"2024-03-01", "2024-07-01", "2024-11-01", "2025-04-01", "2026-04-01"},
		network: []string{"2018-10-01"},
		logs:    []string{"2015-04-01"},
		groups: []string{
			"2019-10-01", "2020-06-01", "2020-10-01", "2021-04-01", "2022-09-01", "2024-03-01", "2024-07-01", "2024-11-01",
			"2025-03-01", "2025-04-01",
		},
		tenants: []string{
			"2016-06-01", "2019-06-01", "2019-11-01", "2020-01-01", "2021-01-01", "2022-09-01", "2022-12-01",
		},
		// Later versions of deployments answer alike as far as the embedded Azure goes.
		deployments: []string{
			"2018-05-01", "2019-10-01", "2020-06-01", "2020-10-01", "2021-01-01", "2021-04-01", "2022-09-01", "2023-07-01",
			"2024-03-01", "2024-07-01", "2024-11-01", "2025-03-01", "2025-04-01",
		},
		tags: []string{"2021-04-01", "2022-09-01", "2024-03-01", "2024-11-01"},
	}
}

// allRoutes is everything that the embedded Azure knows.
func allRoutes() []route {
	v := supportedVersions()
	return slices.Concat(clusterRoutes(v), directoryRoutes(v), loginRoutes(),
		deploymentRoutes(inSubscription, v.deployments), deploymentRoutes(inGroup, v.deployments))
}

func clusterRoutes(v apiVersions) []route {
	return []route{
		{apiARM, "GET", inCluster, clusterType, v.aks, false, getCluster},
		{apiARM, "POST", inCluster + "/abort", clusterType, v.aks, true, abortCluster},
		{apiARM, "POST", inCluster + "/listClusterUserCredential", clusterType, v.aks, false, listUserCredential},
		{apiARM, "GET", inCluster + "/agentPools", poolType, v.aks, false, listPools},
		{apiARM, "GET", inPool, poolType, v.aks, false, getPool},
		{apiARM, "PUT", inPool, poolType, v.aks, true, putPool},
		{apiARM, "DELETE", inPool, poolType, v.aks, true, deletePool},
		{apiARM, "POST", inPool + "/abort", poolType, v.aks, true, abortPool},
		{apiARM, "GET", inLocation + "/operations/{operation}", clusterType, v.aks, false, getOperationStatus},
		{apiARM, "GET", inLocation + "/operationStatus/{operation}", clusterType, v.aks, false, getOperationStatus},
		{apiARM, "GET", inLocation + "/operationresults/{operation}", clusterType, v.aks, false, getOperationResult},
		{apiARM, "GET", inSets, scaleSetType, v.compute, false, listScaleSets},
		{apiARM, "GET", inSets + "/{set}", scaleSetType, v.compute, false, getScaleSet},
		{apiARM, "GET", inSets + "/{set}/networkInterfaces", scaleSetType, v.network, false, listInterfaces},
		{apiARM, "GET", inTags, "Microsoft.Resources/tags", v.tags, false, getTags},
		{apiARM, "PATCH", inTags, "Microsoft.Resources/tags", v.tags, true, patchTags},
		{apiARM, "GET", inLog, "Microsoft.Insights/eventtypes", v.logs, false, listEvents},
		{apiARM, "GET", inSubscription + inClusters, clusterType, v.aks, false, listClusters},
		{apiARM, "GET", inGroup + inClusters, clusterType, v.aks, false, listClusters},
	}
}

func directoryRoutes(v apiVersions) []route {
	return []route{
		{apiARM, "GET", "/tenants", "tenants", v.tenants, false, listTenants},
		{apiARM, "GET", "/subscriptions", "subscriptions", v.tenants, false, listSubscriptions},
		{apiARM, "GET", inSubscription, "subscriptions", v.tenants, false, getSubscription},
		{apiARM, "GET", inSubscription + "/locations", "locations", v.tenants, false, listLocations},
		{apiARM, "GET", inSubscription + "/providers", "providers", v.groups, false, listProviders},
		{apiARM, "GET", inSubscription + "/providers/{namespace}", "providers", v.groups, false, getProvider},
		{apiARM, "GET", inGroups, "resourceGroups", v.groups, false, listGroups},
		{apiARM, "GET", inGroup, "resourceGroups", v.groups, false, getGroup},
		{apiARM, "HEAD", inGroup, "resourceGroups", v.groups, false, headGroup},
		{apiARM, "PUT", inGroups + "/{newGroup}", "resourceGroups", v.groups, true, putGroup},
		{apiARM, "GET", inSubscription + "/operationresults/{result}", "operationresults", v.deployments, false, getResult},
	}
}

func loginRoutes() []route {
	return []route{
		{apiLogin, "GET", "/metadata/endpoints", "", nil, false, describeCloud},
		{apiLogin, "GET", "/common/discovery/instance", "", nil, false, discoverInstance},
		{apiLogin, "GET", "/{tenant}/v2.0/.well-known/openid-configuration", "", nil, false, openIDConfiguration},
		{apiLogin, "POST", "/{tenant}/oauth2/v2.0/token", "", nil, false, issueToken},
	}
}

// deploymentRoutes are those at one scope. A resource group's operations have a path of their own, without the
// provider.
func deploymentRoutes(scope string, versions []string) []route {
	all := scope + "/providers/Microsoft.Resources/deployments"
	one, operations := all+"/{deployment}", scope+"/deployments/{deployment}/operations"
	return []route{
		{apiARM, "GET", all, template.NestedType, versions, false, listDeployments},
		{apiARM, "PUT", one, template.NestedType, versions, true, putDeployment},
		{apiARM, "GET", one, template.NestedType, versions, false, getDeployment},
		{apiARM, "HEAD", one, template.NestedType, versions, false, headDeployment},
		{apiARM, "DELETE", one, template.NestedType, versions, true, deleteDeployment},
		{apiARM, "POST", one + "/cancel", template.NestedType, versions, true, cancelDeployment},
		{apiARM, "POST", one + "/validate", template.NestedType, versions, false, validateDeployment},
		{apiARM, "POST", one + "/whatIf", template.NestedType, versions, false, whatIfDeployment},
		{apiARM, "GET", one + "/operationStatuses/{status}", template.NestedType, versions, false, getDeploymentStatus},
		{apiARM, "GET", one + "/operations", template.NestedType, versions, false, listDeploymentOperations},
		{apiARM, "GET", one + "/operations/{operation}", template.NestedType, versions, false, getDeploymentOperation},
		{apiARM, "GET", operations, template.NestedType, versions, false, listDeploymentOperations},
		{apiARM, "GET", operations + "/{operation}", template.NestedType, versions, false, getDeploymentOperation},
	}
}

// findRoute never fails: what nobody knows leads to ARM's 404.
func (w *World) findRoute(method string, address *url.URL) (route, map[string]string) {
	parts := partsOf(address.EscapedPath())
	for _, candidate := range w.routes {
		if candidate.method != method {
			continue
		}
		if parameters, matches := matchPath(candidate.path, parts); matches {
			return candidate, parameters
		}
	}
	if isResource(parts) && method == http.MethodGet {
		return route{api: apiARM, method: method, handle: getResource(address.Path)}, nil
	}
	mutating := method != http.MethodGet && method != http.MethodHead
	return route{api: apiARM, method: method, mutating: mutating, handle: unknownPath(address.Path)}, nil
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

// isResource: the path has the form of a resource's ID, in a resource group or not, with a namespace, and types and
// names in turn.
func isResource(parts []string) bool {
	provider := slices.IndexFunc(parts, func(part string) bool { return strings.EqualFold(part, "providers") })
	return (provider == 2 || provider == 4) && strings.EqualFold(parts[0], "subscriptions") &&
		len(parts) >= provider+4 && (len(parts)-provider)%2 == 0
}

func unknownPath(path string) func(*World, *request) answer {
	return func(*World, *request) answer {
		return armError(http.StatusNotFound, "InvalidResourceType",
			fmt.Sprintf("The resource type could not be found for the path '%s'.", path))
	}
}

var versionShape = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-preview)?$`)

// frontDoor is what ARM refuses before it asks a resource provider: api-version, subscription, resource group, cluster.
func (w *World) frontDoor(found route, asked *request) (answer, bool) {
	refuse := func(status int, code, format string, arguments ...any) (answer, bool) {
		return armError(status, code, fmt.Sprintf(format, arguments...)), true
	}
	version, supported := asked.query.Get("api-version"), strings.Join(found.versions, ", ")
	m := w.model
	subscription, inOne := asked.parameters["subscription"]
	group, name := asked.parameter("group"), asked.parameter("cluster")
	_, groupExists := m.findGroup(group)
	switch {
	case len(found.versions) == 0:
		return answer{}, false
	case version == "":
		return refuse(http.StatusBadRequest, "MissingApiVersionParameter",
			"The api-version query parameter (?api-version=) is required for all requests.")
	case !versionShape.MatchString(version):
		return refuse(http.StatusBadRequest, "InvalidApiVersionParameter",
			"The api-version '%s' is invalid. The supported versions are '%s'.", version, supported)
	case !slices.Contains(found.versions, version):
		return refuse(http.StatusBadRequest, "NoRegisteredProviderFound",
			"No registered resource provider found for location '%s' and API version '%s' for type '%s'. "+
				"The supported api-versions are '%s'.",
			m.scenario.Location, version, found.kind, supported)
	case inOne && !strings.EqualFold(subscription, m.scenario.Subscription):
		return refuse(http.StatusNotFound, "SubscriptionNotFound", "The subscription '%s' could not be found.", subscription)
	case group == "":
		return answer{}, false
	case !groupExists:
		return refuse(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", group)
	case name != "" && (m.cluster == nil || !strings.EqualFold(name, m.scenario.Cluster) ||
		!strings.EqualFold(group, m.scenario.ResourceGroup)):
		return refuse(http.StatusNotFound, "ResourceNotFound",
			"The Resource 'Microsoft.ContainerService/managedClusters/%s' under resource group '%s' was not found. "+
				"For more details please go to https://aka.ms/ARMResourceNotFoundFix", name, group)
	}
	return answer{}, false
}
