package analysis

import (
	"fmt"
	"slices"
	"time"

	"salve/internal/redact"
	"salve/internal/triage"
	"salve/internal/triage/grouping"
	"salve/internal/triage/history"
	"salve/internal/triage/scenario"
)

// Past answers what earlier runs show. Nil: there is no history.
type Past interface {
	// Before says how often other changes failed so within the time, on scenarios among these.
	Before(key string, signatures, scenarios []string, within time.Duration) (Prior, error)
	// Occurrences are the runs with a signature, or with a group, this one included.
	Occurrences(key, signature string, threshold Escalation) (triage.Occurrences, error)
}

// Prior is what runs of other changes show about one group.
type Prior struct {
	Runs  int       // of other changes, that ran its scenarios
	Seen  int       // other changes with the same failure
	Else  int       // runs in which its scenarios failed in another way
	First time.Time // of those with the same failure; zero for none
	Rates []Rate    // of each of the runs, by time
}

// Rate is how many scenarios of a run of another change failed so: of all that ran, and of those that were asked for.
type Rate struct {
	Change             string
	Failed, Of         int
	FailedAsked, Asked int
}

// Escalation is from how many occurrences in how many days somebody must be told, and below how many no longer.
type Escalation struct{ Count, Days, Calm int }

// Identity says which run of CI this is.
type Identity struct {
	Build  string // counted once, however often it is triaged
	Run    string // one of several of a build
	Change string // a pull request or a revision; empty if nobody knows
	Time   time.Time
}

// Recorded is a [Past] of a recorded history.
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

// Before implements [Past].
func (r *Recorded) Before(key string, signatures, scenarios []string, within time.Duration) (Prior, error) {
	b := r.history.Baseline(history.Question{
		Subject: subject(key, signatures), Scenarios: scenarios, Change: r.identity.Change, Build: r.identity.Build,
		Since: within,
	}, r.now)
	prior := Prior{Runs: b.Runs, Seen: b.SeenChanges, Else: b.OtherRuns, First: b.First}
	for _, rate := range b.Rates {
		prior.Rates = append(prior.Rates, Rate{
			Change: rate.Change, Failed: rate.Failures, Of: rate.Scenarios, FailedAsked: rate.FailedAsked, Asked: rate.Asked,
		})
	}
	return prior, nil
}

func subject(key string, signatures []string) history.Subject {
	s := history.Subject{Key: key}
	if len(signatures) > 0 {
		s.Signature = signatures[0]
	}
	return s
}

// Occurrences implements [Past].
func (r *Recorded) Occurrences(key, signature string, t Escalation) (triage.Occurrences, error) {
	s := history.Subject{Key: key, Signature: signature}
	of := signature
	if of == "" {
		of = key
	}
	e := r.history.Escalation(s, history.Rule{At: t.Count, Days: t.Days, Below: t.Calm}, r.now)
	all := r.history.Occurrences(s, 0, r.now)
	return triage.Occurrences{
		Of: of, Count: e.Count, Threshold: e.Threshold, Days: e.Days, First: all.First, Escalated: e.Escalated,
	}, nil
}

// usual is the fewest scenarios that runs of the same job had of late; 0 if too few of them are known to say.
func (r *Recorded) usual(t triage.Thresholds) int {
	sizes := r.history.Sizes(r.identity.Run, r.identity.Build, time.Duration(t.EscalateDays)*24*time.Hour, r.now)
	if len(sizes) < t.AbortedRuns {
		return 0
	}
	return slices.Min(sizes)
}

// entry is the run as the history keeps it.
func (a *analysis) entry(identity Identity) history.Entry {
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
		e.Groups = append(e.Groups, a.recorded(&a.run.Groups[i]))
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

// masked is a text without what looks like a credential: a history lies in repositories and on shares.
func masked(text string) string { return string(redact.Redact([]byte(text))) }

func (a *analysis) recorded(group *scenario.Group) history.Group {
	g := history.Group{
		Key: string(group.Key), Failures: len(group.Rows), Tests: a.tests(group), Names: a.names(group, 5),
		Scenarios: history.SetOf(a.names(group, len(group.Rows))),
		Example: history.Example{
			Type: group.Failure.Type, Message: masked(group.Failure.Message), Text: masked(group.Failure.Text),
			File: group.Failure.File, Line: group.Failure.Line,
		},
	}
	for _, s := range a.signatures(group) {
		if float64(s.Failures) >= a.Thresholds.KnownCoverage*float64(len(group.Rows)) {
			g.Signatures = append(g.Signatures, s.ID)
		}
	}
	return g
}
