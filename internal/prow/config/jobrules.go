package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// jobRules are those that Prow holds one job against.
func (l *loader) jobRules(job *Job) {
	for _, rule := range []func(*Job) error{nameRule, l.agentRule, triggeringRule, labelRule, decorationRule, l.queueRule,
		reportRule, intervalRule} {
		if err := rule(job); err != nil {
			l.refuse(job.Position, "%s job %s: %v", job.Kind, job.Name, err)
		}
	}
	for _, err := range podRules(job) {
		l.refuse(job.Position, "%s job %s: %v", job.Kind, job.Name, err)
	}
}

func nameRule(job *Job) error {
	allowed := "-._"
	if job.Agent == agentJenkins {
		allowed += "/"
	}
	wrong := func(c rune) bool {
		return !alphanumeric(c) && !strings.ContainsRune(allowed, c)
	}
	if job.Name == "" || strings.ContainsFunc(job.Name, wrong) {
		return fmt.Errorf("name: only letters, digits and %s are allowed", allowed)
	}
	if job.MaxConcurrency < 0 {
		return fmt.Errorf("max_concurrency: %d is negative", job.MaxConcurrency)
	}
	return nil
}

// agentRule is validateAgent: above all, plank puts pods into one namespace only.
func (l *loader) agentRule(job *Job) error {
	kubernetes, tekton := job.Agent == agentKubernetes, job.Agent == agentTekton
	switch {
	case !kubernetes && !tekton && job.Agent != agentJenkins:
		return nil // unknown to Prow, which warns in its log and goes on
	case job.Pod != nil && !kubernetes:
		return fmt.Errorf("spec requires agent %s, not %s", agentKubernetes, job.Agent)
	case kubernetes && job.Pod == nil:
		return fmt.Errorf("agent %s requires a spec", agentKubernetes)
	case job.pipelineRun && !tekton:
		return fmt.Errorf("pipeline_run_spec requires agent %s, not %s", agentTekton, job.Agent)
	case tekton && !job.pipelineRun:
		return fmt.Errorf("agent %s requires a pipeline_run_spec", agentTekton)
	case job.Decoration != nil && !kubernetes:
		return fmt.Errorf("decoration requires agent %s, not %s", agentKubernetes, job.Agent)
	case job.errorOnEviction && !kubernetes:
		return fmt.Errorf("error_on_eviction requires agent %s, not %s", agentKubernetes, job.Agent)
	case job.Namespace.Value != l.config.PodNamespace.Value && !tekton:
		return fmt.Errorf("namespace %s is not the pod_namespace %s, which requires agent %s", job.Namespace.Value,
			l.config.PodNamespace.Value, agentTekton)
	}
	return nil
}

// triggeringRule is validateTriggering, and validateAlwaysRun of postsubmits.
func triggeringRule(job *Job) error {
	always := job.AlwaysRun && (job.Kind == Presubmit || job.alwaysRunWritten)
	switch {
	case always && job.RunIfChanged != "":
		return fmt.Errorf("always_run and run_if_changed exclude each other")
	case always && job.SkipIfOnlyChanged != "":
		return fmt.Errorf("always_run and skip_if_only_changed exclude each other")
	case job.RunIfChanged != "" && job.SkipIfOnlyChanged != "":
		return fmt.Errorf("run_if_changed and skip_if_only_changed exclude each other")
	}
	return nil
}

func reportRule(job *Job) error {
	if job.SkipReport && job.Labels["prow.k8s.io/gerrit-report-label"] != "" {
		return fmt.Errorf("skip_report and a Gerrit report label exclude each other")
	}
	return nil
}

func (l *loader) queueRule(job *Job) error {
	if _, known := l.config.Plank.Queues[job.Queue]; job.Queue != "" && !known {
		return fmt.Errorf("job_queue_name %s is not in plank's job_queue_capacities", job.Queue)
	}
	return nil
}

