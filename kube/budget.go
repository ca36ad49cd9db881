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

var (
	// refusedByBudget is the schedule after a budget said no: it allows the next
	// pod when the replacement of the last one is ready.
	refusedByBudget = backoff.Exponential{First: time.Second, Longest: 10 * time.Second, Factor: 1.5}
	// severalBudgets is the schedule for pods that can't be evicted until
	// somebody changes their budgets.
	severalBudgets = backoff.Exponential{First: 15 * time.Second, Longest: time.Minute, Factor: 2}
	// inTrouble is the schedule after any other refusal.
	inTrouble = backoff.Exponential{First: time.Second, Longest: 10 * time.Second, Factor: 1.5}
	// stumbling is the schedule while the API server throttles or is away.
	stumbling = backoff.Exponential{First: time.Second, Longest: 5 * time.Second, Factor: 1.5}
)

// budgets finds the queue of a pod.
type budgets struct {
	selectors map[string][]selected // by namespace
	queues    map[types.NamespacedName]*queue
	troubles  map[string]*queue // by namespace
}

type selected struct {
	name     string
	selector labels.Selector
}

// readBudgets reads which budgets there are. It only serves the order in which
// pods are asked for: the Eviction API decides, and names the budget when it
// refuses. So one try is enough, and where it may not be read nothing is lost but
// time.
func (c *Cluster) readBudgets(ctx context.Context) *budgets {
	known := &budgets{
		selectors: map[string][]selected{},
		queues:    map[types.NamespacedName]*queue{}, troubles: map[string]*queue{},
	}
	options := metav1.ListOptions{Limit: page}
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
		b.selectors[budget.Namespace] = append(b.selectors[budget.Namespace], selected{budget.Name, selector})
	}
}

// of gives the queue of the budgets that match a pod; nil when none does.
func (b *budgets) of(p *pod) *queue {
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
	q.blocker = "more than one PodDisruptionBudget: " + strings.Join(names, ", ")
	q.several, q.schedule = true, severalBudgets
	return q
}

// queue gives the queue of a budget. One that the API server did not name has a
// queue too.
func (b *budgets) queue(namespace, name string) *queue {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	if b.queues[key] == nil {
		blocker := "PodDisruptionBudget " + name
		if name == "" {
			blocker = "a PodDisruptionBudget"
		}
		b.queues[key] = &queue{blocker: blocker, namespace: namespace, schedule: refusedByBudget}
	}
	return b.queues[key]
}

// trouble gives the queue of the pods of a namespace that could not be evicted
// though no budget was in the way.
func (b *budgets) trouble(namespace string) *queue {
	if b.troubles[namespace] == nil {
		b.troubles[namespace] = &queue{namespace: namespace, schedule: inTrouble, passing: true}
	}
	return b.troubles[namespace]
}
