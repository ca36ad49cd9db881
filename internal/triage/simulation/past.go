package simulation

import (
	"fmt"
	"slices"
	"time"
)

// past makes the runs of other changes, of the last 30 hours.
func (g *generator) past() {
	if !g.style.recorded {
		return
	}
	g.world.Recorded = true
	runs := g.between(8, 45)
	if g.is(Innocent, Confounded, Amplified) {
		runs = g.between(22, 45)
	}
	var times []time.Time
	for range runs {
		times = append(times, g.begin.Add(-time.Duration(g.IntN(30*3600))*time.Second+20*time.Minute))
	}
	slices.SortFunc(times, time.Time.Compare)
	began := g.begin.Add(-time.Duration(g.between(6, 20)) * time.Hour) // of what fails for all
	rates := pastRates{flake: 0.003 + 0.027*g.Float64(), began: began}
	for i, at := range times {
		change := fmt.Sprintf("pr-%d", 4000+i)
		if i > 0 && g.chance(0.15) {
			change = g.world.Others[i-1].Change // pushed again
		}
		other := Other{Build: fmt.Sprintf("build-%d", 90000+i), Change: change, Time: at, Failed: map[string]Record{}}
		network := 0.01 + 0.05*g.Float64()
		for _, s := range g.scenarios {
			if g.chance(0.03) { // it didn't run then
				continue
			}
			other.Ran = append(other.Ran, s.name)
			if t, failed := g.failedThen(s, at, rates, network); failed {
				other.Failed[s.name] = g.record(t)
			}
		}
		g.world.Others = append(g.world.Others, other)
	}
	if g.world.Kind == Innocent && !g.world.ChangedAt.IsZero() && g.world.ChangedAt.Before(began) {
		g.world.ChangedAt = began.Add(time.Hour)
	}
}

// pastRates are what the runs of other changes have in common.
type pastRates struct {
	flake float64 // of a failure that is rare without the change
	began time.Time
}

// failedThen is whether and how a scenario failed in a run of another change, at last.
func (g *generator) failedThen(s *scenario, at time.Time, rates pastRates, network float64) (text, bool) {
	for _, o := range g.outages {
		if o.others && !at.Before(o.began) && o.hits(s) && g.chance(o.share) {
			return o.text, true
		}
	}
	for _, f := range g.faults {
		share := 0.0
		switch {
		case f.cause == "network":
			share = network
			if g.style.retries > 1 {
				share *= network
			}
		case f.cause == "innocent" && !at.Before(rates.began):
			share = f.share
		case f.cause == "amplified":
			share = rates.flake
		}
		if share > 0 && f.hits(s) && g.chance(share) {
			return f.text, true
		}
	}
	noise, late := g.style.noise, g.style.timeouts
	for range g.style.retries - 1 {
		noise, late = noise*noise, late*late
	}
	switch {
	case g.chance(noise):
		return pick(g, noiseTexts()), true
	case g.chance(late):
		return timeout(), true
	}
	return text{}, false
}

func (g *generator) record(t text) Record {
	r := Record{Message: g.fill(t, g.changed.name), File: t.file, Line: t.line}
	if g.style.catalogue && !g.lacks(t) {
		r.Signature = t.signature
	}
	return r
}
