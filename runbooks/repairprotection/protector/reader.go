package protector

import (
	"context"
	"sync"
	"time"

	"salve/internal/prow/config"
	"salve/kube"
)

// lasts is how long a reading serves the steps that follow each other within it. The engine asks for evidence that is
// not older than a minute.
const lasts = 15 * time.Second

// Reader reads one cluster. It is safe for concurrent use.
type Reader struct {
	Cluster *kube.Cluster
	Config  *config.Config
	// Manifests is the folder with what is deployed to the cluster; empty when none was named.
	Manifests string
	// Namespace is where the record of what was applied is. Host is the GitHub that it is about.
	Namespace, Host string

	lock sync.Mutex
	kept Reading
}

// Reading is the cluster as it was at one time.
type Reading struct {
	Seen time.Time
	// Active are the runs of a branchprotector that are not over.
	Active []string
	// Deployed are those of the cluster, Declared those of the manifests; by kind, namespace and name.
	Deployed, Declared map[string]string
	// Unread is set when no manifests were named.
	Unread bool
	// Applied is what was applied last; nil when nothing was.
	Applied *Applied
}

// Read gives a reading that is at most some seconds old.
func (r *Reader) Read(ctx context.Context) (Reading, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	now := r.Cluster.Clock.Now()
	if !r.kept.Seen.IsZero() && now.Sub(r.kept.Seen) < lasts {
		return r.kept, nil
	}
	seen := Reading{Seen: now, Unread: r.Manifests == ""}
	var err error
	if seen.Applied, err = r.Applied(ctx); err != nil {
		return Reading{}, err
	}
	if seen.Active, err = r.active(ctx); err != nil {
		return Reading{}, err
	}
	if seen.Deployed, err = r.deployed(ctx); err != nil {
		return Reading{}, err
	}
	if !seen.Unread {
		if seen.Declared, err = Declared(r.Manifests); err != nil {
			return Reading{}, err
		}
	}
	r.kept = seen
	return seen, nil
}

// Forget has the next Read look again.
func (r *Reader) Forget() {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.kept = Reading{}
}
