package graph

import (
	"cmp"
	"slices"
)

// point is a place in a layered drawing: a node, or a bend of an edge that passes
// through a layer on its way.
type point struct {
	// node is the node's index; -1 is a bend.
	node  int
	layer int
	// from and to are the points before and after it.
	from, to []*point
	// rank is its place within the layer, y the height of its middle.
	rank int
	y    float64
}

// drawing is a layered drawing: each edge leads from a layer to the next one.
type drawing struct {
	layers [][]*point
	// nodes are the points of the nodes, by their index.
	nodes []*point
	// ways are the points that each edge passes, its ends among them.
	ways map[Edge][]*point
}

// sweeps is how often the order within the layers is improved.
const sweeps = 24

// draw puts the nodes into layers and orders each so that few edges cross. The
// graph has no cycle.
func (g *Graph) draw() *drawing {
	d := &drawing{nodes: make([]*point, len(g.nodes)), ways: map[Edge][]*point{}}
	for i, layer := range g.layering() {
		d.nodes[i] = d.add(i, layer)
	}
	for _, i := range g.Order() {
		for _, before := range g.waits[i] {
			way := []*point{d.nodes[before]}
			for layer := d.nodes[before].layer + 1; layer < d.nodes[i].layer; layer++ {
				way = append(way, d.add(-1, layer))
			}
			way = append(way, d.nodes[i])
			for at := 1; at < len(way); at++ {
				way[at-1].to = append(way[at-1].to, way[at])
				way[at].from = append(way[at].from, way[at-1])
			}
			d.ways[Edge{before, i}] = way
		}
	}
	d.untangle()
	return d
}

func (d *drawing) add(node, layer int) *point {
	for len(d.layers) <= layer {
		d.layers = append(d.layers, nil)
	}
	p := &point{node: node, layer: layer, rank: len(d.layers[layer])}
	d.layers[layer] = append(d.layers[layer], p)
	return p
}

// layering gives each node a layer: the longest way that leads to it. A node that
// more edges leave than enter moves as near as it can to what waits for it, so that
// they are short.
func (g *Graph) layering() []int {
	layer := make([]int, len(g.nodes))
	order := g.Order()
	for _, i := range order {
		for _, before := range g.waits[i] {
			layer[i] = max(layer[i], layer[before]+1)
		}
	}
	slices.Reverse(order)
	for _, i := range order {
		if len(g.leads[i]) == 0 || len(g.leads[i]) <= len(g.waits[i]) {
			continue
		}
		first := layer[g.leads[i][0]]
		for _, after := range g.leads[i] {
			first = min(first, layer[after])
		}
		layer[i] = first - 1
	}
	return layer
}

// untangle orders each layer by where the neighbours of its points stand, forth
// and back, and keeps the order with the fewest crossings.
func (d *drawing) untangle() {
	best, kept := d.crossings(), d.order()
	for sweep := range sweeps {
		if sweep%2 == 0 {
			for _, layer := range d.layers {
				sortByNeighbours(layer, func(p *point) []*point { return p.from })
			}
		} else {
			for _, layer := range slices.Backward(d.layers) {
				sortByNeighbours(layer, func(p *point) []*point { return p.to })
			}
		}
		if crossings := d.crossings(); crossings < best {
			best, kept = crossings, d.order()
		}
	}
	d.layers = kept
	for _, layer := range d.layers {
		rank(layer)
	}
}

// order is a copy of the layers as they are ordered now.
func (d *drawing) order() [][]*point {
	layers := make([][]*point, len(d.layers))
	for i, layer := range d.layers {
		layers[i] = slices.Clone(layer)
	}
	return layers
}

func rank(layer []*point) {
	for rank, p := range layer {
		p.rank = rank
	}
}

// crossings counts how often edges cross between two layers.
func (d *drawing) crossings() int {
	crossings := 0
	for _, layer := range d.layers {
		var ends []int
		for _, p := range layer {
			first := len(ends)
			for _, other := range p.to {
				ends = append(ends, other.rank)
			}
			slices.Sort(ends[first:])
		}
		crossings += inversions(ends)
	}
	return crossings
}

// inversions counts the pairs of a list that stand the wrong way round; it sorts
// the list.
func inversions(list []int) int {
	if len(list) < 2 {
		return 0
	}
	left, right := slices.Clone(list[:len(list)/2]), slices.Clone(list[len(list)/2:])
	count := inversions(left) + inversions(right)
	for i := range list {
		if len(right) == 0 || len(left) > 0 && left[0] <= right[0] {
			list[i], left = left[0], left[1:]
			continue
		}
		count += len(left)
		list[i], right = right[0], right[1:]
	}
	return count
}

func sortByNeighbours(layer []*point, neighbours func(*point) []*point) {
	middle := make(map[*point]float64, len(layer))
	for _, p := range layer {
		middle[p] = float64(p.rank)
		if near := neighbours(p); len(near) > 0 {
			sum := 0
			for _, other := range near {
				sum += other.rank
			}
			middle[p] = float64(sum) / float64(len(near))
		}
	}
	slices.SortStableFunc(layer, func(a, b *point) int { return cmp.Compare(middle[a], middle[b]) })
	rank(layer)
}
