package watch

import (
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/clock"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
	"salve/kube"
)

const (
	// leadership is the Lease that the controller with plank holds in the namespace of the ProwJobs
	// (https://github.com/kubernetes-sigs/prow/blob/main/cmd/prow-controller-manager/main.go).
	leadership = "prow-controller-manager-leader-lock"
	// leaderEvery is how often it is read, and readTime how long a read may take.
	leaderEvery = 2 * time.Second
	readTime    = 20 * time.Second
)

// leader knows since when the running plank leads: each one that starts takes over, whatever its version. Where it
// holds no Lease, because leader election is off, it is known since when it runs.
type leader struct {
	cluster   *kube.Cluster
	namespace string
	// since is when the user says that plank was rolled out; zero where nobody did. It counts only where there is neither
	// a Lease nor a plank in the namespace: what is seen is better, and what can't be read is not known.
	since   time.Time
	changed func()

	mu    sync.Mutex
	asked bool
	last  stray.Rollout
}

func (l *leader) rollout() stray.Rollout {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.asked {
		return stray.Rollout{Lack: finding.Lack{Reason: "the leadership of plank was not read yet"}}
	}
	return l.last
}

func (l *leader) wasRead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}

func (l *leader) run(ctx context.Context) error {
	return each(ctx, l.cluster.Clock, leaderEvery, func(ctx context.Context) {
		next := l.read(ctx)
		l.mu.Lock()
		otherwise := !l.asked || next != l.last
		l.asked, l.last = true, next
		l.mu.Unlock()
		if otherwise {
			l.changed()
		}
	})
}

func (l *leader) read(ctx context.Context) stray.Rollout {
	var lease *coordinationv1.Lease
	err := l.cluster.Read(ctx, "reading the leadership of plank", func(ctx context.Context) (err error) {
		lease, err = l.cluster.Client.CoordinationV1().Leases(l.namespace).Get(ctx, leadership, metav1.GetOptions{})
		return err
	})
	lack := func(why any) stray.Rollout {
		return stray.Rollout{Lack: finding.Lack{Reason: fmt.Sprintf("when plank took over is not known: %v", why)}}
	}
	switch {
	case kube.IsNotFound(err):
		at, unread := l.started(ctx)
		switch {
		case unread != nil:
			return lack(fmt.Errorf("it holds no Lease, and %w", unread))
		case at.IsZero() && l.since.IsZero():
			return lack(fmt.Errorf("it holds no Lease, and none of its pods has run in namespace %s. hint: --rollout-since",
				l.namespace))
		case at.IsZero():
			return stray.Rollout{At: l.since}
		}
		return stray.Rollout{At: at}
	case err != nil:
		return lack(err)
	case lease.Spec.AcquireTime == nil:
		return lack("its Lease doesn't say")
	}
	return stray.Rollout{At: lease.Spec.AcquireTime.Time}
}

// each does something at once and then again and again, each time with a deadline, until ctx ends.
func each(ctx context.Context, clk clock.Clock, every time.Duration, do func(context.Context)) error {
	for {
		limited, cancel := clock.WithTimeout(ctx, clk, readTime)
		do(limited)
		cancel()
		if err := clock.Sleep(ctx, clk, every); err != nil {
			return err
		}
	}
}
