package armdeployment

import (
	"context"
	"time"

	"salve/azure"
	"salve/runbook"
	"salve/runbooks/resourcegroup"
)

// scopeThere asks whether there is a place to deploy to, or can be: ARM would say the same of a missing resource group
// and of one that the caller may not see.
func (d *deployment) scopeThere() runbook.Guard {
	return runbook.Ask("scope-there", "is the resource group there, or is it known where to create it?", d.readGroup,
		d.Inputs.scopeThere)
}

func (d *deployment) readGroup(ctx context.Context, _ runbook.Run) (resourcegroup.Seen, error) {
	return d.group().Read(ctx, d.Azure)
}

func (in Inputs) scopeThere(seen resourcegroup.Seen) runbook.Finding {
	return in.named(seen).Usable(in.Subscription)
}

// groupThere is asked right before the deployment: what another step was to make may have gone.
func (d *deployment) groupThere() runbook.Guard {
	return runbook.Ask("group-there", "is the resource group there?", d.readGroup,
		func(seen resourcegroup.Seen) runbook.Finding { return d.Inputs.named(seen).There() })
}

// named gives a reading the name that it lacks in records of earlier versions.
func (in Inputs) named(seen resourcegroup.Seen) resourcegroup.Seen {
	if seen.Name == "" {
		seen.Name = in.ResourceGroup
	}
	return seen
}

// standing is what there is under the deployment's name, beside what this run has to do.
type standing struct {
	// Found tells whether there is a deployment; the state and the tags are its own.
	Found         bool   `json:"found"`
	State         string `json:"state"`
	CorrelationID string `json:"correlationID"`
	StartedBy     string `json:"startedBy"`
	Content       string `json:"content"`
	// Run is this run, and Wanted the content that it deploys.
	Run    string    `json:"run"`
	Wanted string    `json:"wanted"`
	Seen   time.Time `json:"seen"`
}

func (d *deployment) readStanding(ctx context.Context, run runbook.Run) (standing, error) {
	there, err := d.read(ctx, run)
	seen := standing{Run: run.ID(), Wanted: d.content, Seen: d.Clock.Now()}
	if err == nil && there.Deployment != nil {
		seen.Found, seen.State, seen.CorrelationID = true, there.State, there.CorrelationID
		seen.StartedBy, seen.Content = there.Tags[runTag], there.Tags[contentTag]
	}
	return seen, err
}

func (s standing) ours() bool { return s.StartedBy == s.Run }

func (s standing) active() bool { return azure.Deployment{State: s.State}.Active() }

func (s standing) starter() string { return starter(s.StartedBy) }

// nothingActive asks whether the deployment's name is free. One that another run
// began is not waited for: nobody knows here what it deploys.
func (d *deployment) nothingActive() runbook.Guard {
	return runbook.Ask("nothing-active", "is no deployment of this name active that another run started?", d.readStanding,
		d.Inputs.nothingActive)
}

func (in Inputs) nothingActive(there standing) runbook.Finding {
	switch {
	case !there.Found:
		return runbook.Yes("ARM has no deployment of this name")
	case there.active() && !there.ours():
		return runbook.No("a deployment of this name is %s, started by %s", there.State, there.starter()).
			WithEvidence(in.evidence(there)).WithOutcome(runbook.Deferred)
	}
	return runbook.Yes("the last deployment of this name is %s", there.State).WithEvidence(in.evidence(there))
}

// deployed asks whether the deployment that succeeded is this run's, with this
// content.
func (d *deployment) deployed() runbook.Guard {
	return runbook.Ask("deployed", "has this deployment, with this content, succeeded?", d.readStanding, d.Inputs.deployed)
}

func (in Inputs) deployed(there standing) runbook.Finding {
	finding := runbook.Yes("%s", "ARM's deployment "+in.Deployment+" succeeded")
	switch {
	case !there.Found:
		return runbook.No("ARM has no deployment of this name").WithOutcome(runbook.NeedsAttention)
	case !there.ours():
		finding = runbook.No("the deployment of this name was started by %s", there.starter()).
			WithOutcome(runbook.NeedsAttention)
	case there.Content != there.Wanted:
		finding = runbook.No("the deployment is %s with another content", there.State).WithOutcome(runbook.NeedsAttention)
	case there.State != succeeded:
		finding = runbook.No("the deployment is %s", there.State).WithOutcome(runbook.NeedsAttention)
	}
	return finding.WithEvidence(in.evidence(there))
}

func (in Inputs) evidence(there standing) runbook.Evidence {
	return runbook.NewEvidence("ARM deployments/"+in.Deployment, there.CorrelationID, there.Seen, map[string]any{
		"state": there.State, "run": there.StartedBy, "content": there.Content,
	})
}

// starter names who started a deployment, by its tag.
func starter(run string) string {
	if run != "" {
		return "run " + run
	}
	return "somebody else"
}
