package kubetest

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fixtureLimit bounds the making and the clearing of what a test asked for.
const fixtureLimit = time.Minute

// counter makes names that no other test of the binary has.
var counter atomic.Int64

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// name is one that Kubernetes takes, and tells whose it is.
func name(t testing.TB) string {
	text := notInNames.ReplaceAllString(strings.ToLower(strings.TrimPrefix(t.Name(), "Test")), "-")
	return fmt.Sprintf("%s-%d", strings.Trim(text[:min(len(text), 40)], "-"), counter.Add(1))
}

// Namespace makes a namespace for the test, which is deleted after it.
func (c *ControlPlane) Namespace(t testing.TB) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name(t)}}
	if _, err := c.client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatalf("making a namespace: %v", err)
	}
	c.afterwards(t, func(ctx context.Context) error {
		return c.client.CoreV1().Namespaces().Delete(ctx, namespace.Name, metav1.DeleteOptions{})
	})
	return namespace.Name
}

// Nodes makes nodes for the test, which are deleted after it, and waits until all
// are Ready. Their names sort in the order that they are given in.
func (c *ControlPlane) Nodes(t testing.TB, n int, labels map[string]string) []string {
	t.Helper()
	return c.nodes(t, name(t), n, labels)
}

func (c *ControlPlane) nodes(t testing.TB, prefix string, n int, labels map[string]string) []string {
	t.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%03d", prefix, i)
		c.afterwards(t, func(ctx context.Context) error {
			return c.client.CoreV1().Nodes().Delete(ctx, names[i], metav1.DeleteOptions{})
		})
	}
	if err := c.AddNodes(t.Context(), names, labels); err != nil {
		t.Fatal(err)
	}
	return names
}

// afterwards clears something away after the test, with a context of its own.
func (c *ControlPlane) afterwards(t testing.TB, remove func(context.Context) error) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), fixtureLimit)
		defer cancel()
		if err := remove(ctx); err != nil && ctx.Err() != nil {
			t.Errorf("clearing up: %v", err)
		}
	})
}
