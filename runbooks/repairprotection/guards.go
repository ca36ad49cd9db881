package repairprotection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"salve/internal/pipeline/revision"
	"salve/internal/prow/brief"
	"salve/internal/prow/protector"
	"salve/runbook"
	"salve/runbooks/repairprotection/branches"
)

// onCluster makes a guard that decides by what Prow's cluster says. It is asked again before each change, and whenever
// the run is resumed.
func onCluster[T any](
	r *repair, name, question string, read func(context.Context) (T, error), decide func(T) runbook.Finding,
) runbook.Guard {
	guard := runbook.AskUnderWay(name, question, r.begun,
		func(ctx context.Context, _ runbook.Run) (T, error) { return read(ctx) }, decide)
	guard.OnResume = true
	return guard
}

// onBranches makes a guard that decides by all branches of the run.
func (r *repair) onBranches(name, question string, decide func([]branchState) runbook.Finding) runbook.Guard {
	return runbook.Ask(name, question, r.readStates, decide)
}

func (r *repair) noProtectorRunning() runbook.Guard {
	return onCluster(r, "no-protector-running", "is no run of a branchprotector in progress?", r.cluster.Runs,
		noProtectorRunning)
}

func noProtectorRunning(seen []protector.Run) runbook.Finding {
	var active, passed []string
	for _, run := range seen {
		if run.Passed != "" {
			passed = append(passed, run.String()+", "+run.Passed)
			continue
		}
		active = append(active, run.String())
	}
	besides := ""
	if len(passed) > 0 {
		besides = "; not counted: " + brief.List(passed)
	}
	if len(active) > 0 {
		return runbook.No("in progress: %s; what it writes and what this run writes would overtake each other%s. hint: "+
			"wait for its end, or --other-prow-namespace NAMESPACE where it is another Prow's, which protects none of these "+
			"repositories", brief.List(active), besides).
			WithOutcome(runbook.Deferred)
	}
	return runbook.Yes("none is in progress%s", besides)
}

func (r *repair) protectorAgrees() runbook.Guard {
	return onCluster(r, "protector-agrees", "is the branchprotector that is deployed the one that the manifests say?",
		r.cluster.Images, func(seen protector.Images) runbook.Finding {
			return protectorAgrees(seen).WithEvidence(runbook.NewEvidence("CronJobs of branchprotector", "", seen.Seen,
				map[string]any{"deployed": seen.Deployed, "declared": seen.Declared}))
		})
}

// protectorAgrees: where the cluster has another image than the manifests say, the next deployment undoes an edit by
// hand, and the next run of that protector undoes this one.
func protectorAgrees(seen protector.Images) runbook.Finding {
	if seen.Unread {
		return runbook.Unknownf("no manifests were named, and the cluster alone doesn't tell what the next deployment " +
			"brings. hint: --manifests DIR")
	}
	for _, name := range slices.Sorted(maps.Keys(seen.Deployed)) {
		declared, found := seen.Declared[name]
		switch image := seen.Deployed[name]; {
		case !found:
			return runbook.Unknownf("%s runs %s, and no manifest declares it. hint: --other-prow-namespace NAMESPACE where it "+
				"is another Prow's, which protects none of these repositories", name, image)
		case declared != image:
			return runbook.No("%s runs %s, and its manifest says %s: the next deployment puts that one back", name, image,
				declared).WithOutcome(runbook.NeedsAttention)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen.Declared)) {
		if _, found := seen.Deployed[name]; !found {
			return runbook.No("%s with %s is declared and not deployed: the next deployment brings it", name,
				seen.Declared[name]).WithOutcome(runbook.NeedsAttention)
		}
	}
	if len(seen.Deployed) == 0 {
		return runbook.Yes("none is deployed as a CronJob, and none is declared")
	}
	return runbook.Yes("deployed as declared: %d", len(seen.Deployed))
}

// standing is how the run's configuration stands to the one that was applied last.
type standing struct {
	// Applied is that one; nil when there is none.
	Applied *protector.Applied `json:"applied"`
	Order   revision.Order     `json:"order"`
	// Unordered is why there is no order; empty when there is one. Diverged: neither is an ancestor of the other.
	Unordered string    `json:"unordered"`
	Diverged  bool      `json:"diverged"`
	Seen      time.Time `json:"seen"`
}

func (r *repair) configurationNotOlder() runbook.Guard {
	source := fmt.Sprintf("ConfigMap %s/%s", r.in.RecordNamespace, protector.RecordName)
	return onCluster(r, "configuration-not-older", "is the configuration not older than the one that was applied last?",
		r.standing, func(seen standing) runbook.Finding {
			finding := configurationNotOlder(seen, r.applied())
			if seen.Applied == nil {
				return finding
			}
			return finding.WithEvidence(runbook.NewEvidence(source, "", seen.Seen,
				map[string]string{"revision": seen.Applied.Revision, "digest": seen.Applied.Digest}))
		})
}

func (r *repair) applied() protector.Applied {
	return protector.Applied{Host: r.host, Revision: r.in.Revision, Digest: r.in.Digest}
}

func (r *repair) standing(ctx context.Context) (standing, error) {
	applied, err := r.cluster.LastApplied(ctx)
	seen := standing{Applied: applied, Seen: r.cluster.Cluster.Clock.Now()}
	if err != nil || applied == nil {
		return seen, err
	}
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	seen.Order, err = revision.Compare(ctx, filepath.Dir(r.in.Config), r.in.Revision, applied.Revision)
	var unordered *revision.UnorderedError
	if errors.As(err, &unordered) {
		seen.Unordered, seen.Diverged, err = unordered.Error(), unordered.Diverged, nil
	}
	return seen, err
}

