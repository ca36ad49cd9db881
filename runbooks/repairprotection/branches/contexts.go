package branches

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/kube"
)

// heads is how many commits of a branch are looked at for a context that no job of Prow produces.
const heads = 20

// Demand is a context that becomes required on a branch.
type Demand struct {
	Branch  config.Branch
	Context string
	// By says who reports it; empty when nobody is known to.
	By string
	// Why says why nobody does.
	Why string
}

func (d Demand) String() string { return fmt.Sprintf("%q on %s: %s", d.Context, d.Branch, d.Why) }

// Demands are the contexts that would become required on branches, with who reports them: a job that always runs, the
// external ones, or for a context that no job of Prow has, whoever reported it on one of the last commits.
func (r *Reader) Demands(ctx context.Context, states []State) ([]Demand, error) {
	each := make([][]Demand, len(states))
	err := kube.Parallel(ctx, len(states), func(ctx context.Context, i int) (err error) {
		each[i], err = r.demandsOf(ctx, states[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	return slices.Concat(each...), nil
}

func (r *Reader) demandsOf(ctx context.Context, state State) ([]Demand, error) {
	var demands []Demand
	var unknown []int
	for _, name := range state.Added() {
		demand := r.producerOf(state.Branch, name)
		if demand.By == "" && demand.Why == "" {
			unknown = append(unknown, len(demands))
		}
		demands = append(demands, demand)
	}
	if len(unknown) == 0 {
		return demands, nil
	}
	reported, looked, err := r.Reported(ctx, state.Branch)
	if err != nil {
		return nil, err
	}
	for _, i := range unknown {
		if by := reported[demands[i].Context]; by != "" {
			demands[i].By = by
			continue
		}
		demands[i].Why = fmt.Sprintf("no job of Prow has this context, and none of the last %d commits has it", looked)
	}
	return demands, nil
}

// producerOf says what is known of a context without asking GitHub. Of one that a job of Prow has, and does not report
// on each pull request, no commit proves more: those that the job skips would wait for ever.
func (r *Reader) producerOf(branch config.Branch, name string) Demand {
	demand := Demand{Branch: branch, Context: name}
	if slices.Contains(r.External, name) {
		demand.By = "named by --external-context"
		return demand
	}
	policy, err := r.Config.Policy(branch)
	manual := err == nil && policy.RequireManuallyTriggeredJobs.Set && policy.RequireManuallyTriggeredJobs.Value
	if job := r.always(branch, manual)[name]; job != "" {
		demand.By = "job " + job
		return demand
	}
	var why []string
	for _, job := range r.Config.Producers(branch.Org, branch.Repo, name) {
		why = append(why, fmt.Sprintf("job %s %s", job.Name, silence(job, branch.Name)))
	}
	demand.Why = strings.Join(why, ", ")
	return demand
}

// silence says why a job does not report on each pull request for a branch.
func silence(job *config.Job, branch string) string {
	switch {
	case !job.RunsOn(branch):
		return "does not run on this branch"
	case job.SkipReport:
		return "does not report (skip_report)"
	case job.Optional:
		return "is optional"
	case job.Conditional():
		return "runs only if certain files change"
	}
	return "runs only when somebody asks for it"
}

// Reported are the contexts on the last commits of a branch, with who reported them, and how many commits were looked
// at.
func (r *Reader) Reported(ctx context.Context, of config.Branch) (by map[string]string, looked int, _ error) {
	branch, err := r.branch(ctx, of)
	if err != nil {
		return nil, 0, err
	}
	commits, err := r.GitHub.HeadCommits(ctx, branch, heads)
	if err != nil {
		return nil, 0, err
	}
	by = map[string]string{}
	for _, commit := range commits {
		reports, err := r.GitHub.Reports(ctx, repoOf(of), commit.SHA)
		if err != nil {
			return nil, 0, err
		}
		for _, report := range reports.Contexts {
			by[report.Name] = fmt.Sprintf("reported by %s on %s", reporter(report), commit.SHA[:7])
		}
	}
	return by, len(commits), nil
}

func reporter(report github.Context) string {
	if report.Reporter == "" {
		return "somebody"
	}
	return report.Reporter
}
