package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/kube"
)

// Reading is what there was of a kind at a moment.
type Reading[T any] struct {
	Objects []T
	// Malformed are objects that can't be read. They are not among Objects.
	Malformed []Malformed
	Coverage  Coverage
}

// Coverage is where was looked. What is elsewhere is unknown.
type Coverage struct {
	// Refused is why not all namespaces were looked into; nil when all were.
	Refused error
	// Namespaces are those that were looked into instead.
	Namespaces []string
	// Unseen are those that were to be looked into instead, and why they could not be.
	Unseen map[string]error
}

// All tells whether all namespaces were looked into.
func (c Coverage) All() bool { return c.Refused == nil }

// Sees tells whether a namespace was looked into.
func (c Coverage) Sees(namespace string) bool {
	return c.All() || slices.Contains(c.Namespaces, namespace)
}

func (c Coverage) String() string {
	if c.All() {
		return "all namespaces"
	}
	text := fmt.Sprintf("namespaces %s only", c.Namespaces)
	for _, namespace := range slices.Sorted(maps.Keys(c.Unseen)) {
		text += fmt.Sprintf("; namespace %s not seen: %s", namespace, c.Unseen[namespace])
	}
	return text + "; all namespaces: " + c.Refused.Error()
}

// ReadJobs reads the ProwJobs of all namespaces, or of the named ones where all are refused. The error has a class; it
// says that none could be read.
func ReadJobs(ctx context.Context, c *kube.Cluster, named []string) (Reading[Job], error) {
	return read(ctx, c, jobs(c), named)
}

// ReadPods reads the pods with Prow's label as ReadJobs reads ProwJobs.
func ReadPods(ctx context.Context, c *kube.Cluster, named []string) (Reading[Pod], error) {
	return read(ctx, c, pods(c), named)
}

func read[T any](ctx context.Context, c *kube.Cluster, k kind[T], named []string) (Reading[T], error) {
	all, err := readNamespace(ctx, c, k, metav1.NamespaceAll)
	if apierr.ClassOf(err) != apierr.Denied || len(named) == 0 {
		return all, err
	}
	together := Reading[T]{Coverage: Coverage{Refused: err, Unseen: map[string]error{}}}
	for _, namespace := range named {
		one, err := readNamespace(ctx, c, k, namespace)
		if err != nil {
			together.Coverage.Unseen[namespace] = err
			continue
		}
		together.Coverage.Namespaces = append(together.Coverage.Namespaces, namespace)
		together.Objects = append(together.Objects, one.Objects...)
		together.Malformed = append(together.Malformed, one.Malformed...)
	}
	if len(together.Coverage.Namespaces) == 0 {
		return Reading[T]{}, errors.Join(append([]error{err}, slices.Collect(maps.Values(together.Coverage.Unseen))...)...)
	}
	return together, nil
}

func readNamespace[T any](ctx context.Context, c *kube.Cluster, k kind[T], namespace string) (Reading[T], error) {
	var found Reading[T]
	_, err := k.each(ctx, c, namespace, func() { found = Reading[T]{} }, func(object metav1.Object) {
		one, err := k.read(object)
		if err != nil {
			found.Malformed = append(found.Malformed, malformed(object, one, err))
			return
		}
		found.Objects = append(found.Objects, one)
	})
	if err != nil {
		return Reading[T]{}, err
	}
	return found, nil
}
