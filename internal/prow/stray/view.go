package stray

import (
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
	"salve/kube"
)

// Instance is the Prow that is watched, as it is configured.
type Instance struct {
	// Cluster is the alias of the build cluster whose pods are seen. Others are those that jobs name besides.
	Cluster string
	Others  []string
	// ProwJobs is the namespace of the ProwJobs, Pods the one where all pods belong.
	ProwJobs, Pods string
	// PendingTimeout is after how long plank gives up a pod that doesn't start, where a job says nothing else.
	PendingTimeout time.Duration
	// Deploys are the jobs that deploy what they need themselves. DeploysLack is why they aren't known.
	Deploys     []Deploy
	DeploysLack finding.Lack
}

// Deploy is a job that deploys components that it needs itself.
type Deploy struct {
	// Job is its name in the configuration.
	Job        string
	Components []string
}

// Objects are those of a kind as they were last seen. A cluster.Mirror is one.
type Objects[T any] interface {
	Get(namespace, name string) (T, bool)
	All() iter.Seq[T]
}

// View is what was seen at a moment.
type View struct {
	Now  time.Time
	Pods Objects[cluster.Pod]
	Jobs Objects[cluster.Job]
	// PodHealth and JobHealth are how well they are seen.
	PodHealth, JobHealth cluster.Health
	// MalformedPods and MalformedJobs are objects that can't be read as a whole. They are in neither Pods nor Jobs.
	MalformedPods, MalformedJobs []cluster.Malformed
	Rollout                      Rollout
	// Missing are, by the pod's UID, the objects that keep a pod of Result.Waiting from starting. A pod that was not
	// asked about yet is not in it. MissingLack is why it can't be asked.
	Missing     map[types.UID][]Missing
	MissingLack finding.Lack
	// Sources is why the configuration is not known to be the one in force; the zero value where nothing speaks
	// against it.
	Sources Sources
}

// Sources says why the configuration is not known to be the one in force.
type Sources struct {
	finding.Lack
	// Differs: the cluster has another one. Otherwise it could not be read.
	Differs bool
}

// Rollout is the last one of plank that is known otherwise than by the pods that it makes.
type Rollout struct {
	// At is when the running plank took over; zero where that isn't known, which Lack explains.
	At   time.Time
	Lack finding.Lack
}

// Missing is an object that a pod waits for.
type Missing struct {
	// Reference is the object. For is how it is known.
	kube.Reference
	// Belongs is whether there is one of that name where the pod belongs. BelongsLack is why that isn't known.
	Belongs     bool
	BelongsLack finding.Lack
}

// Result is what all rules came to.
type Result struct {
	// Findings are in no order.
	Findings finding.List
	// Verdicts are one a rule, in the order of Rules.
	Verdicts []finding.Verdict
	// Blind are the rules that could not be asked at this moment. What they found before may still be there.
	Blind map[string]bool
	// Waiting are pods of which is to be known why they wait.
	Waiting []cluster.Pod
	Counts  Counts
}

// Counts are how many objects were seen.
type Counts struct {
	// Pods are all with Prow's label, Strays those of them that A1 is about.
	Pods, Strays int
	// Jobs are the instance's ProwJobs, Pending those of them that wait for the end of their pod.
	Jobs, Pending int
	// Malformed are pods, and the instance's ProwJobs, that can't be read as a whole.
	Malformed int
}
