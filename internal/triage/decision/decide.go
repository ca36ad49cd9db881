package decision

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"salve/internal/triage"
	"salve/internal/triage/alternative"
	"salve/internal/triage/verdict"
)

// Decision is what follows from evidence and thresholds.
type Decision struct {
	Verdict    triage.Verdict    `json:"verdict"`
	Mixed      bool              `json:"mixed"`
	Confidence triage.Confidence `json:"confidence"`
	Summary    string            `json:"summary"`
	Aborted    *triage.Aborted   `json:"aborted"`
	Groups     []Group           `json:"groups"` // suspected, then new ones, then all others; each by failures
	// Lacks is what the evidence does not have that the verdict on the run takes: there is none then.
	Lacks string `json:"lacks,omitempty"`
}

// Group is what was decided of one group.
type Group struct {
	Key      string `json:"key"`
	Ways     []int  `json:"ways"`
	Failures int    `json:"failures"`

	Verdict     triage.Verdict      `json:"verdict"`
	Confidence  triage.Confidence   `json:"confidence"`
	Reasons     []string            `json:"reasons"`
	Flakiness   triage.Flakiness    `json:"flakiness"`
	Signatures  []triage.Signature  `json:"signatures"`
	Decisive    string              `json:"decisive"` // the signature on which a verdict may rest; empty for none
	Cause       triage.Cause        `json:"cause"`
	Alternative triage.Alternative  `json:"alternative"`
	Baseline    triage.BaselineSays `json:"baseline"`
	Occurrences *triage.Occurrences `json:"occurrences"`
	WouldChange []string            `json:"wouldChange"`
	Action      string              `json:"action"`
	// Lacks is what the evidence does not have that the verdict takes: there is none then.
	Lacks string `json:"lacks,omitempty"`
}

// Decide makes the decision. What is lacking stands in it; an error is that the evidence contradicts itself.
func Decide(e Evidence, t triage.Thresholds) (Decision, error) {
	examined, err := e.examined(t)
	var lacking *LackingError
	switch {
	case errors.As(err, &lacking):
		return e.undecidable(lacking.What, t), nil
	case err != nil:
		return Decision{}, err
	}
	return DecideExamined(e, examined, t), nil
}

// examined counts in the scenarios, or takes what was counted in them with the same thresholds.
func (e Evidence) examined(t triage.Thresholds) (*Examined, error) {
	switch {
	case e.Observed.Scenarios != nil, len(e.Observed.Ways) == 0:
		return Examine(e.Observed, t)
	case e.Examined == nil:
		return nil, lacks("the scenarios (%s)", or(e.Observed.Omitted, "left out"))
	}
	now := examining(t)
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if then, known := e.Examined.With[name]; !known || then != now[name] {
			return nil, lacks("the scenarios, which threshold %s takes", name)
		}
	}
	return e.Examined, nil
}

// undecidable is the decision where nothing can be said of any group.
func (e Evidence) undecidable(what string, t triage.Thresholds) Decision {
	d := Decision{Lacks: what, Groups: []Group{}}
	for _, ways := range unite(e.Observed, t) {
		d.Groups = append(d.Groups, e.lackingGroup(ways, what))
	}
	return d
}

func (e Evidence) lackingGroup(ways []int, what string) Group {
	return Group{Key: e.Observed.Ways[ways[0]].Key, Ways: ways, Failures: e.Observed.failures(ways), Lacks: what}
}

// DecideExamined makes the decision from evidence whose scenarios were examined with the same thresholds.
func DecideExamined(e Evidence, x *Examined, t triage.Thresholds) Decision {
	d := Decision{Groups: []Group{}}
	for i := range x.Groups {
		group, err := e.group(&x.Groups[i], t)
		var lacking *LackingError
		if errors.As(err, &lacking) {
			group = e.lackingGroup(x.Groups[i].Ways, lacking.What)
			d.Lacks = or(d.Lacks, lacking.What)
		}
		d.Groups = append(d.Groups, group)
	}
	slices.SortStableFunc(d.Groups, func(x, y Group) int {
		return cmp.Or(cmp.Compare(urgency(y.Verdict), urgency(x.Verdict)), cmp.Compare(y.Failures, x.Failures))
	})
	var lacking *LackingError
	var err error
	if d.Aborted, err = e.aborted(t); errors.As(err, &lacking) {
		d.Lacks = or(d.Lacks, lacking.What)
	}
	if d.Lacks == "" {
		d.overall(e.Observed.Counts)
	}
	return d
}

