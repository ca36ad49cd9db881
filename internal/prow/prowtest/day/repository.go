package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"salve/internal/prow/prowtest"
)

// account is the Secret that the jobs mount. It is in the namespace of pods alone.
const account = "service-account"

// repository is the git repository that this Prow is configured and deployed from.
type repository struct {
	folder string
	files  prowtest.Files
}

// release is what one commit deploys.
type release struct {
	// pods is the namespace of pods.
	pods string
	// image is the tag of Prow's components, and protector that of branchprotector.
	image, protector string
}

func (r *repository) path(parts ...string) string {
	return filepath.Join(append([]string{r.folder}, parts...)...)
}

// commit writes a release and commits it.
func (r *repository) commit(ctx context.Context, message string, of release) error {
	files, err := configuration(of.pods).Write(r.path("prow"))
	if err != nil {
		return err
	}
	r.files = files
	for name, content := range of.manifests() {
		if err := os.MkdirAll(r.path("prow", "cluster"), 0o750); err != nil {
			return fmt.Errorf("writing manifests: %w", err)
		}
		if err := os.WriteFile(r.path("prow", "cluster", name), []byte(content), 0o600); err != nil {
			return fmt.Errorf("writing manifests: %w", err)
		}
	}
	if err := r.git(ctx, "add", "."); err != nil {
		return err
	}
	return r.git(ctx, "commit", "--quiet", "--message", message)
}

// git runs git as somebody whose settings are not the reader's.
func (r *repository) git(ctx context.Context, arguments ...string) error {
	command := exec.CommandContext(ctx, "git", append([]string{"-C", r.folder}, arguments...)...)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=oncall", "GIT_AUTHOR_EMAIL=oncall@example.com",
		"GIT_COMMITTER_NAME=oncall", "GIT_COMMITTER_EMAIL=oncall@example.com")
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", strings.Join(arguments, " "), err, said)
	}
	return nil
}

// configuration is that of a Prow for one organization. pull-app-docs runs where documentation changes alone: what an
// old branchprotector makes required of every pull request.
func configuration(pods string) prowtest.Config {
	spec := map[string]any{
		"containers": []any{map[string]any{
			"image": "registry.example/test:1", "command": []any{"test"},
			"volumeMounts": []any{map[string]any{"name": account, "mountPath": "/etc/" + account}},
		}},
		"volumes": []any{map[string]any{"name": account, "secret": map[string]any{"secretName": account}}},
	}
	job := func(repo, name string, fields map[string]any) prowtest.ConfiguredJob {
		fields["spec"], fields["decorate"] = spec, false
		return prowtest.ConfiguredJob{Name: name, Repo: repo, Fields: fields}
	}
	always := func() map[string]any { return map[string]any{"always_run": true} }
	deploy := job("example/infra", "post-infra-deploy-prow",
		map[string]any{"run_if_changed": "^prow/", "branches": []any{"^main$"}})
	deploy.Type = prowtest.Postsubmit
	return prowtest.Config{
		ProwJobs: prowJobs, Pods: pods,
		Jobs: []prowtest.ConfiguredJob{
			job("example/app", "pull-app-unit", always()), job("example/app", "pull-app-e2e", always()),
			job("example/app", "pull-app-docs", map[string]any{"run_if_changed": "^docs/"}),
			job("example/infra", "pull-infra-unit", always()),
			job("example/infra", "pull-infra-bump", map[string]any{"run_if_changed": "^prow/"}),
			deploy,
		},
		More: map[string]any{"branch-protection": map[string]any{"orgs": map[string]any{
			"example": map[string]any{"protect": true},
		}}},
	}
}

// manifests are what is deployed, by the name of its file.
func (r release) manifests() map[string]string {
	files := map[string]string{
		"branchprotector.yaml": fmt.Sprintf(protectorManifest, prowJobs, r.protector),
		"rbac.yaml":            fmt.Sprintf(rightsManifest, pods, prowJobs),
	}
	for _, name := range []string{"prow-controller-manager", "sinker", "hook", "crier", "tide", "horologium"} {
		files[name+".yaml"] = fmt.Sprintf(componentManifest, name, prowJobs, r.image)
	}
	return files
}

const componentManifest = `apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: %[2]s, labels: {app: %[1]s}}
spec:
  replicas: 1
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      serviceAccountName: default
      containers:
      - name: %[1]s
        image: registry.example/prow/%[1]s:%[3]s
        args: [--config-path=/etc/config/config.yaml, --job-config-path=/etc/job-config]
        volumeMounts:
        - {name: config, mountPath: /etc/config, readOnly: true}
        - {name: job-config, mountPath: /etc/job-config, readOnly: true}
      volumes:
      - {name: config, configMap: {name: config}}
      - {name: job-config, configMap: {name: job-config}}
`

// rightsManifest lets plank make pods in one namespace and nowhere else.
const rightsManifest = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: plank, namespace: %[1]s}
rules:
- {apiGroups: [""], resources: [pods], verbs: [create, delete, get, list, patch, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: plank, namespace: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: plank}
subjects:
- {kind: ServiceAccount, name: default, namespace: %[2]s}
`

const protectorManifest = `apiVersion: batch/v1
kind: CronJob
metadata: {name: branchprotector, namespace: %s}
spec:
  schedule: "0 3 * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - {name: branchprotector, image: "registry.example/prow/branchprotector:%s"}
`
