package cause

import (
	"fmt"
	"strings"

	"salve/internal/triage"
)

// States of a cause.
const (
	StateFound     = "found"
	StateUndecided = "undecided"
)

// conclude decides, and says in words what was found.
func (f *finder) conclude(group int, taken []association, to *Found) {
	failures := len(f.failures[group])
	to.State = StateUndecided
	switch {
	case failures < f.thresholds.CauseFailures && len(to.Candidates) > 0:
		to.Text = fmt.Sprintf("%s; too few failures to call it the cause", f.sentence(to, failures))
	case failures < f.thresholds.CauseFailures:
		to.Text = fmt.Sprintf("too few failures to look for a cause: %d of %d needed", failures, f.thresholds.CauseFailures)
	case len(to.Candidates) == 0:
		to.Text = "no value of an attribute fails clearly more often than the others"
		if len(f.rows.Attributes) == 0 {
			to.Text = "the results have no attributes, such as a cluster or a region, to look for a cause in"
		}
	case float64(to.Unexplained) > f.thresholds.Unexplained*float64(failures):
		to.Text = fmt.Sprintf("%s; %d of %d failures stay unexplained", f.sentence(to, failures), to.Unexplained, failures)
	default:
		to.State, to.Text = StateFound, f.sentence(to, failures)
	}
	if len(to.Candidates) < 2 {
		return
	}
	if above := f.coarser(group, taken); above != "" {
		to.Text += fmt.Sprintf(". Together they are all of %s: the cause may be there", above)
	} else {
		to.Text += ". No attribute holds just these together: a cause above them can't be judged"
	}
}

// sentence names the candidates with their numbers.
func (f *finder) sentence(to *Found, failures int) string {
	var parts []string
	for _, c := range to.Candidates {
		parts = append(parts, describe(c))
	}
	return fmt.Sprintf("%d of %d failures go with %s", failures-to.Unexplained, failures,
		strings.Join(parts, ", and of what is left "))
}

func describe(c triage.Candidate) string {
	name := c.Attribute + "=" + c.Value
	if c.Value == "" {
		name = "an unknown " + c.Attribute
	}
	if len(c.Aliases) > 0 {
		name += fmt.Sprintf(" (= %s: can't be told apart in this run)", strings.Join(c.Aliases, ", "))
	}
	return fmt.Sprintf("%s (%d of %d fail, %.1f %%, against %d of %d, %.1f %%)", name,
		c.FailedWith, c.FailedWith+c.PassedWith, 100*c.RateWith.Estimate,
		c.FailedWithout, c.FailedWithout+c.PassedWithout, 100*c.RateWithout.Estimate)
}
