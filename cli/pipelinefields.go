package cli

import (
	"fmt"
	"slices"
	"strings"

	"salve/azure"
	"salve/internal/pipeline"
	"salve/internal/registry"
	"salve/runbooks/helmrelease"
)

// refusedFields are the fields of steps whose values are known to be refused before anybody is asked: by the rules of
// those that will run the steps.
func refusedFields() map[string]map[string]pipeline.Refusal {
	return map[string]map[string]pipeline.Refusal{
		actionHelm: {
			"releaseName":      helmrelease.ValidateRelease,
			"releaseNamespace": helmrelease.ValidateNamespace,
		},
		actionImageMirror: {
			"sourceRegistry": registry.ValidateHost,
			"targetACR":      registry.ValidateNameOrHost,
			"repository":     registry.ValidateRepository,
			"digest":         registry.ValidateDigest,
		},
		actionRegisterProviders: {"resourceProviderNamespaces": noNamespaces},
	}
}

// unreadField tells that a step never looks at a field: of an image that is where it is to be mirrored to, nothing more
// is asked. Validation knows no cloud, so that the registry of any will do.
func unreadField(step *pipeline.Step, field string) bool {
	if step.Action.Value != actionImageMirror || field != "repository" && field != "digest" {
		return false
	}
	said, err := mirroredBy(step)
	if err != nil {
		return false
	}
	for _, suffixes := range cloudSuffixes() {
		if said.inPlace(registry.Azure{RegistrySuffix: suffixes[0]}) {
			return true
		}
	}
	return false
}

// noNamespaces refuses namespaces of resource providers, with commas between them.
func noNamespaces(list string) error {
	names := strings.Split(list, ",")
	wrong := slices.IndexFunc(names, func(name string) bool { return !azure.IsNamespace(strings.TrimSpace(name)) })
	if wrong >= 0 {
		return fmt.Errorf("%q is no namespace of a resource provider, such as Microsoft.Compute",
			strings.TrimSpace(names[wrong]))
	}
	return nil
}
