package removeoperator

import (
	"context"

	"salve/kube"
	"salve/kube/leftovers"
	"salve/runbook"
)

// removals are the steps that remove something. They work on what their guards and
// their observation have just seen.
func (r *removal) removals() []runbook.Step {
	return []runbook.Step{
		r.step(task{name: "remove-hooks", part: (*leftovers.Reading).HookPart, guards: acting,
			changes: "remove the webhooks and APIServices that point into namespace " + r.Namespace,
			apply: func(ctx context.Context, permit runbook.Permit, _ runbook.Run) error {
				return r.RemoveHooks(ctx, permit, r.seen.Hooks)
			}}),
		r.step(task{name: "delete-objects", part: (*leftovers.Reading).ObjectPart, guards: acting,
			changes: "delete the custom resources of " + r.Group + " that were exported",
			apply:   r.DeleteObjects,
			await: func(ctx context.Context, run runbook.Run) error {
				return r.AwaitGone(ctx, r.seen.Definitions, run.Report)
			}}),
		r.step(task{name: "release-finalizers", part: (*leftovers.Reading).StuckPart,
			changes: "remove the finalizers of " + r.Group + " from custom resources that are being deleted and stuck",
			apply: func(ctx context.Context, permit runbook.Permit, run runbook.Run) error {
				return r.ReleaseAll(ctx, permit, r.seen.Definitions, r.seen.Objects.Releasable, run.Report)
			}}),
		r.step(task{name: "delete-definitions", part: (*leftovers.Reading).DefinitionPart, needs: []runbook.Guard{r.noObjectLeft()},
			changes: "delete the CRDs of " + r.Group + " that were exported",
			apply:   r.DeleteDefinitions,
			await:   r.untilGone((*leftovers.Reading).DefinitionObjects)}),
		r.step(task{name: "delete-operator", part: (*leftovers.Reading).BelongingPart,
			changes: "delete the operator's workloads and rights",
			apply: func(ctx context.Context, permit runbook.Permit, run runbook.Run) error {
				return r.DeleteAll(ctx, permit, r.seen.Belongings, run.Report)
			}}),
		r.step(task{name: "delete-namespace", part: (*leftovers.Reading).NamespacePart,
			changes: "delete namespace " + r.Namespace + " with all that is in it",
			apply:   r.DeleteNamespace,
			await:   r.untilGone((*leftovers.Reading).NamespaceObjects)}),
		r.step(task{name: "release-rest", part: (*leftovers.Reading).RestPart,
			changes: "remove the finalizers of " + r.Group + " from CRDs and objects of the namespace that are being deleted and stuck",
			apply: func(ctx context.Context, permit runbook.Permit, run runbook.Run) error {
				return r.Release(ctx, permit, r.seen.Rest())
			},
			await: r.untilGone((*leftovers.Reading).RestObjects)}),
	}
}

func (r *removal) untilGone(of func(*leftovers.Reading) []kube.Object) func(context.Context, runbook.Run) error {
	return func(ctx context.Context, run runbook.Run) error {
		return r.AwaitAllGone(ctx, of(r.seen), run.Report)
	}
}
