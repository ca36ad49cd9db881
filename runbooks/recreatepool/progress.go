package recreatepool

import (
	"salve/kube"
	"salve/runbook"
)

// poolNodes is how a view shows a pool: nothing is decided by it. The stand-in is called what it is for.
func (in Inputs) poolNodes(pool string, serving, nodes int) []runbook.PoolNodes {
	shown := runbook.PoolNodes{Pool: pool, Serving: serving, Nodes: max(nodes, serving)}
	if pool != in.Pool {
		shown.Role = "stand-in"
	}
	return []runbook.PoolNodes{shown}
}

// poolGone is how a view shows a pool that was deleted.
func (in Inputs) poolGone(pool string) []runbook.PoolNodes {
	shown := in.poolNodes(pool, 0, 0)
	shown[0].Gone = true
	return shown
}

// reportDrain is how a drain says how far it is. Its nodes are cordoned before the first eviction: none of them serves.
func (in Inputs) reportDrain(run runbook.Run, pool string, nodes []kube.Node) func(runbook.Progress) {
	return func(progress runbook.Progress) {
		progress.Pools = in.poolNodes(pool, 0, len(nodes))
		run.Report(progress)
	}
}
