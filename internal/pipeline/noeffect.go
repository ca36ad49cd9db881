package pipeline

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// withoutEffect are fields of the schema that mean something to other runners, and nothing to this one: what it does
// instead.
func withoutEffect() map[string]string {
	return map[string]string{
		"executionConstraints":     "the steps run wherever the pipeline is run",
		"stamped":                  "the steps run once, and not for each stamp",
		"subscriptionProvisioning": "the subscription must be there",
		"adoArtifacts":             "nothing is downloaded",
		"subnetName":               "the command runs on this machine, in its network",
		"adoProject":               "the image is read from imageFilePath",
		"artifactName":             "the image is read from imageFilePath",
		"buildId":                  "the image is read from imageFilePath",
	}
}

// effects says which fields have none.
func (v *validator) effects() {
	for _, group := range (object{v.file.in, v.file.root}).objects("resourceGroups") {
		v.none(nil, group.text("name"), group, "stamped", "executionConstraints", "subscriptionProvisioning")
	}
	for _, step := range v.steps {
		switch {
		case step.Shell != nil && step.from.exists():
			v.none(step, Text{}, step.from, "adoArtifacts", "subnetName")
		case step.Action.Value == "ImageMirror":
			v.none(step, Text{}, step.from, "adoProject", "artifactName", "buildId")
		case step.ARM != nil && strings.EqualFold(step.ARM.DeploymentMode.Value, "complete"):
			v.warn(step, step.ARM.DeploymentMode.At, "no-effect",
				"to have it deleted, use ARMStack with actionOnUnmanage: delete",
				"deploymentMode complete is deployed as incremental, as rollout tools do: what is in the resource group and "+
					"not in the template stays")
		}
	}
}

// none notes which of some fields are there.
func (v *validator) none(step *Step, group Text, from object, names ...string) {
	for _, name := range names {
		field := from.field(name)
		switch {
		case field == nil, field.Kind == yaml.ScalarNode && field.Value == "":
			continue
		case name == "stamped" && field.Value != "true", name == "executionConstraints" && field.Kind != yaml.SequenceNode:
			continue // false, or of another type, which has been said
		}
		what := name
		if group.Value != "" {
			what = "resource group " + group.Value + ": " + name
		}
		v.add(step, position(v.file.Path, field), "no-effect", "", "%s has no effect here: %s", what, withoutEffect()[name])
		v.found[len(v.found)-1].Severity = diagnostic.Note
	}
}
