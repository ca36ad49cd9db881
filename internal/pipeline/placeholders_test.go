package pipeline_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"salve/internal/pipeline"
)

const released = `serviceGroup: S
rolloutName: R
resourceGroups:
- name: fleet
  resourceGroup: rg
  subscription: s
  steps:
  - {name: a, action: Shell, command: 'true', shellIdentity: {value: me}}
  - name: web
    action: Helm
    aksCluster: aks-1
    chartDir: .
    releaseName: web
    releaseNamespace: web
    valuesFile: values.yaml
    kustoDatabase: ''
    kustoTable: ''
    kustoEndpoint: {resourceGroup: fleet, step: a, name: stdout}
    identityFrom: {resourceGroup: fleet, step: a, name: stdout}
    inputVariables:
      clientId: {resourceGroup: fleet, step: a, name: id}
      zone: {resourceGroup: fleet, step: a, name: zone}
`

// placed is a warning of a placeholder, with its place.
var placed = regexp.MustCompile(
	`(?m)^(:\d+:\d+): warning: step fleet/web: (__\w+__) is released as it is.*\[placeholder\]$`)

// TestPlaceholders: what stands for an input variable that a step doesn't have is found, and nothing that means
// something to others.
func TestPlaceholders(t *testing.T) {
	for name, row := range map[string]struct{ values, want string }{
		"an input variable":       {"id: __clientId__\nzone: x-__zone__-y\n", ""},
		"one that the step lacks": {"a: 1\nid: __tenantId__\n", `:2:5 __tenantId__`},
		"within a text":           {"url: https://__tenantId__.example/__clientId__\n", `:1:14 __tenantId__`},
		"each once":               {"a: __tenantId__ __tenantId__\nb: __tenantId__\n", `:1:4 __tenantId__`},
		"a name that is near":     {"a: x __zones__\n", `:1:6 __zones__`},
		"all that a field holds":  {"a: \"__cluster__\"\n", `:1:5 __cluster__`},
		"in a list of mappings":   {"- a: __cluster__ # why\n", `:1:6 __cluster__`},
		"a comment":               {"  # __tenantId__\n", ""},
		"Python within a text": {
			"a: |\n  if __name__ == '__main__': __init__()\n  def __getattr__(self): pass\n", ""},
		"what Prometheus calls a label": {"target_label: __address__\nb: __meta_kubernetes_pod_ip\nc: __meta_x__\n", ""},
		"what Prometheus joins":         {"source_labels: [__meta_kubernetes_pod_name, __name__]\n", ""},
		"a macro of C":                  {"a: at __FILE__:__LINE__\n", ""},
		"a word that hides nothing":     {"a: snake__case__word\n", ""},
		"a key is not a value":          {"__path__: /var/log\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for file, text := range map[string]string{
				"values.yaml": row.values, "Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
			} {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			file, found := pipeline.Parse(filepath.Join(folder, "p.yaml"), []byte(released))
			if len(found) > 0 {
				t.Fatal(lines(found))
			}
			_, found = pipeline.Validate(file, pipeline.Environment{})
			got := strings.TrimSpace(strings.ReplaceAll(lines(found), filepath.Join(folder, "values.yaml"), ""))
			got = placed.ReplaceAllString(got, "$1 $2")
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
