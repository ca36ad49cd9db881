package instance

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/internal/prow/cluster"
	"salve/kube"
)

// Instance is a Prow instance in the cluster where its ProwJobs are and, for the build cluster of alias default, its
// pods too.
type Instance struct {
	*kube.Cluster
	Configuration Configuration
	// Components is the namespace of plank's and sinker's Deployments.
	Components string
	// Mount is where plank's configuration is in the cluster; zero: where plank's Deployment mounts it from.
	Mount Key
	// Apart is the time between the two readings of the sources; zero means a minute.
	Apart time.Duration

	agreed agreement
}

// State is the instance's jobs and pods at a moment.
type State struct {
	// Seen is when they were read, by our clock.
	Seen time.Time
	// jobs are those of the instance's namespace by name; unreadable has the reasons of those that can't be read.
	jobs       map[string]cluster.Job
	unreadable map[string]string
	// pods have Prow's label, in all namespaces.
	pods map[types.UID]cluster.Pod
	// named are the UIDs of pods by place and name.
	named map[types.NamespacedName]types.UID
	// gone are UIDs of pods whose job was seen earlier, and of which the API server says now that it is not found.
	gone map[types.UID]bool
}

func prowJobs() kube.Resource {
	return kube.Resource{GroupVersionResource: schema.GroupVersionResource{
		Group: "prow.k8s.io", Version: "v1", Resource: "prowjobs",
	}}
}

// State reads the jobs and pods. Earlier are pods, by UID, that are known to be of this instance: their jobs were seen,
// and may be gone by now.
func (i *Instance) State(ctx context.Context, earlier map[types.UID]string) (*State, error) {
	pods, err := cluster.ReadPods(ctx, i.Cluster, nil)
	if err != nil {
		return nil, err
	}
	jobs, err := cluster.ReadJobs(ctx, i.Cluster, []string{i.Configuration.ProwJobs})
	switch {
	case kube.IsNotFound(err):
		return nil, apierr.New(apierr.Terminal, "this cluster serves no ProwJobs: it is not that of a Prow instance. "+
			"hint: --kubeconfig FILE --context NAME: %w", err)
	case err != nil:
		return nil, err
	case !jobs.Coverage.Sees(i.Configuration.ProwJobs):
		return nil, apierr.New(apierr.Terminal, "ProwJobs of namespace %s not seen: %s", i.Configuration.ProwJobs,
			jobs.Coverage)
	}
	seen := stateOf(i.Configuration.ProwJobs, jobs, pods)
	seen.Seen = i.Clock.Now()
	return seen, i.confirm(ctx, seen, earlier)
}

func stateOf(namespace string, jobs cluster.Reading[cluster.Job], pods cluster.Reading[cluster.Pod]) *State {
	s := &State{
		jobs: map[string]cluster.Job{}, unreadable: map[string]string{}, pods: map[types.UID]cluster.Pod{},
		named: map[types.NamespacedName]types.UID{}, gone: map[types.UID]bool{},
	}
	for _, job := range jobs.Objects {
		if job.Namespace == namespace {
			s.jobs[job.Name] = job
		}
	}
	for _, job := range jobs.Malformed {
		if job.Namespace == namespace {
			s.unreadable[job.Name] = job.Why.Error()
		}
	}
	for _, pod := range pods.Objects {
		s.pods[pod.UID] = pod
		s.named[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = pod.UID
	}
	return s
}

// confirm asks for the jobs that were seen earlier and are in the list no more: only their own 404 says that they are
// gone.
func (i *Instance) confirm(ctx context.Context, s *State, earlier map[types.UID]string) error {
	type one struct {
		pod types.UID
		job string
	}
	var unlisted []one
	for pod, job := range earlier {
		_, listed := s.jobs[job]
		if _, there := s.unreadable[job]; !listed && !there {
			unlisted = append(unlisted, one{pod, job})
		}
	}
	absent := make([]bool, len(unlisted))
	err := kube.Parallel(ctx, len(unlisted), func(ctx context.Context, n int) error {
		there, _, err := i.Cluster.State(ctx, kube.Object{
			Resource: prowJobs(), Namespace: i.Configuration.ProwJobs, Name: unlisted[n].job,
		})
		absent[n] = err == nil && !there
		return err
	})
	if err != nil {
		return fmt.Errorf("asking for ProwJobs that were seen earlier: %w", err)
	}
	for n, one := range unlisted {
		if !absent[n] {
			return apierr.New(apierr.Transient, "conflict: ProwJob %s is there, and the list does not hold it", one.job)
		}
		s.gone[one.pod] = true
	}
	return nil
}
