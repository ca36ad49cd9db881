package picture

import (
	"fmt"
	"slices"

	"salve/internal/report/postmortem"
)

// Level is how many nodes of a pool served for a while: as high as their share, and what is missing above it.
type Level struct {
	X, W         float64
	Y, H         float64 // of those that serve
	MissY        float64
	MissH        float64
	Label        string
	LabelX       float64
	Title        string
	Held         bool // until the next reading; nobody looked in between
	whole, ready int
}

const (
	bandHeight = 30.0 // of the row
	bandRoom   = 22.0 // of the band
	lastLevel  = 12.0 // how far the last reading reaches
)

// nodes draws how many nodes of each pool served, as a band.
func (p *Panel) nodes(readings []postmortem.Readiness) {
	byPool := map[string][]postmortem.Readiness{}
	var order []string
	for _, r := range readings {
		if byPool[r.Pool] == nil {
			if r.Gone { // nobody had looked at it
				continue
			}
			order = append(order, r.Pool)
		}
		byPool[r.Pool] = append(byPool[r.Pool], r)
	}
	for i, pool := range order {
		if i == mostPools {
			p.MorePools = len(order) - mostPools
			break
		}
		all := byPool[pool]
		slices.SortStableFunc(all, func(a, b postmortem.Readiness) int { return a.At.Compare(b.At) })
		tone, note := atLast(all)
		row := p.add(Row{Kind: Nodes, Full: "pool " + pool, Height: bandHeight, Tone: tone, Note: note})
		p.band(row, all)
	}
}

// atLast is what was last seen of a pool, and whether it is there no more.
func atLast(readings []postmortem.Readiness) (Tone, string) {
	last, when := readings[len(readings)-1], " at last"
	for i := len(readings) - 1; last.Gone; i-- { // the first one is a reading
		last, when = readings[i], ", then gone"
	}
	note := fmt.Sprintf("%s of %s%s", ofNodes(last.Ready), plural(max(0, last.Nodes), "node", "nodes"), when)
	if last.Ready < last.Nodes {
		return Unknown, note
	}
	return Good, note
}

func ofNodes(n int) string { return fmt.Sprint(max(0, n)) }

// band draws the readings of one pool, in order of time. Readings that say the same are one. A reading reaches to the
// next, or until the pool was deleted; nothing is drawn from then on until the pool is seen again.
func (p *Panel) band(row *Row, readings []postmortem.Readiness) {
	foot := row.Top + bandHeight - (bandHeight-bandRoom)/2
	gone := false
	for i, r := range readings {
		if r.Gone {
			gone = true
			continue
		}
		whole := max(0, r.Nodes, r.Ready)
		ready := min(max(0, r.Ready), whole)
		perNode := bandRoom / float64(max(1, whole))
		from := min(p.scale.At(r.At), plotRight-leastBar)
		to := min(from+lastLevel, plotRight)
		if i+1 < len(readings) {
			to = p.scale.At(readings[i+1].At)
		}
		again := gone // the pool was made anew
		gone = false
		if n := len(row.Levels); n > 0 && !again && row.Levels[n-1].whole == whole && row.Levels[n-1].ready == ready {
			row.Levels[n-1].W = rounded(to - row.Levels[n-1].X)
			continue
		}
		l := Level{X: from, W: rounded(max(to-from, leastBar)), whole: whole, ready: ready, Held: i+1 < len(readings),
			H: rounded(float64(ready) * perNode), MissH: rounded(float64(whole-ready) * perNode),
			Label: fmt.Sprintf("%d/%d", ready, whole),
			Title: titled("%d of %d nodes of pool %s ready, seen at %s", r.Ready, r.Nodes, r.Pool,
				r.At.UTC().Format("2 Jan 2006 15:04:05 UTC"))}
		l.Y = rounded(foot - l.H)
		l.MissY = rounded(l.Y - l.MissH)
		row.Levels = append(row.Levels, l)
	}
	p.labelLevels(row.Levels)
}

// labelLevels leaves out labels for which there is no room before the next level or break.
func (p *Panel) labelLevels(levels []Level) {
	for i := range levels {
		l := &levels[i]
		space, width := l.W, float64(cells(l.Label))*letter
		for _, b := range p.Breaks {
			if b.X >= l.X {
				space = min(space, b.X-l.X)
			}
		}
		if space < width+4 {
			l.Label = ""
			continue
		}
		l.LabelX = rounded(l.X + min(space/2, width/2+6))
	}
}
