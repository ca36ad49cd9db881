package config

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// knownSections are the sections of config.yaml that are not looked into
// (ProwConfig and JobConfig in pkg/config/config.go).
func knownSections() []string {
	return []string{"config_version_sha", "sinker", "deck", "gerrit", "github_reporter", "horologium",
		"slack_reporter_configs", "gangway", "moonraker", "scheduler", "jenkins_operators", "log_level", "push_gateway",
		"owners_dir_denylist", "pubsub_subscriptions", "pubsub_triggers", "github", "status_error_link",
		"default_job_timeout", "managed_webhooks", "prowjob_default_entries", "disabled_clusters", "prow_ignored"}
}

// prowConfig reads config.yaml, which may hold jobs too.
func (l *loader) prowConfig(r *reader, root *yaml.Node) {
	known := knownSections()
	r.fields(root, "", func(f field) bool {
		switch f.name {
		case "prowjob_namespace":
			l.namespace(&l.config.ProwJobNamespace, r, f)
		case "pod_namespace":
			l.namespace(&l.config.PodNamespace, r, f)
		case "plank":
			l.plank(r, f)
		case "branch-protection":
			l.config.BranchProtection = r.branchProtection(f)
		case "tide":
			l.config.Tide = r.tide(f)
		case "in_repo_config":
			l.inRepo(r, f)
		case "decorate_all_jobs":
			l.config.decorateAll = r.yes(f)
		default:
			return l.jobSection(r, f) || slices.Contains(known, f.name)
		}
		return true
	})
}

func (l *loader) namespace(into *Located, r *reader, f field) {
	if value := r.located(f); value != nil {
		*into = *value
	}
}

// jobFile reads a file of the job folder. It may hold jobs and presets, nothing else.
func (l *loader) jobFile(r *reader, root *yaml.Node) {
	r.fields(root, "", func(f field) bool {
		if f.name == "decorate_all_jobs" {
			r.report(f.key, diagnostic.Warning, RuleDropped, "decorate_all_jobs: Prow reads it in config.yaml only")
			return true
		}
		return l.jobSection(r, f) || f.name == "prow_ignored"
	})
}

// jobSection reads what config.yaml and job files may both hold.
func (l *loader) jobSection(r *reader, f field) bool {
	switch f.name {
	case "presets":
		r.each(f.value, f.path, func(item *yaml.Node, path string) {
			l.config.Presets = append(l.config.Presets, r.preset(item, path))
		})
	case "presubmits":
		r.repositories(f, Presubmit, l.config.Presubmits)
	case "postsubmits":
		r.repositories(f, Postsubmit, l.config.Postsubmits)
	case "periodics":
		r.each(f.value, f.path, func(item *yaml.Node, path string) {
			l.config.Periodics = append(l.config.Periodics, r.job(item, path, Periodic, ""))
		})
	default:
		return false
	}
	return true
}

// repositories reads jobs by repository. Of a repository that stands twice in one
// file the last entry counts; those of other files are added to.
func (r *reader) repositories(f field, kind JobKind, into map[string][]*Job) {
	here := map[string][]*Job{}
	r.entries(f.value, f.path, func(f field) {
		var jobs []*Job
		r.each(f.value, f.path, func(item *yaml.Node, path string) {
			jobs = append(jobs, r.job(item, path, kind, f.name))
		})
		here[f.name] = jobs
	})
	for repository, jobs := range here {
		into[repository] = append(into[repository], jobs...)
	}
}

func (l *loader) inRepo(r *reader, f field) {
	r.fields(f.value, f.path, func(f field) bool {
		if f.name == "enabled" {
			l.config.InRepo = map[string]bool{}
			r.entries(f.value, f.path, func(f field) {
				if enabled, ok := r.truth(f); ok {
					l.config.InRepo[f.name] = enabled
				}
			})
		}
		return f.name == "enabled" || f.name == "allowed_clusters"
	})
}

// plank reads the section of the controller that makes pods.
func (l *loader) plank(r *reader, f field) {
	plank := Plank{Position: r.at(f.key)}
	var byRepository, entries []decorationEntry
	r.fields(f.value, f.path, func(f field) bool {
		switch f.name {
		case "pod_pending_timeout":
			set(&plank.PodPendingTimeout, r.duration(f))
		case "pod_running_timeout":
			set(&plank.PodRunningTimeout, r.duration(f))
		case "pod_unscheduled_timeout":
			set(&plank.PodUnscheduledTimeout, r.duration(f))
		case "default_decoration_configs":
			byRepository = r.decorationsByRepository(f)
		case "default_decoration_config_entries":
			entries = r.decorationEntries(f)
		case "job_queue_capacities":
			plank.Queues = map[string]int{}
			r.entries(f.value, f.path, func(f field) { plank.Queues[f.name], _ = r.number(f) })
		case "job_url_template", "report_template", "report_templates", "max_concurrency", "max_goroutines",
			"job_url_prefix_config", "joburlprefixdisableappendstorageprovider", "build_cluster_status_file", "max_revivals":
		default:
			return false
		}
		return true
	})
	if len(byRepository) > 0 && len(entries) > 0 {
		l.refuse(plank.Position, "plank: default_decoration_configs and default_decoration_config_entries exclude each other")
	}
	plank.decorations = append(byRepository, entries...)
	l.config.Plank = plank
}

func set[T any](into *T, value *T) {
	if value != nil {
		*into = *value
	}
}

// defaults are what Prow sets where nothing is written.
func (l *loader) defaults() {
	c, whole := l.config, l.position(l.names.Config)
	for _, namespace := range []*Located{&c.ProwJobNamespace, &c.PodNamespace} {
		if namespace.Value == "" {
			*namespace = Located{Value: "default", Position: whole}
		}
	}
	if c.Plank.Position == (diagnostic.Position{}) {
		c.Plank.Position = whole
	}
	for timeout, value := range map[*time.Duration]time.Duration{
		&c.Plank.PodPendingTimeout:     10 * time.Minute,
		&c.Plank.PodRunningTimeout:     48 * time.Hour,
		&c.Plank.PodUnscheduledTimeout: 5 * time.Minute,
	} {
		if *timeout == 0 {
			*timeout = value
		}
	}
	if len(c.BranchProtection.Include) > 0 && len(c.BranchProtection.Exclude) > 0 {
		l.refuse(c.BranchProtection.Position, "branch-protection: include and exclude exclude each other")
	}
	l.tideQueries()
}
