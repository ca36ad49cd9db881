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
		if found && s.byPlank(pod) && !pod.Created.Before(job.Created) {
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

// Landed are the namespaces of the newest pods that plank made, as many as are wanted, and how many these are. Pods of
// one second with the last of them count too: nobody can tell which was first.
func (s *State) Landed(wanted int) (namespaces []string, pods int) {
	var made []cluster.Pod
	for _, pod := range s.pods {
		if s.byPlank(pod) {
			made = append(made, pod)
		}
	}
	slices.SortFunc(made, func(a, b cluster.Pod) int { return b.Created.Compare(a.Created) })
	var last time.Time
	for n, pod := range made {
		if n >= wanted && pod.Created.Before(last) {
			break
		}
		last, pods = pod.Created, n+1
		if !slices.Contains(namespaces, pod.Namespace) {
			namespaces = append(namespaces, pod.Namespace)
		}
	}
	slices.Sort(namespaces)
	return namespaces, pods
}