// urgency puts first what may be the change's or nobody has seen before; all else goes by its failures.
func urgency(v triage.Verdict) int {
	switch v {
	case triage.SuspectedChange:
		return 2
	case triage.New:
		return 1
	default:
		return 0
	}
}

// group decides on one group.
func (e Evidence) group(x *ExaminedGroup, t triage.Thresholds) (Group, error) {
	o, has := e.Observed, e.Observed.together(x.Ways)
	decisive := o.decisive(has, t)
	g := Group{
		Key: has.first.Key, Ways: x.Ways, Failures: has.failures, Signatures: has.signatures, Cause: x.Cause,
		Flakiness: verdict.Flakiness(has.recovered, has.insisted, t),
	}
	if decisive != nil {
		g.Decisive = decisive.ID
	}
	asked := Ask(o, x, t)
	others, err := e.before(asked, has.failures, t)
	if err != nil {
		return g, err
	}
	g.Baseline = baseline(others, t)
	question := o.question(x, has, others, t)
	if MustAskReaching(o, x, others.seen > 0) {
		reaching, err := e.before(AskReaching(asked, x), has.failures, t)
		if err != nil {
			return g, err
		}
		question.Reaching.Others = reaching.rates
	}
	if o.Change != nil && o.Change.At != nil {
		question.ChangedAt = *o.Change.At
	}
	g.Alternative = alternative.Evaluate(question, t)
	if g.Occurrences, err = e.occurrences(g.Key, decisive, t); err != nil {
		return g, err
	}
	producers := has.producers
	if g.Baseline.Seen > 0 {
		producers = union(producers, []string{"history"})
	}
	decided := verdict.Decide(verdict.Facts{
		Failures: g.Failures, Scenario: has.first.Scenario, Place: has.first.Place, Cause: g.Cause, Unknown: x.Unknown,
		Environment: environment(g.Cause), Alternative: g.Alternative, Tested: alternative.Tested(question, t),
		Signatures: g.Signatures, Baseline: g.Baseline, Flakiness: g.Flakiness, Producers: producers,
		Occurrences: g.Occurrences, Passing: o.Counts.Passed,
	}, t)
	g.Verdict, g.Confidence, g.Reasons = decided.Verdict, decided.Confidence, decided.Reasons
	g.WouldChange, g.Action = decided.WouldChange, decided.Action
	return g, nil
}

// Ask is what other changes' runs are asked about a group. Only a signature that decides stands for it, and of few
// failures one in their own texts: what they share with others beside that says nothing of why they failed.
func Ask(o Observed, x *ExaminedGroup, t triage.Thresholds) Question {
	has := o.together(x.Ways)
	q := Question{Ways: x.Ways}
	if decisive := o.decisive(has, t); decisive != nil &&
		(has.failures >= t.SmallCauseFailures || has.inText(decisive.ID, t)) {
		q.Signature = decisive.ID
	}
	return q
}

// MustAskReaching says whether it matters how often scenarios that may run the change fail elsewhere.
func MustAskReaching(o Observed, x *ExaminedGroup, seen bool) bool {
	return o.changed() && x.MayReach.Failed > 0 && seen
}

// AskReaching is the question about scenarios that may run what the change touches, without those of a place that is a
// cause.
func AskReaching(q Question, x *ExaminedGroup) Question {
	q.MayReach = true
	if environment(x.Cause) {
		for _, c := range x.Cause.Candidates {
			q.Without = append(q.Without, label(c))
		}
		slices.Sort(q.Without)
	}
	return q
}

