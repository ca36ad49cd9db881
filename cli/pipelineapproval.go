package cli

import (
	"context"
	"fmt"

	"salve/engine"
	"salve/journal"
	"salve/kube"
)

// awaitApproval has a pipeline's run wait for the approval of its plan, where somebody has to approve it: by the rule
// that its record keeps, or by the one that was asked for.
func (r *pipelineRequest) awaitApproval(
	ctx context.Context, a *app, kept *journal.Location, keeps *journal.ApprovalRule,
) (err error) {
	if keeps != nil {
		r.rule = keeps
	}
	if r.options.Approval = r.rule; r.rule == nil && r.requestKey == "" {
		return nil
	}
	r.from, err = a.approvals(ctx, kept, &r.approvalFlags, func(ctx context.Context) (*kube.Cluster, error) {
		return r.cluster(ctx, a)
	})
	return err
}

// asking shows what happens, and how a plan is approved that is waited for.
func (s *journalFlags) asking(watch *watch) func(engine.Event) {
	return func(event engine.Event) {
		watch.event(event)
		if event.Kind == engine.ApprovalAsked {
			watch.say(fmt.Sprintf("Waiting for the approval of the plan: %s",
				shell(s.approving(event.Run, event.Plan.Digest))))
		}
	}
}
