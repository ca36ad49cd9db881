package stray

import (
	"cmp"
	"fmt"
	"strings"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
)

func failed(format string, args ...any) finding.Lack {
	return finding.Lack{Reason: fmt.Sprintf(format, args...)}
}

// unseen is why changes are not seen where the instance is: of its ProwJobs, or of the pods that are where they belong.
func (s *survey) unseen() finding.Lack {
	return cmp.Or(unseen("ProwJobs", s.view.JobHealth, s.instance.ProwJobs),
		unseen("pods", s.view.PodHealth, s.instance.Pods))
}

func unseen(what string, health cluster.Health, namespace string) finding.Lack {
	switch {
	case health.Err != nil:
		return failed("%s are not seen: %s", what, health.Err)
	case !health.Coverage.Sees(namespace):
		return failed("%s are not seen: %s", what, health.Coverage)
	}
	return finding.Lack{}
}

// unread is what of that can't be read.
func (s *survey) unread() finding.Lack {
	return cmp.Or(unreadable("ProwJobs", in(s.instance.ProwJobs, s.view.MalformedJobs)),
		unreadable("pods", in(s.instance.Pods, s.view.MalformedPods)))
}

func in(namespace string, all []cluster.Malformed) []cluster.Malformed {
	var here []cluster.Malformed
	for _, malformed := range all {
		if malformed.Namespace == namespace {
			here = append(here, malformed)
		}
	}
	return here
}

// everywhere is why pods are not seen in all namespaces.
func (s *survey) everywhere() finding.Lack {
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
