package postmortem

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"salve/journal"
	"salve/runbook"
)

// nodesOfPool is how the source of evidence on a pool's nodes begins; the pool's name follows.
const nodesOfPool = "nodes of pool "

// readiness reads how many nodes of a pool serve.
func (r *runStory) readiness(finding runbook.Finding) {
	for _, one := range finding.Evidence {
		pool, found := strings.CutPrefix(one.Source, nodesOfPool)
		var seen struct{ Nodes, Serving *int }
		if !found || json.Unmarshal(one.Value, &seen) != nil || seen.Serving == nil {
			continue
		}
		nodes := *seen.Serving
		if seen.Nodes != nil {
			nodes = *seen.Nodes
		}
		r.chart.Readiness = append(r.chart.Readiness, Readiness{At: one.Seen.UTC(), Run: r.run.Run,
			Pool: clean(pool, eventRoom), Ready: *seen.Serving, Nodes: nodes, Source: r.source()})
	}
}

// poolPath is the end of the path of an AKS agent pool.
var poolPath = regexp.MustCompile(`(?i)/agentPools/([^/?]+)$`)

// deletes remembers a pool whose deletion was accepted: it is gone when the step is done.
func (r *runStory) deletes(sent journal.Request) {
	pool := poolPath.FindStringSubmatch(sent.Path)
	if pool == nil || sent.Method != http.MethodDelete || sent.Status/100 != 2 {
		return
	}
	step := r.entry.Step
	if !slices.Contains(r.deleting[step], pool[1]) {
		r.deleting[step] = append(r.deleting[step], pool[1])
	}
}

// poolsGone ends the bands of the pools that a step has deleted. Until then they served as they were last seen: no
// guard has a reason to look at a pool that is about to go.
func (r *runStory) poolsGone(step string) {
	for _, pool := range r.deleting[step] {
		r.chart.Readiness = append(r.chart.Readiness, Readiness{At: r.entry.At.UTC(), Run: r.run.Run,
			Pool: clean(pool, eventRoom), Gone: true, Source: r.source()})
	}
	delete(r.deleting, step)
}
