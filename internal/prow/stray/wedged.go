package stray

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
)

// minimumRuns is how many earlier runs of a job it takes to say how long it may take.
const minimumRuns = 3

// deployPods are the pods of deploy jobs that are pending, where they belong.
func (s *survey) deployPods() []cluster.Pod {
	var pods []cluster.Pod
	for _, job := range s.pending {
		if s.deploy(job) == nil {
			continue
		}
		if pod, there := s.at(job); there {
			pods = append(pods, pod)
		}
	}
	return pods
}

// wedged is C5: a job that deploys what it needs itself doesn't get on, so that it won't deploy the way back either.
// Each job is said once, by its oldest run that doesn't get on.
func (s *survey) wedged() (found finding.List, lack finding.Lack) {
	if len(s.instance.Deploys) > 0 {
		lack = cmp.Or(s.unreadJobs(), s.opaque(), s.doubts(), vague(s.deployPods()))
	}
	said := map[string]bool{}
	for _, job := range s.pending {
		deploy := s.deploy(job)
		if deploy == nil || said[job.Job] {
			continue
		}
		severity, why, unknown := s.stuck(job)
		lack = cmp.Or(lack, unknown)
		if why == "" {
			continue
		}
		said[job.Job] = true
		found = append(found, finding.Finding{
			Severity: severity,
			Subject:  finding.Subject{Org: job.Org, Repo: job.Repo, Job: job.Job, Cluster: s.instance.Cluster},
			Message:  "roll back by hand: the job that deploys Prow doesn't get on, " + why,
			Evidence: []string{
				"ProwJob " + job.String() + ", pending since " + moment(podMade(job)),
				"it needs what it deploys: " + strings.Join(deploy.Components, ", "),
			},
			Mend: "salve prow break-glass says how Prow is deployed without it",
		})
	}
	return found, lack
}

// stuck is why a job doesn't get on; empty when it does, or when that isn't known.
func (s *survey) stuck(job cluster.Job) (severity finding.Severity, why string, unknown finding.Lack) {
	home, there := s.at(job)
	if !there {
		for _, pod := range s.found {
			if pod.Name == job.Name {
				return finding.Alert, "its pod is in namespace " + pod.Namespace, unknown
			}
		}
	}
	if missing := s.view.Missing[home.UID]; there && waits(home) && len(missing) > 0 {
		return finding.Alert, "its pod waits for " + missing[0].Kind + " " + missing[0].Name, unknown
	}
	longest, runs := s.longest(job.Job)
	took := s.view.Now.Sub(podMade(job))
	switch {
	case runs < minimumRuns:
		return "", "", failed("how long job %s may take is not known: %s", job.Job, count(runs, "earlier run"))
	case took <= longest:
		return "", "", unknown
	case s.started(job): // one in a hundred does
		severity = finding.Warn
	default:
		severity = finding.Alert
	}
	return severity, fmt.Sprintf("it is pending for longer than 99 of 100 earlier runs took, which was %s",
		short(longest)), unknown
}

// longest is the 99th percentile of how long a job took: of less than a hundred runs the longest.
func (s *survey) longest(job string) (time.Duration, int) {
	runs := s.runs[job]
	if len(runs) == 0 {
		return 0, 0
	}
	slices.Sort(runs)
	return runs[(99*len(runs)+99)/100-1], len(runs)
}
