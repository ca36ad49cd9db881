package stray

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
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

// everywhere is why pods are not seen in all namespaces.
func (s *survey) everywhere() finding.Lack {
	if coverage := s.view.PodHealth.Coverage; !coverage.All() {
		return failed("pods of other namespaces are not seen: %s", coverage)
	}
	return finding.Lack{}
}

// An object that can't be read takes an answer away only from the rules to which it could matter. What they found by
// others holds all the same.

// sources is why the configuration in the cluster isn't known. That it is another one is found, and nothing lacks.
func (s *survey) sources() finding.Lack {
	if s.view.Sources.Differs {
		return finding.Lack{}
	}
	return s.view.Sources.Lack
}

// opaque is that there are pods of which nothing can be read.
func (s *survey) opaque() finding.Lack { return unreadable("pods", s.opaquePods) }

// doubts is that pods outside of the pod namespace may be the instance's.
func (s *survey) doubts() finding.Lack {
	if len(s.doubtful) == 0 {
		return finding.Lack{}
	}
	why, isJob := s.unread[s.doubtful[0].Name]
	for _, malformed := range s.view.MalformedPods {
		if pod := malformed.Pod; !isJob && pod != nil && pod.String() == s.doubtful[0].String() {
			why = malformed
		}
	}
	return failed("%s may be astray: they or their ProwJobs can't be read, such as %s", elsewhere(s.doubtful), why)
}

// disputes is that pods are where their jobs declare them to be, and not where the configuration has them: which of the
// two is in force decides.
func disputes(pods []cluster.Pod, home string) finding.Lack {
	if len(pods) == 0 {
		return finding.Lack{}
	}
	return failed("the configuration's pod namespace is %s, and %s of jobs that were made with another one (P4)", home,
		elsewhere(pods))
}

// podlessUnread is that jobs that can't be read have no pod, or none is known to be theirs.
func (s *survey) podlessUnread() finding.Lack {
	var without []cluster.Malformed
	for _, name := range slices.Sorted(maps.Keys(s.unread)) {
		if _, there := s.pods.Get(s.instance.Pods, name); !there {
			without = append(without, s.unread[name])
		}
	}
	return unreadable("ProwJobs without a pod", without)
}

// unreadJobs is that jobs can't be read, whatever they are about.
func (s *survey) unreadJobs() finding.Lack {
	return unreadable("ProwJobs", slices.SortedFunc(maps.Values(s.unread), func(a, b cluster.Malformed) int {
		return strings.Compare(a.Name, b.Name)
	}))
}

// vague is that it isn't known of pods whether they wait or run.
func vague(pods []cluster.Pod) finding.Lack {
	for _, pod := range pods {
		if pod.Phase == "" {
			return failed("what pod %s does can't be read", pod)
		}
	}
	return finding.Lack{}
}

func unreadable(what string, malformed []cluster.Malformed) finding.Lack {
	if len(malformed) == 0 {
		return finding.Lack{}
	}
	return failed("%d %s can't be read, such as %s", len(malformed), what, malformed[0])
}

// elsewhere says how many pods there are, and where.
func elsewhere(pods []cluster.Pod) string {
	namespaces := map[string]bool{}
	for _, pod := range pods {
		namespaces[pod.Namespace] = true
	}
	return count(len(pods), "pod") + " in namespace " + sorted(namespaces)
}

func sorted(names map[string]bool) string {
	return strings.Join(few(slices.Sorted(maps.Keys(names))), ", ")
}

// otherClusters says that pods of other clusters are not looked at.
func (s *survey) otherClusters() finding.Lack {
	if len(s.instance.Others) == 0 {
		return finding.Lack{}
	}
	return finding.Lack{NotGiven: true, Reason: fmt.Sprintf("jobs of build cluster %s are not looked at: watch each with "+
		"--cluster", strings.Join(few(s.instance.Others), ", "))}
}
