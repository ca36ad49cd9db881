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
		r.removing((*leftovers.Reading).HookPart, runbook.Step{Name: "remove-hooks", Guards: acting,
			Changes: "remove the webhooks and APIServices that point into namespace " + r.Namespace,
			Apply: func(ctx context.Context, permit runbook.Permit, _ runbook.Run) error {
				return r.RemoveHooks(ctx, permit, r.seen().Hooks)
			}}),
		r.removing((*leftovers.Reading).ObjectPart, runbook.Step{Name: "delete-objects", Guards: acting,
			Changes: "delete the custom resources of " + r.Group + " that were exported",
			Apply:   r.DeleteObjects,
			Await: func(ctx context.Context, run runbook.Run) error {
				return r.AwaitGone(ctx, r.seen().Definitions, run.Report)
			}}),
		r.removing((*leftovers.Reading).StuckPart, runbook.Step{Name: "release-finalizers",
			Changes: "remove the finalizers of " + r.Group + " from custom resources that are being deleted and stuck",
			Apply: func(ctx context.Context, permit runbook.Permit, run runbook.Run) error {
				return r.ReleaseAll(ctx, permit, r.seen().Definitions, r.seen().Objects.Releasable, run.Report)
			}}),
		r.removing((*leftovers.Reading).DefinitionPart, runbook.Step{Name: "delete-definitions", Needs: []runbook.Guard{r.noObjectLeft()},
			Changes: "delete the CRDs of " + r.Group + " that were exported",
			Apply:   r.DeleteDefinitions,
			Await:   r.untilGone((*leftovers.Reading).DefinitionObjects)}),
		r.removing((*leftovers.Reading).BelongingPart, runbook.Step{Name: "delete-operator",
			Changes: "delete the operator's workloads and rights",
			Apply: func(ctx context.Context, permit runbook.Permit, run runbook.Run) error {
				return r.DeleteAll(ctx, permit, r.seen().Belongings, run.Report)
			}}),
		r.removing((*leftovers.Reading).NamespacePart, runbook.Step{Name: "delete-namespace",
			Changes: "delete namespace " + r.Namespace + " with all that is in it",
			Apply:   r.DeleteNamespace,
			Await:   r.untilGone((*leftovers.Reading).NamespaceObjects)}),
		r.removing((*leftovers.Reading).RestPart, runbook.Step{Name: "release-rest",
			Changes: "remove the finalizers of " + r.Group + " from CRDs and objects of the namespace that are being deleted and stuck",
			Apply: func(ctx context.Context, permit runbook.Permit, run runbook.Run) error {
				return r.Release(ctx, permit, r.seen().Rest())
			},
			Await: r.untilGone((*leftovers.Reading).RestObjects)}),
	}
}

func (r *removal) untilGone(of func(*leftovers.Reading) []kube.Object) func(context.Context, runbook.Run) error {
	return func(ctx context.Context, run runbook.Run) error {
		return r.AwaitAllGone(ctx, of(r.seen()), run.Report)
	}
}
