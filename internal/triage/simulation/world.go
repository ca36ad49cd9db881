package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Kind is what happened in a run.
type Kind string

// The kinds. The last five are there to mislead.
const (
	Outage       Kind = "outage"
	Regression   Kind = "regression"
	Network      Kind = "network"
	TwoCauses    Kind = "two-causes"
	Innocent     Kind = "innocent" // the change touches what fails, and others fail alike
	Aborted      Kind = "aborted"
	None         Kind = "none"
	Confounded   Kind = "confounded"   // all that ran on the bad cluster runs the changed component
	Architecture Kind = "architecture" // a regression on one architecture only
	Amplified    Kind = "amplified"    // a rare failure that the change makes frequent
	TinyOutage   Kind = "tiny-outage"
	TinyRegress  Kind = "tiny-regression"
)

// Kinds are all of them.
func Kinds() []Kind {
	return []Kind{
		Outage, Regression, Network, TwoCauses, Innocent, Aborted, None,
		Confounded, Architecture, Amplified, TinyOutage, TinyRegress,
	}
}

// World is one run with all that is known beside it. Paths are of files.
type World struct {
	Seed      uint64
	Kind      Kind
	Results   []string
	Baseline  []string // results of runs without the change
	Catalogue string   // empty: none
	Map       string   // empty: none
	Diff      string
	Others    []Other   // runs of other changes, the oldest first
	Recorded  bool      // there is a history, which has Others
	ChangedAt time.Time // zero: nobody knows
	Now       time.Time
	Truth     Truth
}

// Other is a run of another change.
type Other struct {
	Build, Change string
	Time          time.Time
	Ran           []string          // scenarios
	Failed        map[string]Record // by scenario
}

// Record is a failure as a history has it.
type Record struct {
	Message   string
	File      string
	Line      int
	Signature string // that it shows; empty for none
}

// Truth is what really happened.
type Truth struct {
	Causes  []Cause
	Aborted bool
	// Failing says why each scenario failed whose last attempt did: the name of a cause, or [Noise].
	Failing map[string]string
}

// Noise is what fails now and then and has nothing to do with anything.
const Noise = "noise"

// Cause is a planted one.
type Cause struct {
	Name   string
	Change bool // it is the change under test
	// Right are the verdicts that are right for its failures: undecided is never one of them.
	Right []string
	// Knowable says that what was left behind tells: whoever looks at all of it closely comes to the right verdict.
	Knowable bool
	// Why it is knowable, or not.
	Why string
}

// Cause is the planted one of the name.
func (t Truth) Cause(name string) (Cause, bool) {
	for _, c := range t.Causes {
		if c.Name == name {
			return c, true
		}
	}
	return Cause{}, false
}

// Generate writes a run of a kind into an empty folder. It fails only where the folder can't be written to.
func Generate(folder string, seed uint64, kind Kind) (World, error) {
	g := &generator{
		Rand: rand.New(rand.NewPCG(seed, hash(string(kind)))), //nolint:gosec // the same each time
		world: World{
			Seed: seed, Kind: kind, Truth: Truth{Failing: map[string]string{}},
			Now: time.Date(2026, 11, 2, 6, 0, 0, 0, time.UTC).Add(time.Duration(seed%5000) * 17 * time.Minute),
		},
	}
	g.choose()
	g.fleet()
	g.plan()
	g.happen()
	g.past()
	if err := g.write(folder); err != nil {
		return World{}, fmt.Errorf("writing the run of seed %d, %s: %w", seed, kind, err)
	}
	g.judge()
	return g.world, nil
}

// hash is FNV-1a.
func hash(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}
