package removeoperator

import (
	"context"

	"salve/kube"
	"salve/runbook"
	"salve/runbooks/removeoperator/cleanup"
)

// removals are the steps that remove something. They work on what their guards and
// their observation have just seen, as far as it is in the bundle.
func (r *removal) removals() []runbook.Step {
	return []runbook.Step{
		r.removing((*cleanup.Reading).HookPart, runbook.Step{
			Name: "remove-hooks", Guards: acting(),
			Changes: "remove the webhooks and APIServices that point into namespace " + r.Namespace,
			Apply:   r.onWhatWasSeen(r.RemoveHooks),
		}),
		r.removing((*cleanup.Reading).ObjectPart, runbook.Step{
			Name: "delete-objects", Guards: acting(),
			Changes: "delete the custom resources of " + r.Group + " that were exported",
			Apply:   r.onWhatWasSeen(r.DeleteObjects),
			Await: func(ctx context.Context, run runbook.Run) error {
				return r.AwaitGone(ctx, r.seen().Definitions, run.Report)
			},
		}),
		r.removing((*cleanup.Reading).StuckPart, runbook.Step{
			Name:    "release-finalizers",
			Changes: "remove the finalizers of " + r.Group + " from custom resources that are being deleted and stuck",
			Apply:   r.onWhatWasSeen(r.ReleaseObjects),
		}),
		r.removing((*cleanup.Reading).DefinitionPart, runbook.Step{
			Name: "delete-definitions", Preconditions: []runbook.Guard{r.noneListedOrWatched()},
			Changes: "delete the CRDs of " + r.Group + " that were exported",
			Apply:   r.onWhatWasSeen(r.DeleteDefinitions),
			Await:   r.untilGone((*cleanup.Reading).DefinitionObjects),
		}),
		r.removing((*cleanup.Reading).OwnedPart, runbook.Step{
			Name:    "delete-operator",
			Changes: "delete the operator's workloads and rights",
			Apply:   r.onWhatWasSeen(r.DeleteOwned),
		}),
		r.removing((*cleanup.Reading).NamespacePart, runbook.Step{
			Name: "delete-namespace", Preconditions: []runbook.Guard{r.namespaceExported()},
			Changes: "delete namespace " + r.Namespace + " with all that is in it",
			Apply:   r.onWhatWasSeen(r.DeleteNamespace),
			Await:   r.untilGone((*cleanup.Reading).NamespaceObjects),
		}),
		r.removing((*cleanup.Reading).RestPart, runbook.Step{
			Name: "release-rest",
			Changes: "remove the finalizers of " + r.Group +
				" from CRDs and objects of the namespace that are being deleted and stuck",
			Apply: r.onWhatWasSeen(r.ReleaseRest),
			Await: r.untilGone((*cleanup.Reading).RestObjects),
		}),
	}
}

// onWhatWasSeen applies a removal to what was just seen.
func (r *removal) onWhatWasSeen(
	remove func(context.Context, runbook.Run, *cleanup.Reading) error,
) func(context.Context, runbook.Run) error {
	return func(ctx context.Context, run runbook.Run) error { return remove(ctx, run, r.seen()) }
}

func (r *removal) untilGone(of func(*cleanup.Reading) []kube.Object) func(context.Context, runbook.Run) error {
	return func(ctx context.Context, run runbook.Run) error {
		return r.AwaitAllGone(ctx, of(r.seen()), run.Report)
	}
}
