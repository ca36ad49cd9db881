package rescuepods

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"salve/runbook"
	"salve/runbooks/rescuepods/instance"
	"salve/runbooks/rescuepods/stranded"
)

// prowPods is what the runbook knows besides when the pods are those of a Prow instance.
type prowPods struct {
	*instance.Instance
	rules    instance.Rules
	maxShare int
	state    runbook.Shared[*instance.State]
	deployed runbook.Shared[*instance.Deployed]
}

func newProwPods(world World, in Inputs) (*prowPods, error) {
	rules, err := in.rules(world.Prow.Namespaces)
	if err != nil {
		return nil, err
	}
	p := &prowPods{rules: rules, maxShare: in.Prow.MaxShare, Instance: &instance.Instance{
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

// fixProven is G1.
func (r *rescue) fixProven() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (instance.Proof, error) {
		state, err := r.prowState(ctx, run)
		if err != nil {
			return instance.Proof{}, err
		}
		return state.Proof(r.prow.rules), nil
	}
	guard := runbook.Ask("fix-proven", "do new jobs get their pods where they belong?", read,
		func(proof instance.Proof) runbook.Finding { return fixProven(proof, r.prow.rules) })
	guard.NotOverridable = true
	return guard
}

func fixProven(proof instance.Proof, rules instance.Rules) runbook.Finding {
	if proof.Youngest.UID == "" {
		return runbook.Yes("G1: plank has no pod outside of %s", rules.Pods)
	}
	said := fmt.Sprintf("jobs after the youngest stray, %s, with pods of plank in %s: %d", proof.Youngest, rules.Pods,
		len(proof.Jobs))
	if len(proof.Jobs) < rules.Proven {
		return runbook.No("G1: the fix is not proven, and plank may recreate what you delete: %s, of %d that are wanted",
			said, rules.Proven).WithOutcome(runbook.Deferred)
	}
	return runbook.Yes("G1: %s: %s", said, strings.Join(few(proof.Jobs), ", "))
}

// few are enough names to go and look.
func few(names []string) []string { return names[:min(len(names), 5)] }

// prowSteady is G9.
func (r *rescue) prowSteady() runbook.Guard {
	guard := runbook.Ask("prow-steady", "are plank, sinker and their configuration at rest?", r.prowDeployed,
		func(seen *instance.Deployed) runbook.Finding {
			return prowSteady(seen, r.prow.Configuration, r.in.Prow.Namespace)
		})
	guard.NotOverridable = true
	return guard
}

func prowSteady(seen *instance.Deployed, git instance.Configuration, namespace string) runbook.Finding {
	if missing := seen.Missing(); missing != "" {
		return runbook.Unknownf("G9: no Deployment of %s found in namespace %s. hint: --prow-namespace", missing, namespace)
	}
	if moving := seen.Moving(git); moving != "" {
		return runbook.No("G9: %s", moving).WithOutcome(runbook.Deferred)
	}
	return runbook.Yes("G9: plank and sinker are rolled out, and %s is what git has", seen.Mount).
		WithEvidence(runbook.NewEvidence(seen.Mount.String(), "", seen.Seen, seen.Mounted))
}

// withinShare is the second cap of G7.
func (r *rescue) withinShare() runbook.Guard {
	guard := r.guard("within-share", "is it a small enough part of the instance's pods?",
		func(seen *stranded.Reading) runbook.Finding { return withinShare(seen, r.prow.maxShare) })
	guard.NotOverridable = true
	return guard
}

// liveOf counts the instance's live pods.
func liveOf(seen *stranded.Reading) int {
	all := len(seen.Stranded)
	for _, pod := range seen.Expected {
		if pod.Live() {
			all++
		}
	}
	for _, pod := range seen.Left {
		if pod.Live() && !pod.Foreign {
			all++
		}
	}
	return all
}

func withinShare(seen *stranded.Reading, most int) runbook.Finding {
	all := liveOf(seen)
	said := fmt.Sprintf("G7: to be deleted: %d of the instance's %d pods; --max-share is %d %%", len(seen.Stranded), all,
		most)
	if 100*len(seen.Stranded) > most*all {
		return runbook.No("%s", said).WithOutcome(runbook.NeedsAttention)
	}
	return runbook.Yes("%s", said)
}

// listApproved is that part of G7 which binds a run to a list. Once that is recorded, the record is the list.
func (r *rescue) listApproved() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) ([]stranded.Pod, error) {
		recorded, found, err := r.RecordedPods(run)
		if found || err != nil {
			return recorded, err
		}
		seen, err := r.read(ctx, run)
		if err != nil {
			return nil, err
		}
		return seen.Pods(), nil
	}
	guard := runbook.Ask("list-approved", "are these the pods that were approved?", read,
		func(pods []stranded.Pod) runbook.Finding { return listApproved(pods, r.in.Prow.ApprovedList) })
	guard.NotOverridable = true
	return guard
}

func listApproved(pods []stranded.Pod, approved string) runbook.Finding {
	switch list := listOf(pods); approved {
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
		func(seen mounts) runbook.Finding {
			if len(seen.there) == 0 {
				return runbook.Yes("A5: no event is left that names what is in %s", r.in.expected())
			}
			return runbook.Yes("A5: kubelets say that pods wait for %s", strings.Join(few(seen.there), "; ")).
				WithEvidence(runbook.NewEvidence("events FailedMount", "", r.Clock.Now(), map[string]any{"lacked": seen.there}))
		})
}

// mounts are what kubelets say that stranded pods lack, and that is where they belong.
type mounts struct{ there []string }

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
	return mounts{slices.Sorted(maps.Keys(lacked))}, nil
}
