package decision

import (
	"fmt"
	"slices"
	"strings"

	"salve/internal/triage"
	"salve/internal/triage/alternative"
	"salve/internal/triage/cause"
	"salve/internal/triage/verdict"
)

// overall is the verdict on the run.
func (d *Decision) overall(counts triage.Counts) {
	verdicts := make([]triage.Verdict, len(d.Groups))
	for i := range d.Groups {
		verdicts[i] = d.Groups[i].Verdict
	}
	d.Verdict, d.Mixed = verdict.Overall(verdicts, d.Aborted != nil)
	d.Confidence = d.confidence()
	d.Summary = d.summary(counts)
}

// confidence is the lowest of those groups that have the overall verdict.
func (d *Decision) confidence() triage.Confidence {
	if d.Verdict == triage.Passed {
		return triage.High
	}
	rank := map[triage.Confidence]int{triage.Low: 0, triage.Medium: 1, triage.High: 2}
	lowest := triage.Confidence("")
	for _, g := range d.Groups {
		if g.Verdict == d.Verdict && (lowest == "" || rank[g.Confidence] < rank[lowest]) {
			lowest = g.Confidence
		}
	}
	if lowest == "" { // nothing but an aborted run
		return triage.Low
	}
	return lowest
}

// summary is what a reader takes away who reads no more.
func (d *Decision) summary(c triage.Counts) string {
	var out strings.Builder
	switch {
	case c.Failed == 0 && d.Aborted == nil:
		fmt.Fprintf(&out, "All %d scenarios passed", c.Passed)
		if c.Skipped > 0 {
			fmt.Fprintf(&out, ", %d were skipped", c.Skipped)
		}
		if c.Flaky > 0 {
			fmt.Fprintf(&out, "; %d of them only when tried again", c.Flaky)
		}
		out.WriteString(".")
		return out.String()
	case c.Failed == 0:
		fmt.Fprintf(&out, "No scenario of %d failed, but the run was aborted: %s.", c.Scenarios, d.Aborted.Text)
		return out.String()
	}
	fmt.Fprintf(&out, "%d of %d scenarios failed, in %s", c.Failed, c.Scenarios, plural(len(d.Groups), "way"))
	if d.Mixed {
		fmt.Fprintf(&out, ": %s", d.byVerdict())
	}
	for i, g := range d.worthTelling() {
		switch {
		case len(d.Groups) == 1:
			out.WriteString(": ")
		case i == 0:
			fmt.Fprintf(&out, ". Of %s: ", plural(g.Failures, "failure"))
		default:
			fmt.Fprintf(&out, ". Of the largest group, %s: ", plural(g.Failures, "failure"))
		}
		out.WriteString(g.explanation())
	}
	out.WriteString(".")
	if d.Aborted != nil {
		fmt.Fprintf(&out, " The run was aborted: %s.", d.Aborted.Text)
	}
	return out.String()
}

// byVerdict counts failures by verdict, the worst first.
func (d *Decision) byVerdict() string {
	var parts []string
	for _, verdict := range slices.Backward(triage.Verdicts()) {
		failures := 0
		for i := range d.Groups {
			if d.Groups[i].Verdict == verdict {
				failures += d.Groups[i].Failures
			}
		}
		if failures > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", failures, verdict))
		}
	}
	return strings.Join(parts, ", ")
}

// worthTelling are the first group and the largest one, which may be the same.
func (d *Decision) worthTelling() []*Group {
	if len(d.Groups) == 0 {
		return nil
	}
	largest := 0
	for i := range d.Groups {
		if d.Groups[i].Failures > d.Groups[largest].Failures {
			largest = i
		}
	}
	if largest == 0 {
		return []*Group{&d.Groups[0]}
	}
	return []*Group{&d.Groups[0], &d.Groups[largest]}
}

// explanation is a group in one sentence.
func (g *Group) explanation() string {
	var parts []string
	if len(g.Cause.Candidates) > 0 {
		var names []string
		for _, candidate := range g.Cause.Candidates {
			names = append(names, label(candidate))
		}
		part := fmt.Sprintf("%d of %d go with %s", g.Failures-g.Cause.Unexplained, g.Failures, strings.Join(names, " and "))
		if g.Cause.State != cause.StateFound {
			part += ", which is too little to call it the cause"
		}
		parts = append(parts, part)
	}
	for _, s := range g.Signatures {
		if !s.Expired {
			parts = append(parts, fmt.Sprintf("%d show the signature %s", s.Failures, s.ID))
			break
		}
	}
	switch g.Alternative.State {
	case alternative.Refuted:
		part := "the change didn't do it"
		if g.Alternative.MaxShare != nil {
			part += fmt.Sprintf(" (at most %.0f %% of them)", 100**g.Alternative.MaxShare)
		}
		parts = append(parts, part)
	case alternative.Supported:
		parts = append(parts, "the change may have done it")
	case alternative.Open:
		parts = append(parts, "whether the change did it is open")
	default:
		parts = append(parts, "no change was given to compare with")
	}
	return strings.Join(parts, "; ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
