package config

import (
	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// jobSections are what config.yaml and job files may both hold.
type jobSections struct {
	presets                 []*Preset
	presubmits, postsubmits map[string][]*Job
	periodics               []*Job
}

func newJobSections() *jobSections {
	return &jobSections{presubmits: map[string][]*Job{}, postsubmits: map[string][]*Job{}}
}

// add adds what a file holds to what those before it did.
func (c *Config) add(s *jobSections) {
	c.Presets = append(c.Presets, s.presets...)
	for repository, jobs := range s.presubmits {
		c.Presubmits[repository] = append(c.Presubmits[repository], jobs...)
	}
	for repository, jobs := range s.postsubmits {
		c.Postsubmits[repository] = append(c.Postsubmits[repository], jobs...)
	}
	c.Periodics = append(c.Periodics, s.periodics...)
}

// jobFile reads a file of the job folder. It may hold jobs and presets, nothing else.
func (l *loader) jobFile(r *reader, root *yaml.Node) (add func()) {
	jobs := newJobSections()
	r.fields(root, "", func(f field) bool {
		if f.name == "decorate_all_jobs" {
			r.report(f.key, diagnostic.Warning, RuleDropped, "decorate_all_jobs: Prow reads it in config.yaml only")
			return true
		}
		return jobs.read(r, f) || f.name == "prow_ignored"
	})
	return func() { l.config.add(jobs) }
}

// read is false for any other section.
func (s *jobSections) read(r *reader, f field) bool {
	switch f.name {
	case "presets":
		r.each(f.value, f.path(), func(item *yaml.Node, path string) {
			s.presets = append(s.presets, r.preset(item, path))
		})
	case "presubmits":
		r.repositories(f, Presubmit, s.presubmits)
	case "postsubmits":
		r.repositories(f, Postsubmit, s.postsubmits)
	case "periodics":
		r.each(f.value, f.path(), func(item *yaml.Node, path string) {
			s.periodics = append(s.periodics, r.job(item, path, Periodic, ""))
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
	r.entries(f.value, f.path(), func(f field) {
		var jobs []*Job
		r.each(f.value, f.path(), func(item *yaml.Node, path string) {
			jobs = append(jobs, r.job(item, path, kind, f.name))
		})
		here[f.name] = jobs
	})
	for repository, jobs := range here {
		into[repository] = append(into[repository], jobs...)
	}
}
