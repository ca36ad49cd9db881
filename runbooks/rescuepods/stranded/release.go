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

// Release takes a finalizer from pods that are deleted and that nothing else holds, each as it was read, as many at a
// time as DeletePods. It ends with the first that is not as it was read; a pod that is gone is no error.
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

// release takes all finalizers of a pod away, under the precondition that the pod is what was read. The API server
// compares a UID and a version that a patch names
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#patch-and-apply).
func (s *Search) release(ctx context.Context, pod Pod) error {
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "resourceVersion": pod.version, "finalizers": nil,
	}})
	if err != nil {
		return apierr.New(apierr.Terminal, "%w", err)
	}
	err = kube.Classify(backoff.Once(ctx, s.Clock, func(ctx context.Context) error {
		_, err := s.Client.CoreV1().Pods(pod.Namespace).
			Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}))
	switch {
	case err == nil || apierr.ClassOf(err) == apierr.Missing:
		return nil
	case apierr.ClassOf(err) == apierr.Conflict:
		err = &runbook.EndedError{Err: apierr.New(apierr.Terminal, "precondition failed: %w", err)}
	}
	return fmt.Errorf("releasing pod %s: %w", pod, err)
}