func configurationNotOlder(seen standing, ours protector.Applied) runbook.Finding {
	if seen.Applied == nil {
		return runbook.Yes("no configuration was recorded as applied before")
	}
	theirs := fmt.Sprintf("revision %s, applied at %s by run %s", seen.Applied.Revision, seen.Applied.Time,
		seen.Applied.Run)
	switch {
	case seen.Applied.Host != ours.Host:
		return runbook.No("the record is about GitHub %s, and the run about %s. hint: --record-namespace",
			seen.Applied.Host, ours.Host).WithOutcome(runbook.NeedsAttention)
	case seen.Diverged:
		return runbook.No("revision %s is not a successor of %s", ours.Revision, theirs).
			WithOutcome(runbook.NeedsAttention)
	case seen.Unordered != "":
		return runbook.Unknownf("%s", seen.Unordered)
	case seen.Order == revision.Older:
		return runbook.No("revision %s is older than %s", ours.Revision, theirs).WithOutcome(runbook.NeedsAttention)
	case seen.Order == revision.Same && seen.Applied.Digest != ours.Digest:
		return runbook.Unknownf("the files are others than those of %s: which are older can't be told. "+
			"hint: name the same files, or a revision of its own by --revision", theirs)
	case seen.Order == revision.Same:
		return runbook.Yes("it is %s", theirs)
	}
	return runbook.Yes("revision %s is newer than %s", ours.Revision, theirs)
}

// summary comes first of what is about the branches, for what an operator has to hear first. It stops nothing.
func (r *repair) summary() runbook.Guard {
	return runbook.Ask("summary", "what differs, and who may have written it?", r.readSeen,
		func(seen runbook.Seen[[]branchState]) runbook.Finding {
			return summary(r.in, seen.What).WithEvidence(evidenceOf(seen))
		})
}

// readSeen is readStates, with the time.
func (r *repair) readSeen(ctx context.Context, run runbook.Run) (runbook.Seen[[]branchState], error) {
	states, err := r.readStates(ctx, run)
	return runbook.SeenAt(states, r.cluster.Cluster.Clock.Now()), err
}

// evidenceOf stands for what was read, in one line of a journal.
func evidenceOf(seen runbook.Seen[[]branchState]) runbook.Evidence {
	var all []string
	for _, state := range seen.What {
		all = append(all, fmt.Sprintf("%s %s %s", state.Branch, state.Live, state.Want))
	}
	return runbook.NewEvidence("protection of branches", "", seen.Seen, all)
}

func summary(in Inputs, states []branchState) runbook.Finding {
	var right, old []string
	for _, state := range states {
		switch {
		case state.Right:
			right = append(right, state.Branch)
		case state.Fingerprint:
			old = append(old, state.Branch)
		}
	}
	said := in.found()
	if len(right) > 0 {
		said += fmt.Sprintf(". Right by now: %d", len(right))
	}
	if len(old) > 0 {
		said += fmt.Sprintf(". Fingerprint of a branchprotector from before February 2019, which requires the contexts of "+
			"conditional jobs, on %d of them: %s", len(old), brief.List(old))
	}
	return runbook.Yes("%s", said)
}

func (r *repair) protectionDiffers() runbook.Guard {
	return r.onBranches("protection-differs", "does the protection of a branch differ from the configuration?",
		protectionDiffers)
}

func protectionDiffers(states []branchState) runbook.Finding {
	differ := 0
	for _, state := range states {
		if !state.Right {
			differ++
		}
	}
	if differ == 0 {
		return runbook.No("all %d branches are as the configuration says", len(states)).NotOverridable()
	}
	return runbook.Yes("it differs: %d of %d", differ, len(states))
}

func (r *repair) noBranchUnprotected() runbook.Guard {
	return r.onBranches("no-branch-unprotected", "does no branch lose its protection without a reason?",
		func(states []branchState) runbook.Finding {
			return noBranchUnprotected(r.in.AllowUnprotect, states)
		})
}

func noBranchUnprotected(allowed map[string]string, states []branchState) runbook.Finding {
	var without []string
	for _, state := range states {
		if state.LiveProtected && !state.Protected && allowed[state.Branch] == "" {
			without = append(without, state.Branch)
		}
	}
	if len(without) > 0 {
		return runbook.No("the configuration takes the protection of %s away (protect: false). "+
			"hint: --allow-unprotect %s=REASON", brief.List(without), without[0]).
			WithOutcome(runbook.NeedsAttention).NotOverridable()
	}
	return runbook.Yes("none loses it without a reason")
}

func (r *repair) contextsReported() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) ([]branches.Demand, error) {
		states, err := r.read(ctx, run)
		if err != nil {
			return nil, err
		}
		return r.branches.Demands(ctx, states)
	}
	return runbook.Ask("contexts-reported", "does somebody report each context that becomes required?", read,
		contextsReported)
}

// contextsReported: a context that becomes required and that nothing reports holds up every pull request of its branch.
func contextsReported(demands []branches.Demand) runbook.Finding {
	var silent []string
	for _, demand := range demands {
		if demand.By == "" {
			silent = append(silent, demand.String())
		}
	}
	if len(silent) > 0 {
		return runbook.No("would be required and is not reported: %s. hint: mend the configuration, or "+
			"--external-context NAME", strings.Join(brief.Some(silent), "; ")).
			WithOutcome(runbook.NeedsAttention).NotOverridable()
	}
	return runbook.Yes("contexts that become required, all of them reported: %d", len(demands))
}
