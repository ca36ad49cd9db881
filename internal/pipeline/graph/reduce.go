package graph

// mostReduced bounds the graphs that are reduced: what each node waits for, all
// the way, is remembered as one bit for each other node.
const mostReduced = 10_000

// Reduced is the graph without the edges that follow from others: where c waits
// for b and b for a, nothing is gained by drawing that c waits for a. A graph with
// more than 10,000 nodes comes back as it is. The graph has no cycle.
func (g *Graph) Reduced() *Graph {
	if len(g.nodes) > mostReduced {
		return g
	}
	words := (len(g.nodes) + 63) / 64
	reach := make([][]uint64, len(g.nodes))
	var edges []Edge
	for _, i := range g.Order() {
		// What those that it waits for wait for themselves, it need not say.
		indirect := make([]uint64, words)
		for _, before := range g.waits[i] {
			for w, bits := range reach[before] {
				indirect[w] |= bits
			}
		}
		for _, before := range g.waits[i] {
			if indirect[before/64]&(1<<(before%64)) == 0 || g.kept[Edge{before, i}] {
				edges = append(edges, Edge{before, i})
			}
		}
		for _, before := range g.waits[i] {
			indirect[before/64] |= 1 << (before % 64)
		}
		reach[i] = indirect
	}
	reduced := New(g.nodes, edges)
	reduced.kept = g.kept
	return reduced
}
