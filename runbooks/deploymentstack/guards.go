package deploymentstack

import (
	"context"
	"time"

	"salve/azure"
	"salve/runbook"
	"salve/runbooks/resourcegroup"
)

// scopeThere asks whether the resource group is there, or can be made.
func (u *update) scopeThere() runbook.Guard {
	return runbook.Ask("scope-there", "is the resource group there, or is it known where to create it?", u.readGroup,
		func(seen resourcegroup.Seen) runbook.Finding { return seen.Usable(u.Subscription) })
}

// groupThere is asked right before the update: what another step was to make may have gone.
func (u *update) groupThere() runbook.Guard {
	return runbook.Ask("group-there", "is the resource group there?", u.readGroup, resourcegroup.Seen.There)
}

func (u *update) readGroup(ctx context.Context, _ runbook.Run) (resourcegroup.Seen, error) {
	return u.group().Read(ctx, u.Azure)
}

// standing is what there is under the stack's name, beside what this run has to do.
type standing struct {
	// Found tells whether there is a stack; what follows is its own.
	Found         bool   `json:"found"`
	State         string `json:"state"`
	CorrelationID string `json:"correlationID"`
	UpdatedBy     string `json:"updatedBy"`
	Content       string `json:"content"`
	Resources     int    `json:"resources"`
	// Run is this run, and Wanted the content that it is about.
	Run    string    `json:"run"`
	Wanted string    `json:"wanted"`
	Seen   time.Time `json:"seen"`
}

func (u *update) readStanding(ctx context.Context, run runbook.Run) (standing, error) {
	there, err := u.read(ctx, run)
	seen := standing{Run: run.ID(), Wanted: u.content, Seen: u.Clock.Now()}
	if err == nil && there.Stack != nil {
		seen.Found, seen.State, seen.CorrelationID = true, there.State, there.CorrelationID
		seen.UpdatedBy, seen.Content, seen.Resources = there.Tags[runTag], there.Tags[contentTag], len(there.Resources)
	}
	return seen, err
}

func (s standing) ours() bool      { return s.UpdatedBy == s.Run }
func (s standing) active() bool    { return azure.Stack{State: s.State}.Active() }
func (s standing) succeeded() bool { return azure.Stack{State: s.State}.Succeeded() }

// nothingActive asks whether the stack is at rest. An update that another run began is not waited for: nobody knows
// here what it makes and what it deletes.
func (u *update) nothingActive() runbook.Guard {
	return runbook.Ask("nothing-active", "does nothing work on the stack that another run began?", u.readStanding,
		u.Inputs.nothingActive)
}

func (in Inputs) nothingActive(there standing) runbook.Finding {
	switch {
	case !there.Found:
		return runbook.Yes("ARM has no stack of this name")
	case there.active() && !there.ours():
		return runbook.No("the stack is %s, by %s", there.State, updater(there.UpdatedBy)).
			WithEvidence(in.evidence(there)).WithOutcome(runbook.Deferred)
	}
	return runbook.Yes("the stack is %s, and manages %s", there.State, counted(there.Resources)).
		WithEvidence(in.evidence(there))
}

// updated asks whether the stack is what this run has made of it.
func (u *update) updated() runbook.Guard {
	return runbook.Ask("updated", "is the stack what this run has made of it?", u.readStanding, u.Inputs.updated)
}

func (in Inputs) updated(there standing) runbook.Finding {
	finding := runbook.Yes("ARM's stack %s manages %s", in.Stack, counted(there.Resources))
	switch {
	case !there.Found:
		return runbook.No("ARM has no stack of this name").WithOutcome(runbook.NeedsAttention)
	case !there.ours():
		finding = runbook.No("the stack was updated by %s", updater(there.UpdatedBy)).WithOutcome(runbook.NeedsAttention)
	case there.Content != there.Wanted:
		finding = runbook.No("the stack is %s with another content", there.State).WithOutcome(runbook.NeedsAttention)
	case !there.succeeded():
		finding = runbook.No("the stack is %s", there.State).WithOutcome(runbook.NeedsAttention)
	}
	return finding.WithEvidence(in.evidence(there))
}

func (in Inputs) evidence(there standing) runbook.Evidence {
	return runbook.NewEvidence("ARM deploymentStacks/"+in.Stack, there.CorrelationID, there.Seen, map[string]any{
		"state": there.State, "run": there.UpdatedBy, "content": there.Content, "resources": there.Resources,
	})
}

// updater names who updated a stack, by its tag.
func updater(run string) string {
	if run != "" {
		return "run " + run
	}
	return "somebody else"
}
