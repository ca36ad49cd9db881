package stranded

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/kube"
)

// MissingNamespace says of the first expected namespace that is not there, or is being deleted,
// that it is so; it is empty when all are there.
func (s *Search) MissingNamespace(ctx context.Context) (missing string, _ error) {
	for _, home := range s.Expected {
		var found *corev1.Namespace
		err := s.Read(ctx, "reading namespace "+home, func(ctx context.Context) (err error) {
			found, err = s.Client.CoreV1().Namespaces().Get(ctx, home, metav1.GetOptions{})
			return err
		})
		switch {
		case err != nil && apierr.ClassOf(err) == apierr.Missing:
			return fmt.Sprintf("there is no namespace %q", home), nil
		case err != nil:
			return "", err
		case found.DeletionTimestamp != nil:
			return fmt.Sprintf("namespace %q is being deleted", home), nil
		}
	}
	return "", nil
}

// Summary is how bad it is that pods are stranded.
type Summary struct {
	Stranded int `json:"stranded"`
	// LiveExpected counts the pods that wait or run where they belong.
	LiveExpected int `json:"liveExpected"`
	// LiveElsewhere counts those that wait or run elsewhere and are not stranded.
	LiveElsewhere int `json:"liveElsewhere,omitempty"`
	// Fewer says that these grow fewer. It counts when more than half of all
	// pods are stranded, and not all.
	Fewer bool `json:"fewerExpected"`
}

func (e Summary) String() string {
	said := fmt.Sprintf("%d of %d live pods are stranded", e.Stranded, e.live())
	switch {
	case e.most() && e.LiveExpected == 0:
		return "an outage, not a leak: " + said + ", and none lives where they belong"
	case e.most() && e.Fewer:
		return "an outage, not a leak: " + said + ", and those where they belong grow fewer"
	case e.Stranded > 0:
		return "a leak: " + said
	}
	return said
}

func (e Summary) live() int { return e.Stranded + e.LiveExpected + e.LiveElsewhere }

func (e Summary) most() bool { return 2*e.Stranded > e.live() }

// secondLook is how long after the first one the pods where they belong are counted again.
const secondLook = 5 * time.Second

// Summary tells how bad it is. The pods where they belong grow fewer when more of them ended
// than came since the first pod was stranded or, where that doesn't show, when
// there are fewer some seconds later.
func (r *Reading) Summary(ctx context.Context) (Summary, error) {
	summary := Summary{Stranded: len(r.Stranded), LiveExpected: liveOf(r.Expected)}
	for _, pod := range r.Left {
		if pod.Live() {
			summary.LiveElsewhere++
		}
	}
	if !summary.most() || summary.LiveExpected == 0 {
		return summary, nil
	}
	ended, came := r.sinceStranded()
	if summary.Fewer = ended > came; summary.Fewer {
		return summary, nil
	}
	if err := clock.Sleep(ctx, r.search.Clock, secondLook); err != nil {
		return summary, err
	}
	later := 0
	for _, home := range r.search.Expected {
		pods, err := r.search.Pods(ctx, kube.Scope{Namespace: home, Selector: r.search.Selector})
		if err != nil {
			return summary, err
		}
		later += liveOf(pods)
	}
	summary.Fewer = later < summary.LiveExpected
	return summary, nil
}

func liveOf(pods []Pod) (live int) {
	for _, pod := range pods {
		if pod.Live() {
			live++
		}
	}
	return live
}

func (r *Reading) sinceStranded() (ended, came int) {
	var first time.Time
	for _, pod := range r.Stranded {
		if first.IsZero() || pod.Created.Before(first) {
			first = pod.Created
		}
	}
	for _, pod := range r.Expected {
		if pod.Ended.After(first) {
			ended++
		}
		if !pod.Created.Before(first) {
			came++
		}
	}
	return ended, came
}
