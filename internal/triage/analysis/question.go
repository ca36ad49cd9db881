package analysis

import (
	"slices"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/alternative"
	"salve/internal/triage/cause"
	"salve/internal/triage/change"
	"salve/internal/triage/scenario"
	"salve/internal/triage/verdict"
)

// decisive is the signature on which a verdict on the group may rest; nil for none.
func (a *analysis) decisive(g triage.Group) *triage.Signature {
	return verdict.Decisive(g.Signatures, g.Failures, a.run.Counts.Passed, a.Thresholds)
}

// question counts what the alternative asks for.
func (a *analysis) question(
	group *scenario.Group, found *cause.Found, prior Prior, decisive *triage.Signature,
) (alternative.Question, error) {
	q := alternative.Question{
		Changed: a.Change != nil && len(a.Change.Files) > 0, Subject: a.subject(),
		Classes:     make([]alternative.Stratum, len(found.Candidates)),
		Environment: environment(found.Cause) && a.explained(group, found),
		Unfinished:  !slices.ContainsFunc(group.Rows, func(row int) bool { return !a.run.Scenarios[row].Unfinished }),
		Runs:        prior.Runs, Seen: prior.Seen,
		FirstFailure: a.firstFailure(group), FirstElsewhere: prior.First, ChangedAt: a.ChangedAt,
	}
	if !q.Changed {
		return q, nil
	}
	for i, c := range found.Candidates {
		q.Classes[i].Label = label(c)
	}
	number, located := a.outcome(group), environment(found.Cause)
	var reaching []int
	for row, outcome := range a.rows.Outcomes {
		if outcome != cause.Passed && outcome != number {
			continue
		}
		stratum := &q.Outside
		class := found.Of(row)
		if class >= 0 {
			stratum = &q.Classes[class]
		}
		if a.reached[row] != change.No && (class < 0 || !located) {
			reaching = append(reaching, row)
		}
		stratum.Add(string(a.reached[row]), outcome != cause.Passed)
		if s := &a.run.Scenarios[row]; outcome != cause.Passed && a.touches(s.File) {
			q.InPaths++
			q.Place = s.Place()
		}
	}
	q.Confined = a.confined(group)
	return q, a.compare(&q, group, prior, decisive, reaching)
}

func (a *analysis) explained(group *scenario.Group, found *cause.Found) bool {
	failures := len(group.Rows)
	return float64(failures-found.Unexplained) >= a.Thresholds.KnownCoverage*float64(failures)
}

// compare sets this run's rates beside those of other changes.
func (a *analysis) compare(
	q *alternative.Question, group *scenario.Group, prior Prior, decisive *triage.Signature, reaching []int,
) error {
	q.Whole.Here = alternative.Rate{Failed: len(group.Rows), Of: a.run.Counts.Scenarios - a.run.Counts.Skipped}
	for _, rate := range prior.Rates {
		q.Whole.Others = append(q.Whole.Others, alternative.Rate{Change: rate.Change, Failed: rate.Failed, Of: rate.Of})
	}
	number := a.outcome(group)
	for _, row := range reaching {
		q.Reaching.Here.Failed += one(a.rows.Outcomes[row] == number)
	}
	q.Reaching.Here.Of = len(reaching)
	if q.Reaching.Here.Failed == 0 || prior.Seen == 0 {
		return nil
	}
	among, err := a.prior(group, decisive, reaching)
	if err != nil {
		return err
	}
	for _, rate := range among.Rates {
		q.Reaching.Others = append(q.Reaching.Others,
			alternative.Rate{Change: rate.Change, Failed: rate.FailedAsked, Of: rate.Asked})
	}
	return nil
}

// confined is the place where nearly all of a group's failures ran, of which that is known, and hardly any scenario
// that doesn't run through the change passed; empty for none.
func (a *analysis) confined(group *scenario.Group) string {
	for i, attribute := range a.rows.Attributes {
		if !surroundings(attribute.Name) {
			continue
		}
		failed := map[uint32]int{}
		most, known := uint32(0), 0
		for _, row := range group.Rows {
			value := a.rows.Values[i][row]
			if value == 0 {
				continue // it may have run there as well
			}
			known++
			if failed[value]++; failed[value] > failed[most] {
				most = value
			}
		}
		if most == 0 || float64(failed[most]) < a.Thresholds.KnownCoverage*float64(known) {
			continue
		}
		spared := 0
		for row, outcome := range a.rows.Outcomes {
			spared += one(outcome == cause.Passed && a.rows.Values[i][row] == most && a.reached[row] == change.No)
		}
		if spared < a.Thresholds.EligibleRows {
			return attribute.Name + "=" + attribute.Values[most]
		}
	}
	return ""
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
