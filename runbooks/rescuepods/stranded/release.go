package stranded

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/kube"
	"salve/runbook"
)

// HeldBy tells whether a pod is deleted, and held by this finalizer alone.
func (p Pod) HeldBy(finalizer string) bool {
	return p.Deleting && slices.Equal(p.Finalizers, []string{finalizer})
}

// Release takes a finalizer from pods that are deleted and that nothing else holds, as many at a time as DeletePods. It
// ends with the first that is another pod by now, or that others hold too; one that is gone is no error.
func (s *Search) Release(ctx context.Context, pods []Pod, finalizer string) error {
	for _, pod := range pods {
		if !pod.HeldBy(finalizer) {
			return apierr.New(apierr.Terminal, "invalid: pod %s is not deleted and held by %s alone", pod, finalizer)
		}
	}
	for first := 0; first < len(pods); first += podBatch {
		if first > 0 {
			if err := clock.Sleep(ctx, s.Clock, podPause); err != nil {
				return err
			}
		}
		some := pods[first:min(first+podBatch, len(pods))]
		err := kube.Parallel(ctx, len(some), func(ctx context.Context, i int) error { return s.release(ctx, some[i]) })
		if err != nil {
			return err
		}
	}
	return nil
}

// operation is one of a JSON Patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// release takes the finalizer of a pod away, if it is that pod and nothing else holds it by now. Its version is no
// condition, as that of a deletion is: kubelet goes on to write the status of a pod that is deleted.
func (s *Search) release(ctx context.Context, pod Pod) error {
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	patch, err := json.Marshal([]operation{
		{"test", "/metadata/uid", pod.UID}, {"test", "/metadata/finalizers", pod.Finalizers},
		{Op: "remove", Path: "/metadata/finalizers"},
	})
	if err != nil {
		return apierr.New(apierr.Terminal, "%w", err)
	}
	err = kube.Classify(backoff.Once(ctx, s.Clock, func(ctx context.Context) error {
		_, err := s.Client.CoreV1().Pods(pod.Namespace).
			Patch(ctx, pod.Name, types.JSONPatchType, patch, metav1.PatchOptions{})
		return err
	}))
	switch {
	case err == nil || apierr.ClassOf(err) == apierr.Missing:
		return nil
	case apierr.ClassOf(err) == apierr.Terminal: // a test that fails is 422
		err = &runbook.EndedError{Err: apierr.New(apierr.Terminal, "precondition failed: %w", err)}
	}
	return fmt.Errorf("releasing pod %s: %w", pod, err)
}
