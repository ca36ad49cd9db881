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
	var found finding.List
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

// canaries is A2: the first pods that were made after a rollout of plank, and are not where they belong.
func (s *survey) canaries() finding.List {
	rollout, known := s.rollout()
	if !known || len(s.found) == 0 {
		return nil
	}
	until := s.firstPods(rollout)
	first := slices.DeleteFunc(slices.Clone(s.found), func(pod cluster.Pod) bool {
		return !rollout.made(pod) || pod.Created.After(until)
	})
	var found finding.List
	for namespace, pods := range byNamespace(first) {
		found = append(found, finding.Finding{
			Severity: finding.Alert, Subject: finding.Subject{Cluster: s.instance.Cluster, Namespace: namespace,
				Component: "prow-controller-manager"},
			Message: fmt.Sprintf("the plank that was rolled out makes pods in namespace %s, and not in %s", namespace,
				s.instance.Pods),
			Evidence: append(named(pods), rollout.how),
			Mend:     "stop the rollout and roll plank back",
		})
	}
	return found
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
