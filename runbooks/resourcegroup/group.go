package resourcegroup

import (
	"context"

	"salve/azure"
	"salve/internal/apierr"
	"salve/runbook"
)

// Wanted is the resource group that is to be there. Without a name none is.
type Wanted struct {
	Name string
	// Location is where it is made when it is missing; empty when that is not known.
	Location string
}

// Seen is what was read of it, with what is to be done when it is missing.
type Seen struct {
	// Name is empty where no group is wanted, and in readings of what is of a resource group by itself.
	Name string `json:"name,omitempty"`
	// Found is false when ARM says that there is none, or that the caller may not see one. Location is empty then,
	// and where no group is wanted.
	Found    bool   `json:"found"`
	Location string `json:"location"`
	// CreateIn is where it is made when it is missing; empty when that is not known.
	CreateIn string `json:"createIn,omitempty"`
}

// Read looks for the group.
func (w Wanted) Read(ctx context.Context, client *azure.Client) (Seen, error) {
	seen := Seen{Name: w.Name, CreateIn: w.Location}
	if w.Name == "" {
		return Seen{Found: true}, nil
	}
	location, err := client.GroupLocation(ctx, w.Name)
	if apierr.ClassOf(err) == apierr.Missing {
		return seen, nil
	}
	seen.Found, seen.Location = true, location
	return seen, err
}

// Usable decides whether a run may begin: the group is there, or can be made.
func (s Seen) Usable(subscription string) runbook.Finding {
	switch {
	case s.Found && s.Name == "":
		return runbook.Yes("%s", "subscription "+subscription+" is deployed to")
	case s.Found:
		return runbook.Yes("resource group %q is in %s", s.Name, s.Location)
	case s.CreateIn == "":
		return runbook.No("there is no resource group %q in subscription %s, and it is not known where to create it: "+
			"create it, ask for the right to see it, or name its location by --region", s.Name, subscription).
			WithOutcome(runbook.Failed)
	case !azure.IsGroupName(s.Name):
		return runbook.No("there is no resource group %q, and none can be called so", s.Name).WithOutcome(runbook.Failed)
	}
	return runbook.Yes("resource group %q is not there, and is created in %s", s.Name, s.CreateIn)
}

// There decides whether what is to be put into the group may be sent.
func (s Seen) There() runbook.Finding {
	if !s.Found {
		return runbook.No("there is no resource group %q", s.Name).WithOutcome(runbook.Failed)
	}
	return runbook.Yes("the resource group is there")
}

// Preview says what would be done about a group that is missing; empty for one that is there. The error, of class
// Missing, is that nothing could be done.
func (s Seen) Preview() (string, error) {
	switch {
	case s.Found:
		return "", nil
	case s.CreateIn == "":
		return "", apierr.New(apierr.Missing, "not found: there is no resource group %q yet, and it is not known where to "+
			"create it. hint: --region", s.Name)
	}
	return "+ resource group " + s.Name + ", in " + s.CreateIn, nil
}

// tags are those that rollout tools give to a group that they make: what deletes groups without an owner leaves it.
func tags() map[string]string { return map[string]string{"persist": "true"} }

// Create is the step that makes the group. There is no way back: others may have put something into it by then.
func (w Wanted) Create(client *azure.Client, guards ...string) runbook.Step {
	return runbook.Step{
		Name: "create-group", Changes: "the resource group, where it is missing", Guards: guards,
		Inputs: func(runbook.Run) (any, error) {
			return map[string]any{"group": w.Name, "location": w.Location, "tags": tags()}, nil
		},
		Observe: func(ctx context.Context, _ runbook.Run) runbook.Observation {
			seen, err := w.Read(ctx, client)
			switch {
			case err != nil:
				return runbook.NotObserved(err)
			case seen.Found && w.Name == "":
				return runbook.Done("no resource group is needed")
			case seen.Found:
				return runbook.Done("resource group %q is in %s", w.Name, seen.Location)
			}
			return runbook.NotStarted("there is no resource group %q", w.Name)
		},
		Apply: func(ctx context.Context, _ runbook.Run) error {
			// Asked once more: ARM would replace the tags of a group that somebody has made meanwhile.
			seen, err := w.Read(ctx, client)
			if err != nil || seen.Found {
				return err
			}
			return client.CreateGroup(ctx, w.Name, w.Location, tags())
		},
	}
}
