package prowtest

import (
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The types, agents and states of jobs that tests make.
const (
	Presubmit  = "presubmit"
	Postsubmit = "postsubmit"
	Periodic   = "periodic"

	Kubernetes = "kubernetes"
	Tekton     = "tekton-pipeline"

	Triggered = "triggered"
	Pending   = "pending"
	Success   = "success"
	Aborted   = "aborted"
)

// UploadSecret is the Secret that pods of decorated jobs mount, to upload their artifacts.
const UploadSecret = "upload-credentials" //nolint:gosec // the name of a Secret, not what is in it

// Job is a ProwJob to be made.
type Job struct {
	// Name is that of the ProwJob and of its pod; Job that of the job in the configuration.
	Name, Job string
	Type      string
	// Agent is Kubernetes when it is empty. Others' jobs are none of plank's business.
	Agent string
	// Cluster is the alias of a build cluster; empty for the default one.
	Cluster string
	// Pods is the namespace that the job declares for its pod. Empty for the one of the Prow.
	Pods string
	// Repo is org/repo. Empty for a periodic job.
	Repo string
	// Pull is the pull request of a presubmit job, and SHA its head.
	Pull int
	SHA  string
	// Context is that of the status on GitHub; Job when it is empty.
	Context string
	// Silent jobs report nothing.
	Silent bool
	// Secrets are mounted by the job's container.
	Secrets []string
	// Decorated jobs mount UploadSecret, in containers that Prow adds.
	Decorated bool
	// State is Triggered when it is empty. A job that is done was completed now.
	State string
	// Nodes selects the nodes of its pod.
	Nodes map[string]string
}

// APresubmit is a job of a pull request that was triggered just now. Each has a job of its own in the configuration: of
// several runs of one job for one pull request, plank aborts all but the newest.
func APresubmit(name string) Job {
	return Job{Name: name, Job: "pull-infra-" + name, Type: Presubmit, Repo: "example/infra", Pull: 7,
		SHA: "5f0e6c9d2b1a4873f60e6c9d2b1a48735f0e6c9d"}
}

// APostsubmit is a job of a branch that was triggered just now.
func APostsubmit(name string) Job {
	return Job{Name: name, Job: "post-infra-" + name, Type: Postsubmit, Repo: "example/infra"}
}

// APeriodic is a job by the clock that was triggered just now.
func APeriodic(name string) Job {
	return Job{Name: name, Job: "ci-infra-" + name, Type: Periodic}
}

// Object is the ProwJob as Prow's own programs make it, in a namespace of ProwJobs, for pods in another.
func (j Job) Object(prowJobs, pods string) *unstructured.Unstructured {
	now := time.Now().UTC().Format(time.RFC3339)
	status := map[string]any{"state": or(j.State, Triggered), "startTime": now}
	if j.State != "" && j.State != Triggered {
		status["pendingTime"], status["pod_name"], status["build_id"] = now, j.Name, "1"
	}
	if j.State == Success {
		status["completionTime"] = now
	}
	about := map[string]any{"prow.k8s.io/job": j.Job, "prow.k8s.io/context": or(j.Context, j.Job)}
	labels := maps.Clone(about)
	labels["created-by-prow"], labels["prow.k8s.io/type"] = "true", j.Type
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "prow.k8s.io/v1", "kind": "ProwJob",
		"metadata": map[string]any{
			"name": j.Name, "namespace": prowJobs, "labels": labels, "annotations": about,
		},
		"spec": j.spec(pods), "status": status,
	}}
}

func (j Job) spec(pods string) map[string]any {
	spec := map[string]any{
		"type": j.Type, "agent": or(j.Agent, Kubernetes), "cluster": or(j.Cluster, "default"),
		"namespace": or(j.Pods, pods), "job": j.Job, "report": !j.Silent, "context": or(j.Context, j.Job),
	}
	if org, repo, found := strings.Cut(j.Repo, "/"); found {
		refs := map[string]any{
			"org": org, "repo": repo, "base_ref": "main", "base_sha": "0123456789abcdef0123456789abcdef01234567",
		}
		if j.Pull != 0 {
			refs["pulls"] = []any{map[string]any{"number": int64(j.Pull), "author": "somebody", "sha": j.SHA}}
		}
		spec["refs"] = refs
	}
	if or(j.Agent, Kubernetes) == Kubernetes {
		spec["pod_spec"] = j.pod()
	} else {
		spec["pipeline_run_spec"] = map[string]any{"pipelineRef": map[string]any{"name": j.Job}}
	}
	if j.Decorated {
		spec["decoration_config"] = decoration()
	}
	return spec
}

func (j Job) pod() map[string]any {
	container := map[string]any{
		"name": "test", "image": "registry.example/test:1", "command": []any{"test"},
	}
	var volumes, mounts []any
	for _, secret := range j.Secrets {
		volumes = append(volumes, map[string]any{"name": secret, "secret": map[string]any{"secretName": secret}})
		mounts = append(mounts, map[string]any{"name": secret, "mountPath": "/etc/" + secret})
	}
	pod := map[string]any{"containers": []any{container}}
	if volumes != nil {
		container["volumeMounts"], pod["volumes"] = mounts, volumes
	}
	if j.Nodes != nil {
		nodes := map[string]any{}
		for key, value := range j.Nodes {
			nodes[key] = value
		}
		pod["nodeSelector"] = nodes
	}
	return pod
}

// decoration is what a configuration's defaults make of a decorated job.
func decoration() map[string]any {
	image := "registry.example/prow/"
	return map[string]any{
		"timeout": "2h0m0s", "grace_period": "15s", "gcs_credentials_secret": UploadSecret,
		"utility_images": map[string]any{
			"clonerefs": image + "clonerefs:1", "initupload": image + "initupload:1",
			"entrypoint": image + "entrypoint:1", "sidecar": image + "sidecar:1",
		},
		"gcs_configuration": map[string]any{
			"bucket": "artifacts", "path_strategy": "explicit",
		},
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
