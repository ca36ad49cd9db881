package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/helm"
	"salve/internal/kubetest"
	"salve/internal/registry"
	"salve/internal/registry/registrytest"
)

// chartPipeline releases a chart of a registry.
const chartPipeline = `$schema: pipeline.schema.v1
serviceGroup: Example.Fleet
rolloutName: Fleet
resourceGroups:
- name: fleet
  resourceGroup: mgmt
  subscription: sub
  steps:
  - name: endpoint
    action: Shell
    shellIdentity: {value: none}
    command: echo endpoint=none >> "$SALVE_OUTPUT"
    idempotent: true
    outputs: [endpoint]
  - name: web
    action: Helm
    aksCluster: cluster
    releaseName: web
    releaseNamespace: '{{ .namespace }}'
    chartDir: '{{ .chart }}'
    valuesFile: values.yaml
    timeout: 30s
    kustoDatabase: ''
    kustoTable: ''
    kustoEndpoint: {resourceGroup: fleet, step: endpoint, name: endpoint}
    identityFrom: {resourceGroup: fleet, step: endpoint, name: endpoint}
`

// charts is a registry of charts, a pipeline that releases one of them, and a real control plane.
type charts struct {
	*rollouts
	host, namespace string
	plane           *kubetest.ControlPlane
	// private has the registry ask for a password.
	private atomic.Bool
	// resolved is told each time that a tag is looked up; nil is nobody.
	resolved func()
}

