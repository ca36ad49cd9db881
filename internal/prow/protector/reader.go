package protector

import (
	"context"
	"slices"
	"sync"
	"time"

	"salve/internal/clock"
	"salve/kube"
)

// lasts is how long what was read serves the steps that follow each other. The engine asks for evidence that is not
// older than a minute.
const lasts = 15 * time.Second

// Reader reads one cluster. It is safe for concurrent use.
type Reader struct {
	Cluster *kube.Cluster
	// ProwJobs is the namespace of the ProwJobs; empty is all.
	ProwJobs string
	// Ours is what this instance protects; nil where that is not known: then no configuration tells another's.
	Ours *Scope
	// Others are namespaces of other Prow instances that protect nothing of ours, as the user says: their branchprotectors
	// don't count.
	Others []string
	// Manifests is the folder with what is deployed to the cluster; empty when none was named.
	Manifests string
	// Namespace is where the record of what was applied is. Host is the GitHub that it is about.
	Namespace, Host string

	runs    recent[[]Run]
	images  recent[Images]
	applied recent[*Applied]
}

// Images are those of branchprotectors, by kind, namespace and name of what runs them.
type Images struct {
	Seen time.Time
	// Deployed are those of the cluster, Declared those of the manifests.
	Deployed, Declared map[string]string
	// Unread is set when no manifests were named.
	Unread bool
}

// Runs are the runs of a branchprotector that are not over, with those that don't count, as they were some seconds ago
// at most.
func (r *Reader) Runs(ctx context.Context) ([]Run, error) {
	return r.runs.get(r.Cluster.Clock, func() ([]Run, error) { return r.active(ctx) })
}

// Active are those of Runs that count.
func (r *Reader) Active(ctx context.Context) ([]Run, error) {
	runs, err := r.Runs(ctx)
	return slices.DeleteFunc(slices.Clone(runs), func(run Run) bool { return run.Passed != "" }), err
}

// Images are the deployed and the declared ones, as they were some seconds ago at most.
func (r *Reader) Images(ctx context.Context) (Images, error) {
	return r.images.get(r.Cluster.Clock, func() (seen Images, err error) {
		seen = Images{Seen: r.Cluster.Clock.Now(), Unread: r.Manifests == ""}
		if seen.Deployed, err = r.deployed(ctx); err != nil || seen.Unread {
			return seen, err
		}
		seen.Declared, err = Declared(r.Manifests)
		return seen, err
	})
}

// LastApplied is what Applied gave some seconds ago at most.
func (r *Reader) LastApplied(ctx context.Context) (*Applied, error) {
	return r.applied.get(r.Cluster.Clock, func() (*Applied, error) { return r.Applied(ctx) })
}

// recent keeps a reading for some seconds.
type recent[T any] struct {
	lock sync.Mutex
	kept T
	at   time.Time
}

func (r *recent[T]) get(clk clock.Clock, read func() (T, error)) (T, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	now := clk.Now()
	if !r.at.IsZero() && now.Sub(r.at) < lasts {
		return r.kept, nil
	}
	seen, err := read()
	if err != nil {
		var none T
		return none, err
	}
	r.kept, r.at = seen, now
	return seen, nil
}

func (r *recent[T]) forget() {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.at = time.Time{}
}
