package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"salve/internal/triage"
	"salve/internal/triage/grouping"
	"salve/internal/triage/results"
)

// Collector takes cases in the order in which they were read. The zero value is ready.
type Collector struct {
	rows   []row
	byName map[identity]int
	groups map[grouping.Key]int
	list   []Group
	tests  map[string]int
	names  []string
	logs   []results.Case
	notes  []string
	lost   []string // scenarios without a result
	broken []*results.Problem

	files    []string // of results, in the order in which they were read
	contents map[string]*contents
}

// row is a scenario that may have more attempts.
type row struct {
	Scenario
	identity  identity
	groupsOf  []int // of each attempt that failed
	log, pack bool
	gone      bool // a sum of others, or a repetition of another file
}

const excerptLimit = 4 << 10

// Add takes one case. Of its texts nothing is kept but an example for each group.
func (c *Collector) Add(one results.Case) {
	if c.byName == nil {
		c.byName, c.groups, c.tests = map[identity]int{}, map[grouping.Key]int{}, map[string]int{}
	}
	if one.Log {
		c.logs = append(c.logs, one)
		return
	}
	c.digest(one)
	c.add(one)
}

func (c *Collector) add(one results.Case) {
	id := identify(one)
	at, known := c.byName[id]
	if !known {
		at = len(c.rows)
		c.byName[id] = at
		c.rows = append(c.rows, row{identity: id, log: one.Log, pack: one.Name == ""})
		c.rows[at].Name, c.rows[at].Group = label(one), -1
		c.rows[at].Test = c.test(test(one))
	}
	r := &c.rows[at]
	r.Attempts++
	for i := range r.Observations {
		r.Observations[i].Last = false
	}
	if one.Observation != nil {
		r.Observations = append(r.Observations, Observed{one.Observation, one.Origin.File, true})
	}
	r.Outcome, r.Ended, r.Origin = one.Outcome, one.Ended, one.Origin
	r.Attributes, r.File, r.Line = one.Attributes, source(one), one.Line
	r.Group, r.Message, r.Unfinished = -1, "", one.Unfinished
	if one.Unfinished {
		c.lost = append(c.lost, r.Name)
	}
	if one.Outcome.Failed() {
		r.Failed++
		r.Message = one.Message
		r.Group = c.group(one)
		r.groupsOf = append(r.groupsOf, r.Group)
	}
}

func (c *Collector) test(name string) int {
	id, known := c.tests[name]
	if !known {
		id = len(c.names)
		c.tests[name] = id
		c.names = append(c.names, name)
	}
	return id
}

// group puts a failure with those that look like it.
func (c *Collector) group(one results.Case) int {
	failure := grouping.Failure{
		Type: one.Type, Message: one.Message, Text: one.Failure.String(), File: one.File, Line: one.Line,
	}
	if failure.Message == "" && failure.Text == "" {
		failure.Text = one.Output.Tail
		if failure.Text == "" {
			failure.Text = one.Output.Head
		}
	}
	identity := grouping.Identify(failure)
	at, known := c.groups[identity.Key]
	if !known {
		at = len(c.list)
		c.groups[identity.Key] = at
		failure.Text = clip(failure.Text, excerptLimit)
		c.list = append(c.list, Group{Identity: identity, Failure: failure, Example: excerpt(one)})
	}
	return at
}

// excerpt is what a reader wants to see first.
func excerpt(one results.Case) triage.Excerpt {
	text := one.Failure.String()
	if strings.TrimSpace(text) == "" {
		text = one.Message
	}
	if strings.TrimSpace(text) == "" {
		text = one.Output.Tail
	}
	if strings.TrimSpace(text) == "" {
		text = one.Output.Head
	}
	return triage.Excerpt{
		Scenario: label(one), Text: clip(text, excerptLimit), File: one.Origin.File, Line: one.Origin.Line,
	}
}

// clip is the beginning of a text, in whole characters.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}

// Break takes what is wrong with a file that was read: results that break off are of a run that did.
func (c *Collector) Break(err error) {
	var problem *results.Problem
	if errors.As(err, &problem) {
		c.broken = append(c.broken, problem)
	}
}

