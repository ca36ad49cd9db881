package azuresim

import (
	"fmt"
	"net/http"
	"strings"
)

// What clients look at before they come to the cluster: the cloud's addresses, tenants, subscriptions, resource groups
// and providers. All of it only to be read, but for resource groups.

// describeCloud is what clients configure themselves from when they know ARM's address alone.
func describeCloud(_ *World, asked *request) answer {
	return ok([]any{map[string]any{
		"name": "Embedded", "resourceManager": asked.base, "portal": asked.base, "graph": asked.base,
		"microsoftGraphResourceId": asked.base,
		"authentication": map[string]any{
			"loginEndpoint": asked.base, "audiences": []string{asked.base}, "tenant": tenant, "identityProvider": "AAD",
		},
		"suffixes": map[string]string{},
	}})
}

func listTenants(*World, *request) answer {
	return list(map[string]any{
		"id": "/tenants/" + tenant, "tenantId": tenant, "displayName": "Embedded", "tenantCategory": "Home",
	})
}

func list(items ...any) answer {
	if items == nil {
		items = []any{} // a list is never null
	}
	return ok(map[string]any{"value": items})
}

func (w *World) subscriptionBody() map[string]any {
	return map[string]any{
		"id": "/subscriptions/" + w.scenario.Subscription, "subscriptionId": w.scenario.Subscription, "tenantId": tenant,
		"displayName": "Embedded", "state": "Enabled", "authorizationSource": "RoleBased", "managedByTenants": []any{},
		"subscriptionPolicies": map[string]string{
			"locationPlacementId": "Public_2014-09-01", "quotaId": "EnterpriseAgreement_2014-09-01", "spendingLimit": "Off",
		},
	}
}

func listSubscriptions(w *World, _ *request) answer { return list(w.subscriptionBody()) }
func getSubscription(w *World, _ *request) answer   { return ok(w.subscriptionBody()) }

func listLocations(w *World, _ *request) answer {
	name := w.scenario.Location
	return list(map[string]any{
		"id": "/subscriptions/" + w.scenario.Subscription + "/locations/" + name, "name": name, "displayName": name,
		"regionalDisplayName": name, "type": "Region",
		"metadata": map[string]string{"regionType": "Physical", "regionCategory": "Recommended"},
	})
}

func listGroups(w *World, _ *request) answer {
	var items []any
	for _, name := range w.model.groupNames() {
		items = append(items, w.model.groupBody(name))
	}
	return list(items...)
}

func getGroup(w *World, asked *request) answer {
	name, _ := w.model.findGroup(asked.parameter("group")) // the front door has seen that it is there
	return ok(w.model.groupBody(name))
}

func putGroup(w *World, asked *request) answer {
	body, err := decodeObject(asked.body)
	if err != nil {
		return armError(http.StatusBadRequest, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: '"+err.Error()+"'.")
	}
	created, why := w.model.putGroup(asked.parameter("newGroup"), body)
	if why != nil {
		return why.ofARM()
	}
	name, _ := w.model.findGroup(asked.parameter("newGroup"))
	a := ok(w.model.groupBody(name))
	if created {
		a.status = http.StatusCreated
	}
	return a
}

// getResource shows what is kept without knowing what it does, at any api-version.
func getResource(id string) func(*World, *request) answer {
	return func(w *World, asked *request) answer {
		if asked.query.Get("api-version") == "" {
			return armError(http.StatusBadRequest, "MissingApiVersionParameter",
				"The api-version query parameter (?api-version=) is required for all requests.")
		}
		if r := w.model.kept(strings.TrimSuffix(id, "/")); r != nil {
			return ok(r.body)
		}
		return resourceNotFound(id).ofARM()
	}
}

func headGroup(*World, *request) answer { return answer{status: http.StatusNoContent} }

// providers are the namespaces that some route is of.
func (w *World) providers() []any {
	supported, types := supportedVersions(), map[string][]any{}
	var order []string
	for _, kind := range []struct {
		namespace, name string
		versions        []string
	}{
		{"Microsoft.ContainerService", "managedClusters", supported.aks},
		{"Microsoft.ContainerService", "managedClusters/agentPools", supported.aks},
		{"Microsoft.Compute", "virtualMachineScaleSets", supported.compute},
		{"Microsoft.Insights", "eventtypes", supported.logs},
		{"Microsoft.Resources", "tags", supported.tags},
		{"Microsoft.Resources", "deployments", supported.deployments},
		{"Microsoft.Resources", "resourceGroups", supported.groups},
		{"Microsoft.Network", "networkInterfaces", supported.network},
	} {
		if types[kind.namespace] == nil {
			order = append(order, kind.namespace)
		}
		types[kind.namespace] = append(types[kind.namespace], map[string]any{
			"resourceType": kind.name, "locations": []string{w.scenario.Location}, "apiVersions": kind.versions,
		})
	}
	var found []any
	for _, namespace := range order {
		found = append(found, map[string]any{
			"id": "/subscriptions/" + w.scenario.Subscription + "/providers/" + namespace, "namespace": namespace,
			"registrationState": "Registered", "registrationPolicy": "RegistrationRequired", "resourceTypes": types[namespace],
		})
	}
	return found
}

func listProviders(w *World, _ *request) answer { return list(w.providers()...) }

func getProvider(w *World, asked *request) answer {
	for _, item := range w.providers() {
		provider, is := item.(map[string]any)
		if is && strings.EqualFold(fmt.Sprint(provider["namespace"]), asked.parameter("namespace")) {
			return ok(provider)
		}
	}
	return armError(http.StatusNotFound, "InvalidResourceNamespace",
		fmt.Sprintf("The resource namespace '%s' is invalid.", asked.parameter("namespace")))
}
