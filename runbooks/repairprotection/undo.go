package repairprotection

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/internal/prow/brief"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
	"salve/internal/prow/protector"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/repairprotection/branches"
)

// UndoName is the name of the runbook that undoes a run of this one.
const UndoName = "undo-branch-protection"

// readPreviousName is the step that comes before all branches.
const readPreviousName = "read-previous"

// UndoWorld is what that runbook acts on.
type UndoWorld struct {
	GitHub *github.Client
	// Endpoint and Reserve are as in World.
	Endpoint string
	Reserve  int
	// Cluster is that of the Prow instance.
	Cluster *kube.Cluster
	// Places is how many branches the plan of the undone run has.
	Places int
	// Previous gives what the undone run kept of its branch at a place of its plan, verified against its record; false
	// when it kept nothing there, or there is no such place. Nil while inputs are validated.
	Previous func(ctx context.Context, at int) (Previous, bool, error)
}

// UndoInputs are what it is made from. They are journaled.
type UndoInputs struct {
	// Run is the run that is undone.
	Run string `json:"run"`
	// GitHub is the base URL of the API.
	GitHub string `json:"github,omitempty"`
	// AllowUnprotect is as in Inputs.
	AllowUnprotect map[string]string `json:"allowUnprotect,omitempty"`
	// Others is as in Inputs.
	Others []string `json:"otherProwNamespaces,omitempty"`
	// Budget bounds the whole run.
	Budget metav1.Duration `json:"budget"`
	// Branches were found before the run began: what the undone run wrote is still there.
	Branches []Restored `json:"branches,omitempty"`
	// Left are branches that somebody has changed since: they are left as they are.
	Left []string `json:"left,omitempty"`
}

// Restored is a branch that is put back.
type Restored struct {
	// At is its place in the plan of the undone run.
	At int `json:"at"`
	Planned
}

// UndoDefaults are the inputs that a user need not give.
func UndoDefaults() UndoInputs { return UndoInputs{Budget: metav1.Duration{Duration: 6 * time.Hour}} }

// NewUndo makes the runbook that puts back what a run replaced.
func NewUndo(world UndoWorld, in UndoInputs) (runbook.Runbook, error) {
	switch endpoint := cmp.Or(world.Endpoint, github.DefaultBaseURL); {
	case in.Run == "":
		return runbook.Runbook{}, fmt.Errorf("required flag --run not set: which run is to be undone?")
	case in.Budget.Duration < time.Minute:
		return runbook.Runbook{}, fmt.Errorf("--budget %s: it must be a minute at least", in.Budget.Duration)
	case in.GitHub != "" && in.GitHub != endpoint:
		return runbook.Runbook{}, fmt.Errorf("the run is about GitHub %s, not %s. hint: --github-endpoint, or "+
			"GITHUB_API_URL", in.GitHub, endpoint)
	default:
		in.GitHub = endpoint
	}
	target, err := Target(in.GitHub)
	if err != nil {
		return runbook.Runbook{}, err
	}
	u, err := newUndo(world, in)
	if err != nil {
		return runbook.Runbook{}, err
	}
	steps := []runbook.Step{u.readPrevious()}
	for i := range in.Branches {
		steps = append(steps, u.restore(i))
	}
	u.target = target
	return u.book(steps), nil
}

func (u *undo) book(steps []runbook.Step) runbook.Runbook {
	return runbook.Runbook{
		Name: UndoName, Version: "1", Inputs: u.from, Budget: u.from.Budget.Duration, KeepGoing: true, KeepOpen: true,
		Target: u.target,
		Guards: []runbook.Guard{
			u.noProtectorRunning(), u.budgetSuffices(), u.summary(), u.protectionDiffers(), u.noBranchUnprotected(),
		},
		Steps:  steps,
		Checks: []runbook.Guard{u.protectionsRight()},
	}
}

// undo is the runbook at work: the repair with other rules.
type undo struct {
	*repair
	world UndoWorld
	from  UndoInputs

	lock   sync.Mutex
	loaded bool
}

func newUndo(world UndoWorld, in UndoInputs) (*undo, error) {
	u := &undo{world: world, from: in, repair: &repair{
		first: readPreviousName, reserve: world.Reserve, github: world.GitHub,
		in:       Inputs{AllowUnprotect: in.AllowUnprotect},
		branches: &branches.Reader{GitHub: world.GitHub},
		cluster:  &protector.Reader{Cluster: world.Cluster, Others: in.Others},
	}}
	u.ready = u.load
	for _, restored := range in.Branches {
		branch, err := branches.Parse(restored.Branch)
		if err != nil {
			return nil, err
		}
		u.in.Branches = append(u.in.Branches, restored.Planned)
		u.rules = append(u.rules, protection.Rule{Branch: branch, Kind: protection.Restore}) // the rest is read by load
	}
	return u, nil
}

