package managed

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"salve/internal/azuresim"
	"salve/internal/backoff"
	"salve/internal/clock"
)

// OwnerLabel is on everything that is made; its value is Options.Owner.
const OwnerLabel = "salve-simulated"

// Options are what a Cluster needs.
type Options struct {
	// Config reaches the API server as somebody who may do everything with nodes, namespaces, pods, their controllers and
	// budgets.
	Config *rest.Config
	// Owner is a valid value of a label. Two owners may share a cluster as long as their nodes have other names.
	Owner string
	Clock clock.Clock
	// Log is told what had to be tried again and what was refused.
	Log *slog.Logger
}

// Cluster is a real cluster as the embedded Azure's own. It is safe for concurrent use.
type Cluster struct {
	owner   string
	client  kubernetes.Interface
	objects metadata.Interface
	clock   clock.Clock
	queue   *queue
	// evictions are those of pools that are deleted.
	evictions *evictions

	end  context.CancelFunc
	gone sync.WaitGroup
}

var _ azuresim.Kubernetes = (*Cluster)(nil)

// Attach connects to a cluster and clears away what an earlier Cluster of the same owner left there. Close ends it.
func Attach(ctx context.Context, options Options) (*Cluster, error) {
	config := rest.CopyConfig(options.Config)
	config.QPS, config.UserAgent, config.WarningHandler = -1, "salve-sim", rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the given cluster's client: %w", err)
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the given cluster's client: %w", err)
	}
	c := &Cluster{
		owner: options.Owner, client: client, objects: objects, clock: options.Clock,
		queue: newQueue(options.Clock, options.Log), evictions: newEvictions(),
	}
	if err := c.remove(ctx, kinds()...); err != nil { // its namespaces serve again
		return nil, err
	}
	working, end := context.WithCancel(context.WithoutCancel(ctx))
	c.end = end
	c.gone.Go(func() { c.queue.work(working) })
	return c, nil
}

// Close stops applying changes and leaves the cluster as it is.
func (c *Cluster) Close() {
	c.end()
	c.gone.Wait()
}

// own marks an object as made here.
func (c *Cluster) own(object metav1.Object) {
	labels := map[string]string{}
	for key, value := range object.GetLabels() {
		labels[key] = value
	}
	labels[OwnerLabel] = c.owner
	object.SetLabels(labels)
}

func (c *Cluster) owned() metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: OwnerLabel + "=" + c.owner}
}

// pollInterval is the pause between two checks of what the cluster has come to.
const pollInterval = 50 * time.Millisecond

// until polls until there is nothing to wait for, or no hope. The error says what it waited for last.
func (c *Cluster) until(ctx context.Context, doing string, check func(context.Context) error) error {
	for {
		err := backoff.Once(ctx, c.clock, check)
		switch {
		case err == nil:
			return nil
		case hopeless(err):
			return fmt.Errorf("%s: %w", doing, err)
		}
		if ended := clock.Sleep(ctx, c.clock, pollInterval); ended != nil {
			return fmt.Errorf("%s: %w (%w)", doing, err, ended)
		}
	}
}

// hopeless tells what does not come right while somebody waits: what is refused for good, and lack of rights.
func hopeless(err error) bool {
	refused := apierrors.IsForbidden(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
	return forGood(err) || refused || apierrors.IsUnauthorized(err)
}
