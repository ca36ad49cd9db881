package graph

// Heights within the drawing, in pixels.
const (
	boxHeight  = 40.0
	boxGap     = 16.0
	bendHeight = 8.0
)

// rounds is how often points are drawn towards their neighbours.
const rounds = 64

// placePoints gives each point its height: near its neighbours, in the order of its
// layer, and clear of the points beside it.
func (d *drawing) placePoints() {
	for _, layer := range d.layers {
		below := 0.0
		for _, p := range layer {
			p.y = below + p.height()/2
			below += p.height() + boxGap
		}
	}
	for round := range rounds {
		for at := range d.layers {
			if round%2 == 1 {
				at = len(d.layers) - 1 - at
			}
			pull(d.layers[at])
		}
	}
	top := 0.0
	for _, layer := range d.layers {
		for _, p := range layer {
			top = min(top, p.y-p.height()/2)
		}
	}
	for _, layer := range d.layers {
		for _, p := range layer {
			p.y -= top
		}
	}
}

func (p *point) height() float64 {
	if p.node < 0 {
		return bendHeight
	}
	return boxHeight
}

// pull moves the points of a layer to the middle of their neighbours, as near as
// their order and their heights allow. It is the regression of ordered values:
// points that would overlap become a block, which moves as one.
func pull(layer []*point) {
	type block struct {
		sum, weight float64
		points      int
	}
	var blocks []block
	offset := make([]float64, len(layer))
	for i, p := range layer {
		if i > 0 {
			offset[i] = offset[i-1] + layer[i-1].height()/2 + boxGap + p.height()/2
		}
		at, weight := p.wish()
		blocks = append(blocks, block{(at - offset[i]) * weight, weight, 1})
		for last := len(blocks) - 1; last > 0 &&
			blocks[last-1].sum/blocks[last-1].weight > blocks[last].sum/blocks[last].weight; last-- {
			blocks[last-1].sum += blocks[last].sum
			blocks[last-1].weight += blocks[last].weight
			blocks[last-1].points += blocks[last].points
			blocks = blocks[:last]
		}
	}
	i := 0
	for _, b := range blocks {
		for range b.points {
			layer[i].y = b.sum/b.weight + offset[i]
			i++
		}
	}
}

// wish is the height at which a point's edges would be straightest, and how much
// it matters. Edges that pass through are to be straight above all.
func (p *point) wish() (height, weight float64) {
	sum, count := 0.0, 0.0
	for _, list := range [][]*point{p.from, p.to} {
		for _, other := range list {
			share := 1.0
			if p.node < 0 && other.node < 0 {
				share = 8
			}
			sum += other.y * share
			count += share
		}
	}
	if count == 0 {
		return p.y, 0.1
	}
	return sum / count, count
}
