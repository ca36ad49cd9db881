package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// maximumJobs bounds the jobs of a file: aliases make many of a few lines. The
// largest public instances have some 20,000 in thousands of files.
const maximumJobs = 50_000

// job reads one job, without any default.
func (r *reader) job(node *yaml.Node, path string, kind JobKind, repository string) *Job {
	if r.jobs++; r.jobs > maximumJobs {
		r.report(node, diagnostic.Error, RuleUnreadable, fmt.Sprintf("more than %d jobs in a file", maximumJobs))
		r.unreadable = true
		return &Job{Kind: kind, Position: r.at(node)}
	}
	job := &Job{Kind: kind, Position: r.at(node)}
	if kind != Periodic {
		job.Org, job.Repo = splitRepository(repository)
	}
	r.fields(node, path, func(f field) bool {
		if r.jobBase(job, f) || r.jobIgnored(f) {
			return true
		}
		switch kind {
		case Presubmit:
			return r.brancher(job, f) || r.presubmit(job, f)
		case Postsubmit:
			return r.brancher(job, f)
		default:
			return r.periodic(job, f)
		}
	})
	return job
}

// jobBase reads what every job may have.
func (r *reader) jobBase(job *Job, f field) bool {
	switch f.name {
	case "name":
		job.Name = r.text(f)
	case "labels":
		job.Labels = r.labels(f)
	case "annotations":
		job.Annotations = r.labels(f)
	case "max_concurrency":
		job.MaxConcurrency, _ = r.number(f)
	case "agent":
		job.Agent = r.text(f)
	case "cluster":
		job.Cluster = r.text(f)
	case "namespace":
		set(&job.Namespace, r.located(f))
	case "error_on_eviction":
		job.errorOnEviction = r.yes(f)
	case "spec":
		job.Pod = r.pod(f)
	case "pipeline_run_spec", "tekton_pipeline_run_spec":
		job.pipelineRun = job.pipelineRun || resolve(f.value) != nil
	case "job_queue_name":
		job.Queue = r.text(f)
	case "decorate":
		if value, ok := r.truth(f); ok {
			job.decorate = &value
		}
	case "decoration_config":
		job.Decoration = r.decoration(f)
	case "extra_refs":
		job.ExtraRefs = nil
		r.each(f.value, f.path(), func(item *yaml.Node, path string) {
			job.ExtraRefs = append(job.ExtraRefs, r.ref(item, path))
		})
	default:
		return false
	}
	return true
}

// jobIgnored are the fields of every job that say nothing of interest here.
func (r *reader) jobIgnored(f field) bool {
	switch f.name {
	case "reporter_config", "rerun_auth_config", "hidden", "prowjob_defaults", "path_alias", "clone_uri",
		"skip_submodules", "clone_depth", "skip_fetch_head":
		return true
	}
	return false
}

// brancher reads what presubmits and postsubmits have in common.
func (r *reader) brancher(job *Job, f field) bool {
	switch f.name {
	case "branches":
		job.Branches = r.texts(f)
	case "skip_branches":
		job.SkipBranches = r.texts(f)
	case "run_if_changed":
		job.RunIfChanged = r.text(f)
	case "skip_if_only_changed":
		job.SkipIfOnlyChanged = r.text(f)
	case "context":
		set(&job.Context, r.located(f))
	case "skip_report":
		job.SkipReport = r.yes(f)
	case "always_run":
		job.AlwaysRun, job.alwaysRunWritten = r.truth(f)
	case "jenkins_spec":
	default:
		return false
	}
	return true
}

func (r *reader) presubmit(job *Job, f field) bool {
	switch f.name {
	case "optional":
		job.Optional = r.yes(f)
	case "run_before_merge":
		job.RunBeforeMerge = r.yes(f)
	case "trigger":
		job.Trigger = r.text(f)
	case "rerun_command":
		job.RerunCommand = r.text(f)
	default:
		return false
	}
	return true
}

func (r *reader) periodic(job *Job, f field) bool {
	switch f.name {
	case "cron":
		job.Cron = r.text(f)
	case "interval":
		job.Interval = r.text(f)
	case "minimum_interval":
		job.MinimumInterval = r.text(f)
	case "tags", "retry":
	default:
		return false
	}
	return true
}

func (r *reader) ref(node *yaml.Node, path string) Ref {
	var ref Ref
	r.fields(node, path, func(f field) bool {
		switch f.name {
		case "org":
			ref.Org = r.text(f)
		case "repo":
			ref.Repo = r.text(f)
		case "base_ref":
			ref.BaseRef = r.text(f)
		case "repo_link", "base_sha", "base_link", "pulls", "path_alias", "workdir", "clone_uri", "skip_submodules",
			"clone_depth", "skip_fetch_head", "blobless_fetch", "sparse_checkout_files":
		default:
			return false
		}
		return true
	})
	return ref
}
