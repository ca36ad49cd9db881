package azuresim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What a subscription may use: resource providers, and preview features of theirs.

func registrationRoutes(v apiVersions) []route {
	call := func(method, path, kind string, versions versionList, handle func(*World, *request) answer) route {
		return route{
			api: apiARM, method: method, path: path, kind: kind, versions: versions, mutating: method != "GET",
			handle: handle,
		}
	}
	const (
		provider = inSubscription + "/providers/{namespace}"
		features = inSubscription + "/providers/Microsoft.Features"
		of       = features + "/providers/{namespace}/features"
		kind     = "Microsoft.Features/features"
	)
	return []route{
		call("GET", inSubscription+"/providers", "providers", v.arm, listProviders),
		call("GET", provider, "providers", v.arm, getProvider),
		call("POST", provider+"/register", "providers", v.arm, registerProvider),
		call("POST", provider+"/unregister", "providers", v.arm, unregisterProvider),
		call("GET", features+"/features", kind, v.features, listFeatures),
		call("GET", of, kind, v.features, listFeatures),
		call("GET", of+"/{feature}", kind, v.features, getFeature),
		call("POST", of+"/{feature}/register", kind, v.features, registerFeature),
		call("POST", of+"/{feature}/unregister", kind, v.features, unregisterFeature),
	}
}

// providers are the namespaces that some route is of, then all others that are known.
func (w *World) providers() []any {
	supported, types := supportedVersions(), map[string][]any{}
	var order []string
	for _, kind := range []struct {
		namespace, name string
		versions        versionList
	}{
		{"Microsoft.ContainerService", "managedClusters", supported.aks},
		{"Microsoft.ContainerService", "managedClusters/agentPools", supported.aks},
		{"Microsoft.Compute", "virtualMachineScaleSets", supported.compute},
		{"Microsoft.Insights", "eventtypes", supported.logs},
		{"Microsoft.Resources", "tags", supported.arm},
		{"Microsoft.Resources", "deployments", supported.arm},
		{"Microsoft.Resources", "resourceGroups", supported.arm},
		{"Microsoft.Network", "networkInterfaces", supported.network},
	} {
		if types[kind.namespace] == nil {
			order = append(order, kind.namespace)
		}
		types[kind.namespace] = append(types[kind.namespace], map[string]any{
			"resourceType": kind.name, "locations": []string{w.scenario.Location}, "apiVersions": kind.versions.list,
		})
	}
	var found []any
	for _, namespace := range order {
		found = append(found, w.providerBody(namespace, types[namespace]))
	}
	for _, namespace := range slices.Sorted(maps.Keys(keptTypes())) {
		if types[namespace] == nil {
			found = append(found, w.otherProvider(namespace))
		}
	}
	for _, namespace := range providersByName() {
		found = append(found, w.otherProvider(namespace))
	}
	return found
}

// otherProvider is one of which no route is.
func (w *World) otherProvider(name string) map[string]any {
	types := []any{}
	for _, kind := range keptTypes()[name] {
		types = append(types, map[string]any{
			"resourceType": kind, "locations": []string{w.scenario.Location}, "apiVersions": []string{},
		})
	}
	return w.providerBody(name, types)
}

func (w *World) providerBody(namespace string, types []any) map[string]any {
	return map[string]any{
		"id": "/subscriptions/" + w.scenario.Subscription + "/providers/" + namespace, "namespace": namespace,
		"registrationState": w.model.registrations.provider(namespace), "registrationPolicy": "RegistrationRequired",
		"resourceTypes": types,
	}
}

func listProviders(w *World, _ *request) answer { return list(w.providers()...) }

// provider is the one of a path, as it is shown; nil for one of which nobody knows whether it is there.
func (w *World) provider(asked *request) map[string]any {
	for _, item := range w.providers() {
		provider, is := item.(map[string]any)
		if is && strings.EqualFold(fmt.Sprint(provider["namespace"]), asked.parameter("namespace")) {
			return provider
		}
	}
	return nil
}

func getProvider(w *World, asked *request) answer {
	if provider := w.provider(asked); provider != nil {
		return ok(provider)
	}
	return unknownCall(asked.method, "provider "+asked.parameter("namespace"))(w, asked)
}

func registerProvider(w *World, asked *request) answer   { return changeProvider(w, asked, true) }
func unregisterProvider(w *World, asked *request) answer { return changeProvider(w, asked, false) }

func changeProvider(w *World, asked *request, wanted bool) answer {
	if w.provider(asked) != nil {
		w.model.register(asked.parameter("namespace"), wanted)
	}
	return getProvider(w, asked)
}

func (w *World) featureBody(f *feature) map[string]any {
	return map[string]any{
		"id": fmt.Sprintf("/subscriptions/%s/providers/Microsoft.Features/providers/%s/features/%s", w.scenario.Subscription,
			f.Provider, f.Name),
		"name": f.Provider + "/" + f.Name, "type": "Microsoft.Features/providers/features",
		"properties": map[string]any{"state": f.state},
	}
}

func listFeatures(w *World, asked *request) answer {
	items := []any{}
	for _, f := range w.model.registrations.features {
		if of := asked.parameter("namespace"); of == "" || strings.EqualFold(of, f.Provider) {
			items = append(items, w.featureBody(f))
		}
	}
	return list(items...)
}

// getFeature: which features there are changes every month, so that of another one nobody knows.
func getFeature(w *World, asked *request) answer {
	namespace, name := asked.parameter("namespace"), asked.parameter("feature")
	if f := w.model.registrations.feature(namespace, name); f != nil {
		return ok(w.featureBody(f))
	}
	return unknownCall(asked.method, "feature "+name+" of "+namespace)(w, asked)
}

func registerFeature(w *World, asked *request) answer   { return changeFeature(w, asked, true) }
func unregisterFeature(w *World, asked *request) answer { return changeFeature(w, asked, false) }

func changeFeature(w *World, asked *request, wanted bool) answer {
	if f := w.model.registrations.feature(asked.parameter("namespace"), asked.parameter("feature")); f != nil {
		w.model.registerFeature(f, wanted)
	}
	return getFeature(w, asked)
}
