package recreatepool

import (
	"fmt"
	"strings"

	"salve/azure"
	"salve/runbook"
)

// RoleKey is the node label, or the tag, by which pools are chosen by role.
const RoleKey = "aro-hcp.azure.com/role"

// PoolsOfRole names the pools of a cluster whose node label or tag RoleKey has a
// value, stand-ins aside.
func PoolsOfRole(cluster azure.Cluster, role string) []string {
	var pools []string
	for _, pool := range cluster.Pools {
		if !isStandIn(pool) && role != "" && (pool.Labels[RoleKey] == role || pool.Tags[RoleKey] == role) {
			pools = append(pools, pool.Name)
		}
	}
	return pools
}

// leftover finds the stand-in of this pool that is there, whoever made it. One
// that doesn't say whose it is might be this pool's. Where there are several, the
// first whose tags can't be believed stands for them.
func leftover(c azure.Cluster, in Inputs) (azure.Pool, bool) {
	var found []azure.Pool
	for _, pool := range c.Pools {
		byName := pool.Name == standInName(in.poolID(), "") || pool.Name == standInName(in.poolID(), "Windows")
		source := pool.Tags[sourceTag]
		byTags := isStandIn(pool) && (azure.SameID(source, in.poolID()) || !in.namesPool(source))
		if byName || byTags {
			found = append(found, pool)
		}
	}
	for _, pool := range found {
		if !in.whose(pool.Tags, pool.Tags[runTag]) {
			return pool, true
		}
	}
	if len(found) == 0 {
		return azure.Pool{}, false
	}
	return found[0], true
}

// namesPool tells whether a tag names an agent pool of this cluster.
func (in Inputs) namesPool(source string) bool {
	prefix := strings.ToLower(azure.PoolID(in.clusterID(), ""))
	pool, found := strings.CutPrefix(strings.ToLower(source), prefix)
	return found && poolRule.MatchString(pool)
}

// foundStandIn is a stand-in that is there when a run wants to add its own.
type foundStandIn struct {
	Inputs
	cluster azure.Cluster
	pool    azure.Pool
	found   bool
	// run is this one, and open the one that the target's lease says is open.
	run, open string
}

// leftoversKnown asks whether a stand-in that is there may be dealt with.
func (r *recreation) leftoversKnown() runbook.Guard {
	read := func(rd *reader) foundStandIn {
		arm := rd.arm()
		seen := foundStandIn{Inputs: r.Inputs, cluster: arm.Cluster, run: rd.run.ID()}
		seen.pool, seen.found = leftover(arm.Cluster, r.Inputs)
		if madeBy := seen.pool.Tags[runTag]; seen.found && madeBy != seen.run && r.whose(seen.pool.Tags, madeBy) {
			seen.open = rd.openRun()
		}
		return seen
	}
	return ask(r, "leftovers-known", "is there no stand-in, or one that is known and not in use?", read, leftoversKnown)
}

// openRun names the run that the target's lease says is open.
func (rd *reader) openRun() (open string) {
	rd.attempt(func() (err error) {
		if rd.OpenRun == nil {
			return fmt.Errorf("the lease on %s can't be read, so the stand-in's run may be at work", rd.target().Name)
		}
		open, err = rd.OpenRun(rd.ctx, rd.target().ID)
		return err
	})
	return open
}

// standInAbandoned tells whether the run that made a stand-in is over, by the lease of
// the target. That our own journal does not know the run tells nothing: it may be at
// work with another one.
func standInAbandoned(madeBy, ours, open string) bool {
	return madeBy != ours && (open == "" || open == ours)
}

func leftoversKnown(seen foundStandIn) runbook.Finding {
	switch {
	case seen.cluster.ID == "":
		return runbook.Yes("no cluster, no stand-in")
	case !seen.found:
		return runbook.Yes("no stand-in is left from an earlier run").WithEvidence(clusterEvidence(seen.cluster))
	}
	pool, madeBy := seen.pool, seen.pool.Tags[runTag]
	saw := runbook.NewEvidence("ARM "+azure.PoolID(seen.cluster.ID, pool.Name), pool.ETag, seen.cluster.Seen,
		map[string]any{"provisioningState": pool.State, "tags": pool.Tags})
	left := fmt.Sprintf("stand-in %q is left from run %s, which is not open", pool.Name, madeBy)
	source, listed := seen.cluster.Pool(seen.Pool)
	switch {
	case !seen.whose(pool.Tags, madeBy):
		return runbook.No("pool %q looks like the stand-in of %q, but its tags are missing or contradict that",
			pool.Name, seen.Pool).
			WithEvidence(saw).WithOutcome(runbook.NeedsAttention)
	case madeBy == seen.run:
		return runbook.Yes("stand-in %q is of this run", pool.Name).WithEvidence(saw)
	case !standInAbandoned(madeBy, seen.run, seen.open):
		return runbook.No("stand-in %q is of run %s, and run %s is open on this target. hint: salve resume %[3]s",
			pool.Name, madeBy, seen.open).
			WithEvidence(saw).WithOutcome(runbook.NeedsAttention)
	case !listed:
		return runbook.No("%s, and pool %q is gone: only that run's journal knows how to make it again", left, seen.Pool).
			WithEvidence(saw).WithOutcome(runbook.NeedsAttention)
	}
	switch source.State {
	case "Succeeded", "Failed", "Canceled":
		return runbook.Yes("%s; pool %q is %s: the stand-in can be removed", left, seen.Pool, source.State).WithEvidence(saw)
	case "Updating", "Upgrading", "Creating", "Deleting":
		return runbook.No("%s, and pool %q is %s: somebody may be at work", left, seen.Pool, source.State).
			WithEvidence(saw).WithOutcome(runbook.Deferred)
	}
	return runbook.No("%s, and pool %q is %s", left, seen.Pool, orNone(source.State)).WithEvidence(saw).
		WithOutcome(runbook.NeedsAttention)
}

// clearLeftovers removes what a run left that is over and did not tidy up: its
// cordons and its stand-in.
func (r *recreation) clearLeftovers() runbook.Step {
	return r.removal(removal{
		name: "clear-leftovers", changes: "take back the cordons and remove the stand-in of an earlier run that is over",
		preconditions: []runbook.Guard{r.leftoversKnown()}, uncordons: true,
		which: func(rd *reader) (string, string) {
			pool, found := leftover(rd.arm().Cluster, r.Inputs)
			if !found || pool.Tags[runTag] == rd.run.ID() {
				return "", ""
			}
			return pool.Name, pool.Tags[runTag]
		},
	})
}
