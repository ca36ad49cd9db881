package analysis

import (
	"context"
	"fmt"

	"salve/internal/triage"
	"salve/internal/triage/scenario"
)

// readBaseline reads the runs without the change. One that can't be read is a problem of the document, and none of the
// triage's.
func (a *analysis) readBaseline(ctx context.Context) error {
	for _, path := range a.Baseline {
		run, problems, err := a.read(ctx, path)
		if err != nil {
			return err
		}
		for _, problem := range problems {
			a.problems = append(a.problems, "baseline: "+problem)
		}
		if len(run.Scenarios) == 0 {
			if len(problems) == 0 {
				a.problems = append(a.problems, fmt.Sprintf("baseline: %s: %v", path, ErrNothing))
			}
			continue
		}
		a.without = append(a.without, run)
	}
	return nil
}

// prior is what runs of other changes show of a group, on scenarios among these rows: those of the history, and those
// of the baseline. Only a signature that decides stands for the group, and of few failures one in their own texts:
// what they share with others beside that says nothing of why they failed.
func (a *analysis) prior(group *scenario.Group, decisive *triage.Signature, rows []int) (Prior, error) {
	var prior Prior
	names := make(map[string]bool, len(rows))
	list := make([]string, 0, len(rows))
	for _, row := range rows {
		name := a.run.Scenarios[row].Name
		names[name] = true
		list = append(list, name)
	}
	var ids []string
	if decisive != nil && (len(group.Rows) >= a.Thresholds.SmallCauseFailures || a.inText(decisive.ID, group)) {
		ids = []string{decisive.ID}
	}
	if a.Past != nil {
		var err error
		if prior, err = a.Past.Before(string(group.Key), ids, list, a.Thresholds.Baseline()); err != nil {
			return prior, fmt.Errorf("asking the history: %w", err)
		}
	}
	for i, run := range a.without {
		prior.add(run, fmt.Sprintf("baseline %d", i+1), group, names)
	}
	return prior, nil
}

// add counts one run of the baseline.
func (p *Prior) add(run *scenario.Run, change string, group *scenario.Group, names map[string]bool) {
	rate := Rate{Change: change, Of: run.Counts.Scenarios - run.Counts.Skipped}
	other := 0
	for i := range run.Scenarios {
		s := &run.Scenarios[i]
		same := s.Group >= 0 && run.Groups[s.Group].Key == group.Key
		rate.Failed += one(same)
		if names[s.Name] {
			rate.Asked++
			rate.FailedAsked += one(same)
			other += one(s.Failing() && !same)
		}
	}
	if rate.Asked == 0 && rate.Failed == 0 {
		return
	}
	p.Runs++
	p.Rates = append(p.Rates, rate)
	if rate.Failed > 0 {
		p.Seen++
	} else if other > 0 {
		p.Else++
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// baseline answers whether the group was there without the change.
func (a *analysis) baseline(p Prior) triage.BaselineSays {
	b := triage.BaselineSays{Seen: p.Seen, Runs: p.Runs}
	within := fmt.Sprintf("%d h", a.Thresholds.BaselineHours)
	switch {
	case p.Seen > 0:
		b.Answer = triage.PreExisting
		b.Text = fmt.Sprintf("the same failure was in %d of %d runs of other changes within %s", p.Seen, p.Runs, within)
	case p.Else > 0:
		b.Answer = triage.PreExistingElse
		b.Text = fmt.Sprintf("in %d of %d runs of other changes within %s its scenarios failed in another way", p.Else,
			p.Runs, within)
	case p.Runs >= a.Thresholds.BaselineUnseen:
		b.Answer = triage.NewFailure
		b.Text = fmt.Sprintf("none of %d runs of other changes within %s failed so", p.Runs, within)
	default:
		b.Answer = triage.NotEnoughHistory
		b.Text = fmt.Sprintf("%d runs of other changes within %s are known, of %d needed to call it new", p.Runs, within,
			a.Thresholds.BaselineUnseen)
	}
	return b
}

// occurrences are of the signature that decides, or else of the group.
func (a *analysis) occurrences(g triage.Group) (*triage.Occurrences, error) {
	if a.Past == nil {
		return nil, nil //nolint:nilnil // without a history nothing was counted
	}
	limit := Escalation{a.Thresholds.EscalateAt, a.Thresholds.EscalateDays, a.Thresholds.CalmBelow}
	id, owner := "", ""
	if decisive := a.decisive(g); decisive != nil {
		id, owner = decisive.ID, decisive.Owner
		if s := a.Catalogue.Signature(id); s != nil && s.Escalation.Count > 0 {
			limit.Count, limit.Days = s.Escalation.Count, s.Escalation.Days
			limit.Calm = min(limit.Calm, limit.Count-1)
		}
	}
	o, err := a.Past.Occurrences(g.Key, id, limit)
	if err != nil {
		return nil, fmt.Errorf("counting occurrences: %w", err)
	}
	o.Owner = owner
	return &o, nil
}

// aborted says that the run didn't get to its end: scenarios without a result, or fewer than without the change.
func (a *analysis) aborted() *triage.Aborted {
	if a.run.Aborted != nil {
		return a.run.Aborted
	}
	expected := 0
	for _, run := range a.without {
		expected = max(expected, run.Counts.Scenarios)
	}
	without := "without the change"
	if recorded, ok := a.Past.(*Recorded); ok && expected == 0 {
		expected, without = recorded.usual(a.Thresholds), "at least in earlier runs of the job"
	}
	found := a.run.Counts.Scenarios
	if float64(found) >= a.Thresholds.AbortedShare*float64(expected) {
		return nil
	}
	return &triage.Aborted{
		Reason: "fewer-scenarios", Expected: expected, Found: found,
		Text: fmt.Sprintf("%s with a result, where %d had one %s", plural(found, "scenario"), expected, without),
	}
}
