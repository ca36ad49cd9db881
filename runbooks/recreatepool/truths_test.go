package recreatepool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/azuresim"
	"salve/runbook"
)

// beforeDeletion are the guards of each step up to the deletion.
var beforeDeletion = []string{
	"cluster-exists", "cluster-recoverable", "other-pools-serving", "pool-wedged", "wedge-evidence",
}

// conditions are all guards and preconditions of each step. They are written down
// here once more, so that none can be lost from the runbook unnoticed.
var conditions = map[string][]string{
	"clear-leftovers":   {"leftovers-known", "stand-in-dispensable"},
	"settle-cluster":    append(slices.Clone(beforeDeletion), "operation-stuck"),
	"snapshot":          append(slices.Clone(beforeDeletion), "pool-at-rest"),
	"add-stand-in":      append(slices.Clone(beforeDeletion), "leftovers-known"),
	"remove-stand-in":   {"source-present", "stand-in-dispensable"},
	"drain":             append(slices.Clone(beforeDeletion), "stand-in-ready"),
	"uncordon":          nil,
	"delete-pool":       append(slices.Clone(beforeDeletion), "budgets-respected", "snapshot-kept", "stand-in-ready"),
	"recreate":          {"cluster-exists", "cluster-recoverable", "other-pools-serving"},
	"retire-stand-in":   {"cluster-exists", "recreated-by-us", "nodes-ready", "stand-in-dispensable"},
	"reconcile-cluster": {"cluster-exists"},
}

func TestStepsDependOnTheirConditions(t *testing.T) {
	promise(t, "", func(s *stage) {
		if difference := cmp.Diff(conditions, conditionsOf(s.runbooks()[0])); difference != "" {
			t.Errorf("(-want +got):\n%s", difference)
		}
	})
}

// conditionsOf names the guards and preconditions of each step, also of those that
// tidy up and take back.
func conditionsOf(book runbook.Runbook) map[string][]string {
	all := map[string][]string{}
	add := func(step runbook.Step) {
		all[step.Name] = slices.Clone(step.Guards)
		for _, precondition := range step.Preconditions {
			all[step.Name] = append(all[step.Name], precondition.Name)
		}
	}
	for _, step := range slices.Concat(book.Preflight, book.Steps) {
		add(step)
		if step.Rollback != nil {
			add(*step.Rollback)
		}
	}
	return all
}

// conditionsHold asks the world itself, not the runbook's code, whether everything
// holds on which the step that makes a call depends.
func (w *watchman) conditionsHold(call azuresim.Call, open *announced) {
	names, known := conditions[open.step]
	if !known {
		w.breach("%s %s is of step %q, which the runbook lacks", call.Verb, call.Resource, open.step)
	}
	state := sightOf(w.s, open)
	for _, name := range names {
		truth, known := truths[name]
		switch {
		case !known:
			w.breach("nothing tells whether %s holds", name)
		case !truth(state):
			w.breach("%s %s (step %s) although %s does not hold", call.Verb, call.Resource, open.step, name)
		}
	}
}

// worldSight is the world's own state beside what a run announced.
type worldSight struct {
	azuresim.State
	*announced
	operations []azuresim.Operation
	target     azuresim.PoolState
	found      bool
	// forced: the operator has said that pods may be deleted against their budgets.
	forced bool
}

func sightOf(s *stage, open *announced) worldSight {
	seen := worldSight{State: s.world.Snapshot(), announced: open, operations: s.world.Operations()}
	seen.target, seen.found = poolOf(seen.State, open.pool)
	seen.forced = s.scenario.Overrides["budgets-respected"] != ""
	return seen
}

// serving counts the nodes of a pool that are Ready and schedulable; cordons of a run
// don't count.
func (w worldSight) serving(pool, cordonsOf string) (count int) {
	for _, node := range w.Nodes {
		by := node.Annotations["salve-cordoned-by"]
		if node.Pool == pool && node.Ready && (!node.Unschedulable || by != "" && by == cordonsOf) {
			count++
		}
	}
	return count
}

// workloads counts the pods on a pool's nodes that are not on every node.
func (w worldSight) workloads(pool string) (count int) {
	on := map[string]bool{}
	for _, node := range w.Nodes {
		on[node.Name] = node.Pool == pool
	}
	for _, pod := range w.Pods {
		if on[pod.Node] && !strings.HasPrefix(pod.Name, "kube-proxy") && !strings.HasPrefix(pod.Name, "azure-cns") {
			count++
		}
	}
	return count
}

