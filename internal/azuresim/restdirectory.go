package azuresim

import "net/http"

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
		return invalidContent(err).ofARM()
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

func patchGroup(w *World, asked *request) answer {
	body, err := decodeObject(asked.body)
	if err != nil {
		return invalidContent(err).ofARM()
	}
	name, _ := w.model.findGroup(asked.parameter("group")) // the front door has seen that it is there
	w.model.patchGroup(name, body)
	return ok(w.model.groupBody(name))
}
