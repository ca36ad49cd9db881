package stray

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
)

const (
	// podlessAfter is how long a pending job may have no pod: much longer than any list or watch is behind.
	podlessAfter = time.Minute
	// manyPodless and podlessShare are what makes them an outage, if they are of several jobs.
	manyPodless  = 3
	podlessShare = 0.05
)

// podless is A3: jobs whose pod was made, and that have none where it belongs. plank would make another one: it is
// down, or looks elsewhere. WARN, and ALERT for many. A pod that can't be read is there all the same.
func (s *survey) podless() (finding.List, finding.Lack) {
	var without []cluster.Job
	var disputed []cluster.Pod
	for _, job := range s.pending {
		if s.view.Now.Sub(podMade(job)) <= podlessAfter {
			continue
		}
		switch pod, there := s.at(job); {
		case !there && !s.isOpaque(job.Name):
			without = append(without, job)
		case there && pod.Namespace != s.instance.Pods:
			disputed = append(disputed, pod)
		}
	}
	lack := cmp.Or(s.podlessUnread(), disputes(disputed, s.instance.Pods))
	if len(without) == 0 {
		return nil, lack
	}
	severity := finding.Warn
	if jobs, _ := kinds(without); len(without) >= manyPodless && jobs > 1 &&
		float64(len(without)) >= podlessShare*float64(len(s.pending)) {
		severity = finding.Alert
	}
	return finding.List{{
		Severity: severity, Subject: finding.Subject{Cluster: s.instance.Cluster, Namespace: s.instance.Pods},
		Message: fmt.Sprintf("%s pending for more than %s without a pod in namespace %s", count(len(without), "ProwJob"),
			short(podlessAfter), s.instance.Pods),
		Evidence: append(jobNames(without), fmt.Sprintf("%s pending in this cluster", count(len(s.pending), "job"))),
		Mend:     "see whether plank runs, and in which namespace it makes pods",
	}}, lack
}

// isOpaque tells whether there is a pod of that name where it belongs of which nothing can be read.
func (s *survey) isOpaque(pod string) bool {
	return slices.ContainsFunc(s.opaquePods, func(m cluster.Malformed) bool {
		return m.Namespace == s.instance.Pods && m.Name == pod
	})
}

// kinds counts the jobs and the repositories of the configuration that ProwJobs are of.
func kinds(jobs []cluster.Job) (names, repositories int) {
	seen, repos := map[string]bool{}, map[string]bool{}
	for _, job := range jobs {
		seen[job.Job] = true
		if job.Org != "" {
			repos[job.Org+"/"+job.Repo] = true
		}
	}
	return len(seen), len(repos)
}

// jobNames is the evidence of ProwJobs.
func jobNames(jobs []cluster.Job) []string {
	var names []string
	of := map[string]bool{}
	for _, job := range jobs {
		names = append(names, job.String())
		of[job.Job] = true
	}
	return []string{
		strings.Join(few(names), ", "),
		"of " + strings.Join(few(slices.Sorted(maps.Keys(of))), ", "),
		"the first has been pending since " + moment(podMade(jobs[0])),
	}
}
