package stray

import (
	"fmt"
	"strings"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
)

func failed(format string, args ...any) finding.Lack {
	return finding.Lack{Reason: fmt.Sprintf(format, args...)}
}

// jobLack is why the instance's ProwJobs are not seen.
func (s *survey) jobLack() finding.Lack {
	health := s.view.JobHealth
	switch {
	case health.Err != nil:
		return failed("ProwJobs are not seen: %s", health.Err)
	case !health.Coverage.Sees(s.instance.ProwJobs):
		return failed("ProwJobs are not seen: %s", health.Coverage)
	}
	var here []cluster.Malformed
	for _, malformed := range s.view.MalformedJobs {
		if malformed.Namespace == s.instance.ProwJobs {
			here = append(here, malformed)
		}
	}
	return unreadable("ProwJobs", here)
}

// homeLack is why pods are not seen where they belong.
func (s *survey) homeLack() finding.Lack {
	health := s.view.PodHealth
	switch {
	case health.Err != nil:
		return failed("pods are not seen: %s", health.Err)
	case !health.Coverage.Sees(s.instance.Pods):
		return failed("pods are not seen: %s", health.Coverage)
	}
	return finding.Lack{}
}

// podLack is why pods are not seen in all namespaces.
func (s *survey) podLack() finding.Lack {
	if lack := s.homeLack(); lack.Reason != "" {
		return lack
	}
	if coverage := s.view.PodHealth.Coverage; !coverage.All() {
		return failed("pods of other namespaces are not seen: %s", coverage)
	}
	return unreadable("pods", s.view.MalformedPods)
}

func unreadable(what string, malformed []cluster.Malformed) finding.Lack {
	if len(malformed) == 0 {
		return finding.Lack{}
	}
	return failed("%d %s can't be read, such as %s", len(malformed), what, malformed[0])
}

// sources is why the pod namespace of the configuration may not be the one in force.
func (s *survey) sources() finding.Lack {
	if s.disagrees != nil {
		return failed("the configuration's pod namespace is %s, and ProwJob %s was made with %s", s.instance.Pods,
			s.disagrees.Name, s.disagrees.PodNamespace)
	}
	return s.view.Sources
}

// elsewhere says that pods of other clusters are not looked at.
func (s *survey) elsewhere() finding.Lack {
	if len(s.instance.Others) == 0 {
		return finding.Lack{}
	}
	return finding.Lack{NotGiven: true, Reason: fmt.Sprintf("jobs of build cluster %s are not looked at: watch each with "+
		"--cluster", strings.Join(few(s.instance.Others), ", "))}
}
