package instance

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"salve/kube"
)

const yaml = "prowjob_namespace: prow\npod_namespace: test-pods\n"

func configMap(edit ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	made := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prow", Name: "config"}, Data: map[string]string{"config.yaml": yaml},
	}
	for _, edit := range edit {
		edit(made)
	}
	return made
}

func instanceOf(objects ...runtime.Object) *Instance {
	return &Instance{
		Cluster:       &kube.Cluster{Client: fake.NewClientset(objects...), Clock: clock.RealClock{}},
		Configuration: Configuration{File: "config.yaml", Namespaces: rules.Namespaces, Content: []byte(yaml)},
		Components:    "prow",
	}
}

func pointer(made appsv1.Deployment) *appsv1.Deployment { return &made }

// TestDeployedIsFound by what containers run, whatever their Deployments are called.
func TestDeployedIsFound(t *testing.T) {
	sinker := pointer(deployment("b", "sinker"))
	for rule, i := range map[string]*Instance{
		"prow-controller-manager": instanceOf(pointer(deployment("a", "prow-controller-manager")), sinker, configMap()),
		"plank of old":            instanceOf(pointer(deployment("a", "plank")), sinker, configMap()),
		"binary data": instanceOf(pointer(deployment("a", "plank")), sinker, configMap(func(c *corev1.ConfigMap) {
			c.Data, c.BinaryData = nil, map[string][]byte{"config.yaml": zipped(yaml)}
		})),
	} {
		seen, err := i.Deployed(t.Context())
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		if seen.Mounted != rules.Namespaces || seen.Missing() != "" || seen.Moving(i.Configuration) != "" ||
			seen.Mount != (Key{"prow", "config", "config.yaml"}) {
			t.Errorf("%s: %+v; missing %q; moving %q", rule, seen, seen.Missing(), seen.Moving(i.Configuration))
		}
	}
}

func zipped(text string) []byte {
	var kept bytes.Buffer
	archive := gzip.NewWriter(&kept)
	_, _ = archive.Write([]byte(text))
	_ = archive.Close()
	return kept.Bytes()
}

// TestDeployedThatCanNotBeTold is an error that says what to do.
func TestDeployedThatCanNotBeTold(t *testing.T) {
	elsewhere := deployment("a", "plank", func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Volumes[0].ConfigMap.Name = "other"
		d.Name = "c"
	})
	projected := deployment("a", "plank", func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}
	})
	plank := pointer(deployment("a", "plank"))
	broken := func(c *corev1.ConfigMap) { c.Data["config.yaml"] = "pod_namespace: [" }
	for rule, row := range map[string]struct {
		i    *Instance
		says string
	}{
		"no plank":       {instanceOf(configMap()), "hint: --prow-namespace"},
		"two planks":     {instanceOf(plank, &elsewhere, configMap()), "ambiguous"},
		"another volume": {instanceOf(&projected, configMap()), "hint: --prow-config-map"},
		"no ConfigMap":   {instanceOf(plank), "not found"},
		"no such key": {instanceOf(plank, configMap(func(c *corev1.ConfigMap) { c.Data = nil })),
			"not found: ConfigMap prow/config, key config.yaml"},
		"Prow refuses it": {instanceOf(plank, configMap(broken)), "ConfigMap prow/config"},
	} {
		if _, err := row.i.Deployed(t.Context()); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", rule, err)
		}
	}
	named := instanceOf(&projected, configMap())
	named.Mount = Key{"prow", "config", "config.yaml"}
	if seen, err := named.Deployed(t.Context()); err != nil || seen.Mounted != rules.Namespaces {
		t.Errorf("a named ConfigMap: %v", err)
	}
}

