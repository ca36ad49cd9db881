package analysis

import (
	"fmt"
	"slices"

	"salve/internal/triage/cause"
	"salve/internal/triage/change"
	"salve/internal/triage/decision"
	"salve/internal/triage/scenario"
)

// outcome is a group's number in the rows.
func outcome(group int) cause.Outcome { return cause.Outcome(group + 1) }

// ask asks the history and the baseline what the groups' verdicts take. Some more is asked, so that verdicts can be
// made again with other thresholds: what would be asked if no signature decided, and if no place was a cause.
func (a *analysis) ask(o decision.Observed, x *decision.Examined) decision.Past {
	past := decision.Past{
		Now: a.Now.UTC(), History: decision.NoHistory, Hours: a.Thresholds.BaselineHours, Runs: []decision.Answer{},
		Occurrences: []decision.Occurrences{},
	}
	if a.Past != nil {
		past.History = decision.Asked
		if a.Past.identity.Change == "" {
			past.History = decision.ChangeUnknown
		}
		past.Sizes = a.Past.sizes(a.Thresholds)
	}
	for i := range x.Groups {
		a.askOf(&past, o, x, i)
	}
	return past
}

// askOf asks about one group.
func (a *analysis) askOf(past *decision.Past, o decision.Observed, x *decision.Examined, number int) {
	of := &x.Groups[number]
	if a.Past != nil {
		past.Occurrences = append(past.Occurrences, a.occurrences(o, of)...)
	}
	if past.History != decision.Asked && !slices.ContainsFunc(o.Baselines, func(n *int) bool { return n != nil }) {
		return
	}
	questions := []decision.Question{decision.Ask(o, of, a.Thresholds)}
	if questions[0].Signature != "" {
		without := questions[0]
		without.Signature = ""
		questions = append(questions, without)
	}
	for _, q := range questions {
		answer := a.answer(q, number)
		past.Runs = append(past.Runs, answer)
		seen := slices.ContainsFunc(answer.Spans, func(s decision.Span) bool { return s.Failed > 0 })
		if !seen || a.Change == nil {
			continue
		}
		reaching := []decision.Question{decision.AskReaching(q, of)}
		if len(reaching[0].Without) > 0 {
			everywhere := reaching[0]
			everywhere.Without = nil
			reaching = append(reaching, everywhere)
		}
		for _, q := range reaching {
			past.Runs = append(past.Runs, a.answer(q, number))
		}
	}
}

// answer asks one question about a group.
func (a *analysis) answer(q decision.Question, number int) decision.Answer {
	group := &a.run.Groups[number]
	rows := group.Rows
	if q.MayReach {
		rows = a.mayReach(number, q.Without)
	}
	list, names := make([]string, 0, len(rows)), make(map[string]bool, len(rows))
	for _, row := range rows {
		name := a.run.Scenarios[row].Name
		names[name] = true
		list = append(list, name)
	}
	var all []Before
	if a.Past != nil {
		all = a.Past.before(string(group.Key), q.Signature, list, a.Thresholds.Baseline())
	}
	for i, run := range a.without {
		if run == nil {
			continue
		}
		if before, ran := without(run, group, names); ran {
			before.Change = fmt.Sprintf("baseline %d", i+1)
			all = append(all, before)
		}
	}
	runs := make([]decision.Run, len(all))
	for i, before := range all {
		runs[i] = decision.Run{Change: masked(before.Change), Time: before.Time}
		if q.MayReach {
			runs[i].Failed, runs[i].Of = before.FailedAsked, before.Asked
		} else {
			runs[i].Failed, runs[i].Of, runs[i].FailedOtherwise = before.Failed, before.Of, before.Otherwise
		}
	}
	return decision.Answer{Question: q, Spans: decision.Spans(runs, a.Now)}
}

// mayReach are the scenarios that passed, or failed in a group, and may run what the change touches, but for those that
// have one of some values.
func (a *analysis) mayReach(number int, without []string) []int {
	type value struct {
		attribute int
		index     uint32
	}
	var taken []value
	for i, attribute := range a.masked.Attributes {
		for v, name := range attribute.Values {
			label := attribute.Name + "=" + name
			if v == 0 {
				label = "an unknown " + attribute.Name
			}
			if slices.Contains(without, label) {
				taken = append(taken, value{i, uint32(v)})
			}
		}
	}
	var rows []int
	for row, got := range a.rows.Outcomes {
		if got != cause.Passed && got != outcome(number) || a.reached[row] == change.No ||
			slices.ContainsFunc(taken, func(v value) bool { return a.rows.Values[v.attribute][row] == v.index }) {
			continue
		}
		rows = append(rows, row)
	}
	return rows
}

// without is what a run of the baseline shows of a group, if it ran any of the scenarios.
func without(run *scenario.Run, group *scenario.Group, names map[string]bool) (Before, bool) {
	b := Before{Of: run.Counts.Scenarios - run.Counts.Skipped}
	for i := range run.Scenarios {
		s := &run.Scenarios[i]
		same := s.Group >= 0 && run.Groups[s.Group].Key == group.Key
		b.Failed += one(same)
		if names[s.Name] {
			b.Asked++
			b.FailedAsked += one(same)
			b.Otherwise += one(s.Failing() && !same)
		}
	}
	if b.Failed > 0 {
		b.Otherwise = 0
	}
	return b, b.Asked > 0 || b.Failed > 0
}

// occurrences are those by the signature that decides, and by the group's key.
func (a *analysis) occurrences(o decision.Observed, of *decision.ExaminedGroup) []decision.Occurrences {
	key := o.Ways[of.Ways[0]].Key
	ids := []string{""}
	if id := decision.Decisive(o, of, a.Thresholds); id != "" {
		ids = append(ids, id)
	}
	var all []decision.Occurrences
	for _, id := range ids {
		all = append(all, a.Past.occurrences(key, id, o.RuleOf(id, a.Thresholds)))
	}
	return all
}

// one is 1 for what holds.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
