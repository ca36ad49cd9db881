package breakglass

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"salve/internal/prow/check"
	"salve/internal/prow/manifest"
)

// Input is what a plan is made from. All of it was read already.
type Input struct {
	// Root is the repository's root folder, Ref the revision as it was named, Commit its whole hash.
	Root, Ref, Commit string
	// Context is that of the kubeconfig; empty where the operator is to fill it in.
	Context string
	// Now is what is there now, Then what the revision has.
	Now, Then *manifest.Set
	Exit      check.Exit
	// Configuration says how config.yaml differs; empty where it does not.
	Configuration string
}

// Plan is a way out, prepared. Nothing of it was executed.
type Plan struct {
	Revision string `json:"revision"`
	Commit   string `json:"commit"`
	// Jobs deploy Prow; Needs are the components that they need and deploy.
	Jobs  []Job    `json:"jobs"`
	Needs []string `json:"needs"`
	// Stages are applied one after the other.
	Stages []Stage `json:"stages"`
	// Commands are what is typed, in order.
	Commands []Command `json:"commands"`
	// Way names the way of the break-glass file whose commands these are; empty for kubectl.
	Way string `json:"way,omitempty"`
	// Protector is what it does to branchprotector; empty where that stays as it is.
	Protector string `json:"branchprotector,omitempty"`
	// Reverts are components that are other ones then, Objects other objects that are.
	Reverts []Revert `json:"reverts"`
	Objects []string `json:"objects"`
	// Kept are objects that the revision does not have: apply does not remove them.
	Kept []string `json:"kept"`
	// Merge is who may merge by hand.
	Merge []Merge `json:"merge"`
	// Stated are the ways of the break-glass file.
	Stated []Stated `json:"breakGlass,omitempty"`
	// Missing is what the revision has and the plan has not: nobody reads it, or nobody could.
	Missing []string `json:"missing"`
	// Unknown is what else could not be read, or has no command.
	Unknown []string `json:"unknown"`
}

// Job is a job that deploys Prow.
type Job struct {
	Name  string   `json:"name"`
	At    string   `json:"at"`
	Needs []string `json:"needs"`
}

// Stage is a part of the files.
type Stage struct {
	Name  string `json:"name"`
	Files []File `json:"files"`
}

// File is a manifest of the revision.
type File struct {
	Path      string     `json:"path"`
	Resources []Resource `json:"resources"`
	// Incomplete is why not all of it was understood; empty where all was. Such a file has no command.
	Incomplete string `json:"incomplete,omitempty"`
	// differs: something in it is not as it is now; protects: it runs branchprotector.
	differs, protects bool
	rank              int
}

// Resource is an object of a manifest.
type Resource struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Change is what applying it does: nothing, changes, or makes it.
	Change string `json:"change"`
}

// Command is one line for a shell.
type Command struct {
	Text string `json:"command"`
	Why  string `json:"why"`
	// Optional commands are shown as a comment: who pastes all lines does not execute them.
	Optional bool `json:"optional,omitempty"`
}

// Revert is a component that is another one in the revision.
type Revert struct {
	Component string   `json:"component"`
	Workload  string   `json:"workload"`
	Now       string   `json:"now,omitempty"`
	Then      string   `json:"then,omitempty"`
	Besides   []string `json:"besides,omitempty"`
}

// Merge is who may merge into a branch.
type Merge struct {
	Branch string   `json:"branch"`
	At     string   `json:"at"`
	Says   []string `json:"says"`
}

// Stated is a way of the break-glass file.
type Stated struct {
	Name  string   `json:"name"`
	At    string   `json:"at"`
	Lacks []string `json:"lacks"`
}

// Prepare makes the plan.
func Prepare(in Input) Plan {
	// Programs read empty lists, and not null.
	p := Plan{Revision: in.Ref, Commit: in.Commit, Jobs: []Job{}, Needs: []string{}, Reverts: []Revert{},
		Objects: []string{}, Kept: []string{}, Merge: []Merge{}, Missing: missing(in), Unknown: unread(in)}
	for _, job := range in.Exit.Jobs {
		made := Job{Name: job.Name, At: job.Position.String(), Needs: []string{}}
		for _, need := range job.Needs {
			made.Needs = append(made.Needs, need.Kind+" "+need.Name)
			if need.Kind == "component" && !slices.Contains(p.Needs, need.Name) {
				p.Needs = append(p.Needs, need.Name)
			}
		}
		p.Jobs = append(p.Jobs, made)
	}
	files := filesOf(in)
	p.Stages = stages(files)
	p.reverts(in, files)
	p.commands(in)
	for _, door := range in.Exit.Doors {
		p.Merge = append(p.Merge, Merge{Branch: door.Branch.String(), At: door.Position.String(), Says: whoMay(door)})
	}
	for _, way := range in.Exit.Ways {
		p.Stated = append(p.Stated, Stated{Name: way.Name, At: way.Position.String(), Lacks: way.Lacks})
	}
	return p
}

