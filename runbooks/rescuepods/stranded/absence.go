package stranded

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/kube"
)

// That a pod is not in a list says nothing: somebody may have taken its label away, or the list is not all. A pod is
// gone when the API server says of it that it is not found, and a selector that selects nothing is believed when
// nothing else says that there should be pods.

// unlisted tells of pods that the list of the selector does not hold whether they are gone, or there and not
// selected any more. One that is there and selected is an error.
func (s *Search) unlisted(ctx context.Context, pods []Pod) (gone, unselected []Pod, _ error) {
	selector, err := kube.ParseSelector(s.Selector)
	if err != nil {
		return nil, nil, err
	}
	now := make([]*Pod, len(pods))
	err = kube.Parallel(ctx, len(pods), func(ctx context.Context, i int) (err error) {
		if s.isGone(pods[i].UID) {
			return nil
		}
		if now[i], err = s.podNow(ctx, pods[i]); err == nil && now[i] == nil {
			s.setGone(pods[i].UID)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for i, pod := range pods {
		switch {
		case now[i] == nil:
			gone = append(gone, pod)
		case selector.Matches(labels.Set(now[i].Labels)):
			return nil, nil, apierr.New(apierr.Transient, "conflict: pod %s is there, and the list of %q does not hold it",
				pod, s.Selector)
		default:
			unselected = append(unselected, *now[i])
		}
	}
	return gone, unselected, nil
}

func (s *Search) isGone(pod types.UID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone[pod]
}

func (s *Search) setGone(pod types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil {
		s.gone = map[types.UID]bool{}
	}
	s.gone[pod] = true
}

// Others is what else is there when the selector selects no pod at all.
type Others struct {
	// RunningJobs say that a pod of theirs runs in this cluster.
	RunningJobs int `json:"runningJobs"`
	// Jobs tells whether there are such jobs in this cluster to be asked; LivePods are those of any label in the
	// expected namespaces where there are none.
	Jobs     bool `json:"jobs"`
	LivePods int  `json:"livePods"`
}

// Others finds what a selector that selects nothing may have missed.
func (s *Search) Others(ctx context.Context, kind JobKind) (seen Others, _ error) {
	begin := func() { seen = Others{Jobs: true} }
	err := s.eachCustom(ctx, kind.GroupVersionResource, kind.Namespace, begin, func(job *unstructured.Unstructured) {
		if kind.Running(job) {
			seen.RunningJobs++
		}
	})
	if !kube.IsNotFound(err) {
		return seen, err
	}
	seen = Others{}
	for _, namespace := range s.Expected {
		pods, err := s.Pods(ctx, kube.Scope{Namespace: namespace})
		if err != nil {
			return seen, err
		}
		seen.LivePods += liveOf(pods)
	}
	return seen, nil
}
