package check

import (
	"errors"
	"fmt"
	"slices"

	"salve/internal/diagnostic"
	"salve/internal/prow/config"
	"salve/internal/prow/manifest"
)

// Exit is what the files say about the way out when a Prow can't deploy itself: which jobs deploy it, what they need,
// who may merge by hand, and which ways around it are stated.
type Exit struct {
	// Jobs deploy the manifests. Unknown is why it is not known which do; empty when it is.
	Jobs    []DeployJob
	Unknown string
	// Doors are the branches that they deploy.
	Doors []Door
	// Ways are those of the break-glass file, in its order.
	Ways []StatedWay
}

// DeployJob is a job that deploys Prow.
type DeployJob struct {
	Name     string
	Position diagnostic.Position
	// Needs are what it needs and deploys itself.
	Needs []Need
}

// Need is something that a job needs and deploys. Kind is component, Secret or ConfigMap; the name of the latter two is
// with the namespace.
type Need struct{ Kind, Name, Why string }

// Door is who may merge into a branch, by the policy of the configuration.
type Door struct {
	Branch config.Branch
	// Unknown is why the policy can't be computed. Open is why nothing is protected there. Both are empty where the rest
	// holds.
	Unknown, Open string
	// EnforceAdmins: the rules hold for admins too.
	EnforceAdmins bool
	// Restricted: only Users, Teams and Apps may push, and admins.
	Restricted         bool
	Users, Teams, Apps []string
	// Contexts must be green, and Approvals so many.
	Contexts  []string
	Approvals int
	Position  diagnostic.Position
}

// StatedWay is a way of the break-glass file. Lacks are what keeps it from being proven.
type StatedWay struct {
	Way
	Lacks []string
}

// FindExit finds the way out. The configuration must have been read as a whole, and manifests be given.
func FindExit(given Facts) (Exit, error) {
	f := derive(given)
	switch {
	case f.now == nil:
		return Exit{}, errors.New("the configuration could not be read as a whole: salve prow check says why")
	case f.Manifests == nil:
		return Exit{}, errors.New("no manifests were given")
	}
	exit := Exit{Unknown: knownDeployJobs(f).Reason}
	var seen []config.Branch
	for _, job := range f.jobs {
		made := DeployJob{Name: job.Name, Position: job.Position}
		for _, need := range f.cycleOf(job) {
			made.Needs = append(made.Needs, Need{need.Kind, need.Name, need.Why})
		}
		exit.Jobs = append(exit.Jobs, made)
		if branch, known := f.now.sourceBranch(job.Job); known && !slices.Contains(seen, branch) {
			seen = append(seen, branch)
			exit.Doors = append(exit.Doors, f.door(branch))
		}
	}
	if f.BreakGlass != nil {
		for _, way := range f.BreakGlass.Paths {
			exit.Ways = append(exit.Ways, StatedWay{way, way.lacks(f, f.cyclic())})
		}
	}
	return exit, nil
}

func (f *facts) door(branch config.Branch) Door {
	door := Door{Branch: branch, Position: f.placeOf(requirement{branch: branchOf(branch)})}
	made := f.now.decide(branch)
	switch {
	case made.err != nil:
		door.Unknown = made.err.Error()
		return door
	case made.Action == config.Leave:
		door.Unknown = "branchprotector leaves the branch alone (" + made.Why + "): what is in force there only GitHub knows"
		return door
	case made.Action == config.Unprotect:
		door.Open = "the configuration removes its protection"
		return door
	}
	policy := made.Policy
	door.EnforceAdmins, door.Contexts = on(policy.EnforceAdmins), policy.Contexts().Values()
	if r := policy.Restrictions; r != nil {
		door.Restricted = true
		door.Users, door.Teams, door.Apps = r.Users.Values(), r.Teams.Values(), r.Apps.Values()
	}
	if policy.Reviews != nil && policy.Reviews.Approvals.Set {
		door.Approvals = policy.Reviews.Approvals.Value
	}
	return door
}

func branchOf(b config.Branch) branch { return branch{Branch: b} }

// Reverted is a component that is another one in another set of manifests.
type Reverted struct {
	// Component is the program's name, Workload the object that runs it.
	Component, Workload string
	// Now and Then are its images; one is empty where it is not there.
	Now, Then string
	// What says what else differs: flags, or where its configuration is.
	What     []string
	Position diagnostic.Position
}

// Reverts compares the components of what is there now with those of then.
func Reverts(now, then *manifest.Set) []Reverted {
	type key struct{ name, workload string }
	old := map[key]manifest.Component{}
	for _, c := range then.Components {
		old[key{c.Name, c.Workload()}] = c
	}
	var reverts []Reverted
	for _, c := range now.Components {
		was, there := old[key{c.Name, c.Workload()}]
		delete(old, key{c.Name, c.Workload()})
		made := Reverted{Component: c.Name, Workload: c.Workload(), Now: c.Image.String(), Position: c.Position}
		if there {
			made.Then, made.What = was.Image.String(), differences(c, was)
		}
		if made.Now != made.Then || len(made.What) > 0 {
			reverts = append(reverts, made)
		}
	}
	for _, c := range then.Components {
		if _, gone := old[key{c.Name, c.Workload()}]; gone {
			reverts = append(reverts, Reverted{
				Component: c.Name, Workload: c.Workload(), Then: c.Image.String(), Position: c.Position,
			})
		}
	}
	return reverts
}

// differences are those of two versions of one component, their images aside.
func differences(now, then manifest.Component) (what []string) {
	for _, word := range without(now.Args, then.Args) {
		what = append(what, "loses "+word)
	}
	for _, word := range without(then.Args, now.Args) {
		what = append(what, "gets "+word)
	}
	for _, source := range []struct {
		name      string
		now, then *manifest.Source
	}{{"config-path", now.Config, then.Config}, {"job-config-path", now.JobConfig, then.JobConfig}} {
		if source.now != nil && source.then != nil && *source.now != *source.then {
			what = append(what, fmt.Sprintf("--%s from %s, and not from %s", source.name, source.then, source.now))
		}
	}
	return what
}
