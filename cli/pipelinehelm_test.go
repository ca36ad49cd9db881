package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/kubetest"
)

// helmPipeline releases a chart, with a secret of another step among its values.
const helmPipeline = `$schema: pipeline.schema.v1
serviceGroup: Example.Fleet
rolloutName: Fleet
resourceGroups:
- name: fleet
  resourceGroup: mgmt
  subscription: sub
  steps:
  - name: secret
    action: Shell
    shellIdentity: {value: none}
    command: echo token=hunter2secret >> "$SALVE_SECRET_OUTPUT"
    idempotent: true
    outputs: [token]
  - name: web
    action: Helm
    aksCluster: cluster
    releaseName: web
    releaseNamespace: '{{ .namespace }}'
    chartDir: chart
    valuesFile: values.yaml
    namespaceFiles: [namespace.yaml]
    rollbackOnFailure: true
    kustoDatabase: ''
    kustoTable: ''
    kustoEndpoint: {resourceGroup: fleet, step: secret, name: token}
    identityFrom: {resourceGroup: fleet, step: secret, name: token}
    inputVariables:
      token: {resourceGroup: fleet, step: secret, name: token}
`

// TestHelmStep: its values come from the configuration and from another step, whose secret is said nowhere.
func TestHelmStep(t *testing.T) {
	t.Parallel()
	plane := kubetest.Start(t)
	namespace := plane.Namespace(t)
	r := &rollouts{t, t.TempDir()}
	for name, text := range map[string]string{
		"pipeline.yaml":    helmPipeline,
		"config.yaml":      "namespace: " + namespace + "\ngreeting: good morning\n",
		"values.yaml":      "greeting: '{{ .greeting }}'\ntoken: '__token__'\n",
		"namespace.yaml":   "apiVersion: v1\nkind: Namespace\nmetadata: {name: '{{ .namespace }}', labels: {team: web}}\n",
		"chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"chart/templates/all.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n" +
			"data: {greeting: {{ .Values.greeting }}, token: {{ .Values.token }}}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(r.in(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	with := []string{"--config", r.in("config.yaml"), "--kubeconfig", plane.Kubeconfig(), "--journal", r.in("journal")}
	code, said := r.runs("state", "", r.run(with...)...)
	if code != exitDecided || !strings.Contains(said, "released web in namespace "+namespace) {
		t.Fatalf("exit %d:\n%s", code, said)
	}
	made, err := plane.Client().CoreV1().ConfigMaps(namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || made.Data["greeting"] != "good morning" || made.Data["token"] != "hunter2secret" {
		t.Errorf("made %v, %v", made, err)
	}
	code, preview := r.runs("state", "", r.run(append(with, "--dry-run")...)...)
	if code != exitDecided {
		t.Errorf("exit %d:\n%s", code, preview)
	}
	files := filepath.Walk(r.in("journal"), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			said += string(raw)
		}
		return err
	})
	if files != nil || strings.Contains(said+preview, "hunter2") {
		t.Errorf("the secret is said, or not looked for: %v", files)
	}
	r.failsAndIsTakenBack(with)
	if err := os.WriteFile(r.in("values.yaml"), []byte("greeting: '{{ .greetin }}'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, said = r.runs("state", "", r.run(with...)...)
	if code == exitDecided || !strings.Contains(said, `values.yaml:1`) || !strings.Contains(said, "greetin") {
		t.Errorf("exit %d:\n%s", code, said)
	}
}

// failsAndIsTakenBack: the step's timeout bounds the wait, and leaves time for the rollback.
func (r *rollouts) failsAndIsTakenBack(with []string) {
	r.Helper()
	text := strings.Replace(helmPipeline, "    action: Helm\n", "    action: Helm\n    timeout: 3s\n", 1)
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: nowhere}\n" +
		"spec: {nodeSelector: {nowhere: yes-or-no}, containers: [{name: a, image: registry.example/a}]}\n"
	for name, text := range map[string]string{"pipeline.yaml": text, "chart/templates/pod.yaml": pod} {
		if err := os.WriteFile(r.in(name), []byte(text), 0o600); err != nil {
			r.Fatal(err)
		}
	}
	code, said := r.runs("state", "", r.run(with...)...)
	if code == exitDecided || !strings.Contains(said, "has been rolled back") {
		r.Errorf("exit %d:\n%s", code, said)
	}
}
