package simulation

import (
	"slices"
	"time"
)

// Lost is what had no end when the run was aborted, in [Truth.Failing].
const Lost = "lost"

// judge says what is true of the run, and whether what was left behind tells it.
func (g *generator) judge() {
	t := &g.world.Truth
	t.Aborted = g.abort != ""
	for _, s := range g.scenarios {
		if s.lost && !s.missing {
			t.Failing[s.name] = Lost
		}
	}
	planted := map[string]bool{}
	for _, f := range g.faults {
		if planted[f.cause] || g.failing(f.cause, nil) == 0 {
			continue
		}
		planted[f.cause] = true
		c := Cause{Name: f.cause}
		switch f.cause {
		case "regression":
			g.judgeRegression(&c, f)
		case "amplified":
			c.Change, c.Right, c.Why = true, []string{"suspected-change"}, "it was there before, though rarely"
		case "innocent":
			c.Right = []string{"known-product"}
			c.Knowable = g.seen(f.text) >= 2 && g.older(f.text) && g.failing(f.cause, nil) >= 3 &&
				(g.style.mapped || g.style.catalogue && !g.lacks(f.text))
			c.Why = "others have it as often, and it is older than the change"
		default:
			g.judgeInfrastructure(&c, f)
		}
		t.Causes = append(t.Causes, c)
	}
}

// failing counts scenarios that fail for a cause at last, of some.
func (g *generator) failing(cause string, of func(*scenario) bool) int {
	n := 0
	for _, s := range g.scenarios {
		if g.world.Truth.Failing[s.name] == cause && (of == nil || of(s)) {
			n++
		}
	}
	return n
}

// reached says whether a scenario runs through the change, as far as the map and what is told of attributes say.
func (g *generator) reached(s *scenario) (yes, known bool) {
	if !g.style.mapped || g.changed.mode != "" && g.style.tells["bootstrap"] == nowhere {
		return false, false
	}
	return s.components[g.changed.name], true
}

func (g *generator) reaches(s *scenario) bool {
	yes, _ := g.reached(s)
	return yes
}

func (g *generator) spared(s *scenario) bool {
	yes, known := g.reached(s)
	return known && !yes
}

// seen counts the other changes whose runs of the last day had a text.
func (g *generator) seen(t text) int {
	changes := map[string]bool{}
	for _, o := range g.world.Others {
		for _, r := range o.Failed {
			if r.File == t.file && r.Line == t.line && o.Time.After(g.world.Now.Add(-24*time.Hour)) {
				changes[o.Change] = true
			}
		}
	}
	return len(changes)
}

// recent counts the runs of other changes of the last day.
func (g *generator) recent() int {
	n := 0
	for _, o := range g.world.Others {
		if o.Time.After(g.world.Now.Add(-24 * time.Hour)) {
			n++
		}
	}
	return n
}

// older says whether a text was seen well before the change was there.
func (g *generator) older(t text) bool {
	for _, o := range g.world.Others {
		for _, r := range o.Failed {
			if r.File == t.file && r.Line == t.line && !g.world.ChangedAt.IsZero() &&
				o.Time.After(g.world.Now.Add(-24*time.Hour)) && o.Time.Add(time.Hour).Before(g.world.ChangedAt) {
				return true
			}
		}
	}
	return false
}

func (g *generator) judgeRegression(c *Cause, f fault) {
	c.Change, c.Right = true, []string{"suspected-change"}
	failing, runs := g.failing(f.cause, g.reaches), 0
	for _, s := range g.scenarios {
		if g.reaches(s) && (g.world.Kind != Architecture || s.values["architecture"] == "arm64") {
			runs++
		}
	}
	switch {
	case len(g.outages) > 0 && g.outages[0].text == f.text:
		c.Why = "an outage fails in the same way"
	case failing >= 4 && 20*failing >= 11*runs && (!g.is(Architecture) || g.style.tells["architecture"] != nowhere):
		c.Knowable, c.Why = true, "most of what runs through the change fails, and nothing else"
	case failing >= 3 && g.recent() >= 20 && f.text != timeout() && 3*runs <= len(g.scenarios):
		c.Knowable, c.Why = true, "what fails runs through the change, and nobody else had it"
	default:
		c.Why = "a few of many that run through the change fail, or nobody knows what does"
	}
}

func (g *generator) judgeInfrastructure(c *Cause, f fault) {
	c.Right = []string{"known-infrastructure"}
	seen := g.seen(f.text)
	if g.world.Recorded && seen == 0 {
		c.Right = append(c.Right, "new")
	}
	failing, spared := g.failing(f.cause, nil), g.failing(f.cause, g.spared)
	signature := g.style.catalogue && !g.lacks(f.text) && f.text.class == "infrastructure"
	if f.cause == "network" && !signature {
		c.Right = append(c.Right, "known-product") // nothing says what it is, but that others have it
	}
	located := f.cause == "outage" && g.style.tells["cluster"] != nowhere && failing >= 8 && len(g.scenarios) > 60
	switch {
	case f.cause == "outage" && slices.ContainsFunc(g.faults, func(other fault) bool {
		return other.cause == "regression" && other.text == f.text
	}):
		c.Why = "a regression fails in the same way"
	case !located && !signature:
		c.Why = "nothing says where it comes from"
	case seen >= 2 && g.older(f.text) && failing >= 3:
		c.Knowable, c.Why = true, "others had it, and before the change"
	case seen >= 2 && spared >= 3:
		c.Knowable, c.Why = true, "others had it, and what doesn't run through the change fails too"
	case located && spared >= 10 && failing-spared >= 10 && failing >= 40:
		c.Knowable, c.Why = true, "what doesn't run through the change fails as often as what does"
	default:
		c.Why = "too little speaks for the change's innocence"
	}
}