// standIns are the pools with the tags of a stand-in of the target.
func (w worldSight) standIns() (found []azuresim.PoolState) {
	for _, pool := range w.Pools {
		if pool.Tags["purpose"] == "salve-stand-in" && strings.HasSuffix(pool.Tags["salve-source"], "/"+w.pool) {
			found = append(found, pool)
		}
	}
	return found
}

// truths tell from the world alone whether a guard or a precondition holds.
var truths = map[string]func(worldSight) bool{
	"cluster-exists": func(w worldSight) bool { return w.Cluster.Exists },
	"cluster-recoverable": func(w worldSight) bool {
		states := []string{"Succeeded", "Canceled", "Failed", "Updating", "Upgrading"}
		return slices.Contains(states, w.Cluster.ProvisioningState)
	},
	"other-pools-serving": func(w worldSight) bool {
		empty := func(pool azuresim.PoolState) bool { return pool.Name != w.pool && pool.Count == 0 }
		return (w.found || w.deleting) && !slices.ContainsFunc(w.Pools, empty)
	},
	"pool-wedged": func(w worldSight) bool {
		return slices.Contains([]string{"Failed", "Canceled", "Updating", "Upgrading"}, w.target.ProvisioningState)
	},
	"wedge-evidence":    func(w worldSight) bool { return w.target.Corrupted },
	"budgets-respected": func(w worldSight) bool { return w.forced || w.workloads(w.pool) == 0 },
	"operation-stuck": func(w worldSight) bool {
		young := func(o azuresim.Operation) bool {
			ofCluster := !strings.Contains(strings.ToLower(o.Resource), "/agentpools/")
			return ofCluster && o.Ended.IsZero() && w.At.Sub(o.Started) < 30*time.Minute
		}
		return !slices.ContainsFunc(w.operations, young)
	},
	"pool-at-rest": func(w worldSight) bool { return !strings.HasSuffix(w.target.ProvisioningState, "ing") },
	"leftovers-known": func(w worldSight) bool {
		others := func(pool azuresim.PoolState) bool { return pool.Tags["salve-run"] != w.run }
		return w.step == "clear-leftovers" && w.found || !slices.ContainsFunc(w.standIns(), others)
	},
	"stand-in-ready": func(w worldSight) bool {
		serves := func(pool azuresim.PoolState) bool {
			return pool.Tags["salve-run"] == w.run && w.serving(pool.Name, "") >= pool.Count
		}
		return slices.ContainsFunc(w.standIns(), serves)
	},
	"snapshot-kept": func(w worldSight) bool {
		different, err := w.snapshot.Definition.Differences(body(w.target))
		return w.hasSnapshot && w.found && err == nil && len(different) == 0
	},
	"source-present": func(w worldSight) bool { return w.found },
	"stand-in-dispensable": func(w worldSight) bool {
		standIns := w.standIns()
		isStandIn := func(pool azuresim.PoolState) bool {
			return slices.ContainsFunc(standIns, func(s azuresim.PoolState) bool { return s.Name == pool.Name })
		}
		cordonsOf, needed := "", false
		for _, pool := range standIns {
			cordonsOf = pool.Tags["salve-run"]
			needed = needed || pool.Mode == "System" && w.serving(pool.Name, w.run) > 0
		}
		serves := func(pool azuresim.PoolState) bool {
			return pool.Mode == "System" && !isStandIn(pool) && w.serving(pool.Name, cordonsOf) > 0
		}
		return !needed || slices.ContainsFunc(w.Pools, serves)
	},
	"recreated-by-us": func(w worldSight) bool {
		return w.found && w.deleting && w.hasSnapshot && !slices.Contains(w.snapshot.ScaleSets, w.target.ScaleSet)
	},
	"nodes-ready": func(w worldSight) bool {
		model, err := body(w.target).Model()
		if err != nil {
			return false
		}
		wanted := w.target.Count
		if p := model.Properties; p.EnableAutoScaling != nil && *p.EnableAutoScaling && p.MinCount != nil {
			wanted = int(*p.MinCount)
		}
		return w.serving(w.pool, "") >= wanted
	},
}
