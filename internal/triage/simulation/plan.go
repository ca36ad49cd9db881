package simulation

import (
	"slices"
	"time"
)

// outage is clusters that were bad for a while, for whatever ran on them.
type outage struct {
	clusters []string
	share    float64
	text     text
	began    time.Time
	others   bool // runs of other changes were hit as well
}

func (o *outage) hits(s *scenario) bool { return slices.Contains(o.clusters, s.cluster.name) }

// plan decides what goes wrong in this run, and what the change is.
func (g *generator) plan() {
	g.changed = g.innocentComponent()
	switch g.world.Kind {
	case Outage, TinyOutage:
		g.planOutage(pick(g, outageTexts()))
	case Confounded:
		g.confound()
		g.planOutage(pick(g, outageTexts()))
	case Regression, TinyRegress:
		g.planRegression(g.regressionText())
	case Architecture:
		g.planArchitecture()
	case TwoCauses:
		g.planOutage(pick(g, outageTexts()))
		t := g.regressionText()
		if g.chance(0.35) {
			t = g.outages[0].text
		}
		g.planRegression(t)
	case Network:
		g.planNetwork()
	case Innocent, Amplified:
		g.planFlake()
	case Aborted:
		g.planAborted()
	case None:
		if g.chance(0.5) {
			g.style.noise, g.style.timeouts = 0, 0
		}
	}
	if g.style.changedAt {
		g.world.ChangedAt = g.begin.Add(-time.Duration(g.between(15, 240)) * time.Minute)
	}
}

// innocentComponent is what a change touches that breaks nothing.
func (g *generator) innocentComponent() *component {
	switch n := g.IntN(10); {
	case n == 0:
		return &g.components[1] // core: all run it
	case n <= 3:
		return &g.components[0] // by an attribute
	}
	return g.component(3)
}

func (g *generator) regressionText() text {
	if g.chance(0.35) {
		return timeout()
	}
	return pick(g, regressionTexts())
}

// planOutage makes one cluster or two bad.
func (g *generator) planOutage(t text) {
	o := &outage{share: 0.7 + 0.3*g.Float64(), text: t, others: g.chance(0.6)}
	count := map[string]int{}
	for _, s := range g.scenarios {
		count[s.cluster.name]++
	}
	var fit, largest []string
	for _, c := range g.clusters {
		if n := count[c.name]; n >= 8 && n <= len(g.scenarios)*6/10 {
			fit = append(fit, c.name)
		}
		if len(largest) == 0 || count[c.name] > count[largest[0]] {
			largest = []string{c.name}
		}
	}
	switch {
	case g.world.Kind == Confounded:
		o.clusters, o.others = []string{g.clusters[0].name}, true
	case len(fit) == 0:
		o.clusters = largest
	default:
		g.Shuffle(len(fit), func(i, j int) { fit[i], fit[j] = fit[j], fit[i] })
		o.clusters = fit[:min(len(fit), g.between(1, 2))]
	}
	o.began = g.begin.Add(-time.Duration(g.between(0, 10)) * time.Hour)
	g.outages = append(g.outages, o)
	g.faults = append(g.faults, fault{cause: "outage", hits: o.hits, share: o.share, lasting: true, text: t})
}

// confound makes the scenarios of the bad cluster, and of no other, those that run through the change.
func (g *generator) confound() {
	g.changed = g.component(12)
	bad := &g.clusters[0]
	for _, s := range g.scenarios {
		switch {
		case s.components[g.changed.name] && g.chance(0.8):
			g.move(s, bad)
		case s.cluster == bad && !s.components[g.changed.name]:
			g.move(s, &g.clusters[g.between(1, len(g.clusters)-1)])
		}
	}
}

func (g *generator) move(s *scenario, to *cluster) {
	s.cluster = to
	s.values["cluster"], s.values["region"] = to.name, to.region
}

// planRegression breaks some of a component's scenarios, test by test.
func (g *generator) planRegression(t text) {
	g.changed = g.component(8)
	var members []*scenario
	for _, s := range g.scenarios {
		if s.components[g.changed.name] {
			members = append(members, s)
		}
	}
	slices.SortStableFunc(members, func(a, b *scenario) int {
		if a.test == b.test {
			return 0
		}
		if hash(a.test)^g.world.Seed < hash(b.test)^g.world.Seed {
			return -1
		}
		return 1
	})
	broken := map[string]bool{}
	outside := 0
	wanted := g.between(3, 12)
	for _, s := range members {
		if len(broken) >= wanted && (len(g.outages) == 0 || outside >= 3) {
			break
		}
		broken[s.name] = true
		if len(g.outages) == 0 || !g.outages[0].hits(s) {
			outside++
		}
	}
	share := 1.0
	if g.chance(0.2) {
		share = 0.8
	}
	g.faults = append(g.faults, fault{cause: "regression", hits: func(s *scenario) bool { return broken[s.name] },
		share: share, lasting: true, text: t})
}

// planArchitecture breaks what runs through the change on arm64.
func (g *generator) planArchitecture() {
	on := func(s *scenario) bool { return s.components[g.changed.name] && s.values["architecture"] == "arm64" }
	g.changed = &g.components[0]
	if g.chance(0.5) {
		g.changed = g.component(20)
	}
	g.faults = append(g.faults, fault{cause: "regression", hits: on, share: 1, lasting: true, text: g.regressionText()})
}

// planNetwork makes a few scenarios fail, whatever they test and wherever they run.
func (g *generator) planNetwork() {
	g.style.retries = min(g.style.retries, 2)
	g.faults = append(g.faults, fault{cause: "network", hits: func(*scenario) bool { return true },
		share: 0.01 + 0.05*g.Float64(), text: pick(g, networkTexts())})
}

// planFlake is a failure of one component: as frequent as it is for others, or made frequent by the change.
func (g *generator) planFlake() {
	g.changed = g.component(12)
	hits := func(s *scenario) bool { return s.components[g.changed.name] }
	f := fault{cause: "innocent", hits: hits, share: 0.25 + 0.35*g.Float64(), lasting: true, text: pick(g, flakeTexts())}
	if g.world.Kind == Amplified {
		f.cause = "amplified"
		f.share = max(f.share, 5/float64(max(1, g.runs(g.changed))))
	}
	g.faults = append(g.faults, f)
}

// planAborted ends the run before its time, in most cases with something else beside it.
func (g *generator) planAborted() {
	g.abort = pick(g, []string{"killed", "killed", "timeout", "crash", "fewer"})
	switch g.IntN(4) {
	case 0:
		g.planOutage(pick(g, outageTexts()))
	case 1:
		g.planRegression(g.regressionText())
	}
}
