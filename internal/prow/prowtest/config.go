package prowtest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// Config is a Prow's configuration.
type Config struct {
	// ProwJobs and Pods are the namespaces prowjob_namespace and pod_namespace.
	ProwJobs, Pods string
	Jobs           []ConfiguredJob
	// More are further sections of config.yaml, and more of those that are here.
	More map[string]any
}

// ConfiguredJob is a job of a configuration. All are decorated.
type ConfiguredJob struct {
	Name string
	// Type is Presubmit when it is empty.
	Type string
	// Repo is org/repo; empty for a periodic job.
	Repo string
	// Fields are more fields of the job, such as always_run, optional or branches.
	Fields map[string]any
}

// ManyJobs are n presubmit jobs, ten for each repository of an organisation. Half of them always run; a quarter runs
// when certain files change; the others run when somebody asks for them.
func ManyJobs(n int) []ConfiguredJob {
	jobs := make([]ConfiguredJob, n)
	for i := range jobs {
		repo := fmt.Sprintf("repo-%04d", i/10)
		fields := map[string]any{}
		switch i % 4 {
		case 0, 1:
			fields["always_run"] = true
		case 2:
			fields["run_if_changed"] = `\.go$`
		}
		jobs[i] = ConfiguredJob{Name: fmt.Sprintf("pull-%s-%d", repo, i%10), Repo: "example/" + repo, Fields: fields}
	}
	return jobs
}

// Files are where a configuration was written. Jobs is a folder.
type Files struct {
	Config, Jobs, Plugins string
	// ProwJobs is the namespace of the ProwJobs that it configures.
	ProwJobs string
}

// Write writes the configuration into a folder that is made for it.
func (c Config) Write(folder string) (Files, error) {
	files := Files{
		Config: filepath.Join(folder, "config.yaml"), Jobs: filepath.Join(folder, "jobs"),
		Plugins: filepath.Join(folder, "plugins.yaml"), ProwJobs: c.ProwJobs,
	}
	if err := os.MkdirAll(files.Jobs, 0o750); err != nil {
		return Files{}, fmt.Errorf("writing a Prow's configuration: %w", err)
	}
	for path, content := range map[string]any{
		files.Config: c.sections(), filepath.Join(files.Jobs, "jobs.yaml"): c.jobs(),
		files.Plugins: map[string]any{"plugins": c.plugins()},
	} {
		raw, err := yaml.Marshal(content)
		if err == nil {
			err = os.WriteFile(path, raw, 0o600)
		}
		if err != nil {
			return Files{}, fmt.Errorf("writing a Prow's configuration: %w", err)
		}
	}
	return files, nil
}

// sections are those of config.yaml.
func (c Config) sections() map[string]any {
	sections := map[string]any{
		"prowjob_namespace": c.ProwJobs, "pod_namespace": c.Pods, "log_level": "debug",
		"plank": map[string]any{
			"default_decoration_config_entries": []any{map[string]any{"config": decoration()}},
		},
	}
	merge(sections, c.More)
	return sections
}

// merge adds sections to others, field by field.
func merge(into, more map[string]any) {
	for key, value := range more {
		section, isSection := value.(map[string]any)
		if known, there := into[key].(map[string]any); isSection && there {
			merge(known, section)
		} else {
			into[key] = value
		}
	}
}

// jobs are the content of the job file.
func (c Config) jobs() map[string]any {
	presubmits, postsubmits, periodics := map[string][]any{}, map[string][]any{}, []any{}
	for _, job := range c.Jobs {
		fields := map[string]any{
			"name": job.Name, "decorate": true,
			"spec": map[string]any{"containers": []any{map[string]any{
				"image": "registry.example/test:1", "command": []any{"test"},
			}}},
		}
		maps.Copy(fields, job.Fields)
		switch job.Type {
		case Periodic:
			if fields["cron"] == nil && fields["interval"] == nil {
				fields["interval"] = "24h"
			}
			periodics = append(periodics, fields)
		case Postsubmit:
			postsubmits[job.Repo] = append(postsubmits[job.Repo], fields)
		default:
			presubmits[job.Repo] = append(presubmits[job.Repo], fields)
		}
	}
	return map[string]any{"presubmits": presubmits, "postsubmits": postsubmits, "periodics": periodics}
}

// plugins lets each repository trigger its jobs.
func (c Config) plugins() map[string]any {
	plugins := map[string]any{}
	for _, job := range c.Jobs {
		if job.Repo != "" {
			plugins[job.Repo] = map[string]any{"plugins": []any{"trigger"}}
		}
	}
	return plugins
}
