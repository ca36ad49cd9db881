package rescuepods

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"salve/runbook"
	"salve/runbooks/rescuepods/instance"
	"salve/runbooks/rescuepods/stranded"
)

// prowPods is what the runbook knows besides when the pods are those of a Prow instance.
type prowPods struct {
	*instance.Instance
	rules    instance.Rules
	state    runbook.Shared[*instance.State]
	deployed runbook.Shared[*instance.Deployed]
}

func newProwPods(world World, in Inputs) (*prowPods, error) {
	rules, err := in.rules(world.Prow.Namespaces)
	if err != nil {
		return nil, err
	}
	p := &prowPods{rules: rules, Instance: &instance.Instance{
		Cluster: world.Cluster, Configuration: *world.Prow, Components: in.Prow.Namespace, Apart: world.Apart,
	}}
	if in.Prow.ConfigMap != "" {
		p.Mount, err = instance.ParseKey(in.Prow.ConfigMap)
	}
	return p, err
}

// judge leaves those stranded pods alone that are not this instance's, or that may not go.
func (r *rescue) judge(ctx context.Context, run runbook.Run, seen *stranded.Reading) error {
	state, err := r.prowState(ctx, run)
	if err != nil {
		return err
	}
	verdicts := state.Strays(r.prow.rules)
	seen.Judge(func(pod stranded.Pod) stranded.Judgement {
		verdict, known := verdicts[pod.UID]
		if !known {
			return stranded.Judgement{Leave: "G3: it was not there any more when Prow's pods were read"}
		}
		return stranded.Judgement{Leave: verdict.Leave, Foreign: !verdict.Ours}
	})
	return nil
}

// prowState gives the instance's jobs and pods, read once in a round. The jobs of recorded pods were seen: these pods
// stay the instance's when sinker deletes their jobs.
func (r *rescue) prowState(ctx context.Context, run runbook.Run) (*instance.State, error) {
	return r.prow.state.Get(ctx, run, func(ctx context.Context) (*instance.State, error) {
		recorded, _, err := r.RecordedPods(run)
		if err != nil {
			return nil, err
		}
		earlier := map[types.UID]string{}
		for _, pod := range recorded {
			earlier[pod.UID] = pod.Name
		}
		return r.prow.State(ctx, earlier)
	})
}

func (r *rescue) prowDeployed(ctx context.Context, run runbook.Run) (*instance.Deployed, error) {
	return r.prow.deployed.Get(ctx, run, r.prow.Deployed)
}

// prowConditions are the guards of a Prow instance that are asked again before each deletion.
func (r *rescue) prowConditions() []string {
	if r.prow == nil {
		return nil
	}
	return []string{"namespace-agreed", "fix-proven", "prow-steady", "within-share", "list-approved", "two-persons"}
}

func (r *rescue) prowGuards() []runbook.Guard {
	if r.prow == nil {
		return nil
	}
	return []runbook.Guard{
		r.mountEvents(), r.namespaceAgreed(), r.fixProven(), r.prowSteady(), r.withinShare(), r.listApproved(),
		r.twoPersons(),
	}
}

// namespaceAgreed is G2.
func (r *rescue) namespaceAgreed() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (instance.Sources, error) {
		first := true
		return r.prow.Twice(ctx, func(ctx context.Context) (instance.Sources, error) {
			if !first { // a second reading is not the round's
				r.prow.state.Reset()
				r.prow.deployed.Reset()
				r.seen.Reset()
			}
			first = false
			deployed, err := r.prowDeployed(ctx, run)
			if err != nil {
				return instance.Sources{}, err
			}
			state, err := r.prowState(ctx, run)
			if err != nil {
				return instance.Sources{}, err
			}
			return instance.SourcesOf(r.prow.Configuration, deployed, state), nil
		})
	}
	guard := runbook.Ask("namespace-agreed",
		"do git, the cluster's configuration and plank's newest pods agree on where pods belong, twice?", read,
		namespaceAgreed)
	guard.NotOverridable = true
	return guard
}

