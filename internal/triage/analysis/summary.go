package analysis

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"salve/internal/triage"
	"salve/internal/triage/alternative"
	"salve/internal/triage/cause"
	"salve/internal/triage/scenario"
)

// overallConfidence is the lowest of those groups that have the overall verdict.
func overallConfidence(d *triage.Document) triage.Confidence {
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
func summary(d *triage.Document) string {
	var out strings.Builder
	c := d.Counts
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
	fmt.Fprintf(&out, "%d of %d scenarios failed, in %s", c.Failed, c.Scenarios, plural(len(d.Groups)+d.Omitted, "way"))
	if d.Mixed {
		fmt.Fprintf(&out, ": %s", byVerdict(d.Groups))
	}
	for i, g := range worthTelling(d.Groups) {
		switch {
		case len(d.Groups)+d.Omitted == 1:
			out.WriteString(": ")
		case i == 0:
			fmt.Fprintf(&out, ". Of %s: ", plural(g.Failures, "failure"))
		default:
			fmt.Fprintf(&out, ". Of the largest group, %s: ", plural(g.Failures, "failure"))
		}
		out.WriteString(explanation(g))
	}
	out.WriteString(".")
	if d.Aborted != nil {
		fmt.Fprintf(&out, " The run was aborted: %s.", d.Aborted.Text)
	}
	return out.String()
}

// byVerdict counts failures by verdict, the worst first.
func byVerdict(groups []triage.Group) string {
	var parts []string
	for _, verdict := range slices.Backward(triage.Verdicts()) {
		failures := 0
		for i := range groups {
			if groups[i].Verdict == verdict {
				failures += groups[i].Failures
			}
		}
		if failures > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", failures, verdict))
		}
	}
	return strings.Join(parts, ", ")
}

// worthTelling are the first group and the largest one, which may be the same.
func worthTelling(groups []triage.Group) []*triage.Group {
	if len(groups) == 0 {
		return nil
	}
	largest := 0
	for i := range groups {
		if groups[i].Failures > groups[largest].Failures {
			largest = i
		}
	}
	if largest == 0 {
		return []*triage.Group{&groups[0]}
	}
	return []*triage.Group{&groups[0], &groups[largest]}
}

// explanation is a group in one sentence.
func explanation(g *triage.Group) string {
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

// nameless is the build of a run that nobody gave a name: the same results are the same build.
func nameless(run *scenario.Run) string {
	hash := sha256.New()
	for i := range run.Scenarios {
		s := &run.Scenarios[i]
		fmt.Fprintf(hash, "%q %s %d %s\n", s.Name, s.Outcome, s.Attempts, s.Ended)
	}
	return "results-" + hex.EncodeToString(hash.Sum(nil)[:8])
}

// digest is of what was found, without the time: the same input gives the same one.
func (a *analysis) digest(d *triage.Document) string {
	text, err := json.Marshal(struct {
		Counts     triage.Counts
		Groups     []triage.Group
		Heat       []triage.Heat
		Thresholds []triage.Threshold
	}{d.Counts, d.Groups, d.Heat, d.Thresholds})
	if err != nil { // numbers and texts
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
