package instance

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"salve/internal/prow/cluster"
)

// Proof is whether the fix is in force: jobs that were made after the youngest stray, and whose pods plank made where
// they belong.
type Proof struct {
	// Youngest is the newest pod that plank made elsewhere, zero where there is none.
	Youngest cluster.Pod
	// Jobs are at most as many as are wanted, oldest first.
	Jobs []string
}

// Proof looks for jobs that prove the fix.
func (s *State) Proof(rules Rules) (proof Proof) {
	for uid, verdict := range s.Strays(rules) {
		if pod := s.pods[uid]; verdict.Ours && pod.Created.After(proof.Youngest.Created) {
			proof.Youngest = pod
		}
	}
	var proven []cluster.Job
	for _, job := range s.jobs {
		if !job.Created.After(proof.Youngest.Created) {
			continue
		}
		pod, found := s.pods[s.named[types.NamespacedName{Namespace: rules.Pods, Name: job.Name}]]
		if found && declares(job, rules.Pods) && s.byPlank(pod) && !pod.Created.Before(job.Created) {
			proven = append(proven, job)
		}
	}
	slices.SortFunc(proven, func(a, b cluster.Job) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
	})
	for _, job := range proven[:min(len(proven), rules.Proven)] {
		proof.Jobs = append(proof.Jobs, job.Name)
	}
	return proof
}

// byPlank tells whether plank made a pod for a job of this instance in this cluster. Nobody else sets the label of
// plank's version (https://github.com/kubernetes-sigs/prow/blob/main/pkg/plank/reconciler.go).
func (s *State) byPlank(pod cluster.Pod) bool {
	job, found := s.jobs[pod.ID]
	return found && pod.ID == pod.Name && !pod.Owned && pod.PlankVersion != "" && pod.Job == job.Job &&
		job.Agent == cluster.KubernetesAgent && job.Cluster == cluster.DefaultCluster
}

// Landed are the namespaces of the newest pods that plank made, and how many these are: all of one second, for nobody
// can tell which of them was first. Where plank went back and forth, the youngest stray tells (Proof).
func (s *State) Landed() (namespaces []string, pods int) {
	newest := s.newest()
	for _, pod := range newest {
		namespaces = append(namespaces, pod.Namespace)
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces), len(newest)
}

// Declared are the namespaces that the ProwJobs of these pods declare; those that declare none are left out.
func (s *State) Declared() (namespaces []string) {
	for _, pod := range s.newest() {
		if declared := s.jobs[pod.ID].PodNamespace; declared != "" {
			namespaces = append(namespaces, declared)
		}
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

// newest are the pods that plank made last, all of one second.
func (s *State) newest() (pods []cluster.Pod) {
	var newest time.Time
	for _, pod := range s.pods {
		if !s.byPlank(pod) || pod.Created.Before(newest) {
			continue
		}
		if pod.Created.After(newest) {
			newest, pods = pod.Created, nil
		}
		pods = append(pods, pod)
	}
	return pods
}
