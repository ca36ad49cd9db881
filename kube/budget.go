package kube

import (
	"context"
	"slices"
	"strings"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/backoff"
)

// budgetBackoff is the schedule after a budget refused: it allows the next pod when
// the replacement of the last one is Ready.
func budgetBackoff() backoff.Exponential {
	return backoff.Exponential{First: time.Second, Longest: 10 * time.Second, Factor: 1.5}
}

// ambiguousBackoff is the schedule for pods that can't be evicted until somebody
// changes their budgets.
func ambiguousBackoff() backoff.Exponential {
	return backoff.Exponential{First: 15 * time.Second, Longest: time.Minute, Factor: 2}
}

// errorBackoff is the schedule after any other error.
func errorBackoff() backoff.Exponential {
	return backoff.Exponential{First: time.Second, Longest: 10 * time.Second, Factor: 1.5}
}

// unavailableBackoff is the schedule while the API server throttles or does not
// answer.
func unavailableBackoff() backoff.Exponential {
	return backoff.Exponential{First: time.Second, Longest: 5 * time.Second, Factor: 1.5}
}

// budgets finds the queue of a pod.
type budgets struct {
	selectors   map[string][]budgetSelector // by namespace
	queues      map[types.NamespacedName]*queue
	errorQueues map[string]*queue // by namespace
}

type budgetSelector struct {
	name     string
	selector labels.Selector
}

// readBudgets lists the PodDisruptionBudgets. It only serves the order in which
// evictions are requested: the Eviction API decides, and names the budget when it
// refuses. So one attempt is enough, and where the list is forbidden nothing is lost
// but time.
func (c *Cluster) readBudgets(ctx context.Context) *budgets {
	known := &budgets{
		selectors: map[string][]budgetSelector{},
		queues:    map[types.NamespacedName]*queue{}, errorQueues: map[string]*queue{},
	}
	options := metav1.ListOptions{Limit: pageSize}
	for {
		var list *policyv1.PodDisruptionBudgetList
		err := backoff.Once(ctx, c.Clock, func(ctx context.Context) (err error) {
			list, err = c.Client.PolicyV1().PodDisruptionBudgets(metav1.NamespaceAll).List(ctx, options)
			return err
		})
		if err != nil {
			return known
		}
		for i := range list.Items {
			known.add(&list.Items[i])
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return known
		}
	}
}

func (b *budgets) add(budget *policyv1.PodDisruptionBudget) {
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	if err == nil {
		b.selectors[budget.Namespace] = append(b.selectors[budget.Namespace], budgetSelector{budget.Name, selector})
	}
}

// queueFor gives the queue of the budgets that select a pod; nil when none does.
func (b *budgets) queueFor(p *pod) *queue {
	var names []string
	for _, budget := range b.selectors[p.namespace] {
		if budget.selector.Matches(labels.Set(p.labels)) {
			names = append(names, budget.name)
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return b.queue(p.namespace, names[0])
	}
	slices.Sort(names)
	q := b.queue(p.namespace, strings.Join(names, " and "))
	q.blocker = bounded("more than one PodDisruptionBudget: " + strings.Join(names, ", "))
	q.ambiguous, q.schedule = true, ambiguousBackoff()
	return q
}

// queue gives the queue of a budget. One that the API server did not name has a
// queue as well.
func (b *budgets) queue(namespace, name string) *queue {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	if b.queues[key] == nil {
		blocker := "PodDisruptionBudget " + bounded(name)
		if name == "" {
			blocker = "a PodDisruptionBudget"
		}
		b.queues[key] = &queue{blocker: blocker, namespace: namespace, schedule: budgetBackoff()}
	}
	return b.queues[key]
}

// errorQueue gives the queue of the pods of a namespace whose eviction failed though
// no budget refused it.
func (b *budgets) errorQueue(namespace string) *queue {
	if b.errorQueues[namespace] == nil {
		b.errorQueues[namespace] = &queue{namespace: namespace, schedule: errorBackoff(), transient: true}
	}
	return b.errorQueues[namespace]
}
