package check

import (
	"fmt"

	"salve/internal/prow/config"
)

// supply is how surely Prow reports a context on a branch, from worst to best.
type supply int

const (
	// supplyNone: no job of the repository has the context.
	supplyNone supply = iota
	// supplyElsewhere: a job has it, and runs on other branches only.
	supplyElsewhere
	// supplySilent: the job does not report.
	supplySilent
	// supplyConditional: the changed files decide whether it runs.
	supplyConditional
	// supplyManual: a comment starts it, or Tide right before a merge.
	supplyManual
	// supplyOptional: it always runs and reports, and Prow does not mind a failure.
	supplyOptional
	// supplyAlways: it is there on each pull request.
	supplyAlways
)

// supplyOf is the best that the jobs of a repository do for a context on a branch, and
// the job that does it.
func (v *view) supplyOf(b config.Branch, context string) (supply, *config.Job) {
	best, by := supplyNone, (*config.Job)(nil)
	for _, job := range v.Producers(b.Org, b.Repo, context) {
		if s := supplyBy(job, b.Name); by == nil || s > best {
			best, by = s, job
		}
	}
	return best, by
}

func supplyBy(job *config.Job, branch string) supply {
	switch {
	case !job.RunsOn(branch):
		return supplyElsewhere
	case job.SkipReport:
		return supplySilent
	case job.Conditional():
		return supplyConditional
	case !job.AlwaysRun:
		return supplyManual
	case job.Optional:
		return supplyOptional
	}
	return supplyAlways
}

// says is the supply in words, with the job.
func (s supply) says(job *config.Job) string {
	if job == nil {
		return "no job reports it"
	}
	words := map[supply]string{
		supplyElsewhere: "does not run", supplySilent: "has skip_report: true",
		supplyManual: "is started by a comment only", supplyOptional: "is optional: true",
		supplyAlways: "always runs",
	}[s]
	if s == supplyConditional {
		words = "runs only if files match skip_if_only_changed"
		if job.RunIfChanged != "" {
			words = "runs only if files match run_if_changed"
		}
	}
	return fmt.Sprintf("job %s %s (%s)", job.Name, words, job.Position)
}
