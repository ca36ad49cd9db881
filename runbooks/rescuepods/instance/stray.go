package instance

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"salve/internal/prow/cluster"
)

// Rules are what decisions are made by.
type Rules struct {
	Namespaces
	// Expected are further namespaces where pods with Prow's label belong.
	Expected []string
	// PlankVersion is that of the plank that erred; empty where any may have.
	PlankVersion string
	// Since and Until bound when strays were made; zero ones are derived from the strays.
	Since, Until time.Time
	// Proven is how many jobs must have their pods where they belong.
	Proven int
}

// longestIncident bounds an incident of which nobody said when it began.
const longestIncident = 24 * time.Hour

// Verdict is what is known of a pod outside of the namespaces where such pods belong.
type Verdict struct {
	// Ours says that plank made it for a job of this instance.
	Ours bool
	// Leave is why it is to be left alone, with the rule; empty for a stray that may go.
	Leave string
}

// Strays judges each pod that is not where such pods belong, by its UID.
func (s *State) Strays(rules Rules) map[types.UID]Verdict {
	verdicts := map[types.UID]Verdict{}
	var ours []cluster.Pod
	for uid, pod := range s.pods {
		if !rules.elsewhere(pod.Namespace) {
			continue
		}
		switch why := s.foreign(pod, rules); {
		case pod.Namespace == rules.ProwJobs && pod.PlankVersion == "":
			verdicts[uid] = Verdict{Leave: "G6: it is in the namespace of the ProwJobs, and no label says that plank made it"}
		case why != "":
			verdicts[uid] = Verdict{Leave: "G3: " + why}
		default:
			ours = append(ours, pod)
		}
	}
	rules = rules.during(ours)
	for _, pod := range ours {
		verdicts[pod.UID] = Verdict{Ours: true, Leave: s.leave(pod, rules)}
	}
	return verdicts
}

func (r Rules) elsewhere(namespace string) bool {
	return namespace != r.Pods && !slices.Contains(r.Expected, namespace)
}

// foreign is why a pod is none that plank made for a job of this instance; empty when it is one.
func (s *State) foreign(pod cluster.Pod, rules Rules) string {
	if pod.Owned {
		return "something owns it, and nothing owns the pods that plank makes"
	}
	if pod.ID != pod.Name {
		return fmt.Sprintf("its label prow.k8s.io/id is %q, and not its name: somebody labelled it by hand", pod.ID)
	}
	if s.gone[pod.UID] { // its identity was proven while its job was there
		return ""
	}
	job, found := s.jobs[pod.ID]
	switch {
	case s.unreadable[pod.ID] != "":
		return "its ProwJob can't be read: " + s.unreadable[pod.ID]
	case !found:
		return fmt.Sprintf("no ProwJob of namespace %s has its name: it is another Prow's, or its job was deleted before "+
			"it was seen", rules.ProwJobs)
	case job.PodNamespace == pod.Namespace: // whoever made the pod, and whatever the sources say
		return fmt.Sprintf("its ProwJob declares namespace %s, and there it is", job.PodNamespace)
	case job.Agent != cluster.KubernetesAgent:
		return fmt.Sprintf("its job's agent is %q, whose pods may be elsewhere", job.Agent)
	case job.Cluster != cluster.DefaultCluster:
		return fmt.Sprintf("its job is for build cluster %q, and this one is %q", job.Cluster, cluster.DefaultCluster)
	case !pod.Annotated:
		return "it has no annotation prow.k8s.io/job: plank did not make it"
	case pod.Job != job.Job:
		return fmt.Sprintf("its annotation says job %q, its ProwJob job %q", pod.Job, job.Job)
	}
	return ""
}

// leave is why a stray is to be left alone; empty when it may go.
func (s *State) leave(pod cluster.Pod, rules Rules) string {
	job, found := s.jobs[pod.ID]
	switch {
	case found && !declares(job, rules.Pods):
		return fmt.Sprintf("G2: its ProwJob declares namespace %s, and not %s", job.PodNamespace, rules.Pods)
	case rules.PlankVersion != "" && pod.PlankVersion != rules.PlankVersion:
		return fmt.Sprintf("G3: plank %s made it, not %s", cmp.Or(pod.PlankVersion, "of no version"), rules.PlankVersion)
	case pod.Created.Before(rules.Since), pod.Created.After(rules.Until):
		return fmt.Sprintf("G3: made at %s, outside of the incident from %s to %s", stamp(pod.Created), stamp(rules.Since),
			stamp(rules.Until))
	case !found, job.Complete(), s.atHome(pod.ID, rules):
		return ""
	}
	return fmt.Sprintf("G4: its job is not complete, and has no pod in %s yet", rules.Pods)
}

// declares tells whether a job's own spec says that its pod belongs in a namespace, or says nothing: Prow fills it from
// the configuration when it makes the job, and plank never reads it. It is a witness that plank can't lead astray.
func declares(job cluster.Job, namespace string) bool {
	return job.PodNamespace == "" || job.PodNamespace == namespace
}

// atHome tells whether a job has its own pod where it belongs.
func (s *State) atHome(job string, rules Rules) bool {
	pod, found := s.pods[s.named[types.NamespacedName{Namespace: rules.Pods, Name: job}]]
	return found && pod.ID == job && !pod.Deleting
}

// Releasable tells of a stray that is deleted whether crier has nothing to do with it any more: its job is gone, or
// complete and stored.
func (s *State) Releasable(pod types.UID, name string) bool {
	job, found := s.jobs[name]
	return s.gone[pod] || found && job.Complete() && job.Stored == job.State
}

// during completes the time of the incident: until the youngest stray, since the oldest, a day before that at most.
func (r Rules) during(strays []cluster.Pod) Rules {
	var oldest, youngest time.Time
	for _, pod := range strays {
		if oldest.IsZero() || pod.Created.Before(oldest) {
			oldest = pod.Created
		}
		if pod.Created.After(youngest) {
			youngest = pod.Created
		}
	}
	if r.Until.IsZero() {
		r.Until = youngest
	}
	if r.Since.IsZero() {
		r.Since = oldest
		if bound := r.Until.Add(-longestIncident); r.Since.Before(bound) {
			r.Since = bound
		}
	}
	return r
}

func stamp(moment time.Time) string { return moment.UTC().Format(time.RFC3339) }
