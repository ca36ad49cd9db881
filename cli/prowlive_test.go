package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"salve/internal/kubetest"
	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
)

// TestProwCheckAsksWhatFlagsLeadTo: a cluster, GitHub, or both.
func TestProwCheckAsksWhatFlagsLeadTo(t *testing.T) {
	plane, folder := kubetest.Start(t), t.TempDir()
	admin, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	if err := prowtest.Define(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	namespace := plane.Namespace(t)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "by-hand"}}
	job.Spec.Parallelism = new(int32)
	job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "p", Image: "prow/branchprotector:v20190125-2aca69d"}}}
	jobs := plane.Client().BatchV1().Jobs(namespace)
	if _, err := jobs.Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // other tests share the cluster, and take it for a run of theirs
		now := metav1.DeletePropagationBackground
		if err := jobs.Delete(context.WithoutCancel(t.Context()), job.Name,
			metav1.DeleteOptions{PropagationPolicy: &now}); err != nil {
			t.Error(err)
		}
	})
	sim := githubsim.New(githubsim.Options{})
	sim.Update(func(github *githubsim.World) {
		github.Token("ghp_fortests", "root")
		repo := github.Repo("kube/widgets")
		repo.Collaborators = map[string]string{"root": "admin"}
		repo.Branch("main").Protection = githubsim.Require("docs", "unit")
	})
	address, stop, err := sim.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	write(t, folder, map[string]string{"config.yaml": strings.Replace(protectionConfig, "prowjob_namespace: prow",
		"prowjob_namespace: "+namespace, 1), "manifests/p.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: branchprotector, namespace: ` + namespace + `}
spec: {template: {spec: {containers: [{name: p, image: "prow/branchprotector:v20190205-d83780367"}]}}}
`})
	variables := map[string]string{"GITHUB_TOKEN": "ghp_fortests", "GITHUB_API_URL": address,
		"KUBECONFIG": plane.Kubeconfig()}
	const notCluster, notGitHub = "P2, P3: needs --live of a cluster", "B2, B3, B5, B6: needs --live --github"
	for name, row := range map[string]struct {
		flags      []string
		says, hush []string
	}{
		"the cluster of KUBECONFIG": {nil, []string{notGitHub, "ALERT    B8"}, []string{notCluster}},
		"GitHub": {[]string{"--github"}, []string{notCluster, "ALERT    B3"},
			[]string{notGitHub, "ALERT    B8"}},
		"both": {[]string{"--github", "--cluster", "default"}, []string{"ALERT    B3", "ALERT    B8",
			"in progress: Job " + namespace + "/by-hand"}, []string{notCluster, notGitHub}},
		"GitHub, and another cluster than Prow's own": {[]string{"--github", "--cluster", "build"},
			[]string{"ALERT    B3", "B5, B8: needs --live of Prow's own cluster"}, []string{notCluster, notGitHub}},
	} {
		t.Run(name, func(t *testing.T) {
			arguments := append([]string{"prow", "check", "--config", filepath.Join(folder, "config.yaml"), "--manifests",
				filepath.Join(folder, "manifests"), "--live", "--fail-on", "never"}, row.flags...)
			code, stdout, stderr := runProgram(BuiltIn(), func(name string) string { return variables[name] }, arguments...)
			if code != exitDecided {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			for _, text := range row.says {
				if !strings.Contains(stdout, text) {
					t.Errorf("%q is not in\n%s", text, stdout)
				}
			}
			for _, text := range row.hush {
				if strings.Contains(stdout, text) {
					t.Errorf("%q is in\n%s", text, stdout)
				}
			}
		})
	}
}
