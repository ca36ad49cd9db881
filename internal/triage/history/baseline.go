package history

import (
	"slices"
	"time"
)

// Answer says whether a group was there without the change.
type Answer string

// The four answers. They are about runs of other changes alone.
const (
	New              Answer = "new"                       // enough runs could have shown it, and none did
	SameReason       Answer = "pre-existing-same-reason"  // the group failed there too
	OtherReason      Answer = "pre-existing-other-reason" // its scenarios failed there, in other groups
	NotEnoughHistory Answer = "not-enough-history"
)

// Question asks for the baseline of a group.
type Question struct {
	Subject
	Scenarios []string // names of those that fail, to see which runs could have shown it
	Change    string   // the change under test; empty, the answer is NotEnoughHistory
	Build     string   // the run in hand, which is nobody's baseline
	Since     time.Duration
	Enough    int // runs that could have shown it, for it to be new
}

// Baseline is the answer with its numbers. A build counts if it is within the time, its change is known and is another
// one, and it ran at least one of the scenarios, or showed the group.
type Baseline struct {
	Answer      Answer    `json:"answer"`
	Runs        int       `json:"runs"`            // builds that count
	Changes     int       `json:"changes"`         // different ones, of these
	SeenRuns    int       `json:"seenRuns"`        // builds with the group
	SeenChanges int       `json:"seenChanges"`     // other changes with the group
	OtherRuns   int       `json:"otherRuns"`       // builds in which half of the scenarios failed, without the group
	Rates       []Rate    `json:"rates,omitempty"` // of each build that counts, by time
	First       time.Time `json:"first"`           // the first build with the group; zero for none
	Last        time.Time `json:"last"`
}

// Rate is how many scenarios of a build failed in the group: of all that ran, and of those in question, as far as the
// build is known to have run them.
type Rate struct {
	Change      string `json:"change"`
	Failures    int    `json:"failures"`
	Scenarios   int    `json:"scenarios"`
	FailedAsked int    `json:"failedAsked"`
	Asked       int    `json:"asked"`
}

// Baseline answers a question for the time up to now.
func (h *History) Baseline(q Question, now time.Time) Baseline {
	a := Baseline{Answer: NotEnoughHistory}
	if q.Change == "" {
		return a // any other build may be of the same change
	}
	changes, seen := map[string]bool{}, map[string]bool{}
	for _, b := range h.within(q.Since, now) {
		if b.id == q.Build || b.change == "" || b.change == q.Change {
			continue
		}
		shown := len(q.of(b)) > 0
		if !shown && !b.couldShow(q.Scenarios) {
			continue
		}
		a.Runs++
		a.Rates = append(a.Rates, q.rate(b))
		changes[b.change] = true
		switch {
		case shown:
			a.SeenRuns++
			seen[b.change] = true
			if a.First.IsZero() {
				a.First = b.time
			}
			a.Last = b.time
		case b.failedOtherwise(q.Scenarios):
			a.OtherRuns++
		}
	}
	a.Changes, a.SeenChanges = len(changes), len(seen)
	switch {
	case a.SeenRuns > 0:
		a.Answer = SameReason
	case a.OtherRuns > 0:
		a.Answer = OtherReason
	case a.Runs > 0 && a.Runs >= q.Enough:
		a.Answer = New
	}
	return a
}

// rate counts one build. A scenario that a set doesn't tell of is not counted.
func (q Question) rate(b build) Rate {
	r := Rate{Change: b.change, Scenarios: b.total}
	groups := q.of(b)
	for _, g := range groups {
		r.Failures += g.Failures
	}
	for _, name := range q.Scenarios {
		if !slices.ContainsFunc(b.ran, func(ran Set) bool { has, known := ran.Has(name); return has && known }) {
			continue
		}
		r.Asked++
		if slices.ContainsFunc(groups, func(g Group) bool { has, _ := g.Scenarios.Has(name); return has }) {
			r.FailedAsked++
		}
	}
	return r
}

// couldShow is whether a build is known to have run one of the scenarios.
func (b build) couldShow(scenarios []string) bool {
	for _, name := range scenarios {
		for _, ran := range b.ran {
			if has, known := ran.Has(name); has && known {
				return true
			}
		}
	}
	return false
}

// failedOtherwise is whether half of the scenarios failed in a build: among hundreds, some fail every day.
func (b build) failedOtherwise(scenarios []string) bool {
	failed := 0
	for _, name := range scenarios {
		for _, g := range b.groups {
			if has, _ := g.Scenarios.Has(name); has {
				failed++
				break
			}
		}
	}
	return failed > 0 && 2*failed >= len(scenarios)
}
