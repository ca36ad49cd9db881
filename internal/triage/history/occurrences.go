package history

import (
	"cmp"
	"slices"
	"time"
)

// Subject is what is looked for: groups with the key, or with the signature. A build that has both has it once, so that
// a signature written today finds the builds before it by the key.
type Subject struct{ Key, Signature string }

// of is the groups of a build that are the subject's.
func (s Subject) of(b build) []Group {
	var found []Group
	for _, g := range b.groups {
		if s.Key != "" && g.Key == s.Key || s.Signature != "" && slices.Contains(g.Signatures, s.Signature) {
			found = append(found, g)
		}
	}
	return found
}

// maximumListed bounds lists of builds and changes in answers.
const maximumListed = 20

// Occurrences are the builds that had a subject.
type Occurrences struct {
	Count    int       `json:"count"`    // builds
	Failures int       `json:"failures"` // scenarios, in all of them
	Changes  int       `json:"changes"`  // different ones, of those that are known
	First    time.Time `json:"first"`    // zero for none
	Last     time.Time `json:"last"`
	Builds   []string  `json:"builds,omitempty"` // the latest first, 20 at most
}

// Occurrences counts the builds of the time up to now that had a subject. A window of 0 is all time.
func (h *History) Occurrences(s Subject, window time.Duration, now time.Time) Occurrences {
	o, changes := Occurrences{}, map[string]bool{}
	for _, b := range h.within(window, now) {
		groups := s.of(b)
		if len(groups) == 0 {
			continue
		}
		o.Count++
		for _, g := range groups {
			o.Failures += g.Failures
		}
		if o.First.IsZero() {
			o.First = b.time
		}
		o.Last = b.time
		o.Builds = append(o.Builds, b.id)
		if b.change != "" {
			changes[b.change] = true
		}
	}
	o.Changes = len(changes)
	slices.Reverse(o.Builds)
	o.Builds = o.Builds[:min(len(o.Builds), maximumListed)]
	return o
}

// Rule is when a subject has to be escalated: at so many builds within so many days. It no longer has to once there are
// fewer than Below, so that it doesn't come and go with each build.
type Rule struct{ At, Days, Below int }

// Escalation is whether a subject has to be escalated.
type Escalation struct {
	Count     int       `json:"count"` // builds within the days up to now
	Threshold int       `json:"threshold"`
	Days      int       `json:"days"`
	Escalated bool      `json:"escalated"`
	Since     time.Time `json:"since"` // the build with which it began; zero if it isn't escalated
}

// Escalation works it out from all the builds up to now, one after the other: everybody who has the same lines and asks
// for the same moment gets the same answer.
func (h *History) Escalation(s Subject, r Rule, now time.Time) Escalation {
	return r.Escalation(h.Times(s, now), now)
}

// Times are those of all builds up to now that had a subject, by time.
func (h *History) Times(s Subject, now time.Time) []time.Time {
	var times []time.Time
	for _, b := range h.within(0, now) {
		if len(s.of(b)) > 0 {
			times = append(times, b.time)
		}
	}
	return times
}

// Escalation is what follows from the times of all builds that had a subject. A rule without At never escalates.
func (r Rule) Escalation(times []time.Time, now time.Time) Escalation {
	e := Escalation{Threshold: r.At, Days: r.Days}
	days := time.Duration(r.Days) * 24 * time.Hour
	var counted []time.Time
	forget := func(now time.Time) {
		for len(counted) > 0 && !counted[0].After(now.Add(-days)) {
			counted = counted[1:]
			if len(counted) < max(r.Below, 1) {
				e.Escalated = false
			}
		}
	}
	for _, at := range times {
		forget(at)
		counted = append(counted, at)
		if r.At > 0 && len(counted) >= r.At && !e.Escalated {
			e.Escalated, e.Since = true, at
		}
	}
	forget(now)
	e.Count = len(counted)
	if !e.Escalated {
		e.Since = time.Time{}
	}
	return e
}

// Week is the builds of one week that had a subject.
type Week struct {
	Monday time.Time `json:"monday"` // UTC
	Count  int       `json:"count"`
	Builds int       `json:"builds"` // that week's, with or without it
}

// Trend counts the builds of so many weeks, of which the last is the one of now.
func (h *History) Trend(s Subject, weeks int, now time.Time) []Week {
	last := monday(now)
	trend := make([]Week, max(weeks, 0))
	for i := range trend {
		trend[i].Monday = last.AddDate(0, 0, -7*(len(trend)-1-i))
	}
	for _, b := range h.within(0, now) {
		back := int(last.Sub(monday(b.time)).Hours()) / (7 * 24)
		if back >= len(trend) {
			continue
		}
		week := &trend[len(trend)-1-back]
		week.Builds++
		if len(s.of(b)) > 0 {
			week.Count++
		}
	}
	return trend
}

func monday(t time.Time) time.Time {
	t = t.UTC()
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
}

// Seen is a signature, or a group without one, and how often it was there.
type Seen struct {
	Signature string `json:"signature,omitempty"`
	Key       string `json:"key,omitempty"`
	Message   string `json:"message,omitempty"` // of the latest build's example
	Occurrences
}

// Signatures gives all signatures of the time up to now, the most frequent first.
func (h *History) Signatures(window time.Duration, now time.Time) []Seen {
	return h.list(window, now, func(g Group) []Subject {
		var subjects []Subject
		for _, id := range g.Signatures {
			subjects = append(subjects, Subject{Signature: id})
		}
		return subjects
	})
}

// Uncategorised gives the groups that no signature knew, the most frequent first. One that a signature knew in any
// build of that time is categorised.
func (h *History) Uncategorised(window time.Duration, now time.Time) []Seen {
	known := map[string]bool{}
	for _, b := range h.within(window, now) {
		for _, g := range b.groups {
			known[g.Key] = known[g.Key] || len(g.Signatures) > 0
		}
	}
	return h.list(window, now, func(g Group) []Subject {
		if known[g.Key] {
			return nil
		}
		return []Subject{{Key: g.Key}}
	})
}

// list counts all subjects of a time in one pass.
func (h *History) list(window time.Duration, now time.Time, subjects func(Group) []Subject) []Seen {
	seen := map[Subject]*Seen{}
	part := map[Subject]*History{}
	for _, b := range h.within(window, now) {
		in := map[Subject]bool{}
		for _, g := range b.groups {
			for _, s := range subjects(g) {
				if seen[s] == nil {
					seen[s], part[s] = &Seen{Signature: s.Signature, Key: s.Key}, &History{}
				}
				seen[s].Message = cut(g.Example.Message, maximumID)
				if !in[s] {
					in[s] = true
					part[s].builds = append(part[s].builds, b)
				}
			}
		}
	}
	var all []Seen
	for s, of := range seen {
		of.Occurrences = part[s].Occurrences(s, 0, now)
		all = append(all, *of)
	}
	slices.SortFunc(all, func(a, b Seen) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last),
			cmp.Compare(a.Signature, b.Signature), cmp.Compare(a.Key, b.Key))
	})
	return all
}