func namespaceAgreed(seen instance.Sources) runbook.Finding {
	switch unknown := seen.Unknown(); {
	case unknown != "":
		return runbook.Unknownf("G2: unknown: %s", unknown)
	case !seen.Agree():
		return runbook.No("G2: the sources disagree, and nothing is deleted until they agree: %s", seen).
			WithOutcome(runbook.NeedsAttention)
	}
	return runbook.Yes("G2: %s", seen)
}

// proof is what shows that new jobs get their pods where they belong.
type proof struct {
	// Youngest is the newest stray; empty when plank has none.
	Youngest string `json:"youngest"`
	// Jobs came after it, and have their pods in Pods, by the configuration in git.
	Jobs []string `json:"jobs"`
	Pods string   `json:"pods"`
}

func proofOf(seen instance.Proof, rules instance.Rules) proof {
	found := proof{Jobs: seen.Jobs, Pods: rules.Pods}
	if seen.Youngest.UID != "" {
		found.Youngest = seen.Youngest.String()
	}
	return found
}

// fixProven is G1.
func (r *rescue) fixProven() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (proof, error) {
		state, err := r.prowState(ctx, run)
		if err != nil {
			return proof{}, err
		}
		return proofOf(state.Proof(r.prow.rules), r.prow.rules), nil
	}
	guard := runbook.Ask("fix-proven", "do new jobs get their pods where they belong?", read, r.in.Prow.fixProven)
	guard.NotOverridable = true
	return guard
}

func (p Prow) fixProven(seen proof) runbook.Finding {
	if seen.Youngest == "" {
		return runbook.Yes("G1: plank has no pod outside of %s", seen.Pods)
	}
	said := fmt.Sprintf("jobs after the youngest stray, %s, with pods of plank in %s: %d", seen.Youngest, seen.Pods,
		len(seen.Jobs))
	if len(seen.Jobs) < p.Proven {
		return runbook.No("G1: the fix is not proven, and plank may recreate what you delete: %s, of %d that are wanted",
			said, p.Proven).WithOutcome(runbook.Deferred)
	}
	return runbook.Yes("G1: %s: %s", said, strings.Join(few(seen.Jobs), ", "))
}

// few are enough names to go and look.
func few(names []string) []string { return names[:min(len(names), 5)] }

// steadiness is what moves of a Prow instance.
type steadiness struct {
	// Missing and Moving say what is not there, and what is not at rest; empty when nothing is.
	Missing string `json:"missing"`
	Moving  string `json:"moving"`
	// Mount is where plank's configuration is, and Mounted the namespaces that it says.
	Mount   string              `json:"mount"`
	Mounted instance.Namespaces `json:"mounted"`
	Seen    time.Time           `json:"seen"`
}

func steadinessOf(seen *instance.Deployed, git instance.Configuration) steadiness {
	found := steadiness{Missing: seen.Missing(), Mount: seen.Mount.String(), Mounted: seen.Mounted, Seen: seen.Seen}
	if found.Missing == "" {
		found.Moving = seen.Moving(git)
	}
	return found
}

// prowSteady is G9.
func (r *rescue) prowSteady() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (steadiness, error) {
		seen, err := r.prowDeployed(ctx, run)
		if err != nil {
			return steadiness{}, err
		}
		return steadinessOf(seen, r.prow.Configuration), nil
	}
	guard := runbook.Ask("prow-steady", "are plank, sinker and their configuration at rest?", read, r.in.Prow.steady)
	guard.NotOverridable = true
	return guard
}

func (p Prow) steady(seen steadiness) runbook.Finding {
	switch {
	case seen.Missing != "":
		return runbook.Unknownf("G9: no Deployment of %s found in namespace %s. hint: --prow-namespace", seen.Missing,
			p.Namespace)
	case seen.Moving != "":
		return runbook.No("G9: %s", seen.Moving).WithOutcome(runbook.Deferred)
	}
	return runbook.Yes("G9: plank and sinker are rolled out, and %s is what git has", seen.Mount).
		WithEvidence(runbook.NewEvidence(seen.Mount, "", seen.Seen, seen.Mounted))
}

