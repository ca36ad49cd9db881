package stranded

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"salve/kube"
)

// ForeignError says that the record of a run names what the run was not asked to touch. A record is memory and no
// authority: nothing of it is used then.
type ForeignError struct{ What string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("conflict: the run's record names %s, which this run was not asked to touch", e.What)
}

// checkRecorded compares recorded pods with what is searched for.
func (s *Search) checkRecorded(pods []Pod) error {
	selector, err := kube.ParseSelector(s.Selector)
	if err != nil {
		return err
	}
	seen := make(map[types.UID]bool, len(pods))
	for _, pod := range pods {
		wrong := ""
		switch {
		case len(seen) == MostPods:
			wrong = fmt.Sprintf("more than %d pods", MostPods)
		case pod.UID == "" || pod.Name == "" || len(validation.IsDNS1123Label(pod.Namespace)) > 0:
			wrong = fmt.Sprintf("pod %q with UID %q", pod, pod.UID)
		case seen[pod.UID]:
			wrong = fmt.Sprintf("pod %q twice", pod)
		case slices.Contains(s.Expected, pod.Namespace):
			wrong = fmt.Sprintf("pod %q, in a namespace where pods belong", pod)
		case !selector.Matches(labels.Set(pod.Labels)):
			wrong = fmt.Sprintf("pod %q, which --selector %q does not select", pod, s.Selector)
		}
		if wrong != "" {
			return &ForeignError{wrong}
		}
		seen[pod.UID] = true
	}
	return nil
}
