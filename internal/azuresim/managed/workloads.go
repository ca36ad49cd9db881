package managed

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/azuresim"
)

// Start makes the workloads and the namespaces that they need. A namespace or DaemonSet that somebody else made under
// such a name serves as well.
func (c *Cluster) Start(workloads azuresim.Workloads) {
	for _, set := range workloads.DaemonSets {
		c.addNamespace(set.Namespace)
		c.addDaemonSet(set.DeepCopy())
	}
	for _, set := range workloads.ReplicaSets {
		c.addNamespace(set.Namespace)
		c.addReplicaSet(set.DeepCopy())
	}
	for _, budget := range workloads.Budgets {
		c.SetBudget(budget)
	}
}

func (c *Cluster) addNamespace(name string) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.own(namespace)
	c.queue.add("making namespace "+name, func(ctx context.Context) error {
		_, err := c.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		found, err := c.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if err == nil && found.DeletionTimestamp != nil {
			return fmt.Errorf("the one before it is still being removed")
		}
		return err
	})
}

func (c *Cluster) addDaemonSet(set *appsv1.DaemonSet) {
	c.own(set)
	c.own(&set.Spec.Template)
	c.queue.add("making DaemonSet "+set.Namespace+"/"+set.Name, func(ctx context.Context) error {
		_, err := c.client.AppsV1().DaemonSets(set.Namespace).Create(ctx, set, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

func (c *Cluster) addReplicaSet(set *appsv1.ReplicaSet) {
	c.own(set)
	c.own(&set.Spec.Template)
	c.queue.add("making ReplicaSet "+set.Namespace+"/"+set.Name, func(ctx context.Context) error {
		sets := c.client.AppsV1().ReplicaSets(set.Namespace)
		_, err := sets.Create(ctx, set, metav1.CreateOptions{})
		return c.unlessOurs(err, func() (metav1.Object, error) { return sets.Get(ctx, set.Name, metav1.GetOptions{}) })
	})
}

// SetBudget makes a budget, or changes the one that was made here under its name.
func (c *Cluster) SetBudget(budget *policyv1.PodDisruptionBudget) {
	wanted := budget.DeepCopy()
	c.own(wanted)
	c.queue.add("setting budget "+wanted.Namespace+"/"+wanted.Name, func(ctx context.Context) error {
		budgets := c.client.PolicyV1().PodDisruptionBudgets(wanted.Namespace)
		_, err := budgets.Create(ctx, wanted, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		found, err := budgets.Get(ctx, wanted.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if found.Labels[OwnerLabel] != c.owner {
			return errForeign
		}
		found.Spec = wanted.Spec
		_, err = budgets.Update(ctx, found, metav1.UpdateOptions{})
		return err
	})
}

// RemoveBudget deletes a budget. One that is gone is no error.
func (c *Cluster) RemoveBudget(namespace, name string) {
	c.queue.add("removing budget "+namespace+"/"+name, func(ctx context.Context) error {
		return unlessMissing(c.client.PolicyV1().PodDisruptionBudgets(namespace).Delete(ctx, name, metav1.DeleteOptions{}))
	})
}
