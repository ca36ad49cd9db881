package config

import (
	"fmt"
	"slices"
)

// podRules is validatePodSpec: what Prow refuses of a pod spec, presets included.
func podRules(job *Job) []error {
	if job.Pod == nil {
		return nil
	}
	pod := job.Pod
	var errs []error
	if pod.initContainers > 0 {
		errs = append(errs, fmt.Errorf("a pod spec may not use init containers"))
	}
	switch n := len(pod.containers); {
	case n == 0:
		return append(errs, fmt.Errorf("a pod spec requires a container"))
	case n > 1 && job.Decoration == nil:
		return append(errs, fmt.Errorf("several containers require decoration"))
	case n > 1:
		errs = append(errs, containerNames(pod)...)
	}
	for _, container := range pod.containers {
		errs = append(errs, envRules(job.Kind, container)...)
	}
	return append(errs, mountRules(job)...)
}

func containerNames(pod *Pod) []error {
	var errs []error
	seen := map[string]bool{}
	for _, container := range pod.containers {
		switch name := container.name; {
		case name == "":
			errs = append(errs, fmt.Errorf("several containers require a name each"))
		case seen[name]:
			errs = append(errs, fmt.Errorf("duplicate container %s", name))
		case slices.Contains([]string{"clonerefs", "initupload", "place-entrypoint", "sidecar"}, name):
			errs = append(errs, fmt.Errorf("container name %s is reserved", name))
		}
		seen[container.name] = true
	}
	return errs
}

// reservedEnv is whether Prow sets a variable itself, for a kind of job.
func reservedEnv(kind JobKind, name string) bool {
	switch name {
	case "CI", "JOB_NAME", "JOB_SPEC", "JOB_TYPE", "PROW_JOB_ID", "BUILD_ID", "BUILD_NUMBER":
		return true
	case "REPO_OWNER", "REPO_NAME", "PULL_BASE_REF", "PULL_BASE_SHA", "PULL_REFS":
		return kind != Periodic
	case "PULL_NUMBER", "PULL_PULL_SHA", "PULL_HEAD_REF", "PULL_TITLE":
		return kind == Presubmit
	}
	return false
}

func envRules(kind JobKind, container container) []error {
	if len(container.env) == 0 {
		return nil
	}
	var errs []error
	seen := map[string]bool{}
	for _, name := range container.env {
		if seen[name] {
			errs = append(errs, fmt.Errorf("duplicate env %s", name))
		}
		seen[name] = true
		if reservedEnv(kind, name) {
			errs = append(errs, fmt.Errorf("env %s is reserved", name))
		}
	}
	return errs
}

func mountRules(job *Job) []error {
	var errs []error
	volumes := map[string]bool{}
	reserved := decorationVolumes(job.Decoration)
	for _, volume := range job.Pod.volumes {
		if volumes[volume.name] {
			errs = append(errs, fmt.Errorf("duplicate volume %s", volume.name))
		}
		volumes[volume.name] = true
		if slices.Contains(reserved, volume.name) {
			errs = append(errs, fmt.Errorf("volume name %s is reserved", volume.name))
		}
	}
	for _, container := range job.Pod.containers {
		for _, mount := range container.mounts {
			switch {
			case !volumes[mount.name] && !slices.Contains(reserved, mount.name):
				errs = append(errs, fmt.Errorf("mount of %s, which is no volume", mount.name))
			case slices.Contains([]string{"logs", "code", "tools"}, mount.name):
				errs = append(errs, fmt.Errorf("mount of %s is reserved", mount.name))
			case slices.Contains([]string{"/logs", "/home/prow/go", "/tools"}, mount.path):
				errs = append(errs, fmt.Errorf("mount of %s at %s, which is reserved", mount.name, mount.path))
			}
		}
	}
	return errs
}

// decorationVolumes are the names that the utilities' volumes have.
func decorationVolumes(d *Decoration) []string {
	names := []string{"logs", "code", "tools", "gcs-credentials", "s3-credentials"}
	if d == nil {
		return names
	}
	if d.OauthToken != nil {
		names = append(names, d.OauthToken.Name.Value)
	}
	for _, key := range d.SSHKeys {
		names = append(names, key.Value)
	}
	return names
}
