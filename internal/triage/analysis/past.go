package analysis

import (
	"fmt"
	"slices"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/decision"
	"salve/internal/triage/grouping"
	"salve/internal/triage/history"
	"salve/internal/triage/scenario"
)

// Before is what one run of another change shows of a group: of all scenarios, and of those that were asked for.
type Before struct {
	Change             string
	Time               time.Time // zero: of a baseline
	Failed, Of         int
	FailedAsked, Asked int
	Otherwise          int // of those asked for, in a run without the group
}

// Identity says which run of CI this is.
type Identity struct {
	Build  string // counted once, however often it is triaged
	Run    string // one of several of a build
	Change string // a pull request or a revision; empty if nobody knows
	Time   time.Time
}

// Recorded answers what earlier runs show, by a recorded history.
type Recorded struct {
	history  *history.History
	identity Identity
	now      time.Time
	entry    *history.Entry
}

// Record puts a run in hand to a history.
func Record(h *history.History, identity Identity, now time.Time) *Recorded {
	return &Recorded{history: h, identity: identity, now: now}
}

// Grouping is how histories of other versions are grouped again.
func Grouping() history.Grouping {
	return history.Grouping{
		Version: fmt.Sprintf("g%d", grouping.Version),
		Key: func(e history.Example) string {
			return string(grouping.Identify(grouping.Failure{
				Type: e.Type, Message: e.Message, Text: e.Text, File: e.File, Line: e.Line,
			}).Key)
		},
	}
}

// Entry is the run in hand as it is recorded; nil before it was analyzed.
func (r *Recorded) Entry() *history.Entry { return r.entry }

// include makes the run in hand count.
func (r *Recorded) include(e history.Entry) error {
	with, err := r.history.With(e)
	if err != nil {
		return err
	}
	r.history, r.entry, r.identity.Build = with, &e, e.Build
	return nil
}

// before are the runs of other changes within the time that ran one of the scenarios, or show the group, by time.
func (r *Recorded) before(key, signature string, scenarios []string, within time.Duration) []Before {
	b := r.history.Baseline(history.Question{
		Subject: history.Subject{Key: key, Signature: signature}, Scenarios: scenarios, Change: r.identity.Change,
		Build: r.identity.Build, Since: within,
	}, r.now)
	var runs []Before
	for _, rate := range b.Rates {
		runs = append(runs, Before{
			Change: rate.Change, Time: rate.Time, Failed: rate.Failures, Of: rate.Scenarios, FailedAsked: rate.FailedAsked,
			Asked: rate.Asked, Otherwise: rate.Otherwise,
		})
	}
	return runs
}

// occurrences are the runs with a signature, or with a group, this one included.
func (r *Recorded) occurrences(key, signature string, rule decision.Rule) decision.Occurrences {
	s := history.Subject{Key: key, Signature: signature}
	e := r.history.Escalation(s, history.Rule{At: rule.Count, Days: rule.Days, Below: rule.Calm}, r.now)
	o := decision.Occurrences{
		Key: key, Signature: signature, Rule: rule, Count: e.Count, Escalated: e.Escalated,
		First: r.history.Occurrences(s, 0, r.now).First.UTC(),
	}
	if times := r.history.Times(s, r.now); len(times) <= decision.MaxTimes {
		o.Times = []time.Time{}
		for _, at := range times {
			o.Times = append(o.Times, at.UTC())
		}
	}
	return o
}

// sizes are how many scenarios runs of the same job had of late.
func (r *Recorded) sizes(t triage.Thresholds) *decision.Sizes {
	found := r.history.Sizes(r.identity.Run, r.identity.Build, time.Duration(t.EscalateDays)*24*time.Hour, r.now)
	sizes := &decision.Sizes{Days: t.EscalateDays, Runs: len(found)}
	if len(found) > 0 {
		sizes.Fewest = slices.Min(found)
	}
	return sizes
}

// entry is the run as the history keeps it.
func (a *analysis) entry(identity Identity, r *Result) history.Entry {
	c := a.run.Counts
	e := history.Entry{
		Build: identity.Build, Run: identity.Run, Change: identity.Change, Time: a.time(identity),
		Totals: history.Totals{
			Scenarios: c.Scenarios, Tests: c.Tests, Passed: c.Passed, Failed: c.Failed, Skipped: c.Skipped,
		},
		Ran: history.SetOf(a.ran()),
	}
	for _, h := range a.heat(nil, 0) {
		e.Attributes = append(e.Attributes, history.Value{
			Attribute: h.Attribute, Value: h.Value, Passed: h.Passed, Failed: h.Failed,
		})
	}
	for i := range a.run.Groups {
		e.Groups = append(e.Groups, a.recorded(&a.run.Groups[i], r.Evidence.Observed.Shown(r.Examined.Groups[i].Ways)))
	}
	return e
}

// time is when the run began: what CI says, else what the results say, else now.
func (a *analysis) time(identity Identity) time.Time {
	began := identity.Time
	if began.IsZero() {
		for i := range a.run.Scenarios {
			ended := a.run.Scenarios[i].Ended
			if !ended.IsZero() && (began.IsZero() || ended.Before(began)) {
				began = ended
			}
		}
	}
	if began.IsZero() {
		return a.Now
	}
	return began
}

func (a *analysis) ran() []string {
	var names []string
	for i := range a.run.Scenarios {
		if s := &a.run.Scenarios[i]; s.Outcome != "skip" {
			names = append(names, s.Name)
		}
	}
	return names
}

func (a *analysis) recorded(group *scenario.Group, shown []triage.Signature) history.Group {
	g := history.Group{
		Key: string(group.Key), Failures: len(group.Rows), Tests: a.tests(group), Names: a.names(group, 5),
		Scenarios: history.SetOf(a.names(group, len(group.Rows))),
		Example: history.Example{
			Type: group.Failure.Type, Message: masked(group.Failure.Message), Text: masked(group.Failure.Text),
			File: group.Failure.File, Line: group.Failure.Line,
		},
	}
	for _, s := range shown {
		if float64(s.Failures) >= a.Thresholds.KnownCoverage*float64(len(group.Rows)) {
			g.Signatures = append(g.Signatures, s.ID)
		}
	}
	return g
}
