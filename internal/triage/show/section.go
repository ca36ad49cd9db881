package show

import (
	"fmt"
	"strings"

	"salve/internal/triage"
)

// section is a group's part of a comment. What stays to the last: title, verdict and cause (head), the alternative and
// what would change the verdict (tail).
type section struct {
	head, table, evidence, tail, example, more *part
}

func newSection(at int, g triage.Group) section {
	cut, gone := tally{texts: 1}, tally{groups: 1, failures: g.Failures}
	s := section{
		head: &part{forms: []form{
			{text: sectionHead(at, g, fullText)}, {text: sectionHead(at, g, shortText), left: cut},
			{text: sectionHead(at, g, terseText), left: cut}, {left: gone},
		}},
		tail: &part{forms: []form{
			{text: sectionTail(g, fullText)}, {text: sectionTail(g, shortText)}, {text: sectionTail(g, terseText)}, {},
		}},
	}
	s.table = optional(tables(g), tally{tables: tableCount(g)})
	s.evidence = evidencePart(g.Evidence)
	s.example = optional(exampleBlock(g.Example), tally{examples: 1})
	s.more = moreBlock(g)
	return s
}

func sectionHead(at int, g triage.Group, limit int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "### %d. %s\n\n", at, code(title(g), min(titleText, 3*limit)))
	facts := fmt.Sprintf("%s; %s", size(g), flakiness(g.Flakiness))
	says := string(g.Verdict) + confidence(g.Confidence)
	fmt.Fprintf(&out, "**%s** · %s\n\n", orUnknown(prose(says, cellText)), prose(facts, cellText))
	fmt.Fprintf(&out, "**Cause**: %s\n\n", orUnknown(prose(cause(g.Cause), limit)))
	return out.String()
}

// sectionTail is what follows the evidence.
func sectionTail(g triage.Group, limit int) string {
	var out strings.Builder
	field := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&out, "**%s**: %s\n\n", label, prose(text, limit))
		}
	}
	field("This change?", colon(alternative(g.Alternative), because(g.Alternative)))
	if limit > terseText {
		field("Baseline", colon(string(g.Baseline.Answer), g.Baseline.Text))
		field("Seen", seen(g.Occurrences))
		field("Confidence", strings.Join(g.Reasons, "; "))
	}
	field("Action", g.Action)
	field("Would change the verdict", strings.Join(g.WouldChange, "; "))
	return out.String()
}

func tableCount(g triage.Group) int {
	count := 0
	if len(g.Cause.Candidates) > 0 {
		count++
	}
	if dose(g.Alternative) != nil {
		count++
	}
	return count
}

// tables are the 2×2 behind the cause, and the one behind the alternative.
func tables(g triage.Group) string {
	var out strings.Builder
	if len(g.Cause.Candidates) > 0 {
		out.WriteString("| scenarios | failed | passed | failure rate (95 %) |\n|---|--:|--:|---|\n")
		for i, c := range g.Cause.Candidates {
			others := "all others"
			if i > 0 {
				others = "all others, less what is above"
			}
			row(&out, named(c), c.FailedWith, c.PassedWith, interval(c.RateWith))
			row(&out, others, c.FailedWithout, c.PassedWithout, interval(c.RateWithout))
		}
		out.WriteString("\n")
	}
	if t := dose(g.Alternative); t != nil {
		out.WriteString("| scenarios | failed | passed | difference (95 %) |\n|---|--:|--:|---|\n")
		row(&out, "reach the change", t.FailedReach, t.PassedReach, points(t.Difference))
		row(&out, "do not", t.FailedNoReach, t.PassedNoReach, "")
		out.WriteString("\n")
	}
	return out.String()
}

func row(out *strings.Builder, name string, failed, passed int, rate string) {
	fmt.Fprintf(out, "| %s | %d | %d | %s |\n", prose(name, cellText), failed, passed, rate)
}

// dose is the table of scenarios that reach the change, if there is one.
func dose(a triage.Alternative) *triage.Reached {
	for _, check := range a.Checks {
		if check.Table != nil {
			return check.Table
		}
	}
	return nil
}

// interval is a rate with its interval.
func interval(i triage.Interval) string {
	return fmt.Sprintf("%s (%s to %s)", percent(i.Estimate), percent(i.Lower), percent(i.Upper))
}

// points is a difference of rates in points of a hundred.
func points(i triage.Interval) string {
	return fmt.Sprintf("%s points (%s to %s)", signed(i.Estimate), signed(i.Lower), signed(i.Upper))
}

func signed(share float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f", 100*share), "-", "−", 1)
}

func evidencePart(evidence []triage.Evidence) *part {
	if len(evidence) == 0 {
		return plainly("")
	}
	full, short := min(len(evidence), shownLines), min(len(evidence), shortLines)
	return &part{forms: []form{
		{text: evidenceLines(evidence[:full]), left: tally{evidence: len(evidence) - full}},
		{text: evidenceLines(evidence[:short]), left: tally{evidence: len(evidence) - short}},
		{left: tally{evidence: len(evidence)}},
	}}
}

func evidenceLines(evidence []triage.Evidence) string {
	var out strings.Builder
	out.WriteString("**Evidence**\n\n")
	for _, e := range evidence {
		fmt.Fprintf(&out, "- %s: %s", orUnknown(prose(e.Producer, cellText)), code(e.Text, titleText))
		if at := place(e.File, e.Line); at != "" {
			out.WriteString(" in " + code(at, titleText))
		}
		out.WriteString("\n")
	}
	out.WriteString("\n")
	return out.String()
}

func exampleBlock(e triage.Excerpt) string {
	if strings.TrimSpace(e.Text) == "" {
		return ""
	}
	block := ""
	if at := strings.Join(present(e.Scenario, place(e.File, e.Line)), " in "); at != "" {
		block = code(at, titleText) + "\n\n"
	}
	return folded("Example", block+fence(e.Text, exampleText))
}

// moreBlock is the rest: who shows it, what else seemed to matter, and what can't tell.
func moreBlock(g triage.Group) *part {
	var out strings.Builder
	item := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&out, "- %s: %s\n", label, prose(text, titleText))
		}
	}
	left := tally{}
	for _, s := range limited(g.Signatures, &left.remarks) {
		item("Known as", known(s))
		item("Links", strings.Join(s.Links, " "))
	}
	for _, c := range limited(g.Cause.Explained, &left.remarks) {
		item("Besides", aside(c))
	}
	for _, text := range limited(g.Cause.Unjudged, &left.remarks) {
		item("Can't tell", text)
	}
	for _, check := range limited(g.Alternative.Checks, &left.remarks) {
		item("This change?", colon(strings.Join(present(check.Name, string(check.Stance)), ", "), check.Text))
	}
	item("Where", strings.Join(present(g.Frame, g.Place), ", "))
	item("Key", g.Key)
	names := limited(g.Scenarios, &left.scenarios)
	if len(names) > 0 {
		out.WriteString("\n" + fence(strings.Join(onLines(names), "\n"), exampleText))
	}
	whole := left
	whole.scenarios += len(names)
	return &part{forms: []form{{text: folded("Scenarios and details", out.String()), left: left}, {left: whole}}}
}

// limited are the first of a list; how many others there are is added to left.
func limited[T any](list []T, left *int) []T {
	shown := min(len(list), shownLines)
	*left += len(list) - shown
	return list[:shown]
}

func onLines(names []string) []string {
	lines := make([]string, 0, len(names))
	for _, name := range names {
		lines = append(lines, oneLine(name))
	}
	return lines
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}
