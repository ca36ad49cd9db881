package kube

import (
	"context"
	"errors"
	"regexp"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/runbook"
)

// outcome is how the request for a pod's eviction ended.
type outcome int

const (
	evicted         outcome = iota // accepted: the pod terminates, or will
	podGone                        // the pod with that UID does not exist any more
	blockedByBudget                // a PodDisruptionBudget does not allow it now
	failed                         // the API server answered with another error
	unavailable                    // the API server throttles, or did not answer
	unpermitted                    // our own permit does not authorize it any more
)

// evictionResult is the result of one request.
type evictionResult struct {
	pod  *pod
	from *queue
	outcome
	// budget is the PodDisruptionBudget that refused; empty when it isn't named.
	budget     string
	retryAfter time.Duration
	err        error
}

// evictor requests evictions. It holds nothing of the drain's state, so that many
// workers may use it.
type evictor struct {
	cluster *Cluster
	permit  runbook.Permit
}

func (e evictor) evict(ctx context.Context, p *pod, from *queue) evictionResult {
	result := evictionResult{pod: p, from: from}
	if result.err = context.Cause(ctx); result.err != nil {
		result.outcome = unavailable
		return result
	}
	if result.err = e.permit.Authorize(ctx); result.err != nil {
		result.outcome = unpermitted
		return result
	}
	result.err = backoff.Once(ctx, e.cluster.Clock, func(ctx context.Context) error { return e.cluster.evict(ctx, p) })
	if result.err == nil {
		return result
	}
	result.outcome, result.budget = e.classify(ctx, p, result.err)
	result.retryAfter = apierr.RetryAfter(Classify(result.err))
	return result
}

// classify says what an error of the Eviction API means.
func (e evictor) classify(ctx context.Context, p *pod, err error) (outcome, string) {
	budget, named := disruptionBudget(err)
	switch class := apierr.ClassOf(Classify(err)); {
	case named:
		return blockedByBudget, budget
	case isAbsent(err, "pods", p.name), class == apierr.Conflict && e.cluster.podDeleted(ctx, p):
		return podGone, ""
	case class == apierr.Throttled, !answered(err):
		return unavailable, ""
	}
	return failed, ""
}

// answered tells whether an error is the API server's answer.
func answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// evict requests one eviction, once. The UID precondition keeps another pod of that
// name from being evicted: the API server answers 409 then
// (https://github.com/kubernetes/kubernetes/blob/master/pkg/registry/core/pod/storage/eviction.go).
//
// client-go would repeat a request that was refused with a Retry-After up to ten
// times and hold the worker for so long. When to try again is the scheduler's to
// say, so the request is made without repetitions where there is a REST client; a
// fake clientset has none.
func (c *Cluster) evict(ctx context.Context, p *pod) error {
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: p.name, Namespace: p.namespace},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(p.uid))},
	}
	client, _ := c.Client.CoreV1().RESTClient().(*rest.RESTClient)
	if client == nil {
		return c.Client.CoreV1().Pods(p.namespace).EvictV1(ctx, eviction)
	}
	// A pod under two budgets is refused by a Status of failure that comes with
	// HTTP code 200: the body has to be read.
	status := &metav1.Status{}
	err := client.Post().Namespace(p.namespace).Resource("pods").Name(p.name).SubResource("eviction").
		MaxRetries(0).Body(eviction).Do(ctx).Into(status)
	if err == nil && status.Status == metav1.StatusFailure {
		return apierrors.FromObject(status)
	}
	return err
}

// budgetInMessage finds the budget's name in a cause of type DisruptionBudget: the
// Eviction API has no other place for it.
var budgetInMessage = regexp.MustCompile(`budget ([a-z0-9.-]*[a-z0-9])`)

// disruptionBudget tells whether a budget refused, and which one if it says so.
func disruptionBudget(err error) (name string, refused bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return "", false
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != policyv1.DisruptionBudgetCause {
			continue
		}
		if found := budgetInMessage.FindStringSubmatch(cause.Message); found != nil {
			return bounded(found[1]), true
		}
		return "", true
	}
	return "", false
}