// question is what the alternative is asked with.
func (o Observed) question(x *ExaminedGroup, has together, others prior, t triage.Thresholds) alternative.Question {
	q := alternative.Question{
		Changed: o.changed(), Subject: o.subject(), Classes: x.Classes, Outside: x.Outside, Confined: x.Confined,
		Environment: environment(x.Cause) && mostly(has.failures-x.Cause.Unexplained, has.failures, t),
		Unfinished:  has.finished == 0, Runs: others.runs, Seen: others.seen,
		FirstFailure: has.began, FirstElsewhere: others.first, InPaths: has.touched, Place: has.touchedAt,
	}
	q.Whole = alternative.Comparison{
		Here:   alternative.Rate{Failed: has.failures, Of: o.Counts.Scenarios - o.Counts.Skipped},
		Others: others.rates,
	}
	q.Reaching.Here = alternative.Rate{Failed: x.MayReach.Failed, Of: x.MayReach.Of}
	return q
}

func mostly(some, of int, t triage.Thresholds) bool {
	return float64(some) >= t.KnownCoverage*float64(of)
}

// subject is how the change is called in sentences.
func (o Observed) subject() string {
	if o.Change == nil {
		return "the change"
	}
	switch touched := o.Change.Components; len(touched) {
	case 0:
		return "the change"
	case 1:
		return "component " + touched[0]
	default:
		return "components " + strings.Join(touched[:min(3, len(touched))], ", ")
	}
}

// baseline answers whether the group was there without the change.
func baseline(p prior, t triage.Thresholds) triage.BaselineSays {
	b := triage.BaselineSays{Seen: p.seen, Runs: p.runs}
	within := fmt.Sprintf("%d h", t.BaselineHours)
	switch {
	case p.seen > 0:
		b.Answer = triage.PreExisting
		b.Text = fmt.Sprintf("the same failure was in %d of %d runs of other changes within %s", p.seen, p.runs, within)
	case p.otherwise > 0:
		b.Answer = triage.PreExistingElse
		b.Text = fmt.Sprintf("in %d of %d runs of other changes within %s its scenarios failed in another way", p.otherwise,
			p.runs, within)
	case p.runs >= t.BaselineUnseen:
		b.Answer = triage.NewFailure
		b.Text = fmt.Sprintf("none of %d runs of other changes within %s failed so", p.runs, within)
	default:
		b.Answer = triage.NotEnoughHistory
		b.Text = fmt.Sprintf("%d runs of other changes within %s are known, of %d needed to call it new", p.runs, within,
			t.BaselineUnseen)
	}
	return b
}

// aborted says that the run didn't get to its end: scenarios without a result, or fewer than without the change.
func (e Evidence) aborted(t triage.Thresholds) (*triage.Aborted, error) {
	if e.Observed.Aborted != nil {
		return e.Observed.Aborted, nil
	}
	expected := 0
	for _, scenarios := range e.Observed.Baselines {
		if scenarios != nil {
			expected = max(expected, *scenarios)
		}
	}
	without := "without the change"
	if sizes := e.Past.Sizes; sizes != nil && expected == 0 {
		if t.EscalateDays != sizes.Days {
			return nil, lacks("how many scenarios the job had in %d days", t.EscalateDays)
		}
		if sizes.Runs >= t.AbortedRuns {
			expected, without = sizes.Fewest, "at least in earlier runs of the job"
		}
	}
	found := e.Observed.Counts.Scenarios
	if float64(found) >= t.AbortedShare*float64(expected) {
		return nil, nil //nolint:nilnil // it was not aborted
	}
	return &triage.Aborted{
		Reason: "fewer-scenarios", Expected: expected, Found: found,
		Text: fmt.Sprintf("%s with a result, where %d had one %s", plural(found, "scenario"), expected, without),
	}, nil
}

// Decisive is the signature that a group's verdict may rest on; empty for none.
func Decisive(o Observed, x *ExaminedGroup, t triage.Thresholds) string {
	if decisive := o.decisive(o.together(x.Ways), t); decisive != nil {
		return decisive.ID
	}
	return ""
}
