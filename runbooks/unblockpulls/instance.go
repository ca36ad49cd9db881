package unblockpulls

import (
	"context"
	"sync"
	"time"

	"salve/internal/prow/blocked"
	"salve/internal/prow/cluster"
	"salve/kube"
)

// lasts is how long a reading of the cluster serves the guards and steps that follow each other.
const lasts = 5 * time.Second

// instance is a Prow's cluster as far as the runbook asks it. It is safe for concurrent use.
type instance struct {
	cluster *kube.Cluster
	// namespace holds the ProwJobs, pods their pods.
	namespace, pods string
	// pendingTimeout is plank's, for jobs that say nothing else.
	pendingTimeout time.Duration

	lock sync.Mutex
	kept work
	at   time.Time
}

// work is what Prow has to do.
type work struct {
	jobs *blocked.Jobs
	read cluster.Reading[cluster.Job]
	// unfinished counts the ProwJobs that are not complete, by the job's name, and all is how many those are.
	unfinished map[string]int
	all        int
	// ours are the names of the ProwJobs that plank makes pods of.
	ours map[string]bool
}

// work reads the ProwJobs, as they were some seconds ago at most.
func (i *instance) work(ctx context.Context) (work, error) {
	i.lock.Lock()
	defer i.lock.Unlock()
	now := i.cluster.Clock.Now()
	if !i.at.IsZero() && now.Sub(i.at) < lasts {
		return i.kept, nil
	}
	read, err := cluster.ReadJobs(ctx, i.cluster, []string{i.namespace})
	if err != nil {
		return work{}, err
	}
	seen := work{jobs: blocked.NewJobs(i.namespace, read), read: read, unfinished: map[string]int{},
		ours: map[string]bool{}}
	for _, job := range read.Objects {
		if job.Namespace != i.namespace {
			continue
		}
		if job.Agent == "" || job.Agent == cluster.KubernetesAgent {
			seen.ours[job.Name] = true
		}
		if !job.Complete() {
			seen.unfinished[job.Job]++
			seen.all++
		}
	}
	i.kept, i.at = seen, now
	return seen, nil
}

// forget has the next work read again.
func (i *instance) forget() {
	i.lock.Lock()
	defer i.lock.Unlock()
	i.at = time.Time{}
}
