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
	known, jobs := knownSections(), newJobSections()
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
			return jobs.read(r, f) || slices.Contains(known, f.name)
		}
		return true
	})
	l.config.add(jobs)
}

func (l *loader) namespace(into *Located, r *reader, f field) {
	if value := r.located(f); value != nil {
		*into = *value
	}
}

func (l *loader) inRepo(r *reader, f field) {
	r.fields(f.value, f.path(), func(f field) bool {
		if f.name == "enabled" {
			l.config.InRepo = map[string]bool{}
			r.entries(f.value, f.path(), func(f field) {
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
	r.fields(f.value, f.path(), func(f field) bool {
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
			r.entries(f.value, f.path(), func(f field) { plank.Queues[f.name], _ = r.number(f) })
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
