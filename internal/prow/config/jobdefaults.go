package config

import (
	"regexp"
	"strings"
)

// finish fills in defaults and reports what Prow refuses, as its loader does
// (finalizeJobConfig, ValidateJobConfig).
func (l *loader) finish() {
	l.presetLabels()
	for _, job := range l.config.Jobs() {
		l.finishJob(job)
	}
	for _, jobs := range []map[string][]*Job{l.config.Presubmits, l.config.Postsubmits} {
		for _, repository := range sortedKeys(jobs) {
			l.together(jobs[repository])
		}
	}
	l.periodicsTogether()
	for _, job := range l.config.Jobs() {
		if job.Pod != nil {
			job.Pod.containers, job.Pod.volumes = nil, nil // were for the rules alone
		}
	}
	for _, preset := range l.config.Presets {
		preset.env, preset.references, preset.volumes, preset.mounts = nil, nil, nil, nil
	}
}

func (l *loader) finishJob(job *Job) {
	c := l.config
	job.Agent = orElse(job.Agent, agentKubernetes)
	job.Cluster = orElse(job.Cluster, "default")
	if job.Namespace.Value == "" {
		job.Namespace = c.PodNamespace
	}
	if job.Kind != Periodic && job.Context.Value == "" {
		job.Context = Located{Value: job.Name, Position: job.Position}
	}
	if job.Kind == Postsubmit && !job.alwaysRunWritten {
		job.AlwaysRun = !job.Conditional()
	}
	l.trigger(job)
	l.expressions(job)
	l.decorate(job)
	l.presets(job)
	if !l.alone { // each job would be refused for what config.yaml gives to all
		l.jobRules(job)
	}
}

func (l *loader) decorate(job *Job) {
	job.Decorate = l.config.decorateAll
	if job.decorate != nil {
		job.Decorate = *job.decorate
	}
	if !job.Decorate {
		return
	}
	repository := job.Repository()
	if job.Kind == Periodic && len(job.ExtraRefs) > 0 {
		repository = job.ExtraRefs[0].Org + "/" + job.ExtraRefs[0].Repo
	}
	job.Decoration = l.config.Plank.decorationOf(repository, job.Cluster, job.Decoration)
}

func (l *loader) presets(job *Job) {
	if job.Pod == nil {
		return
	}
	for _, preset := range l.config.Presets {
		if !preset.fits(job.Labels) {
			continue
		}
		if err := preset.apply(job.Pod); err != nil {
			l.refuse(job.Position, "job %s: preset of %s: %v", job.Name, preset.Position, err)
			break
		}
	}
	for _, volume := range job.Pod.volumes {
		job.Pod.References = append(job.Pod.References, volume.references...)
	}
}

// trigger fills in the comment that starts a presubmit. Written triggers must match
// the command that is shown to people; the default does.
func (l *loader) trigger(job *Job) {
	switch {
	case job.Kind != Presubmit:
	case job.Trigger == "" && job.RerunCommand == "":
		job.Trigger = `(?m)^/test( | .* )` + job.Name + `,?($|\s.*)`
		job.RerunCommand = "/test " + job.Name
	default:
		if job.Trigger == "" || job.RerunCommand == "" {
			l.refuse(job.Position, "job %s: trigger and rerun_command go together only", job.Name)
		}
		if trigger := l.expression(job, "trigger", job.Trigger); trigger != nil && !trigger.MatchString(job.RerunCommand) {
			l.refuse(job.Position, "job %s: rerun_command %q does not match trigger %q", job.Name, job.RerunCommand,
				job.Trigger)
		}
	}
}

func (l *loader) expressions(job *Job) {
	if len(job.Branches) > 0 {
		job.branches = l.expression(job, "branches", strings.Join(job.Branches, "|"))
	}
	if len(job.SkipBranches) > 0 {
		job.skip = l.expression(job, "skip_branches", strings.Join(job.SkipBranches, "|"))
	}
	if expression := orElse(job.RunIfChanged, job.SkipIfOnlyChanged); expression != "" {
		l.expression(job, "run_if_changed or skip_if_only_changed", expression)
	}
}

func (l *loader) expression(job *Job, where, text string) *regexp.Regexp {
	compiled, err := l.patterns.compile(text)
	if err != nil {
		l.refuse(job.Position, "job %s: %s: %v", job.Name, where, err)
		return regexp.MustCompile(`$^`) // runs nowhere, in a configuration that is refused
	}
	return compiled
}

// TriggeredBy is whether a comment on a pull request starts a presubmit.
func (j *Job) TriggeredBy(comment string) (bool, error) {
	trigger, err := regexp.Compile(j.Trigger)
	if err != nil || j.Trigger == "" {
		return false, err
	}
	return trigger.MatchString(comment), nil
}

// RunsAgainst is whether changed files start a conditional job. Without files nothing does. Prow looks at the names
// that files have after the change (RegexpChangeMatcher in pkg/config/jobs.go).
func (j *Job) RunsAgainst(files []string) (bool, error) {
	expression, err := regexp.Compile(orElse(j.RunIfChanged, j.SkipIfOnlyChanged))
	if err != nil || !j.Conditional() {
		return false, err
	}
	for _, file := range files {
		if expression.MatchString(file) == (j.RunIfChanged != "") {
			return true, nil
		}
	}
	return false, nil
}