// missing is what is not in the plan of what the revision has.
func missing(in Input) []string { return append([]string{}, notRead(in.Then, "at "+in.Ref)...) }

func notRead(set *manifest.Set, when string) (lines []string) {
	for _, left := range set.LeftAlone {
		lines = append(lines, fmt.Sprintf("%s, %s: %s", left.Position, when, left.Reason))
	}
	for _, broken := range set.Unreadable {
		lines = append(lines, fmt.Sprintf("%s, %s: %s", broken.Position, when, broken.Message))
	}
	return lines
}

// unread is what else is not known.
func unread(in Input) []string {
	unknown := []string{}
	if in.Exit.Unknown != "" {
		unknown = append(unknown, "which jobs deploy Prow: "+in.Exit.Unknown)
	}
	unknown = append(unknown, notRead(in.Now, "now")...)
	for _, object := range in.Then.Objects {
		if object.Namespace == "" && namespaced(object.Kind) {
			unknown = append(unknown, fmt.Sprintf("%s %s names no namespace: it goes into that of the kubeconfig's context",
				object.Kind, object.Name))
		}
	}
	if len(in.Then.Objects) == 0 {
		unknown = append(unknown, "the revision has no manifest in "+in.Then.Folder)
	}
	return unknown
}

// reverts says what comes with it.
func (p *Plan) reverts(in Input, files []File) {
	workloads := map[string]bool{}
	for _, r := range check.Reverts(in.Now, in.Then) {
		workloads[r.Workload] = true
		p.Reverts = append(p.Reverts, Revert{r.Component, r.Workload, r.Now, r.Then, r.What})
		if r.Component == "branchprotector" {
			p.Protector = protector(r) + together(r, files)
		}
	}
	for _, file := range files {
		for _, resource := range file.Resources {
			if id := resource.id(); resource.Change != unchanged && !workloads[id] {
				p.Objects = append(p.Objects, resource.Change+" "+id)
			}
		}
	}
	then := map[string]bool{}
	for _, object := range in.Then.Objects {
		then[object.ID()] = true
	}
	for _, object := range in.Now.Objects {
		if !then[object.ID()] {
			p.Kept = append(p.Kept, object.ID())
		}
	}
	if in.Configuration != "" {
		p.Objects = append(p.Objects, in.Configuration)
	}
}

// protector is loud: on 5 February 2019 the revert put an older one back to work.
func protector(r check.Reverted) string {
	switch {
	case r.Then == "":
		return fmt.Sprintf("%s is not in the revision: it stays as it is, %s", r.Workload, r.Now)
	case r.Now == "":
		return fmt.Sprintf("%s COMES BACK as %s, and writes the protection of branches again", r.Workload, r.Then)
	}
	return fmt.Sprintf("%s GOES BACK from %s to %s, and writes the protection of branches as that version does",
		r.Workload, r.Now, r.Then)
}

// together says that branchprotector can't be left out, because its file has more in it.
func together(r check.Reverted, files []File) string {
	for _, file := range files {
		if file.protects && file.rank != protection &&
			slices.ContainsFunc(file.Resources, func(resource Resource) bool { return resource.id() == r.Workload }) {
			return "; " + file.Path + " has it together with what deploys Prow: applying the one applies the other"
		}
	}
	return ""
}

// whoMay says who may merge when required contexts don't come.
func whoMay(door check.Door) []string {
	switch {
	case door.Unknown != "":
		return []string{"unknown: " + door.Unknown}
	case door.Open != "":
		return []string{"everybody who may write: " + door.Open}
	}
	var says []string
	if len(door.Contexts) > 0 {
		says = append(says, "required and not reported while Prow is down: "+strings.Join(door.Contexts, ", "))
	}
	if door.Approvals > 0 {
		says = append(says, fmt.Sprintf("approvals: %d", door.Approvals))
	}
	switch {
	case door.EnforceAdmins && len(door.Contexts) > 0:
		says = append(says, "NOBODY, not even an admin: enforce_admins is true. An admin has to lift the protection first")
	case door.EnforceAdmins:
		says = append(says, "the rules hold for admins too: enforce_admins is true")
	default:
		says = append(says, "admins of the repository, past what is required")
	}
	if door.Restricted {
		says = append(says, fmt.Sprintf("others may push only: users %s, teams %s, apps %s", names(door.Users),
			names(door.Teams), names(door.Apps)))
	}
	return says
}

func names(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

func (r Resource) id() string {
	return manifest.Object{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}.ID()
}

// inTree is a file of the revision in the folder that it is checked out into.
func inTree(tree, file string) string { return path.Join(tree, file) }
