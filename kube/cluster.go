package kube

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
)

// maxParallelReads bounds the calls in flight of Parallel.
const maxParallelReads = 16

// Cluster is a Kubernetes cluster. Nodes and pods need no more than Client and
// Clock.
type Cluster struct {
	Client kubernetes.Interface
	// Dynamic reaches kinds that are not compiled in, such as custom resources.
	Dynamic dynamic.Interface
	// Metadata reads the metadata of objects of any kind, and nothing else.
	Metadata metadata.Interface
	Clock    clock.Clock
	// config is what the clients are made of, without the guards of guarded; nil when
	// they were made elsewhere.
	config *rest.Config
}

// Server is the URL of the cluster's API; empty for an embedded one.
func (c *Cluster) Server() string {
	if c.config == nil {
		return ""
	}
	return c.config.Host
}

// ID identifies the cluster by the UID of its namespace kube-system, which is made
// with the cluster and can't be deleted.
func (c *Cluster) ID(ctx context.Context) (string, error) {
	var id string
	err := c.Read(ctx, "reading the cluster's identity, the UID of namespace kube-system",
		func(ctx context.Context) error {
			namespace, err := c.Client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
			switch {
			case err != nil:
				return err
			case namespace.Name != metav1.NamespaceSystem || namespace.UID == "":
				return wrongObject("namespace with a UID", metav1.NamespaceSystem, bounded(namespace.Name))
			}
			id = string(namespace.UID)
			return nil
		})
	return id, err
}

// Read makes a read, and repeats it while the API server throttles or fails.
func (c *Cluster) Read(ctx context.Context, what string, call func(context.Context) error) error {
	err := backoff.Retry(ctx, c.Clock, func(ctx context.Context) error { return Classify(call(ctx)) })
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Parallel calls do for 0 to n-1, a bounded number at a time, and gives the first
// error, after which no further call starts. A panic in do is such an error.
func Parallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers sync.WaitGroup
	next := make(chan int)
	for range min(n, maxParallelReads) {
		workers.Go(func() {
			for i := range next {
				if err := apierr.Recovered(func() error { return do(ctx, i) }); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := 0; i < n && context.Cause(ctx) == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}