// Finish gives the run.
func (c *Collector) Finish() *Run {
	run := &Run{Notes: c.notes}
	c.takeLogs(run)
	c.dropCopies(run)
	c.dropRepeated(run)
	c.dropParents()
	number := map[int]int{} // groups that a scenario failed in at last, in a new order
	for i := range c.rows {
		if r := &c.rows[i]; !r.gone {
			c.finishRow(run, r)
		}
	}
	run.Groups = slices.Clone(c.list)
	for i := range run.Scenarios {
		if g := run.Scenarios[i].Group; g >= 0 {
			run.Groups[g].Rows = append(run.Groups[g].Rows, i)
		}
	}
	order := make([]int, 0, len(run.Groups))
	for i, g := range run.Groups {
		if len(g.Rows) > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(x, y int) int {
		if d := len(run.Groups[y].Rows) - len(run.Groups[x].Rows); d != 0 {
			return d
		}
		return strings.Compare(string(run.Groups[x].Key), string(run.Groups[y].Key))
	})
	sorted := make([]Group, len(order))
	for to, from := range order {
		sorted[to], number[from] = run.Groups[from], to
	}
	run.Groups = sorted
	for i := range run.Scenarios {
		if g := run.Scenarios[i].Group; g >= 0 {
			run.Scenarios[i].Group = number[g]
		}
	}
	c.finish(run)
	return run
}

func (c *Collector) finishRow(run *Run, r *row) {
	counts := &run.Counts
	counts.Scenarios++
	switch {
	case r.Outcome == results.Pass:
		counts.Passed++
		if r.Failed > 0 {
			counts.Flaky++
		}
		for _, g := range compact(r.groupsOf) {
			c.list[g].Recovered++
		}
	case r.Outcome == results.Skip:
		counts.Skipped++
	default:
		counts.Failed++
		if same := compact(r.groupsOf); len(same) == 1 && r.Failed == r.Attempts {
			c.list[same[0]].Insisted = max(c.list[same[0]].Insisted, r.Attempts)
		}
	}
	run.Scenarios = append(run.Scenarios, r.Scenario)
}

func compact(groups []int) []int {
	return slices.Compact(slices.Sorted(slices.Values(groups)))
}

// finish numbers the tests that are left, and says what did not get to its end.
func (c *Collector) finish(run *Run) {
	number := map[int]int{}
	for i := range run.Scenarios {
		s := &run.Scenarios[i]
		to, known := number[s.Test]
		if !known {
			to = len(run.Tests)
			number[s.Test] = to
			run.Tests = append(run.Tests, strings.ReplaceAll(c.names[s.Test], "\x00", " "))
		}
		s.Test = to
	}
	run.Counts.Tests = len(run.Tests)
	run.Aborted = c.aborted(run)
}

// aborted says that the run ended before its time, if the results show it.
func (c *Collector) aborted(run *Run) *triage.Aborted {
	if len(c.lost) > 0 {
		return &triage.Aborted{Reason: "unfinished", Found: run.Counts.Scenarios,
			Text: fmt.Sprintf("what ran them ended before %s had a result (%s)", scenarios(len(c.lost)), some(c.lost))}
	}
	for _, problem := range c.broken {
		var missing *results.MissingCases
		if errors.As(problem, &missing) {
			return &triage.Aborted{Reason: "fewer-scenarios", Expected: missing.Declared, Found: missing.Found,
				Text: fmt.Sprintf("scenarios are missing in the results: %s", problem)}
		}
		if slices.ContainsFunc(run.Scenarios, func(s Scenario) bool { return s.Origin.File == problem.File }) {
			return &triage.Aborted{Reason: "crash", Found: run.Counts.Scenarios,
				Text: fmt.Sprintf("the results break off: %s", problem)}
		}
	}
	return nil
}

func scenarios(n int) string {
	if n == 1 {
		return "1 scenario"
	}
	return fmt.Sprintf("%d scenarios", n)
}

func some(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