// decorationRule is validateDecoration; Prow asks it only of jobs with containers.
func decorationRule(job *Job) error {
	if job.Pod == nil || len(job.Pod.containers) == 0 || job.Decoration == nil {
		return nil
	}
	if err := job.Decoration.refused(); err != nil {
		return fmt.Errorf("decoration: %w", err)
	}
	for _, container := range job.Pod.containers {
		if container.firstWord == "" {
			return fmt.Errorf("decoration requires a command or args in each container")
		}
	}
	return nil
}

func intervalRule(job *Job) error {
	if job.Kind != Periodic {
		return nil
	}
	given := 0
	for _, value := range []string{job.Cron, job.Interval, job.MinimumInterval} {
		if value != "" {
			given++
		}
	}
	if given != 1 {
		return fmt.Errorf("requires exactly one of cron, interval and minimum_interval")
	}
	if value := orElse(job.Interval, job.MinimumInterval); value != "" {
		if _, err := time.ParseDuration(value); err != nil {
			return fmt.Errorf("interval: %w", err)
		}
	}
	return nil
}

// together are the rules for the jobs of one repository.
func (l *loader) together(jobs []*Job) {
	names, contexts := map[string][]*Job{}, map[string][]*Job{}
	for _, job := range jobs {
		for _, other := range names[job.Name] {
			if other.overlaps(job) {
				l.refuse(job.Position, "duplicate %s job %s on overlapping branches, first at %s", job.Kind, job.Name,
					other.Position)
				break
			}
		}
		for _, other := range contexts[job.Context.Value] {
			if other.Name != job.Name && other.overlaps(job) {
				l.refuse(job.Position, "jobs %s and %s report to the same context %q on overlapping branches, first at %s",
					other.Name, job.Name, job.Context.Value, other.Position)
			}
		}
		names[job.Name] = append(names[job.Name], job)
		contexts[job.Context.Value] = append(contexts[job.Context.Value], job)
	}
}

func (l *loader) periodicsTogether() {
	seen := map[string]*Job{}
	for _, job := range l.config.Periodics {
		if other := seen[job.Name]; other != nil {
			l.refuse(job.Position, "duplicate periodic job %s, first at %s", job.Name, other.Position)
		}
		seen[job.Name] = job
	}
}

// reservedLabels are set by Prow on each pod.
func reservedLabels() []string {
	return []string{"prow.k8s.io/type", "created-by-prow", "prow.k8s.io/id"}
}

// labelRule is validateLabels and validateAnnotation: the names and values that
// Kubernetes takes. https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
func labelRule(job *Job) error {
	for _, label := range sortedKeys(job.Labels) {
		switch {
		case slices.Contains(reservedLabels(), label):
			return fmt.Errorf("label %s is reserved", label)
		case !qualifiedName(label):
			return fmt.Errorf("label %q is not a qualified name", label)
		case job.Labels[label] != "" && !namePart(job.Labels[label]):
			return fmt.Errorf("label %s: value %q is not allowed", label, job.Labels[label])
		}
	}
	for _, key := range sortedKeys(job.Annotations) {
		if !qualifiedName(key) {
			return fmt.Errorf("annotation %q is not a qualified name", key)
		}
	}
	return nil
}

func qualifiedName(name string) bool {
	prefix, rest, both := strings.Cut(name, "/")
	if !both {
		return namePart(name)
	}
	return len(prefix) <= 253 && subdomain(prefix) && namePart(rest)
}

// namePart begins and ends with a letter or digit, and has dashes, dots and
// underscores between, in at most 63 characters.
func namePart(name string) bool {
	return name != "" && len(name) <= 63 && alphanumeric(rune(name[0])) && alphanumeric(rune(name[len(name)-1])) &&
		!strings.ContainsFunc(name, func(c rune) bool { return !alphanumeric(c) && !strings.ContainsRune("-_.", c) })
}

func alphanumeric(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func subdomain(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if label != strings.ToLower(label) || !namePart(label) || strings.Contains(label, "_") {
			return false
		}
	}
	return true
}
