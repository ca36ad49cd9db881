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

// outcome is what came of asking for a pod's eviction.
type outcome int

const (
	granted    outcome = iota // the pod ends, or will
	departed                  // the pod that was meant is not there any more
	refused                   // a budget is in the way
	failed                    // the API server said no, or stumbled
	unanswered                // the API server is too busy to answer, or is not there
	void                      // our own permit was refused
)

// answer is what came of one request.
type answer struct {
	pod  *pod
	from *queue
	outcome
	// budget is the PodDisruptionBudget that refused; empty when it isn't named.
	budget     string
	retryAfter time.Duration
	err        error
}

// asker asks for evictions. It holds nothing of the drain's state, so that many
// workers may use it.
type asker struct {
	cluster *Cluster
	permit  runbook.Permit
}

func (a asker) ask(ctx context.Context, p *pod, from *queue) answer {
	reply := answer{pod: p, from: from}
	if reply.err = context.Cause(ctx); reply.err != nil {
		reply.outcome = unanswered
		return reply
	}
	if reply.err = a.permit.Authorize(ctx); reply.err != nil {
		reply.outcome = void
		return reply
	}
	reply.err = backoff.Once(ctx, a.cluster.Clock, func(ctx context.Context) error { return a.cluster.evict(ctx, p) })
	if reply.err == nil {
		return reply
	}
	reply.outcome, reply.budget = a.read(ctx, p, reply.err)
	reply.retryAfter = apierr.RetryAfter(Classify(reply.err))
	return reply
}

// read says what a refusal means.
func (a asker) read(ctx context.Context, p *pod, err error) (outcome, string) {
	budget, named := disruptionBudget(err)
	switch class := apierr.ClassOf(Classify(err)); {
	case named:
		return refused, budget
	case class == apierr.Missing, class == apierr.Conflict && a.replaced(ctx, p):
		return departed, ""
	case class == apierr.Throttled, !answered(err):
		return unanswered, ""
	}
	return failed, ""
}

// answered tells whether an error is the API server's word.
func answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// evict asks for one eviction, once. A pod of the same name that is another one
// is not evicted.
//
// client-go would repeat a call that was refused with a Retry-After up to ten
// times and hold it for so long, whatever else there is to do. When to ask again
// is the agenda's to say, so the request is made without repetitions where there
// is a client to make requests with; a fake has none.
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
	// the HTTP code of success: the body has to be read.
	said := &metav1.Status{}
	err := client.Post().Namespace(p.namespace).Resource("pods").Name(p.name).SubResource("eviction").
		MaxRetries(0).Body(eviction).Do(ctx).Into(said)
	if err == nil && said.Status == metav1.StatusFailure {
		return apierrors.FromObject(said)
	}
	return err
}

// replaced tells whether the pod that was meant is gone, though there may be
// another one of its name.
func (a asker) replaced(ctx context.Context, p *pod) bool {
	var uid string
	err := backoff.Once(ctx, a.cluster.Clock, func(ctx context.Context) error {
		there, err := a.cluster.Client.CoreV1().Pods(p.namespace).Get(ctx, p.name, metav1.GetOptions{})
		if err == nil {
			uid = string(there.UID)
		}
		return err
	})
	if err != nil {
		return apierr.ClassOf(Classify(err)) == apierr.Missing
	}
	return uid != string(p.uid)
}

// budgetInMessage finds the budget's name in a cause of type DisruptionBudget:
// the Eviction API has no other place for it.
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
			return found[1], true
		}
		return "", true
	}
	return "", false
}