// load reads, before anything is decided, what the branches were before. The inputs name them and prove nothing.
func (u *undo) load(ctx context.Context) error {
	u.lock.Lock()
	defer u.lock.Unlock()
	if u.loaded {
		return nil
	}
	for i, restored := range u.from.Branches {
		rule, _, found, err := u.world.rule(ctx, restored.At)
		switch {
		case err != nil:
			return err
		case !found || rule.Branch != u.rules[i].Branch:
			return apierr.New(apierr.Terminal, "run %s kept nothing of %s", u.from.Run, restored.Branch)
		}
		u.rules[i] = rule
	}
	u.loaded = true
	return nil
}

// rule reads what a branch was before, and what the undone run wrote.
func (w UndoWorld) rule(ctx context.Context, at int) (rule protection.Rule, previous Previous, found bool, err error) {
	if previous, found, err = w.Previous(ctx, at); err != nil || !found {
		return rule, previous, false, err
	}
	branch, err := branches.Parse(previous.Branch)
	if err != nil {
		return rule, previous, false, err
	}
	rule = protection.Rule{Branch: branch, Kind: protection.Restore, Protected: previous.Protected}
	if !previous.Protected {
		return rule, previous, true, nil
	}
	before, unread, err := github.ParseSettings(previous.Object)
	if err == nil && len(unread) > 0 {
		err = apierr.New(apierr.Terminal, "fields that are not known: %s", strings.Join(unread, ", "))
	}
	if err != nil {
		return rule, previous, false, fmt.Errorf("what %s was before: %w", branch, err)
	}
	rule.Before = before
	return rule, previous, true, nil
}

// DiscoverUndo looks which branches are still as the undone run wrote them, before a run is made.
func DiscoverUndo(ctx context.Context, world UndoWorld, in UndoInputs) (UndoInputs, runbook.Finding) {
	reader := &branches.Reader{GitHub: world.GitHub}
	in.Branches, in.Left = nil, nil
	for at := range world.Places {
		rule, previous, found, err := world.rule(ctx, at)
		if err != nil {
			return in, runbook.Unknown(err)
		}
		if !found {
			continue
		}
		state, err := reader.State(ctx, rule)
		switch {
		case err != nil:
			return in, notDiscovered(err)
		case state.Right():
		case previous.written(state):
			in.Branches = append(in.Branches, Restored{At: at, Planned: Planned{
				Branch: state.Branch.String(), Live: state.LiveDigest(), Want: state.WantDigest(),
			}})
		default:
			in.Left = append(in.Left, state.Branch.String())
		}
	}
	if len(in.Branches) == 0 {
		return in, runbook.No("nothing of run %s is to be undone%s", in.Run, in.left())
	}
	return in, runbook.Yes("to be put back: %d%s", len(in.Branches), in.left())
}

// written tells whether a branch is still as the run wrote it.
func (p Previous) written(state protection.State) bool {
	if p.Written == nil || !state.Live.Protected {
		return p.Written == nil && !state.Live.Protected
	}
	return len(protection.Differences(state.Live.Settings, *p.Written)) == 0
}

func (in UndoInputs) left() string {
	if len(in.Left) == 0 {
		return ""
	}
	return "; changed since, and left as they are: " + brief.List(in.Left)
}

func (u *undo) summary() runbook.Guard {
	return runbook.Ask("summary", "what is put back?", u.readSeen, func(seen runbook.Seen[[]branchState]) runbook.Finding {
		return runbook.Yes("to be put back: %d%s", len(seen.What), u.from.left()).WithEvidence(evidenceOf(seen))
	})
}

// readPrevious comes first: what is to be put back is known to be there before anything is replaced.
func (u *undo) readPrevious() runbook.Step {
	return runbook.Step{
		Name: u.first, After: []string{runbook.Start}, Passive: true,
		Changes: "nothing: read back what run " + u.from.Run + " kept of each branch",
		Observe: func(ctx context.Context, _ runbook.Run) runbook.Observation {
			if err := u.load(ctx); err != nil {
				return runbook.NotObserved(err)
			}
			return runbook.Done("read back: %d", len(u.rules))
		},
		Apply: func(ctx context.Context, _ runbook.Run) error { return u.load(ctx) },
	}
}

// restore is the step of one branch.
func (u *undo) restore(i int) runbook.Step {
	b := u.branch(i)
	step := u.step(b)
	step.Guards, step.Preconditions = []string{"no-protector-running"}, []runbook.Guard{b.asPlanned()}
	return step
}
