package pipeline_test

import (
	"strings"
	"testing"

	"salve/internal/pipeline"
)

// TestTemplatesAroundLinesAreNamed: rollout tools fill them in before they read YAML, and Salve does not.
func TestTemplatesAroundLinesAreNamed(t *testing.T) {
	const head = "serviceGroup: S\nrolloutName: R\nresourceGroups:\n" +
		"- name: fleet\n  resourceGroup: g\n  subscription: s\n" +
		"  steps:\n  - name: one\n    action: Shell\n    command: 'true'\n    shellIdentity: {value: me}\n"
	for text, want := range map[string]string{
		"  {{ if .a.b }}\n  - name: two\n  {{ end }}\n":                         "p.yaml:12:3: {{ if .a.b }}",
		"{{- if .a.b }}\n  - name: two\n{{- end }}\n":                           "p.yaml:12:1: {{- if .a.b }}",
		"{{ range .zones }}\n  - name: 'zone-{{ . }}'\n{{ end }}\n":             "p.yaml:12:1: {{ range .zones }}",
		"    dependsOn:\n    {{ if .a }}\n":                                     "p.yaml:13:5: {{ if .a }}",
		"    idempotent: {{ .a.b }}\n":                                          "",
		"    observe: |\n      {{ if .a.b }}\n      exit 10\n      {{ end }}\n": "",
	} {
		_, found := pipeline.Parse("p.yaml", []byte(head+text))
		var all []string
		for _, one := range found {
			all = append(all, one.String())
		}
		if says := strings.Join(all, "\n"); want == "" && says != "" || !strings.Contains(says, want) ||
			want != "" && len(found) > 2 || strings.Contains(want, "{{") && !strings.Contains(says, " decides which lines") {
			t.Errorf("%s: want %q:\n%s", text, want, says)
		}
	}
}
