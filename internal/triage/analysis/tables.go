package analysis

import (
	"slices"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/cause"
)

const (
	maxValues  = 40  // of an attribute in the heat table
	maxMoments = 120 // of the timeline
)

// heat counts by values of attributes. Attributes with very many values are not for a table.
func (a *analysis) heat(place []int, groups int) []triage.Heat {
	var out []triage.Heat
	for i, attribute := range a.rows.Attributes {
		if len(attribute.Values) > maxValues+1 {
			continue
		}
		rows := make([]triage.Heat, len(attribute.Values))
		for v := range rows {
			rows[v] = triage.Heat{Attribute: attribute.Name, Value: attribute.Values[v], ByGroup: make([]int, groups)}
		}
		for row, outcome := range a.rows.Outcomes {
			h := &rows[a.rows.Values[i][row]]
			switch {
			case outcome == cause.Passed:
				h.Passed++
			case outcome > 0:
				h.Failed++
				if groups > 0 && place[outcome-1] >= 0 {
					h.ByGroup[place[outcome-1]]++
				}
			}
		}
		rows = slices.DeleteFunc(rows, func(h triage.Heat) bool { return h.Passed+h.Failed == 0 })
		out = append(out, rows...)
	}
	return out
}

// timeline cuts the run's time into parts of equal length, if the results say when scenarios ended.
func (a *analysis) timeline(place []int, groups int) []triage.Moment {
	var begin, end time.Time
	for i := range a.run.Scenarios {
		at := a.run.Scenarios[i].Ended
		if at.IsZero() {
			continue
		}
		if begin.IsZero() || at.Before(begin) {
			begin = at
		}
		if at.After(end) {
			end = at
		}
	}
	if begin.IsZero() || end.Sub(begin) > 30*24*time.Hour {
		return nil
	}
	length := max(time.Second, end.Sub(begin)/maxMoments).Truncate(time.Second)
	moments := make([]triage.Moment, end.Sub(begin)/length+1)
	for i := range moments {
		moments[i] = triage.Moment{Time: begin.Add(time.Duration(i) * length).UTC(), Seconds: int(length / time.Second),
			ByGroup: make([]int, groups)}
	}
	for row := range a.run.Scenarios {
		s := &a.run.Scenarios[row]
		if s.Ended.IsZero() {
			continue
		}
		m := &moments[s.Ended.Sub(begin)/length]
		switch outcome := a.rows.Outcomes[row]; {
		case outcome == cause.Passed:
			m.Passed++
		case outcome > 0:
			m.Failed++
			if at := place[outcome-1]; at >= 0 {
				m.ByGroup[at]++
			}
		}
	}
	return moments
}
