package recreatepool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"salve/azure"
	"salve/runbook"
)

// RoleKey is the node label, or the tag, by which pools are chosen by role.
const RoleKey = "aro-hcp.azure.com/role"

// PoolsOfRole names the pools of a cluster whose node label or tag RoleKey has a value, stand-ins
// aside.
func PoolsOfRole(cluster azure.Cluster, role string) []string {
	var pools []string
	for _, pool := range cluster.Pools {
		if !isStandIn(pool) && role != "" && (pool.Labels[RoleKey] == role || pool.Tags[RoleKey] == role) {
			pools = append(pools, pool.Name)
		}
	}
	return pools
}

// leftover finds the stand-in of this pool that is there, whoever made it. One that doesn't say
// whose it is might be this pool's. Where there are several, the first whose tags can't be believed
// stands for them; where there is none it has no name.
func leftover(seen reading) azure.Pool {
	var found []azure.Pool
	for _, pool := range seen.AKS.Pools {
		byName := pool.Name == standInName(seen.poolID(), "") || pool.Name == standInName(seen.poolID(), "Windows")
		source := pool.Tags[sourceTag]
		byTags := isStandIn(pool) && (azure.SameID(source, seen.poolID()) || !seen.namesPool(source))
		if byName || byTags {
			found = append(found, pool)
		}
	}
	unclear := func(pool azure.Pool) bool { return !seen.whose(pool.Tags, pool.Tags[runTag]) }
	if i := slices.IndexFunc(found, unclear); i >= 0 {
		return found[i]
	}
	return append(found, azure.Pool{})[0]
}

// namesPool tells whether a tag names an agent pool of this cluster.
func (in Inputs) namesPool(source string) bool {
	prefix := strings.ToLower(azure.PoolID(in.clusterID(), ""))
	pool, found := strings.CutPrefix(strings.ToLower(source), prefix)
	return found && poolRule.MatchString(pool)
}

// leftovers is what is there of a stand-in, and which run is open.
type leftovers struct {
	reading
	// Open is the run that the target's lease says is open; read only where that matters.
	Open        string `json:"open"`
	LeaseUnread bool   `json:"leaseUnread"`
}

func (r *recreation) leftoversKnown() runbook.Guard {
	question := "is there no stand-in, or one that is known and not in use?"
	return ask(r.Inputs, "leftovers-known", question, r.readLeftovers, leftoversKnown)
}

func (r *recreation) readLeftovers(ctx context.Context, run runbook.Run) (leftovers, error) {
	seen, err := r.readAny(ctx, run)
	if err != nil {
		return leftovers{}, err
	}
	left, tags := leftovers{reading: seen}, leftover(seen).Tags
	switch madeBy := tags[runTag]; {
	case madeBy == seen.Run || !r.whose(tags, madeBy):
		left.LeaseUnread = true
	case r.OpenRun == nil:
		return left, fmt.Errorf("the target's lease can't be read, so the stand-in's run %s may be at work", madeBy)
	default:
		left.Open, err = r.OpenRun(ctx, strings.ToLower(r.poolID()))
	}
	return left, err
}

func leftoversKnown(seen leftovers) runbook.Finding {
	pool := leftover(seen.reading)
	switch {
	case seen.Absent != nil:
		return runbook.Yes("no cluster, no stand-in")
	case pool.Name == "":
		return runbook.Yes("no stand-in is left from an earlier run").WithEvidence(seen.clusterEvidence())
	}
	return standInKnown(seen, pool).WithEvidence(
		runbook.NewEvidence("ARM "+azure.PoolID(seen.AKS.ID, pool.Name), pool.ETag, seen.AKS.Seen,
			map[string]any{"provisioningState": pool.State, "tags": pool.Tags}))
}

// standInKnown holds for this run's stand-in, and for that of a run which is over by the lease of
// the target, while the source is at rest. That our own journal does not know the run tells
// nothing: it may be at work with another one.
func standInKnown(seen leftovers, pool azure.Pool) runbook.Finding {
	madeBy := pool.Tags[runTag]
	left := fmt.Sprintf("stand-in %q is left from run %s, which is not open", pool.Name, madeBy)
	source, listed := seen.source()
	switch {
	case !seen.whose(pool.Tags, madeBy):
		return runbook.No("pool %q looks like the stand-in of %q, but its tags are missing or contradict that",
			pool.Name, seen.Pool).WithOutcome(runbook.NeedsAttention)
	case madeBy == seen.Run:
		return runbook.Yes("stand-in %q is of this run", pool.Name)
	case seen.LeaseUnread:
		return runbook.Unknownf("stand-in %q is of run %s, and the target's lease was not read", pool.Name, madeBy)
	case seen.Open != "" && seen.Open != seen.Run:
		return runbook.No("stand-in %q is of run %s, and run %s is open on this target. hint: salve resume %[3]s",
			pool.Name, madeBy, seen.Open).WithOutcome(runbook.NeedsAttention)
	case !listed:
		return runbook.No("%s, and pool %q is gone: only that run's journal knows how to make it again", left, seen.Pool).
			WithOutcome(runbook.NeedsAttention)
	}
	switch source.State {
	case "Succeeded", "Failed", "Canceled":
		return runbook.Yes("%s; pool %q is %s: the stand-in can be removed", left, seen.Pool, source.State)
	case "Updating", "Upgrading", "Creating", "Deleting":
		return runbook.No("%s, and pool %q is %s: somebody may be at work", left, seen.Pool, source.State).
			WithOutcome(runbook.Deferred)
	}
	return runbook.No("%s, and pool %q is %s", left, seen.Pool, orNone(source.State)).WithOutcome(runbook.NeedsAttention)
}

// clearLeftovers removes what a run left that is over and did not tidy up: its cordons and its
// stand-in.
func (r *recreation) clearLeftovers() runbook.Step {
	abandoned := func(seen reading) (pool, madeBy string) {
		if found := leftover(seen); found.Tags[runTag] != seen.Run {
			return found.Name, found.Tags[runTag]
		}
		return "", ""
	}
	left := removal{recreation: r, which: abandoned, preconditions: []runbook.Guard{r.leftoversKnown()}}
	return left.step("clear-leftovers", "take back the cordons and remove the stand-in of an earlier run that is over")
}
