package stray

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
)

const (
	// manyStrays and strayShare are what makes strays an outage: that many of the pods that were made lately, and that
	// part of them.
	manyStrays = 3
	strayShare = 0.05
)

// strays is A1: pods outside of the pod namespace. WARN, and ALERT while many of the pods that are made go there.
func (s *survey) strays() finding.List {
	severity := finding.Warn
	if s.madeAstray >= manyStrays && float64(s.madeAstray) >= strayShare*float64(s.made) {
		severity = finding.Alert
	}
	found := s.partlyRead()
	for namespace, pods := range byNamespace(s.found) {
		found = append(found, finding.Finding{
			Severity: severity, Subject: finding.Subject{Cluster: s.instance.Cluster, Namespace: namespace},
			Message: fmt.Sprintf("%s of this Prow in namespace %s; they belong in %s", count(len(pods), "pod"), namespace,
				s.instance.Pods),
			Evidence: append(named(pods),
				fmt.Sprintf("%d of the %s of the last %s are in another namespace", s.madeAstray, count(s.made, "pod"),
					short(recent))),
			Mend: "stop the rollout, or roll plank back; the pods stay until somebody removes them",
		})
	}
	return found
}

// partlyRead says which pods can't be read as a whole. They were judged by what can be read of them.
func (s *survey) partlyRead() finding.List {
	var pods []cluster.Pod
	var why []string
	for _, malformed := range s.view.MalformedPods {
		if malformed.Pod != nil {
			pods, why = append(pods, *malformed.Pod), append(why, malformed.String())
		}
	}
	if len(pods) == 0 {
		return nil
	}
	return finding.List{{
		Severity: finding.Info, Subject: finding.Subject{Cluster: s.instance.Cluster, Detail: "unreadable pods"},
		Message:  elsewhere(pods) + " can't be read as a whole; whose they are is read all the same",
		Evidence: few(why), Mend: "kubectl get one of them: Prow makes no such pods",
	}}
}

// canaries is A2: the first pods that were made after a rollout of plank, and are not where they belong.
// unsure are those of which it isn't certain where they belong.
func (s *survey) canaries() (found finding.List, unsure []cluster.Pod) {
	if len(s.found)+len(s.disputed) == 0 {
		return nil, nil
	}
	rollouts := s.rollouts()
	for namespace, pods := range byNamespace(s.found) {
		pods, how := rollouts.first(pods)
		if s.weak(pods) {
			continue
		}
		found = append(found, finding.Finding{
			Severity: finding.Alert, Subject: finding.Subject{Cluster: s.instance.Cluster, Namespace: namespace,
				Component: "prow-controller-manager"},
			Message: fmt.Sprintf("the plank that was rolled out makes pods in namespace %s, and not in %s", namespace,
				s.instance.Pods),
			Evidence: append(named(pods), few(how)...),
			Mend:     "stop the rollout and roll plank back",
		})
	}
	unsure, _ = rollouts.first(s.disputed)
	return found, unsure
}

// weak tells whether pods are no evidence about the plank that was rolled out: there are none, or a few without its
// version while those that are where they belong have one. A plank that was built without one makes more.
func (s *survey) weak(pods []cluster.Pod) bool {
	return len(pods) == 0 || s.versioned && len(pods) < manyStrays &&
		!slices.ContainsFunc(pods, func(pod cluster.Pod) bool { return pod.PlankVersion != "" })
}

func byNamespace(pods []cluster.Pod) map[string][]cluster.Pod {
	namespaces := map[string][]cluster.Pod{}
	for _, pod := range pods {
		namespaces[pod.Namespace] = append(namespaces[pod.Namespace], pod)
	}
	return namespaces
}

// fewest is how many names evidence has of each kind.
const fewest = 5

// few are the first of many names.
func few(names []string) []string {
	if len(names) <= fewest {
		return names
	}
	return append(slices.Clone(names[:fewest]), fmt.Sprintf("%d more", len(names)-fewest))
}

// named is the evidence of pods.
func named(pods []cluster.Pod) []string {
	var names []string
	made := map[string]bool{}
	for _, pod := range pods {
		names = append(names, pod.String())
		if pod.PlankVersion != "" {
			made[pod.PlankVersion] = true
		}
	}
	lines := []string{strings.Join(few(names), ", "), "the first was made at " + moment(pods[0].Created)}
	if len(made) > 0 {
		lines = append(lines, "made by plank "+strings.Join(few(slices.Sorted(maps.Keys(made))), ", "))
	}
	return lines
}

func moment(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// short is a duration without what is zero of it.
func short(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
