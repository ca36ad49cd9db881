package stray

import (
	"fmt"
	"strings"
	"time"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
)

// declarations are what the instance's jobs that are under way, or were made lately, declare about their pods.
type declarations struct {
	jobs int
	// others are those that declare another namespace than the configuration's.
	others []cluster.Job
}

func (d *declarations) add(job cluster.Job, pods string, now time.Time) {
	if job.Complete() && now.Sub(job.Created) >= recent {
		return
	}
	d.jobs++
	if job.PodNamespace != "" && job.PodNamespace != pods {
		d.others = append(d.others, job)
	}
}

// agreement is P4: the sources of the pod namespace disagree. WARN for a few jobs that declare another one than the
// configuration: a single object proves little. ALERT for many, and for another configuration in the cluster.
func (s *survey) agreement() finding.List {
	var found finding.List
	if s.view.Sources.Differs {
		found = append(found, finding.Finding{
			Severity: finding.Alert, Subject: finding.Subject{Detail: "configuration in the cluster"},
			Message: s.view.Sources.Reason, Mend: planned,
		})
	}
	others := s.declared.others
	if len(others) == 0 {
		return found
	}
	severity := finding.Warn
	if len(others) >= manyStrays && float64(len(others)) >= strayShare*float64(s.declared.jobs) {
		severity = finding.Alert
	}
	namespaces, names := map[string]bool{}, []string{}
	for _, job := range others {
		namespaces[fmt.Sprintf("%.63s", job.PodNamespace)] = true
		names = append(names, job.String())
	}
	return append(found, finding.Finding{
		Severity: severity, Subject: finding.Subject{Detail: "namespaces of ProwJobs"},
		Message: fmt.Sprintf("%s made for pods in namespace %s; the configuration has them in %s",
			count(len(others), "ProwJob"), sorted(namespaces), s.instance.Pods),
		Evidence: []string{strings.Join(few(names), ", "),
			fmt.Sprintf("%s under way or made in the last %s", count(s.declared.jobs, "job"), short(recent)),
			fmt.Sprintf("%s where these ProwJobs say", count(len(s.disputed), "pod"))},
		Mend: planned,
	})
}

// planned is what to do where sources disagree.
const planned = "see which configuration Prow runs with; after a planned move start the watch anew with the new one"
