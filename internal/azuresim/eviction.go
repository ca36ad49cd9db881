package azuresim

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// retryEviction is how many seconds a refused eviction is asked to wait.
const retryEviction = 5

// evict answers a pods/eviction create as the API server does: budgets are asked for running pods only.
func (c *controlPlane) evict(namespace string, object runtime.Object) error {
	name, options, err := readEviction(object)
	if err != nil {
		return err
	}
	found, err := c.find(pods, namespace, name)
	if err != nil {
		return err
	}
	pod, ok := found.(*corev1.Pod)
	if !ok {
		return apierrors.NewInternalError(fmt.Errorf("%s is not a pod", name))
	}
	if err := preconditionsHold(pods, pod, options.Preconditions); err != nil {
		return err
	}
	if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
		if err := c.askBudgets(pod); err != nil {
			return err
		}
	}
	c.terminate(pod, options.GracePeriodSeconds)
	c.settle()
	return nil
}

func readEviction(object runtime.Object) (name string, options metav1.DeleteOptions, err error) {
	var asked *metav1.DeleteOptions
	switch eviction := object.(type) {
	case *policyv1.Eviction:
		name, asked = eviction.Name, eviction.DeleteOptions
	case *policyv1beta1.Eviction:
		name, asked = eviction.Name, eviction.DeleteOptions
	default:
		return "", options, apierrors.NewBadRequest(fmt.Sprintf("not an Eviction object: %T", object))
	}
	if asked != nil {
		options = *asked
	}
	return name, options, nil
}

func (c *controlPlane) askBudgets(pod *corev1.Pod) error {
	var matching []*policyv1.PodDisruptionBudget
	each(c.objects, budgets, func(budget *policyv1.PodDisruptionBudget) {
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err == nil && budget.Namespace == pod.Namespace && selector.Matches(labels.Set(pod.Labels)) {
			matching = append(matching, budget)
		}
	})
	switch {
	case len(matching) > 1:
		return apierrors.NewInternalError(fmt.Errorf("this pod has more than one PodDisruptionBudget, which the eviction subresource does not support"))
	case len(matching) == 0 || matching[0].Status.DisruptionsAllowed > 0:
		return nil
	}
	budget := matching[0]
	refusal := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retryEviction)
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
	edit(c.objects, pods, pod, func(p *corev1.Pod) {
		gone := metav1.NewTime(c.time.now.Add(wait))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &gone, &grace
	})
	uid := pod.UID
	c.time.after(wait, func() {
		object, err := c.find(pods, pod.Namespace, pod.Name)
		if ended, ok := object.(*corev1.Pod); err == nil && ok && ended.UID == uid {
			c.remove(ended)
			c.settle()
		}
	})
}

// deletePod is a plain delete, which asks no budget.
func (c *controlPlane) deletePod(namespace, name string, options metav1.DeleteOptions) error {
	found, err := c.find(pods, namespace, name)
	if err != nil {
		return err
	}
	if err := preconditionsHold(pods, found, options.Preconditions); err != nil {
		return err
	}
	if pod, ok := found.(*corev1.Pod); ok {
		c.terminate(pod, options.GracePeriodSeconds)
		c.settle()
	}
	return nil
}