func newCharts(t *testing.T) *charts {
	t.Helper()
	c := &charts{rollouts: &rollouts{t, t.TempDir()}, plane: kubetest.Start(t)}
	c.namespace = c.plane.Namespace(t)
	c.host = registrytest.Serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, password, _ := r.BasicAuth(); c.private.Load() && password != "hush" {
				w.Header().Set("WWW-Authenticate", `Basic realm="charts"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			if r.Method == http.MethodHead && strings.HasSuffix(r.URL.Path, "/manifests/1.0.0") && c.resolved != nil {
				c.resolved()
			}
			next.ServeHTTP(w, r)
		})
	})
	for name, text := range map[string]string{"pipeline.yaml": chartPipeline, "values.yaml": "{}\n"} {
		if err := os.WriteFile(c.in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// push packages a chart of one config map, and pushes it to fleet/web as version 1.0.0.
func (c *charts) push(greeting string) registry.Image {
	c.Helper()
	var packaged bytes.Buffer
	zipped := gzip.NewWriter(&packaged)
	archive := tar.NewWriter(zipped)
	for name, text := range map[string]string{
		"web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"web/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {greeting: " + greeting +
			"}\n",
	} {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}); err != nil {
			c.Fatal(err)
		}
		if _, err := archive.Write([]byte(text)); err != nil {
			c.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		c.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		c.Fatal(err)
	}
	kind := helm.Packaged()
	return registrytest.PushArtifact(c, c.host, "fleet/web", "1.0.0", kind.Config, kind.Layers[0], packaged.Bytes())
}

// release runs the pipeline with a chart.
func (c *charts) release(chart string, more ...string) (int, string) {
	c.Helper()
	text := "namespace: " + c.namespace + "\nchart: " + chart + "\n"
	if err := os.WriteFile(c.in("config.yaml"), []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
	return c.runs("state", "", c.run(append([]string{"--config", c.in("config.yaml"), "--kubeconfig",
		c.plane.Kubeconfig(), "--journal", c.in("journal")}, more...)...)...)
}

func (c *charts) greets(want string) {
	c.Helper()
	made, err := c.plane.Client().CoreV1().ConfigMaps(c.namespace).Get(c.Context(), "web", metav1.GetOptions{})
	if err != nil || made.Data["greeting"] != want {
		c.Errorf("made %v, %v, want %s", made.Data, err, want)
	}
}

func TestHelmStepOfARegistry(t *testing.T) {
	c := newCharts(t)
	first := c.push("one")
	tagged := "oci://" + c.host + "/fleet/web:1.0.0"
	if code, said := c.release(tagged); code != exitDecided {
		t.Fatalf("exit %d:\n%s", code, said)
	}
	c.greets("one")
	code, said := c.release(tagged, "--dry-run")
	if code != exitDecided || !strings.Contains(said, tagged+", "+first.Digest) {
		t.Errorf("exit %d:\n%s", code, said)
	}
	c.push("two")
	if code, said := c.release("oci://" + c.host + "/fleet/web@" + first.Digest); code != exitDecided {
		t.Errorf("exit %d:\n%s", code, said)
	}
	c.greets("one")

	// The tag moves after the pipeline was checked: what was checked is not there, and what is there was not checked.
	var looked atomic.Int32
	c.resolved = func() {
		if looked.Add(1) == 2 {
			c.push("three")
		}
	}
	code, said = c.release(tagged)
	if code == exitDecided || !strings.Contains(said, "chart "+tagged+" has moved") {
		t.Errorf("exit %d:\n%s", code, said)
	}
	c.greets("one")
	if code, said := c.release(tagged); code != exitDecided {
		t.Errorf("exit %d:\n%s", code, said)
	}
	c.greets("three")
}

// TestHelmStepOfAPrivateRegistry: docker's own credentials are used where they are passed on, and said nowhere.
func TestHelmStepOfAPrivateRegistry(t *testing.T) {
	c := newCharts(t)
	config := `{"auths":{"` + c.host + `":{"auth":"` + base64.StdEncoding.EncodeToString([]byte("robot:hush")) + `"}}}`
	if err := os.WriteFile(c.in("config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOCKER_CONFIG", c.folder)
	chart := "oci://" + c.host + "/fleet/web@" + c.push("hello").Digest
	c.private.Store(true)
	if code, said := c.release(chart); code == exitDecided || !strings.Contains(said, "401") {
		t.Errorf("exit %d:\n%s", code, said)
	}
	code, said := c.release(chart, "--pass", "DOCKER_CONFIG")
	if code != exitDecided || strings.Contains(said, "hush") {
		t.Errorf("exit %d:\n%s", code, said)
	}
	c.greets("hello")
}

// TestWhatIsNoChart is refused before anything begins.
func TestWhatIsNoChart(t *testing.T) {
	c := newCharts(t)
	kind := helm.Packaged()
	other := registrytest.PushArtifact(t, c.host, "fleet/web", "1.0.0", "application/a.config", kind.Layers[0], nil)
	torn := registrytest.PushArtifact(t, c.host, "fleet/web", "1.0.1", kind.Config, kind.Layers[0], []byte("no archive"))
	for says, chart := range map[string]string{
		`is of type "application/a.config"`: "oci://" + c.host + "/fleet/web@" + other.Digest,
		"loading chart oci://":              "oci://" + c.host + "/fleet/web@" + torn.Digest,
		"names no version":                  "oci://" + c.host + "/fleet/web",
	} {
		if code, said := c.release(chart); code == exitDecided || !strings.Contains(said, says) ||
			strings.Contains(said, "fleet/endpoint  ") {
			t.Errorf("want %q: exit %d:\n%s", says, code, said)
		}
	}
}

// TestNamesAreRefusedBeforeAnythingBegins, where they are known by then.
func TestNamesAreRefusedBeforeAnythingBegins(t *testing.T) {
	t.Parallel()
	for says, change := range map[string][2]string{
		`release "Web_App": a name has 1 to 53`: {"releaseName: web", "releaseName: Web_App"},
		`namespace "a/b": a name has`:           {"releaseNamespace: '{{ .namespace }}'", "releaseNamespace: a/b"},
		`"latest" must be sha256: and 64 hex`:   {"digest: {value: none}", "digest: {value: 'latest'}"},
		`"Fleet/web" is no name of a repo`:      {"repository: {value: fleet/web}", "repository: {value: Fleet/web}"},
		`is a list, and must be a mapping of n`: {"providerConfigRef: providers", "providerConfigRef: namespaces"},
		`"5" is no namespace of a resource pr`:  {"configRef: namespaces", "configRef: mixed"},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			r := &rollouts{t, t.TempDir()}
			text := strings.Replace(chartPipeline, "chartDir: '{{ .chart }}'", "chartDir: chart", 1) + `  - name: mirror
    action: ImageMirror
    targetACR: {value: fleet}
    sourceRegistry: {value: images.example}
    repository: {value: fleet/web}
    digest: {value: none}
    publicSource: true
    shellIdentity: {value: none}
  - name: features
    action: ProviderFeatureRegistration
    providerConfigRef: providers
    identityFrom: {resourceGroup: fleet, step: endpoint, name: endpoint}
  - name: providers
    action: ResourceProviderRegistration
    resourceProviderNamespaces: {configRef: namespaces}
`
			text = strings.Replace(text, change[0], change[1], 1)
			text = strings.Replace(text, "{value: none}\n    publicSource", "{value: 'sha256:"+strings.Repeat("a", 64)+
				"'}\n    publicSource", 1)
			for name, content := range map[string]string{
				"pipeline.yaml": text, "values.yaml": "{}\n", "chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
				"config.yaml": "namespace: web\nproviders: {Microsoft.Compute: {poll: true}}\nnamespaces: [Microsoft.Cdn]\n" +
					"mixed: [Microsoft.Cdn, 5]\n",
			} {
				if err := os.MkdirAll(filepath.Dir(r.in(name)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(r.in(name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			code, said := r.runs("state", "", r.run("--config", r.in("config.yaml"), "--journal", r.in("journal"))...)
			if code == exitDecided || !strings.Contains(said, says) {
				t.Errorf("exit %d:\n%s", code, said)
			}
			if _, err := os.Stat(r.in("journal/runs")); err == nil {
				t.Error("a run was begun")
			}
		})
	}
}
