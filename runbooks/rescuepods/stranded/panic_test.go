package stranded

import (
	"errors"
	"testing"

	"k8s.io/utils/clock"

	"salve/internal/apierr"
	"salve/kube"
)

// TestPanicWhileFollowingEndsTheWatch: here, of a cluster that has no client.
func TestPanicWhileFollowingEndsTheWatch(t *testing.T) {
	s := &Search{Cluster: &kube.Cluster{Clock: clock.RealClock{}}}
	err := s.AwaitStranded(t.Context(), func(string) {})
	var panicked *apierr.PanicError
	if !errors.As(err, &panicked) || panicked.Stack == "" {
		t.Errorf("got %v, want a panic with its stack", err)
	}
}
