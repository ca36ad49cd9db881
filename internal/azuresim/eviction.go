package azuresim

import (
	"errors"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"salve/internal/azuresim/apiserver"
)

// retryEviction is how many seconds a refused eviction is asked to wait.
const retryEviction = 5

// evict answers a pods/eviction create as the API server does: budgets are asked for running pods only.
// https://github.com/kubernetes/kubernetes/blob/master/pkg/registry/core/pod/storage/eviction.go
func (c *controlPlane) evict(asked *apiserver.Request) (runtime.Object, error) {
	options, err := readEviction(asked.Object)
	if err != nil {
		return nil, err
	}
	pod, err := c.pod(asked)
	if err != nil {
		return nil, err
	}
	if err := apiserver.CheckPreconditions(pods, pod, options.Preconditions); err != nil {
		return nil, err
	}
	if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
		if err := c.askBudgets(pod); err != nil {
			return nil, err
		}
	}
	c.terminate(pod, options.GracePeriodSeconds)
	return nil, nil
}

// pod is the one that a request names.
func (c *controlPlane) pod(asked *apiserver.Request) (*corev1.Pod, error) {
	found, err := c.store().Get(pods, asked.Namespace, asked.Name)
	if err != nil {
		return nil, err
	}
	pod, isPod := found.(*corev1.Pod)
	if !isPod {
		return nil, apierrors.NewInternalError(fmt.Errorf("%s is not a pod", asked.Name))
	}
	return pod, nil
}

func readEviction(object runtime.Object) (options metav1.DeleteOptions, err error) {
	var asked *metav1.DeleteOptions
	switch eviction := object.(type) {
	case *policyv1.Eviction:
		asked = eviction.DeleteOptions
	case *policyv1beta1.Eviction:
		asked = eviction.DeleteOptions
	default:
		return options, apierrors.NewBadRequest(fmt.Sprintf("not an Eviction object: %T", object))
	}
	if asked != nil {
		options = *asked
	}
	return options, nil
}

// budgetsOf are the budgets that select a pod.
func (c *controlPlane) budgetsOf(pod *corev1.Pod) (matching []*policyv1.PodDisruptionBudget) {
	apiserver.Each(c.store(), budgets, func(budget *policyv1.PodDisruptionBudget) {
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err == nil && budget.Namespace == pod.Namespace && selector.Matches(labels.Set(pod.Labels)) {
			matching = append(matching, budget)
		}
	})
	return matching
}

func (c *controlPlane) askBudgets(pod *corev1.Pod) error {
	matching := c.budgetsOf(pod)
	switch {
	case len(matching) > 1:
		return apierrors.NewInternalError(
			errors.New("this pod has more than one PodDisruptionBudget, which the eviction subresource does not support"))
	case len(matching) == 0 || matching[0].Status.DisruptionsAllowed > 0:
		return nil
	}
	budget := matching[0]
	refusal := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.",
		retryEviction)
	refusal.ErrStatus.Details.Causes = append(refusal.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: policyv1.DisruptionBudgetCause,
		Message: fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently",
			budget.Name, budget.Status.DesiredHealthy, budget.Status.CurrentHealthy),
	})
	return refusal
}

// terminate ends a pod after its grace time, or the one asked for.
func (c *controlPlane) terminate(pod *corev1.Pod, asked *int64) {
	grace := int64(10)
	if pod.Spec.TerminationGracePeriodSeconds != nil {
		grace = *pod.Spec.TerminationGracePeriodSeconds
	}
	if asked != nil {
		grace = *asked
	}
	if grace <= 0 {
		c.remove(pod)
		return
	}
	if pod.DeletionTimestamp != nil {
		return
	}
	wait := time.Duration(grace) * time.Second
	apiserver.Edit(c.store(), pods, pod, func(p *corev1.Pod) {
		gone := metav1.NewTime(c.time.now.Add(wait))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &gone, &grace
	})
	uid := pod.UID
	c.time.after(wait, func() {
		object, err := c.store().Get(pods, pod.Namespace, pod.Name)
		if ended, ok := object.(*corev1.Pod); err == nil && ok && ended.UID == uid {
			c.remove(ended)
			c.reconcile()
		}
	})
}

// deletePod is a plain delete, which asks no budget.
func (c *controlPlane) deletePod(asked *apiserver.Request) (runtime.Object, error) {
	pod, err := c.pod(asked)
	if err != nil {
		return nil, err
	}
	if err := apiserver.CheckPreconditions(pods, pod, asked.DeleteOptions.Preconditions); err != nil {
		return nil, err
	}
	c.terminate(pod, asked.DeleteOptions.GracePeriodSeconds)
	return nil, nil
}

// reviewAccess allows what no fault denies at the moment.
func (c *controlPlane) reviewAccess(asked *apiserver.Request) (runtime.Object, error) {
	review, isReview := asked.Object.(*authorizationv1.SelfSubjectAccessReview)
	if !isReview || review.Spec.ResourceAttributes == nil {
		return nil, apierrors.NewBadRequest("a review of resource attributes is required")
	}
	about := review.Spec.ResourceAttributes
	call := Call{API: apiKubernetes, At: c.time.now, Verb: about.Verb, Resource: about.Resource}
	if about.Subresource != "" {
		call.Resource += "/" + about.Subresource
	}
	answer := review.DeepCopy()
	answer.Status.Allowed = c.denies == nil || !c.denies(call)
	return answer, nil
}
