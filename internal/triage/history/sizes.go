package history

import "time"

// Sizes are how many scenarios the runs of one job had, of builds of the time up to now but for the one in hand. Job is
// the run's name in a build, which may be empty.
func (h *History) Sizes(job, build string, window time.Duration, now time.Time) []int {
	var sizes []int
	for id, l := range h.runs {
		at := l.Entry.Time
		if id.run == job && id.build != build && !at.After(now.Add(Skew)) && at.After(now.Add(-window)) {
			sizes = append(sizes, l.Entry.Totals.Scenarios)
		}
	}
	return sizes
}