// withinShare is the second cap of G7.
func (r *rescue) withinShare() runbook.Guard {
	guard := r.guard("within-share", "is it a small enough part of the instance's pods?",
		func(seen tally) runbook.Finding { return withinShare(seen, r.in.Prow.MaxShare) })
	guard.NotOverridable = true
	return guard
}

func withinShare(seen tally, most int) runbook.Finding {
	all := seen.Live
	said := fmt.Sprintf("G7: to be deleted: %d of the instance's %d pods; --max-share is %d %%", seen.Stranded, all,
		most)
	if 100*seen.Stranded > most*all {
		return runbook.No("%s", said).WithOutcome(runbook.NeedsAttention)
	}
	return runbook.Yes("%s", said)
}

// listApproved is that part of G7 which binds a run to a list. Once that is recorded, the record is the list.
func (r *rescue) listApproved() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (string, error) {
		recorded, found, err := r.RecordedPods(run)
		if found || err != nil {
			return listOf(recorded), err
		}
		seen, err := r.read(ctx, run)
		if err != nil {
			return "", err
		}
		return listOf(seen.Pods()), nil
	}
	guard := runbook.Ask("list-approved", "are these the pods that were approved?", read,
		r.in.Prow.listApproved)
	guard.NotOverridable = true
	return guard
}

func (p Prow) listApproved(list string) runbook.Finding {
	switch approved := p.ApprovedList; approved {
	case "":
		return runbook.Yes("G7: list %s; --approved-list %s binds a run to it", list, list)
	case list:
		return runbook.Yes("G7: list %s is the approved one", list)
	default:
		return runbook.No("G7: the list changed since it was approved: it is %s, and was %s", list, approved).
			WithOutcome(runbook.NeedsAttention)
	}
}

// listOf stands for pods, by their UIDs, in whatever order.
func listOf(pods []stranded.Pod) string {
	uids := make([]string, len(pods))
	for i, pod := range pods {
		uids[i] = string(pod.UID)
	}
	slices.Sort(uids)
	sum := sha256.Sum256([]byte(strings.Join(uids, "\n")))
	return hex.EncodeToString(sum[:8])
}

// mountEvents is A5: evidence, and no condition.
func (r *rescue) mountEvents() runbook.Guard {
	return runbook.Ask("mount-events", "what do kubelets say that the stranded pods lack?", r.readMounts,
		r.in.mountEvents)
}

func (in Inputs) mountEvents(seen mounts) runbook.Finding {
	if len(seen.Lacked) == 0 {
		return runbook.Yes("A5: no event is left that names what is in %s", in.expected())
	}
	return runbook.Yes("A5: kubelets say that pods wait for %s", strings.Join(few(seen.Lacked), "; ")).
		WithEvidence(runbook.NewEvidence("events FailedMount", "", seen.Seen, map[string]any{"lacked": seen.Lacked}))
}

// mounts are what kubelets say that stranded pods lack, and that is where they belong.
type mounts struct {
	Lacked []string  `json:"lacked"`
	Seen   time.Time `json:"seen"`
}

func (r *rescue) readMounts(ctx context.Context, run runbook.Run) (mounts, error) {
	seen, err := r.read(ctx, run)
	if err != nil {
		return mounts{}, err
	}
	pods := map[types.UID]string{}
	for _, pod := range seen.Stranded {
		pods[pod.UID] = pod.Namespace
	}
	said, err := r.prow.Mounts(ctx, pods)
	if err != nil {
		return mounts{}, err
	}
	lacked := map[string]bool{}
	for _, needs := range said {
		for _, need := range needs {
			if known := instance.Lacks(need, r.prow.rules.Pods); !lacked[known] {
				if lacked[known], err = r.Exists(ctx, r.prow.rules.Pods, need.Kind, need.Name); err != nil {
					return mounts{}, err
				}
			}
		}
	}
	maps.DeleteFunc(lacked, func(_ string, there bool) bool { return !there })
	return mounts{slices.Sorted(maps.Keys(lacked)), r.Clock.Now()}, nil
}
