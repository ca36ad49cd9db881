package protector

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestIsProtector(t *testing.T) {
	for what, row := range map[string]struct {
		image   string
		command []string
		want    bool
	}{
		"Prow's image":            {"gcr.io/k8s-prow/branchprotector:v20190205", nil, true},
		"by its digest":           {"gcr.io/k8s-prow/branchprotector@sha256:0123", nil, true},
		"a mirror on a port":      {"registry.example:5000/prow-branchprotector", nil, true},
		"by its command":          {"registry.example/mirror:1", []string{"/app/branchprotector", "--confirm"}, true},
		"another of Prow's":       {"gcr.io/k8s-prow/sinker:v20190205", nil, false},
		"a tag of this name":      {"registry.example/app:branchprotector", nil, false},
		"a registry of this name": {"branchprotector.example/app:1", nil, false},
		"a word in a command":     {"golang", []string{"go", "test", "./branchprotector/..."}, false},
	} {
		if got := IsProtector(row.image, row.command); got != row.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

const declared = `
apiVersion: v1
kind: Service
metadata: {name: branchprotector}
spec: {ports: []}
---
apiVersion: batch/v1beta1
kind: CronJob
metadata: {name: protect, namespace: prow}
spec:
  schedule: "7 * * * *"
  jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: helper}, {name: b,
	image: "branchprotector:v1"}]}}}}
`

func TestDeclared(t *testing.T) {
	for rule, row := range map[string]struct {
		files map[string]string
		want  map[string]string
		says  string // the error; empty for none
	}{
		"nothing": {nil, map[string]string{}, ""},
		"among other documents and containers": {map[string]string{"a/b.yaml": declared},
			map[string]string{"CronJob prow/protect": "branchprotector:v1"}, ""},
		"as JSON, of no namespace": {map[string]string{"a.json": `{"kind":"CronJob","metadata":{"name":"p"},"spec":{"jobTemplate":` +
			`{"spec":{"template":{"spec":{"containers":[{"image":"branchprotector"}]}}}}}}`},
			map[string]string{"CronJob default/p": "branchprotector"}, ""},
		"the same twice": {map[string]string{"a.yaml": declared, "b.yaml": declared},
			map[string]string{"CronJob prow/protect": "branchprotector:v1"}, ""},
		"two images of one": {map[string]string{"a.yaml": declared, "b.yaml": strings.ReplaceAll(declared, ":v1", ":v2")},
			nil,
			"duplicate CronJob prow/protect"},
		"what can't be read, and may be it": {map[string]string{"a.yaml": "{{ branchprotector }}: ["}, nil, "a.yaml"},
		"what can't be read, and isn't":     {map[string]string{"a.yaml": "{{ sinker }}: ["}, map[string]string{}, ""},
		"other files":                       {map[string]string{"README.md": "branchprotector: ["}, map[string]string{}, ""},
	} {
		t.Run(rule, func(t *testing.T) {
			folder := t.TempDir()
			for name, content := range row.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Declared(folder)
			switch {
			case row.says == "" && (err != nil || !maps.Equal(got, row.want)):
				t.Errorf("%v (%v), want %v", got, err, row.want)
			case row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)):
				t.Errorf("%v, want something about %s", err, row.says)
			}
		})
	}
	if _, err := Declared(filepath.Join(t.TempDir(), "nowhere")); err == nil {
		t.Error("a folder that is not there has no manifests")
	}
}

func TestOver(t *testing.T) {
	suspended := true
	ended := func(kind batchv1.JobConditionType, status corev1.ConditionStatus) batchv1.Job {
		return batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: kind, Status: status}}}}
	}
	for rule, row := range map[string]struct {
		job  batchv1.Job
		want bool
	}{
		"begun":                {batchv1.Job{}, false},
		"complete":             {ended(batchv1.JobComplete, corev1.ConditionTrue), true},
		"failed":               {ended(batchv1.JobFailed, corev1.ConditionTrue), true},
		"not complete":         {ended(batchv1.JobComplete, corev1.ConditionFalse), false},
		"about to be complete": {ended(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue), false},
		"suspended":            {batchv1.Job{Spec: batchv1.JobSpec{Suspend: &suspended}}, true},
		"suspended, and a pod is left": {batchv1.Job{Spec: batchv1.JobSpec{Suspend: &suspended},
			Status: batchv1.JobStatus{Active: 1}}, false},
	} {
		if got := over(row.job); got != row.want {
			t.Errorf("%s: %v", rule, got)
		}
	}
}

func TestUnfinishedProwJobs(t *testing.T) {
	job := func(state, pod map[string]any) *unstructured.Unstructured {
		spec := map[string]any{"job": "protect"}
		if pod != nil {
			spec["pod_spec"] = pod
		}
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": "prow", "name": "1"}, "spec": spec, "status": state,
		}}
	}
	protector := map[string]any{"containers": []any{map[string]any{"image": "branchprotector:v1"}}}
	for rule, row := range map[string]struct {
		job   *unstructured.Unstructured
		says  string
		fails bool
	}{
		"triggered":           {job(map[string]any{"state": "triggered"}, protector), `ProwJob prow/1 of job "protect"`, false},
		"complete":            {job(map[string]any{"completionTime": "2019-02-05T13:00:00Z"}, protector), "", false},
		"aborted, not so yet": {job(map[string]any{"state": "aborted"}, protector), "ProwJob prow/1", false},
		"of something else": {job(nil, map[string]any{
			"containers": []any{map[string]any{"image": "golang"}}}), "", false},
		"of an agent of no pod": {job(nil, nil), "", false},
		"that can't be read":    {job(nil, map[string]any{"containers": "none"}), "", true},
	} {
		run, is, err := unfinished(row.job)
		if (err != nil) != row.fails || !strings.HasPrefix(run.What, row.says) || (row.says == "") == is {
			t.Errorf("%s: %v (%v)", rule, run, err)
		}
	}
}
