package stray

import (
	"sync"
	"time"

	"salve/internal/prow/cluster"
)

const (
	// recent is how long ago a pod was made that A1 counts.
	recent = 5 * time.Minute
	// grain is how exactly the time is kept at which pods were made that are not there any more.
	grain = 10 * time.Second
	// maxCollected bounds how many ProwJobs are remembered that are not there any more: sinker collects them days after
	// their end, and a stray is seen long before.
	maxCollected = 10_000
)

// memory is what is known of objects that are not there any more. It is safe for concurrent use.
type memory struct {
	mu sync.Mutex
	// departed counts pods by when they were made, in a ring of recent.
	departed [recent/grain + 1]bucket
	// collected are ProwJobs by name, and order is that in which they went.
	collected map[string]declared
	order     []string
	oldest    int
}

// bucket counts the pods that were made in one grain of time.
type bucket struct {
	grain       int64
	all, strays int
}

// declared is what a ProwJob says about its pod.
type declared struct {
	job, agent, namespace string
}

func (d declared) ofPlank() bool { return d.agent == "" || d.agent == cluster.KubernetesAgent }

func declaredBy(job cluster.Job) declared {
	return declared{job: job.Job, agent: job.Agent, namespace: job.PodNamespace}
}

func (m *memory) jobGone(job cluster.Job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.collected == nil {
		m.collected = map[string]declared{}
	}
	if _, known := m.collected[job.Name]; known {
		return
	}
	if len(m.order) < maxCollected {
		m.order = append(m.order, job.Name)
	} else {
		delete(m.collected, m.order[m.oldest])
		m.order[m.oldest] = job.Name
		m.oldest = (m.oldest + 1) % maxCollected
	}
	m.collected[job.Name] = declaredBy(job)
}

func (m *memory) job(name string) (declared, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	job, known := m.collected[name]
	return job, known
}

func (m *memory) podGone(made time.Time, stray bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := max(0, made.Unix()) / int64(grain/time.Second) // a time that is missing is long ago
	slot := &m.departed[at%int64(len(m.departed))]
	if at < slot.grain {
		return // made long ago
	}
	if at > slot.grain {
		*slot = bucket{grain: at}
	}
	slot.all++
	if stray {
		slot.strays++
	}
}

// gone counts the pods that were made since a moment and are not there any more.
func (m *memory) gone(since time.Time) (all, strays int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := since.Unix() / int64(grain/time.Second)
	for _, bucket := range m.departed {
		if bucket.grain >= first {
			all += bucket.all
			strays += bucket.strays
		}
	}
	return all, strays
}
