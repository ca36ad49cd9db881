package simulation

import (
	"math/rand/v2"
	"slices"
	"time"
)

// generator makes one world.
type generator struct {
	*rand.Rand
	world World
	style style

	clusters   []cluster
	components []component
	scenarios  []*scenario
	changed    *component // the change is in it
	outages    []*outage
	faults     []fault
	abort      string // how the run ended early; empty: it didn't
	begin      time.Time
}

// style is how this CI works, which differs from team to team.
type style struct {
	junit, gzip bool
	files       int               // of results
	tells       map[string]source // how each attribute is told
	retries     int               // attempts at most
	noise       float64           // of attempts fail for no reason
	timeouts    float64           // of attempts fail with the common timeout
	mapped      bool
	catalogue   bool
	recorded    bool
	changedAt   bool
	baselines   int
	logs        bool
}

// source is where an attribute is told.
type source string

const (
	inName     source = "name"
	inProperty source = "property"
	inLine     source = "line"
	nowhere    source = "nowhere"
)

// attributes of scenarios, by name.
func attributes() []string {
	return []string{"architecture", "bootstrap", "cluster", "distribution", "image", "region"}
}

// scenario is one, with what happens to it.
type scenario struct {
	name, test string
	values     map[string]string
	told       map[string]bool // attributes that this scenario's files tell
	components map[string]bool
	cluster    *cluster
	slow       float64
	attempts   []attempt
	lost       bool // it has no end
	missing    bool // it never began
}

// attempt is one try.
type attempt struct {
	begin, end time.Time
	failure    *failure // nil: it passed
}

// failure is why a try failed.
type failure struct {
	cause   string
	text    text
	message string // with what varies filled in
}

// fault makes scenarios fail: of those that it hits, a share.
type fault struct {
	cause   string
	hits    func(*scenario) bool
	share   float64
	lasting bool // it fails again when tried again
	text    text
}

// is says whether the world is of one of these kinds.
func (g *generator) is(kinds ...Kind) bool { return slices.Contains(kinds, g.world.Kind) }

// chance is true in a share of cases.
func (g *generator) chance(share float64) bool { return g.Float64() < share }

// between is a number from low to high, both included.
func (g *generator) between(low, high int) int { return low + g.IntN(high-low+1) }

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

// choose decides how this CI works.
func (g *generator) choose() {
	s := &g.style
	seed := g.world.Seed
	s.junit, s.gzip = seed%2 == 1, seed/2%2 == 1
	s.files = g.between(1, 4)
	s.noise, s.timeouts = 0.02*g.Float64(), 0.006*g.Float64()
	s.retries = pick(g, []int{1, 1, 2, 3})
	s.mapped, s.catalogue, s.recorded = g.chance(0.85), g.chance(0.85), g.chance(0.85)
	s.changedAt, s.logs = g.chance(0.7), g.chance(0.8)
	if g.chance(0.25) {
		s.baselines = g.between(1, 2)
	}
	s.recorded = s.recorded || g.is(Innocent, Confounded, Amplified) // what it takes is in the history
	if g.is(Aborted) {
		s.baselines = max(1, s.baselines)
	}
	s.tells = map[string]source{
		"cluster":      pick(g, []source{inLine, inLine, inLine, inProperty}),
		"region":       pick(g, []source{inLine, inProperty, nowhere}),
		"distribution": pick(g, []source{inName, inName, inProperty}),
		"architecture": pick(g, []source{inName, inProperty, inLine}),
		"bootstrap":    pick(g, []source{inName, inName, inProperty}),
		"image":        pick(g, []source{inProperty, inLine, nowhere}),
	}
	if !s.catalogue { // then nobody has patterns
		for _, name := range attributes() {
			if told := s.tells[name]; told == inLine || told == inName {
				s.tells[name] = pick(g, []source{inProperty, inProperty, nowhere})
			}
		}
		s.tells["cluster"] = inProperty
	}
	if !s.logs {
		for _, name := range attributes() {
			if s.tells[name] == inLine {
				s.tells[name] = inProperty
			}
		}
	}
	g.begin = g.world.Now.Add(-time.Duration(g.between(80, 150)) * time.Minute)
}
