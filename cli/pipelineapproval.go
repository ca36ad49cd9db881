package cli

import (
	"context"
	"fmt"

	"salve/engine"
	"salve/journal"
	"salve/kube"
)

// awaitApproval finds where approvals come from, and has a run of pipelines wait for one where somebody has to approve
// its plan: by the rule that was asked for, or by the one that the record of an open run keeps.
func (r *pipelineRequest) awaitApproval(
	ctx context.Context, a *app, kept *journal.Location, open *journal.Header,
) (err error) {
	r.options.Approval, r.options.Plan = r.rule, r.expected
	ruled := r.rule != nil || open != nil && open.Approval != nil
	r.agreed = ruled || r.expected != nil || open != nil && open.Plan != ""
	if !ruled && r.requestKey == "" {
		return nil
	}
	r.from, err = a.approvals(ctx, kept, &r.approvalFlags, func(ctx context.Context) (*kube.Cluster, error) {
		return r.cluster(ctx, a)
	})
	return err
}

// asking also says how a plan is approved that is waited for.
func (s *journalFlags) asking(watch *watch, shown func(engine.Event)) func(engine.Event) {
	return func(event engine.Event) {
		shown(event)
		if event.Kind == engine.ApprovalAsked {
			watch.say(fmt.Sprintf("Waiting for the approval of the plan: %s",
				shell(s.approving(event.Run, event.Plan.Digest))))
		}
	}
}
