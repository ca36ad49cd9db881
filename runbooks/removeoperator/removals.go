package removeoperator

import (
	"context"

	"salve/kube"
	"salve/runbook"
)

// removals are the steps that remove something. They work on what their guards and
// their observation have just seen.
func (r *removal) removals() []runbook.Step {
	return []runbook.Step{
		r.step(task{name: "remove-hooks", part: (*kube.Leftovers).HookPart, guards: acting,
			changes: "remove the webhooks and APIServices that point into namespace " + r.Namespace,
			apply: func(ctx context.Context, permit runbook.Permit, _ runbook.Run) error {
				return r.Cluster.RemoveHooks(ctx, permit, r.seen.Hooks)
			}}),
		r.step(task{name: "delete-objects", part: (*kube.Leftovers).ObjectPart, guards: acting,
			changes: "delete the custom resources of " + r.Group + " that were exported",
			apply:   r.Cluster.DeleteObjects,
			await: func(ctx context.Context, run runbook.Run) error {
				return r.Cluster.AwaitGone(ctx, r.seen.Definitions, run.Report)
			}}),
		r.step(task{name: "release-finalizers", part: (*kube.Leftovers).StuckPart,
			changes: "remove the finalizers of " + r.Group + " from custom resources that are being deleted and stuck",
			apply: func(ctx context.Context, permit runbook.Permit, run runbook.Run) error {
				return r.Cluster.ReleaseAll(ctx, permit, r.own(), r.seen.Definitions, r.seen.Objects.Releasable, run.Report)
			}}),
		r.step(task{name: "delete-definitions", part: (*kube.Leftovers).DefinitionPart, needs: []runbook.Guard{r.noObjectLeft()},
			changes: "delete the CRDs of " + r.Group + " that were exported",
			apply:   r.Cluster.DeleteDefinitions,
			await:   r.untilGone((*kube.Leftovers).DefinitionObjects)}),
		r.step(task{name: "delete-operator", part: (*kube.Leftovers).BelongingPart,
			changes: "delete the operator's workloads and rights",
			apply: func(ctx context.Context, permit runbook.Permit, run runbook.Run) error {
				return r.Cluster.DeleteAll(ctx, permit, r.seen.Belongings, run.Report)
			}}),
		r.step(task{name: "delete-namespace", part: (*kube.Leftovers).NamespacePart,
			changes: "delete namespace " + r.Namespace + " with all that is in it",
			apply:   r.Cluster.DeleteNamespace,
			await:   r.untilGone((*kube.Leftovers).NamespaceObjects)}),
		r.step(task{name: "release-rest", part: (*kube.Leftovers).RestPart,
			changes: "remove the finalizers of " + r.Group + " from CRDs and objects of the namespace that are being deleted and stuck",
			apply: func(ctx context.Context, permit runbook.Permit, run runbook.Run) error {
				return r.Cluster.Release(ctx, permit, r.own(), r.seen.Rest())
			},
			await: r.untilGone((*kube.Leftovers).RestObjects)}),
	}
}

func (r *removal) untilGone(of func(*kube.Leftovers) []kube.Object) func(context.Context, runbook.Run) error {
	return func(ctx context.Context, run runbook.Run) error {
		return r.Cluster.AwaitAllGone(ctx, of(r.seen), run.Report)
	}
}