// TestWhatIsUnderWay holds everything.
func TestWhatIsUnderWay(t *testing.T) {
	git := Configuration{File: "config.yaml", Namespaces: rules.Namespaces, Content: []byte(yaml)}
	for rule, row := range map[string]struct {
		plank, sinker func(*appsv1.Deployment)
		content       string
		says          string
	}{
		"nothing":              {},
		"another last newline": {content: yaml + "\n"},
		"plank was changed": {plank: func(d *appsv1.Deployment) { d.Generation = 4 },
			says: "restart: Deployment prow/plank was changed just now"},
		"sinker rolls out": {sinker: func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 0 },
			says: "restart: Deployment prow/sinker has 0 of 1 pods of its new version"},
		"an old plank ends": {plank: func(d *appsv1.Deployment) { d.Status.Replicas = 2 },
			says: "still has 1 pods of its old version"},
		"plank is not ready": {plank: func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 0 },
			says: "has 0 of 1 pods available"},
		"plank is deleted": {plank: func(d *appsv1.Deployment) { now := metav1.Now(); d.DeletionTimestamp = &now },
			says: "is being deleted"},
		"plank is switched off": {plank: func(d *appsv1.Deployment) {
			d.Spec.Replicas, d.Status = new(int32), appsv1.DeploymentStatus{ObservedGeneration: 3}
		}, says: "scaled to 0"},
		"sinker is switched off": {sinker: func(d *appsv1.Deployment) {
			d.Spec.Replicas, d.Status = new(int32), appsv1.DeploymentStatus{ObservedGeneration: 3}
		}},
		"another configuration": {content: yaml + "log_level: debug\n",
			says: "a change of the configuration is in flight: ConfigMap prow/config, key config.yaml is not what"},
	} {
		seen := &Deployed{Mount: Key{"prow", "config", "config.yaml"}, Content: []byte(yaml)}
		if row.content != "" {
			seen.Content = []byte(row.content)
		}
		seen.Plank = []appsv1.Deployment{deployment("plank", "plank", orNothing(row.plank))}
		seen.Sinker = []appsv1.Deployment{deployment("sinker", "sinker", orNothing(row.sinker))}
		if said := seen.Moving(git); (said == "") != (row.says == "") || !strings.Contains(said, row.says) {
			t.Errorf("%s: %q", rule, said)
		}
	}
	if (&Deployed{}).Missing() != "plank" || (&Deployed{Plank: make([]appsv1.Deployment, 1)}).Missing() != "sinker" {
		t.Error("a missing Deployment is not said")
	}
}

// TestConfigurationOfGit.
func TestConfigurationOfGit(t *testing.T) {
	folder := t.TempDir()
	for rule, row := range map[string]struct {
		content string
		want    Namespaces
		says    string
	}{
		"both":        {yaml, rules.Namespaces, ""},
		"none":        {"log_level: debug\n", Namespaces{"default", "default"}, ""},
		"not YAML":    {"pod_namespace: [", Namespaces{}, "configuration incomplete"},
		"a bad value": {"pod_namespace: {a: b}", Namespaces{}, "configuration"},
	} {
		file := filepath.Join(folder, "config.yaml")
		if err := os.WriteFile(file, []byte(row.content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadConfiguration(file)
		switch {
		case row.says == "" && (err != nil || got.Namespaces != row.want || got.File != file):
			t.Errorf("%s: %+v, %v", rule, got, err)
		case row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)):
			t.Errorf("%s: %v", rule, err)
		}
	}
	if _, err := ReadConfiguration(filepath.Join(folder, "none")); err == nil {
		t.Error("a file that is not there was read")
	}
}

// TestWhatKubeletsSay of pods that were asked for.
func TestWhatKubeletsSay(t *testing.T) {
	event := func(name, message string) *corev1.Event {
		return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Reason: "FailedMount",
			InvolvedObject: corev1.ObjectReference{UID: "uid-x"}, Message: message}
	}
	first := event("a", `MountVolume.SetUp failed for volume "s" : secret "service-account" not found`)
	twice := event("b", `MountVolume.SetUp failed for volume "s" : secret "service-account" not found`)
	map1 := event("c", `MountVolume.SetUp failed for volume "m" : configmap "m" not found`)
	other := event("d", `MountVolume.SetUp failed for volume "s" : secret "another" not found`)
	other.InvolvedObject.UID = "uid-of-another"
	busy := event("e", "Unable to attach or mount volumes: timed out waiting for the condition")
	said, err := instanceOf(first, twice, map1, other, busy).Mounts(t.Context(), map[types.UID]string{"uid-x": "default"})
	if err != nil || len(said) != 1 || len(said["uid-x"]) != 2 {
		t.Fatalf("%v, %v", said, err)
	}
	if text := Lacks(said["uid-x"][0], "test-pods"); text != "Secret service-account, which is in test-pods" {
		t.Error(text)
	}
}
