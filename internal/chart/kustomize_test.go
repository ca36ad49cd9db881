package chart_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write deploy/kustomize anew")

// kustomized are the releases that are bases of kustomize too.
var kustomized = []string{"job", "cronjob", "watch", "prow-watch"}

const bases = "../../deploy/kustomize"

// TestBasesOfKustomizeAreTheChart: go test ./internal/chart -update writes them.
func TestBasesOfKustomizeAreTheChart(t *testing.T) {
	for _, name := range kustomized {
		var content bytes.Buffer
		content.WriteString("# Made of the Helm chart by go test ./internal/chart -update. Change it there.\n")
		for _, object := range objects(t, name) {
			if object.GetKind() == "Namespace" {
				continue // those of all bases are in one place
			}
			plain(object)
			raw, err := yaml.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			content.WriteString("---\n")
			content.Write(raw)
		}
		path := filepath.Join(bases, name, "salve.yaml")
		if *update {
			if err := os.WriteFile(path, content.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if read(t, path) != content.String() {
			t.Errorf("%s is not what the chart says. hint: go test ./internal/chart -update", path)
		}
	}
}

// TestBasesOfKustomizeAreApplied builds each with kubectl and asks the API server about every object.
func TestBasesOfKustomizeAreApplied(t *testing.T) {
	plane := newPlane(t)
	for _, name := range slices.Concat([]string{"namespaces"}, kustomized, []string{"example"}) {
		t.Run(name, func(t *testing.T) {
			built := kustomize(t, plane, filepath.Join(bases, name))
			for _, object := range built {
				plane.dryRun(t, object)
				if object.GetKind() == "Namespace" {
					plane.apply(t, object)
				}
			}
			if image := "registry.example/ops/salve@sha256:"; name == "example" && !strings.Contains(encode(t, built), image) {
				t.Errorf("the image is not %s…", image)
			}
		})
	}
}

// kustomize builds a base as kubectl apply -k does.
func kustomize(t *testing.T, plane plane, base string) (built []*unstructured.Unstructured) {
	t.Helper()
	command := exec.Command(plane.Program("kubectl"), "kustomize", base)
	said, err := command.Output()
	if err != nil {
		t.Fatalf("kubectl kustomize %s: %v", base, err)
	}
	for document := range strings.SplitSeq(string(said), "\n---\n") {
		built = append(built, decode(t, document))
	}
	return built
}

// plain takes away what is Helm's.
func plain(object *unstructured.Unstructured) {
	for _, at := range [][]string{nil, {"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}} {
		labels := slices.Concat(at, []string{"metadata", "labels"})
		for _, label := range []string{"app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart"} {
			unstructured.RemoveNestedField(object.Object, append(labels, label)...)
		}
	}
}

func decode(t *testing.T, document string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}
