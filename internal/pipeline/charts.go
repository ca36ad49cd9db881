package pipeline

import (
	"regexp"
	"strings"

	"salve/internal/diagnostic"
)

// ActionHelm is a step that releases a chart.
const ActionHelm = "Helm"

// registryScheme begins what is in a registry, and no path.
const registryScheme = "oci://"

func inRegistry(path string) bool { return strings.HasPrefix(path, registryScheme) }

// chartVersion ends a chart in a registry: which of all its versions is meant is not to be guessed.
var chartVersion = regexp.MustCompile(`^oci://[^/@]+/[^:@]+(:[A-Za-z0-9_][A-Za-z0-9._+-]*)?(@sha256:[0-9a-f]{64})?$`)

// charts validates where Helm steps have their charts from.
func (v *validator) charts() {
	for _, step := range v.steps {
		for _, field := range step.Fields {
			chart := field.Plain()
			if step.Action.Value != ActionHelm || field.Name.Value != "chartDir" || !inRegistry(chart) || templated(chart) {
				continue
			}
			parts := chartVersion.FindStringSubmatch(chart)
			switch {
			case parts == nil:
				v.add(step, field.At, "wrong-value", "write oci://HOST/REPOSITORY:VERSION or oci://HOST/REPOSITORY@sha256:DIGEST",
					"chartDir %q is no chart in a registry", chart)
			case parts[1] == "" && parts[2] == "":
				v.add(step, field.At, "wrong-value", "write "+chart+":VERSION", "chartDir %q names no version", chart)
			case parts[2] == "":
				v.warn(step, field.At, "chart-by-tag", "write "+chart+"@sha256:DIGEST",
					"a tag may name another chart tomorrow")
				v.found[len(v.found)-1].Severity = diagnostic.Note
			}
		}
	}
}
