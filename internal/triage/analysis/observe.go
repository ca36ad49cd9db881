package analysis

import (
	"cmp"
	"slices"
	"time"

	"salve/internal/triage/catalogue"
	"salve/internal/triage/change"
	"salve/internal/triage/decision"
	"salve/internal/triage/results"
	"salve/internal/triage/scenario"
)

// observe makes evidence of what was read, without credentials.
func (a *analysis) observe() decision.Observed {
	o := decision.Observed{
		Counts: a.run.Counts, Aborted: a.run.Aborted, Baselines: make([]*int, len(a.without)),
		Ways: make([]decision.Way, len(a.run.Groups)),
	}
	if o.Aborted != nil {
		aborted := *o.Aborted
		aborted.Text = masked(aborted.Text)
		o.Aborted = &aborted
	}
	for i, run := range a.without {
		if run != nil {
			o.Baselines[i] = &run.Counts.Scenarios
		}
	}
	if a.Change != nil {
		o.Change = &decision.Change{Files: len(a.Change.Files), Components: []string{}, At: whenever(a.ChangedAt)}
		for _, component := range a.touched {
			o.Change.Components = append(o.Change.Components, masked(component.Name))
		}
	}
	signatures, number := a.signatures()
	o.Signatures = signatures
	for i := range a.run.Groups {
		o.Ways[i] = a.way(&a.run.Groups[i], number)
	}
	if len(o.Ways) > 0 {
		o.Scenarios = decision.Count(a.masked, a.reaches(), a.Thresholds)
	} else {
		o.Omitted = "no scenario failed"
	}
	return o
}

// whenever is a time that may not be known.
func whenever(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}

// reaches says of each scenario whether it runs what the change touches; nil if nobody knows of any.
func (a *analysis) reaches() []decision.Reach {
	if a.Change == nil || a.Map == nil {
		return nil
	}
	reaches := make([]decision.Reach, len(a.reached))
	for row, reach := range a.reached {
		switch reach {
		case change.Yes:
			reaches[row] = decision.Yes
		case change.No:
			reaches[row] = decision.No
		default:
			reaches[row] = decision.Unknown
		}
	}
	return reaches
}

// signatures are those that failing scenarios show, by ID, with their positions.
func (a *analysis) signatures() ([]decision.Signature, map[*catalogue.Signature]int) {
	expired := map[*catalogue.Signature]bool{}
	for i := range a.run.Groups {
		for _, row := range a.run.Groups[i].Rows {
			for _, hit := range each(a.shown[row]) {
				expired[hit.Signature] = hit.Expired
			}
		}
	}
	known := make([]*catalogue.Signature, 0, len(expired))
	for s := range expired {
		known = append(known, s)
	}
	slices.SortFunc(known, func(x, y *catalogue.Signature) int { return cmp.Compare(x.ID, y.ID) })
	passing := a.passing()
	list, number, ids := []decision.Signature{}, map[*catalogue.Signature]int{}, map[string]bool{}
	for i, s := range known {
		number[s] = i
		of := decision.Signature{
			ID: apart(masked(s.ID), ids), Title: masked(s.Title), Class: string(s.Class), Owner: masked(s.Owner),
			Links: maskedAll(s.Links), Action: masked(s.Action), Expired: expired[s], Passing: passing[s],
			Producers: []string{},
		}
		if !s.ValidUntil.IsZero() {
			of.ValidUntil = s.ValidUntil.Format(time.DateOnly)
		}
		if s.Escalation.Count > 0 {
			of.Escalation = &decision.Escalation{Count: s.Escalation.Count, Days: s.Escalation.Days}
		}
		for _, hit := range a.loose {
			if hit.Signature == s {
				of.Producers = producer(of.Producers, hit)
			}
		}
		list = append(list, of)
	}
	return list, number
}

// producer adds that of a hit, if the hit is evidence.
func producer(list []string, hit catalogue.Hit) []string {
	if name := masked(hit.Producer); hit.Decides() && hit.Text != "" && !slices.Contains(list, name) {
		return append(list, name)
	}
	return list
}

// passing is how many scenarios pass and show each signature.
func (a *analysis) passing() map[*catalogue.Signature]int {
	passing := map[*catalogue.Signature]int{}
	for row := range a.run.Scenarios {
		if a.run.Scenarios[row].Outcome != results.Pass {
			continue
		}
		seen := map[*catalogue.Signature]bool{}
		for _, hit := range a.shown[row] {
			if hit.Decides() && !seen[hit.Signature] {
				seen[hit.Signature] = true
				passing[hit.Signature]++
			}
		}
	}
	return passing
}

// way is one way of failing.
func (a *analysis) way(group *scenario.Group, number map[*catalogue.Signature]int) decision.Way {
	w := decision.Way{
		Key: string(group.Key), Message: maskedPart(group.Message, group), Failures: len(group.Rows),
		Scenario: masked(group.Example.Scenario), Place: maskedPart(group.Place, group),
		First:     whenever(a.firstFailure(group)),
		Recovered: group.Recovered, Insisted: group.Insisted,
		Producers: []string{catalogue.DefaultProducer}, Shows: []decision.Shows{},
	}
	failures, texts := map[int]int{}, map[int]int{}
	for _, row := range group.Rows {
		s := &a.run.Scenarios[row]
		w.Finished += one(!s.Unfinished)
		if a.Change != nil && a.touches(s.File) {
			w.Touched++
			w.TouchedAt = maskedPart(s.Place(), group)
		}
		for _, hit := range each(a.shown[row]) {
			at := number[hit.Signature]
			failures[at]++
			texts[at] += one(a.inText(hit.Signature, row))
		}
		for _, hit := range a.shown[row] {
			w.Producers = producer(w.Producers, hit)
		}
	}
	for at, n := range failures {
		w.Shows = append(w.Shows, decision.Shows{Signature: at, Failures: n, InText: texts[at]})
	}
	slices.SortFunc(w.Shows, func(x, y decision.Shows) int { return cmp.Compare(x.Signature, y.Signature) })
	return w
}

// inText says whether a failure shows a signature in its own text.
func (a *analysis) inText(s *catalogue.Signature, row int) bool {
	return slices.ContainsFunc(a.shown[row], func(h catalogue.Hit) bool {
		return h.Signature == s && h.Decides() && h.Producer == catalogue.DefaultProducer &&
			h.First.File == a.run.Scenarios[row].Origin.File
	})
}

// firstFailure is when the failure was first seen in this run.
func (a *analysis) firstFailure(group *scenario.Group) time.Time {
	var earliest time.Time
	for _, row := range group.Rows {
		if ended := a.run.Scenarios[row].Ended; !ended.IsZero() && (earliest.IsZero() || ended.Before(earliest)) {
			earliest = ended
		}
	}
	return earliest
}

// unite puts the groups of the run together as they were examined.
func (a *analysis) unite(x *decision.Examined) {
	united := make([]scenario.Group, len(x.Groups))
	for i, g := range x.Groups {
		united[i] = a.run.Groups[g.Ways[0]]
		for _, way := range g.Ways[1:] {
			other := &a.run.Groups[way]
			united[i].Rows = append(slices.Clip(united[i].Rows), other.Rows...)
			united[i].Recovered += other.Recovered
			united[i].Insisted = max(united[i].Insisted, other.Insisted)
		}
		slices.Sort(united[i].Rows)
	}
	a.run.Groups = united
	for i := range united {
		for _, row := range united[i].Rows {
			a.run.Scenarios[row].Group = i
			a.rows.Outcomes[row] = outcome(i)
		}
	}
}
