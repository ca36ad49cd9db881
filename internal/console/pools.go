package console

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"salve/engine"
	"salve/runbook"
)

const (
	// shownNodes is up to how many nodes of a pool each is a dot; more are a number.
	shownNodes = 12
	// shownPools is how many pools are drawn.
	shownPools = 8
	// nodesOfPool is how the source of evidence on a pool's nodes begins; the pool's name follows.
	nodesOfPool = "nodes of pool "
)

// pools takes how many nodes of which pool serve, from what a step reports and from the evidence of guards.
func (p *picture) pools(event engine.Event) {
	if event.Progress != nil {
		for _, pool := range event.Progress.Pools {
			p.pool(pool)
		}
	}
	if event.Finding == nil {
		return
	}
	for _, evidence := range event.Finding.Evidence {
		name, found := strings.CutPrefix(evidence.Source, nodesOfPool)
		var seen struct{ Nodes, Serving *int }
		if !found || json.Unmarshal(evidence.Value, &seen) != nil || seen.Nodes == nil || seen.Serving == nil {
			continue
		}
		p.pool(runbook.PoolNodes{Pool: name, Serving: *seen.Serving, Nodes: *seen.Nodes})
	}
}

// pool replaces what is known of a pool; its role stays known.
func (p *picture) pool(seen runbook.PoolNodes) {
	i := slices.IndexFunc(p.nodes, func(known runbook.PoolNodes) bool { return known.Pool == seen.Pool })
	if i < 0 {
		p.nodes = append(p.nodes, seen)
		return
	}
	if seen.Role == "" {
		seen.Role = p.nodes[i].Role
	}
	p.nodes[i] = seen
}

// strip draws a dot for each node of the pools, on as many lines as that takes.
func (d *drawing) strip(p *picture) {
	line, used := "  ", 2
	for i, pool := range p.nodes {
		if i == shownPools {
			line += fmt.Sprintf("%s… %d more%s", faint, len(p.nodes)-i, plain)
			break
		}
		name := pool.Pool
		if pool.Role != "" {
			name = pool.Role
		}
		name = cut(redacted(name), min(nameColumn, max(d.width-shownNodes-6, 4)))
		dots, wide := dotsOf(pool)
		wide += columns(name) + 1
		if used > 2 && used+wide > d.width {
			d.put(line)
			line, used = "  ", 2
		}
		line += name + " " + dots + "  "
		used += wide + 2
	}
	if used > 2 {
		d.put(strings.TrimRight(line, " "))
	}
}

// dotsOf draws the nodes of a pool: full ones serve, empty ones don't.
func dotsOf(pool runbook.PoolNodes) (dots string, wide int) {
	serving, nodes := max(0, pool.Serving), max(0, pool.Nodes, pool.Serving)
	switch {
	case pool.Gone:
		return faint + "gone" + plain, len("gone")
	case nodes == 0:
		return faint + "no nodes" + plain, len("no nodes")
	case nodes > shownNodes:
		colour := green
		if serving < nodes {
			colour = yellow
		}
		text := fmt.Sprintf("%d of %d", serving, nodes)
		return colour + text + plain, len(text)
	}
	return green + strings.Repeat("●", serving) + yellow + strings.Repeat("○", nodes-serving) + plain, nodes
}
