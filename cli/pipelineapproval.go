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
	ctx context.Context, a *app, kept *journal.Location, keeps *journal.ApprovalRule,
) (err error) {
	r.options.Approval = r.rule
	if r.rule == nil && keeps == nil && r.requestKey == "" {
		return nil
	}
	r.from, err = a.approvals(ctx, kept, &r.approvalFlags, func(ctx context.Context) (*kube.Cluster, error) {
		return r.cluster(ctx, a)
	})
	return err
}

// keptRule is the rule of approval of the run that is open on a target; nil where there is none, or where that can't be
// read, which is for the engine to refuse.
func keptRule(ctx context.Context, kept *journal.Location, target string) *journal.ApprovalRule {
	peeked, err := kept.Peek(ctx, target)
	if err != nil {
		return nil
	}
	found, err := journal.FindOpen(ctx, kept, target, peeked.Open)
	if err != nil || found.Record == nil {
		return nil
	}
	return found.Record.Header.Approval
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
