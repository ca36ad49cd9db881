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
	// Otherwise is the share of the scenarios that have to fail in other groups of a run for it to count as one in which
	// they failed for another reason: among hundreds, some fail every day.
	Otherwise float64
}

// Baseline is the answer with its numbers. A build counts if it is within the time, its change is known and is another
// one, and it ran at least one of the scenarios, or showed the group.
type Baseline struct {
	Answer      Answer    `json:"answer"`
	Runs        int       `json:"runs"`            // builds that count
	Changes     int       `json:"changes"`         // different ones, of these
	SeenRuns    int       `json:"seenRuns"`        // builds with the group
	SeenChanges int       `json:"seenChanges"`     // other changes with the group
	OtherRuns   int       `json:"otherRuns"`       // builds without the group in which the scenarios failed otherwise
	Rates       []Rate    `json:"rates,omitempty"` // of each build that counts, by time
	First       time.Time `json:"first"`           // the first build with the group; zero for none
	Last        time.Time `json:"last"`
}

// Rate is how many scenarios of a build failed in the group: of all that ran, and of those in question, as far as the
// build is known to have run them.
type Rate struct {
	Change      string    `json:"change"`
	Time        time.Time `json:"time"`
	Failures    int       `json:"failures"`
	Scenarios   int       `json:"scenarios"`
	FailedAsked int       `json:"failedAsked"`
	Asked       int       `json:"asked"`
	// Otherwise are those in question that failed in other groups, of a build without this one.
	Otherwise int `json:"otherwise"`
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
		rate := q.rate(b)
		if !shown {
			rate.Otherwise = b.failedOtherwise(q.Scenarios)
		}
		a.Rates = append(a.Rates, rate)
		changes[b.change] = true
		switch {
		case shown:
			a.SeenRuns++
			seen[b.change] = true
			if a.First.IsZero() {
				a.First = b.time
			}
			a.Last = b.time
		case rate.Otherwise > 0 && float64(rate.Otherwise) >= q.Otherwise*float64(len(q.Scenarios)):
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
	r := Rate{Change: b.change, Time: b.time, Scenarios: b.total}
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

// failedOtherwise is how many of the scenarios failed in a build, in whatever group.
func (b build) failedOtherwise(scenarios []string) int {
	failed := 0
	for _, name := range scenarios {
		if slices.ContainsFunc(b.groups, func(g Group) bool { has, _ := g.Scenarios.Has(name); return has }) {
			failed++
		}
	}
	return failed
}
